"""Which instructions the model gets, in which order, and how much of them."""

from __future__ import annotations

from codeagent.agent.instructions import LONGEST, MOST, Instructions, own_instructions, project_instructions
from codeagent.core.project import Brings, ProjectFile


def file(name, text, **more):
    return ProjectFile(name=name, brings=Brings.INSTRUCTIONS, text=text, digest=text[:9], **more)


def texts(*files):
    return [(one.source, one.text) for one in project_instructions(files)]


def test_the_nearest_come_last():
    assert texts(file("../AGENTS.md", "far\n"), file("AGENTS.md", "near\n")) == [
        ("../AGENTS.md", "far"),
        ("AGENTS.md", "near"),
    ]


def test_both_files_of_a_folder_count_when_they_differ():
    assert texts(file("AGENTS.md", "a"), file("CLAUDE.md", "b")) == [("AGENTS.md", "a"), ("CLAUDE.md", "b")]


def test_two_files_of_a_folder_that_say_the_same_are_one():
    assert texts(file("AGENTS.md", "a\n"), file("CLAUDE.md", "a")) == [("AGENTS.md", "a")]


def test_a_file_that_only_names_the_one_beside_it_says_nothing():
    assert texts(file("AGENTS.md", "a"), file("CLAUDE.md", "@AGENTS.md\n")) == [("AGENTS.md", "a")]
    assert texts(file("AGENTS.md", "@CLAUDE.md"), file("CLAUDE.md", "b")) == [("CLAUDE.md", "b")]
    assert texts(file("CLAUDE.md", "@AGENTS.md")) == [("CLAUDE.md", "@AGENTS.md")]


def test_what_has_a_problem_or_says_nothing_or_is_no_instruction_does_not_count():
    command = ProjectFile(name=".codeagent/commands/x.md", brings=Brings.COMMAND, text="x")
    assert texts(file("AGENTS.md", "", problem="is a pipe"), file("CLAUDE.md", " \n"), command) == []


def test_control_characters_are_taken_out():
    assert texts(file("AGENTS.md", "a\x1b[2Jb\r\nc\x07")) == [("AGENTS.md", "ab\nc")]


def test_a_long_file_is_cut_at_the_end_of_a_line_and_says_so():
    line = "ä" * 49 + "\n"
    (one,) = project_instructions([file("AGENTS.md", line * 1_000)])
    assert one.note == f"only the first {LONGEST // 99} of 1,000 lines fit"
    assert one.text == line * (LONGEST // 99) + f"[cut here: {one.note}]"


def test_one_line_that_is_too_long_is_left_out():
    one = own_instructions("~/AGENTS.md", "x" * (LONGEST + 1))
    assert one == Instructions(source="~/AGENTS.md", text="[cut here: too long to be used]", note="too long to be used")


def test_when_room_is_short_the_nearest_files_have_it():
    far, middle, near = (file(f"{'../' * depth}AGENTS.md", f"{depth}\n" * (LONGEST // 2)) for depth in (2, 1, 0))
    chosen = project_instructions([far, middle, near])
    assert [bool(one.note) for one in chosen] == [True, False, False]
    assert chosen[0].note == "only the first 1 of 16,384 lines fit"
    assert sum(len(one.text) for one in chosen) <= MOST + 100
