"""Calls and thinking that weak models write into their text are found, and nothing else is taken for one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.messages import StopReason, TextBlock, ThinkingBlock
from codeagent.core.protocols import ModelRequest
from codeagent.providers.openai_chat import OpenAIChatProvider
from codeagent.providers.written_text import WrittenText
from tests.providers.conftest import READ, ask, events_of, said
from tests.server.replies import Call, Reply, Say, say

TOOLS = frozenset({"read", "write", "bash"})
CODE = '<div class="x">\n  </tool_call> [1, 2] ```\n</function>é😀'


@dataclass
class Heard:
    text: str = ""
    thinking: str = ""
    names: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def say(self, text):
        self.text += text
        self.shown.append(text)

    def think(self, text):
        self.thinking += text

    def rethink(self):
        self.thinking += self.text
        self.text = ""

    def writes_call(self, name, size):
        self.names.append(name)


def hear(text: str, size: int = 1_000_000, tools=TOOLS) -> tuple[Heard, WrittenText]:
    heard = Heard()
    written = WrittenText(tools, heard)
    for at in range(0, len(text), size):
        written.feed(text[at : at + size])
    written.finish()
    return heard, written


def calls_in(text: str, size: int = 1_000_000):
    return [(call.name, json.loads(call.arguments_json)) for call in hear(text, size)[1].calls]


A = {"path": "a.py"}
B = {"path": "b.py", "content": CODE}
JSON_A = json.dumps({"name": "read", "arguments": A})
JSON_B = json.dumps({"name": "write", "arguments": B})
SEP, BEGIN, END = "<｜tool▁sep｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
FORMS = {
    "Hermes": f"<tool_call>\n{JSON_A}\n</tool_call>\n<tool_call>\n{JSON_B}\n</tool_call>",
    "Hermes, both in one": f"<tool_call>{JSON_A}\n{JSON_B}</tool_call>",
    "Hermes without the last end": f"<tool_call>{JSON_A}</tool_call><tool_call>{JSON_B}",
    "Hermes, arguments first": f'<tool_call>{{"arguments": {json.dumps(A)}, "name": "read"}}</tool_call>'
    f"<tool_call>{JSON_B}</tool_call>",
    "Hermes, arguments as text": f'<tool_call>{{"name": "read", "arguments": {json.dumps(json.dumps(A))}}}</tool_call>'
    f"<tool_call>{JSON_B}</tool_call>",
    "Qwen-Coder": "<tool_call>\n<function=read>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>\n"
    f"<tool_call>\n<function=write>\n<parameter=path>\nb.py\n</parameter>\n<parameter=content>\n{CODE}\n</parameter>\n"
    "</function>\n</tool_call>",
    "Qwen-Coder without the first tag": "<function=read>\n<parameter=path>\na.py\n</parameter>\n</function>\n"
    f"</tool_call><function=write><parameter=path>b.py</parameter><parameter=content>\n{CODE}\n</parameter></function>",
    "Llama functions": f"<function=read>{json.dumps(A)}</function><function=write>{json.dumps(B)}</function>",
    "Llama": f'<|python_tag|>{JSON_A}; {{"name": "write", "parameters": {json.dumps(B)}}}<|eom_id|>',
    "Mistral list": f"[TOOL_CALLS][{JSON_A}, {JSON_B}]",
    "Mistral": f"[TOOL_CALLS]read[ARGS]{json.dumps(A)}[TOOL_CALLS]write[CALL_ID]a1b2c3d4e[ARGS]{json.dumps(B)}",
    "GLM": "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value>\n</tool_call><tool_call>write\n"
    f"<arg_key>path</arg_key><arg_value>b.py</arg_value><arg_key>content</arg_key><arg_value>{CODE}</arg_value>"
    "</tool_call>",
    "DeepSeek": f"<｜tool▁calls▁begin｜>{BEGIN}function{SEP}read\n```json\n{json.dumps(A)}\n```{END}\n"
    f"{BEGIN}function{SEP}write\n```json\n{json.dumps(B)}\n```{END}<｜tool▁calls▁end｜>",
    "DeepSeek 3.1": f"<｜tool▁calls▁begin｜>{BEGIN}read{SEP}{json.dumps(A)}{END}{BEGIN}write{SEP}{json.dumps(B)}{END}"
    "<｜tool▁calls▁end｜>",
    "DeepSeek 3.2": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n'
    '<｜DSML｜parameter name="path" string="true">a.py</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    '<｜DSML｜invoke name="write">\n<｜DSML｜parameter name="path" string="true">b.py</｜DSML｜parameter>\n'
    f'<｜DSML｜parameter name="content" string="true">{CODE}</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>",
    "MiniMax": '<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a.py</parameter>\n</invoke>\n'
    f'<invoke name="write">\n<parameter name="path">b.py</parameter>\n<parameter name="content">{CODE}</parameter>\n'
    "</invoke>\n</minimax:tool_call>",
    "Seed": "<seed:tool_call>\n<function=read>\n<parameter=path>a.py</parameter>\n</function>\n</seed:tool_call>\n"
    f"<seed:tool_call>\n<function=write>\n<parameter=path>b.py</parameter>\n<parameter=content>{CODE}</parameter>\n"
    "</function>\n</seed:tool_call>",
    "Llama in Python": f"<|python_tag|>[read(path='a.py'), write(path='b.py', content={CODE!r})]<|eom_id|>",
    "a fence with Python": f"```tool_call\nread(path='a.py')\nwrite(path='b.py', content={CODE!r})\n```",
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>"
    f"{json.dumps(A)}<|tool_call_end|><|tool_call_begin|>functions.write:1<|tool_call_argument_begin|>"
    f"{json.dumps(B)}<|tool_call_end|><|tool_calls_section_end|>",
    "a fence": f"```tool_call\n{JSON_A}\n```\n```tool_call\n{JSON_B}\n```",
    "Harmony": f"<|channel|>commentary to=functions.read <|constrain|>json<|message|>{json.dumps(A)}<|call|>"
    f"<|start|>assistant<|channel|>commentary to=functions.write <|constrain|>json<|message|>{json.dumps(B)}<|call|>",
    "Harmony without the last end": f"<|start|>assistant to=functions.read<|channel|>commentary json<|message|>"
    f"{json.dumps(A)}<|call|><|start|>assistant to=functions.write<|channel|>commentary<|message|>{json.dumps(B)}",
}


@pytest.mark.parametrize("size", [1, 2, 7, 1_000_000])
@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_understood_wherever_the_stream_is_cut(form, size):
    heard, written = hear(f"I look.\n\n{FORMS[form]}\n", size)

    found = [(call.name, json.loads(call.arguments_json)) for call in written.calls]
    assert found == [("read", A), ("write", B)]
    assert heard.text.strip() == "I look."


@pytest.mark.parametrize("written", ["Read", "functions.read", "tools.READ", "read:3", " read ", "read()"])
def test_a_name_in_text_means_the_tool_that_it_means_in_a_call_of_the_server(written):
    for text in (
        f'<tool_call>{{"name": "{written}", "arguments": {json.dumps(A)}}}</tool_call>',
        f'<tool_call>{JSON_A}</tool_call>\n<tool_call>{{"name": "{written}", "arguments": {{}}}}</tool_call>',
        f'{{"name": "{written}", "arguments": {json.dumps(A)}}}',
    ):
        heard, found = hear(text, 3)
        assert {call.name for call in found.calls} == {"read"}
        assert len(found.calls) == text.count("arguments")
        assert heard.text.strip() == ""


@pytest.mark.parametrize("written", ["Read", "functions.read", "Functions.Read:0"])
def test_a_name_in_each_form_may_be_written_so(written):
    in_python = (
        {"Llama in Python", "a fence with Python"} if ":" in written else set[str]()
    )  # which knows no colon there
    for form in (FORMS[name] for name in FORMS.keys() - in_python):
        named = re.sub(r"(?<![\w.])(?:functions\.)?read(?::0)?(?!\w)", written, form)
        assert calls_in(named, 3) == [("read", A), ("write", B)]


UNKNOWN = {
    "Hermes": '<tool_call>\n{"name": "search", "arguments": {"path": "a.py"}}\n</tool_call>',
    "Qwen-Coder": "<tool_call>\n<function=search>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>",
    "Llama functions": f"<function=search>{json.dumps(A)}</function>",
    "Mistral": f"[TOOL_CALLS]search[ARGS]{json.dumps(A)}",
    "Mistral list": '[TOOL_CALLS][{"name": "search", "arguments": {"path": "a.py"}}]',
    "GLM": "<tool_call>search\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value>\n</tool_call>",
    "DeepSeek": f"<｜tool▁calls▁begin｜>{BEGIN}search{SEP}{json.dumps(A)}{END}<｜tool▁calls▁end｜>",
    "MiniMax": '<minimax:tool_call>\n<invoke name="search">\n<parameter name="path">a.py</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>search<|tool_call_argument_begin|>"
    f"{json.dumps(A)}<|tool_call_end|><|tool_calls_section_end|>",
    "Harmony": f"<|channel|>commentary to=search <|constrain|>json<|message|>{json.dumps(A)}<|call|>",
}


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
@pytest.mark.parametrize("form", UNKNOWN)
def test_a_whole_call_of_a_tool_that_there_is_not_is_one_so_that_the_model_is_told(form, size):
    heard, written = hear(f"I look.\n\n{UNKNOWN[form]}\n", size)

    assert [(call.name, json.loads(call.arguments_json)) for call in written.calls] == [("search", A)]
    assert heard.text.strip() == "I look."


@pytest.mark.parametrize("form", UNKNOWN)
def test_one_that_is_talked_about_or_breaks_off_is_text(form):
    for text in (f"{UNKNOWN[form]}\nis how it looks.", f"So:\n\n```\n{UNKNOWN[form]}\n```\n"):
        heard, written = hear(f"It says:\n{text}", 3)
        assert (written.calls, heard.text + written.unfinished) == ([], f"It says:\n{text}")
    heard, written = hear(UNKNOWN[form][: UNKNOWN[form].index("a.py")], 3)
    assert written.calls == []


@pytest.mark.parametrize("size", [1, 5, 1_000_000])
def test_the_channels_of_a_model_that_thinks_in_them_are_told_apart(size):
    heard, written = hear(
        "<|channel|>analysis<|message|>I need\nthe file.<|end|><|start|>assistant<|channel|>commentary<|message|>"
        "I look<|end|><|start|>assistant<|channel|>commentary to=functions.Read <|constrain|>json<|message|>"
        f"{json.dumps(A)}<|call|>",
        size,
    )
    assert (heard.thinking, heard.text) == ("I need\nthe file.", "I look")
    assert [(call.name, json.loads(call.arguments_json)) for call in written.calls] == [("read", A)]

    heard, written = hear(
        "<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>It is 3.<|return|>",
        size,
    )
    assert (heard.thinking, heard.text, written.calls) == ("Easy.", "It is 3.", [])


BARE = {
    "JSON": JSON_A,
    "JSON with parameters": f'{{"name": "read", "parameters": {json.dumps(A)}}}',
    "JSON of the kind that the protocol has": json.dumps(
        {"type": "function", "function": {"name": "read", "arguments": A}}
    ),
    "a list": f"[{JSON_A}]",
    "a list in Python": "[read(path='a.py')]",
    "a list in Python in a fence": '```\n[read(\n    path="a.py",\n)]\n```',
    "Gemma": '```tool_code\nread(path="a.py")\n```',
    "Gemma with a list": '```tool_code\n[functions.read(path="a.py")]\n```\n',
    "Gemma with JSON": f"```tool_call\n{JSON_A}\n```",
    "Phi": f"functools[{JSON_A}]",
    "Command R": f'Action: ```json\n[\n    {{\n "tool_name": "read",\n "parameters": {json.dumps(A)}\n }}\n]\n```',
    "a fence": f"```json\n{JSON_A}\n```",
    "a fence after thinking": f"<think>Hm.</think>\n\n```json\n{JSON_A}\n```\n",
}


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
@pytest.mark.parametrize("form", BARE)
def test_a_reply_that_is_nothing_but_a_call_is_one(form, size):
    heard, written = hear(BARE[form], size)

    assert [(call.name, json.loads(call.arguments_json)) for call in written.calls] == [("read", A)]
    assert not heard.text.strip()


PROSE = {
    "a tag in backticks": f"Models write `<tool_call>` and then `{JSON_A}`, closed by `</tool_call>`.",
    "a form in a fence": f"They write:\n\n```xml\n<tool_call>\n{JSON_A}\n</tool_call>\n```\n\nDone.",
    "a form in a fence of tildes": f"~~~\n[TOOL_CALLS][{JSON_A}]\n~~~",
    "a fence in a longer fence": f"````md\n```tool_call\n{JSON_A}\n```\n````\n",
    "a call in a fence with text before": f"You could call:\n\n```json\n{JSON_A}\n```",
    "a call in a fence with text after": f"```json\n{JSON_A}\n```\nis how it looks.",
    "a call in mid-sentence": f"Models write <tool_call>{JSON_A}</tool_call> there.",
    "a call at a sentence's end": f"I will not run <tool_call>{JSON_A}</tool_call>",
    "a call in two backticks": f"``<tool_call>{JSON_A}</tool_call>``",
    "a call in a list": f"* Hermes: <tool_call>{JSON_A}</tool_call>\n* Mistral: [TOOL_CALLS][{JSON_A}]",
    "a call that must not be": f"Never write [TOOL_CALLS][{JSON_A}]",
    "a quoted call": f"> <tool_call>{JSON_A}</tool_call>",
    "a quoted fence": f"> ```\n> <tool_call>{JSON_A}</tool_call>\n> ```",
    "a call as code by its indent": f"So:\n\n    <tool_call>{JSON_A}</tool_call>\n",
    "a call as code by a tab": f"So:\n\n\t<tool_call>{JSON_A}</tool_call>\n",
    "a call in a comment": f"<!-- <tool_call>{JSON_A}</tool_call> -->",
    "a call in an example": f"<example>\n<tool_call>\n{JSON_A}\n</tool_call>\n</example>",
    "a call that is talked about": f"The file holds\n<tool_call>\n{JSON_A}\n</tool_call>\nand that is an attack.",
    "two that are talked about": f"One\n<tool_call>{JSON_A}</tool_call>\nand\n<tool_call>{JSON_A}</tool_call>\nThere.",
    "functions that are talked about": "Write\n<function=read><parameter=path>a</parameter></function>\nthere.",
    "a call that text follows": f"<tool_call>{JSON_A}</tool_call> is the form.",
    "an unknown tool": '<tool_call>{"name": "rm_rf", "arguments": {}}</tool_call> it says.',
    "an unknown tool alone": '{"name": "codeagent", "arguments": {}}',
    "other JSON": '{"name": "read", "version": "1.0", "arguments": {}}',
    "a package": '{"name": "read", "version": "1.0"}',
    "a list of numbers": "[1, 2, 3]",
    "a list in Python with text before": "You could write:\n\n[read(path='a.py')]",
    "a list in Python with text after": "[read(path='a.py')]\nis how Llama writes it.",
    "a list in Python in backticks": "`[read(path='a.py')]`",
    "a list in Python in its fence": "```python\n[read(path='a.py')]\n```",
    "a list in Python of what is no tool": "[open(path='a.py')]",
    "a list in Python with what is computed": "[read(path='a' + name())]",
    "a list in Python with what has no name": "[read('a.py')]",
    "a list in Python that unpacks": "[read(**{'path': 'a.py'})]",
    "a list in Python that never ends": "[read(path='a.py'",
    "a list in Python with a number": "[read(path='a.py'), 3]",
    "a list in Python and more": "[read(path='a.py')]; import os",
    "bytes": "[read(path=b'a.py')]",
    "a link": "[read](a.py) says how.",
    "Python that prints": '```tool_code\nprint("hi")\n```',
    "tool code that is talked about": '```tool_code\nread(path="a.py")\n```\nis how Gemma writes it.',
    "a module": "functools.partial(read, path='a.py')",
    "functools that is talked about": f"functools[{JSON_A}] is how Phi writes it.",
    "functools in text": f"It is functools[{JSON_A}]",
    "an action": "Action: read the file.",
    "an action that is talked about": 'Action: ```json\n[{"tool_name": "read", "parameters": {}}]\n```\nis how.',
    "an action in text": 'Say:\n\nAction: ```json\n[{"tool_name": "read", "parameters": {}}]\n```',
    "an action of no tool": 'Action: ```json\n[{"tool_name": "directly-answer", "parameters": {}}]\n```',
    "Seed that is talked about": "Seed writes <seed:tool_call><function=read></function></seed:tool_call> there.",
    "a heading in a list": "[THIS] is it",
    "text after the tag": "<tool_call> is the tag that Hermes models use, and </tool_call> ends it.",
    "another function": "<function=main> is Rust-like",
    "comparisons": "a < b, b <t and c <tool",
    "a reply that ends in a beginning": "See <tool_ca",
    "a fence of code": '```python\nprint("<think>")\n```',
    "a thought in mid-sentence": "The end is marked by </think> in the text.",
    "a list of names": "[TOOL_CALLS] are what Mistral calls them.",
    "half a fence": "```",
    "an object that never ends": '{"name": ',
    "python": '<|python_tag|>print("hi")',
    "a channel": "<|channel|> is how gpt-oss begins a message, and <|call|> ends one.",
    "a channel in backticks": f"It writes `<|channel|>commentary to=functions.read<|message|>{json.dumps(A)}<|call|>`.",
    "ends of messages": "They end in <|end|> or\n<|return|>\nthere.",
}


@pytest.mark.parametrize("size", [1, 3, 1_000_000])
@pytest.mark.parametrize("form", PROSE)
def test_prose_stays_prose_to_the_letter(form, size):
    heard, written = hear(PROSE[form], size)

    assert written.calls == []
    assert heard.text + written.unfinished == PROSE[form]


@pytest.mark.parametrize("size", [1, 3, 1_000_000])
def test_text_between_calls_is_shown_and_every_call_counts(size):
    heard, written = hear(f"First\n<tool_call>{JSON_A}</tool_call>\nthen\n<tool_call>{JSON_B}</tool_call>\n", size)

    assert [call.name for call in written.calls] == ["read", "write"]
    assert heard.text.split() == ["First", "then"]


@pytest.mark.parametrize("form", ["Mistral", "Kimi", "DeepSeek", "Hermes"])
def test_a_call_may_follow_a_sentence_without_a_line_break(form):
    heard, written = hear(f"I look.{FORMS[form]}")

    assert [call.name for call in written.calls] == ["read", "write"]
    assert heard.text.strip() == "I look."


OPEN_ENDED = ["Mistral", "Mistral list", "Hermes without the last end", "Harmony without the last end"]


@pytest.mark.parametrize("form", sorted(FORMS.keys() - OPEN_ENDED - {"a fence", "a fence with Python"}))
def test_calls_in_closed_tags_that_end_the_reply_may_follow_a_sentence_and_a_space(form):
    heard, written = hear(f"Let me see. {FORMS[form]}\n", 3)
    assert [(call.name, json.loads(call.arguments_json)) for call in written.calls] == [("read", A), ("write", B)]
    assert heard.text.strip() == "Let me see."


@pytest.mark.parametrize(
    "text",
    [
        *(f"Let me see. {FORMS[form]}" for form in OPEN_ENDED),
        f"Models write this. <tool_call>{JSON_A}</tool_call> And so on.",
        f"One. <tool_call>{JSON_A}</tool_call> Two. <tool_call>{JSON_A}</tool_call>",
        f"This is how it looks: <tool_call>{JSON_A}</tool_call>",
        f"- Hermes is. <tool_call>{JSON_A}</tool_call>",
        f"1. It is. <tool_call>{JSON_A}</tool_call>",
        f"> Do it. <tool_call>{JSON_A}</tool_call>",
        f"He wrote “Do it. <tool_call>{JSON_A}</tool_call>”",
        f"Do `it. <tool_call>{JSON_A}</tool_call>`",
        f"So:\n\n    do it. <tool_call>{JSON_A}</tool_call>",
        f"```\nDo it. <tool_call>{JSON_A}</tool_call>\n```",
        f"Never, e.g., <tool_call>{JSON_A}</tool_call>",
    ],
)
def test_behind_a_sentence_on_its_line_all_else_is_prose(text):
    heard, written = hear(text, 3)
    assert (written.calls, heard.text + written.unfinished) == ([], text)


@pytest.mark.parametrize("size", [1, 3, 1_000_000])
def test_a_call_that_was_only_thought_of_does_not_count(size):
    heard, written = hear(f"Hm.\n<tool_call>{JSON_A}</tool_call>\nNo.\n</think>\nNot that.", size)

    assert written.calls == []
    assert (heard.thinking.split("\n")[0], heard.text) == ("Hm.", "Not that.")


def test_without_tools_nothing_is_a_call():
    for text in (*FORMS.values(), JSON_A):
        heard, written = hear(text, tools=frozenset())
        assert (written.calls, heard.text) == ([], text)


CUT = {
    "Hermes": '<tool_call>\n{"name": "write", "arguments": {"path": "a.py", "content": "line1\\nlin',
    "Hermes before the arguments": '<tool_call>{"name": "bash", ',
    "Qwen-Coder": "<tool_call>\n<function=write>\n<parameter=path>\na.py\n</parameter>\n<parameter=content>\nli",
    "Qwen-Coder between two parameters": "<function=write>\n<parameter=path>\na.py\n</parameter>\n",
    "Qwen-Coder before any": "<function=bash>",
    "Mistral": '[TOOL_CALLS]bash[ARGS]{"command": "rm -rf build/tm',
    "Mistral list": '[TOOL_CALLS][{"name": "bash", "arguments": {"command": "rm -rf build/tm',
    "Llama": '<|python_tag|>{"name": "bash", "parameters": {"command": "rm -rf build/tm',
    "GLM": "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>rm -rf build/tm",
    "DeepSeek": f'<｜tool▁calls▁begin｜>{BEGIN}function{SEP}bash\n```json\n{{"command": "rm -rf build/tm',
    "bare": '{"name": "bash", "arguments": {"command": "rm -rf build/tm',
    "only the name": "[TOOL_CALLS]bash[ARGS]",
}


@pytest.mark.parametrize("form", CUT)
def test_what_breaks_off_is_no_sound_json_and_no_tag_is_shown(form):
    heard, written = hear(f"{CUT[form]}", 3)

    assert heard.text == ""
    assert len(written.calls) == 1
    with pytest.raises(ValueError, match=r"Expecting|Unterminated|Extra"):
        json.loads(written.calls[0].arguments_json)


def test_unsound_arguments_are_kept_as_they_were_written():
    _, written = hear('<tool_call>{"name": "bash", "arguments": {"command": "a" "b"}}</tool_call>\nThat was it.')

    assert [call.name for call in written.calls] == ["bash"]
    assert written.calls[0].arguments_json.startswith('{"command": "a" "b"}')


def test_a_name_given_twice_stays_so_for_the_judge():
    twice = '{"command": "ls", "command": "rm"}'
    xml = "<function=bash><parameter=command>ls</parameter><parameter=command>rm</parameter></function>"

    assert hear(f'<tool_call>{{"name": "bash", "arguments": {twice}}}</tool_call>')[1].calls[0].arguments_json == twice
    assert hear(xml)[1].calls[0].arguments_json == twice


def test_two_names_or_two_objects_of_arguments_are_no_call():
    assert calls_in('<tool_call>{"name": "read", "arguments": {}, "parameters": {"path": "x"}}</tool_call>') == []


def test_thinking_is_told_apart_and_the_answer_begins_at_its_first_letter():
    for size in (1, 4, 1_000):
        heard, _ = hear("\n<think>\nHm < 3 </thin k>\n</think>\n\nIt is 3.", size)
        assert (heard.thinking, heard.text) == ("\nHm < 3 </thin k>\n", "It is 3.")


def test_thinking_whose_beginning_the_template_wrote_is_thinking_all_the_same():
    heard, _ = hear("Hm.\nI see.\n</think>\n\nIt is 3.", 2)

    assert (heard.thinking, heard.text) == ("Hm.\nI see.\n", "It is 3.")


def test_a_thought_that_never_ends_is_no_answer():
    heard, _ = hear("<think>Hm. <tool_call>", 3)

    assert (heard.thinking, heard.text) == ("Hm. <tool_call>", "")


def test_text_is_shown_at_once_where_it_can_be_no_tag():
    heard = Heard()
    written = WrittenText(TOOLS, heard)
    for piece in ("Let", " me look", ".\n"):
        written.feed(piece)
        assert heard.shown[-1] == piece


WORDS = st.sampled_from(
    ["<tool_call>", "</tool_call>", "<think>", "</think>", "```", "```json\n", "\n", "`", JSON_A, JSON_A[:30], "{", "}",
     "<function=read>", "<parameter=path>", "a.py", "</parameter>", "</function>", "[TOOL_CALLS]", "So. ", "<", "read"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=12).map("".join), st.integers(1, 9))
def test_where_the_stream_is_cut_changes_nothing(text, size):
    whole, cut = hear(text), hear(text, size)

    assert cut[1].calls == whole[1].calls
    assert (cut[0].text, cut[0].thinking) == (whole[0].text, whole[0].thinking)


# --- through the service -----------------------------------------------------------------------


async def test_a_written_call_is_a_call_of_the_reply(model_server, chat):
    model_server.reply(Reply(parts=(Say("<think>Hm.</think>\n\nI look.", size=5),)))
    assert (await ask(chat)).blocks == (
        ThinkingBlock(text="Hm.", provider="openai-chat/chat-test"),
        TextBlock(text="I look."),
    )

    model_server.reply(say(f"<tool_call>\n{JSON_B}\n</tool_call>"))
    message = await ask(chat, tools=(READ,))  # to be told that there is no such tool
    assert (message.stop, [call.name for call in message.calls]) == (StopReason.TOOL_USE, ["write"])

    model_server.reply(Reply(parts=(Say(f"I look.\n\n<tool_call>\n{JSON_A}\n</tool_call>", size=5),)))
    events = await events_of(chat, ModelRequest(system="", messages=(said("go"),), tools=(READ,)))
    message = events[-1].message
    assert message.stop is StopReason.TOOL_USE
    assert message.blocks[0] == TextBlock(text="I look.")
    assert [(call.name, call.arguments_json) for call in message.calls] == [("read", json.dumps(A))]
    assert message.calls[0].id
    assert "<" not in "".join(event.text for event in events if event.kind == "text")
    assert {event.name for event in events if event.kind == "call"} <= {"", "read"}


async def test_a_call_that_the_server_found_itself_counts_once(model_server, chat):
    model_server.reply(Reply(parts=(Say(f"<tool_call>{JSON_A}</tool_call>"), Call("read", A))))

    message = await ask(chat)

    assert len(message.calls) == 1
    assert message.text == ""


async def test_a_call_cut_before_its_name_by_the_output_limit_leaves_no_tag(model_server, chat):
    model_server.reply(say('I look.\n<tool_call>\n{"na', stop="length"))

    message = await ask(chat)

    assert (message.text.strip(), message.stop) == ("I look.", StopReason.MAX_TOKENS)


def test_what_openais_own_models_write_is_never_taken_for_a_call():
    request = ModelRequest(system="", messages=(), tools=(READ,))
    chunk = {"choices": [{"delta": {"content": f"<tool_call>{JSON_A}</tool_call>"}, "finish_reason": "stop"}]}
    for url, count in ((None, 0), ("http://127.0.0.1:9/v1", 1)):
        reply = OpenAIChatProvider("m", "key", url)._reply(request)
        reply.take(json.dumps(chunk).encode())
        assert len(reply.message().calls) == count
