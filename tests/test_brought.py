"""What the project brings along counts when the person said so, and only as it was shown."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from codeagent.brought import look_at_project, with_asking, without_asking
from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.core.approvals import Answer, ApprovalRequest, Approve, Deny, Scope, Withdraw
from codeagent.core.errors import NotOpened
from codeagent.core.events import Level
from codeagent.policy.trust import is_trusted, trust

TRUST = Approve(scope=Scope.PROJECT)
THIS_RUN = Approve(scope=Scope.SESSION)
CONFIG = '[model]\nname = "scripted/x"\nopenai_base_url = "http://127.0.0.1:9"\n'


@pytest.fixture
def launch(tmp_path):
    root = tmp_path / "shop"
    (root / ".codeagent/commands").mkdir(parents=True)
    (root / ".codeagent/config.toml").write_text(CONFIG)
    (root / ".codeagent/commands/review.md").write_text("Review it.")
    (root / "AGENTS.md").write_text("Use tabs.\n")
    return Launch(root=root, places=find_places({"CODEAGENT_HOME": str(tmp_path / "home")}), environ={})


@dataclass
class Person:
    """Gives one answer after the other and keeps what was asked."""

    answers: list[Answer]
    asked: list[ApprovalRequest] = field(default_factory=list)

    async def ask(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        return self.answers.pop(0)


async def brought_by(launch, *answers):
    person = Person(list(answers))
    return await with_asking(look_at_project(launch), person), person


def said(brought):
    return [notice.text for notice in brought.notices]


async def test_a_yes_lets_all_of_it_count_and_is_kept(launch):
    brought, _ = await brought_by(launch, TRUST)
    assert brought.settings == CONFIG
    assert [one.text for one in brought.instructions] == ["Use tabs."]
    assert brought.may_use_commands()
    assert said(brought) == []
    again, person = await brought_by(launch)
    assert again.is_trusted
    assert person.asked == []


async def test_not_now_lets_none_of_it_count_and_is_not_asked_again_in_this_run(launch):
    brought, _ = await brought_by(launch, Deny())
    assert brought.settings is None
    assert brought.instructions == ()
    assert not brought.may_use_commands()
    assert [notice.level for notice in brought.notices] == [Level.INFO]
    assert "3 files" not in said(brought)[0]
    assert ".codeagent/config.toml and 2 more files of it have no effect" in said(brought)[0]
    again, person = await brought_by(launch)
    assert not again.is_trusted
    assert person.asked == []
    assert not launch.places.trust_file.exists()


async def test_for_this_run_counts_and_is_not_kept(launch):
    brought, _ = await brought_by(launch, THIS_RUN)
    assert brought.is_trusted
    assert (await brought_by(launch))[0].is_trusted
    assert not launch.places.trust_file.exists()


async def test_without_an_answer_no_session_is_opened(launch):
    with pytest.raises(NotOpened):
        await brought_by(launch, Withdraw(reason="codeagent was closed"))
    assert not launch.places.trust_file.exists()


async def test_what_was_shown_is_what_counts_and_what_is_kept(launch):
    class Slow(Person):
        async def ask(self, request: ApprovalRequest) -> Answer:
            (launch.root / "AGENTS.md").write_text("Be nasty.\n")
            return await super().ask(request)

    brought = await with_asking(look_at_project(launch), Slow([TRUST]))
    assert [one.text for one in brought.instructions] == ["Use tabs."]
    assert not brought.may_use_commands()
    again, person = await brought_by(launch, Deny())
    assert not again.is_trusted
    assert [entry.change for entry in person.asked[0].preview.entries] == ["", "changed", ""]


async def test_a_change_asks_again_in_the_same_run_and_says_what_changed(launch):
    await brought_by(launch, TRUST)
    (launch.root / "CLAUDE.md").write_text("And more.")
    (launch.root / ".codeagent/commands/review.md").unlink()
    brought, person = await brought_by(launch, Deny())
    preview = person.asked[0].preview
    assert {entry.name: entry.change for entry in preview.entries if entry.change} == {"CLAUDE.md": "new"}
    assert preview.gone == (".codeagent/commands/review.md",)
    assert "This project changed since you trusted it" in said(brought)[0]


async def test_settings_that_no_project_may_set_are_named_and_no_others_promised(launch):
    (launch.root / ".codeagent/config.toml").write_text('[permissions]\nmode = "auto"\n')
    _, person = await brought_by(launch, Deny())
    (config,) = [entry for entry in person.asked[0].preview.entries if entry.name == ".codeagent/config.toml"]
    assert config.notes == ("left out, since no project may set them: permissions.mode",)


async def test_the_question_says_what_each_file_would_do(launch):
    _, person = await brought_by(launch, Deny())
    entries = {entry.name: entry for entry in person.asked[0].preview.entries}
    config = entries[".codeagent/config.toml"]
    assert config.effect == "settings"
    assert config.notes == ("sets model.name", "left out, since no project may set them: model.openai_base_url")
    assert config.text == CONFIG
    assert entries["AGENTS.md"].effect == "instructions for the model, 1 line"
    assert entries[".codeagent/commands/review.md"].effect == "the command /review"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("help", "Say more.", "/help is one of codeagent's own. Give it another name"),
        ("a b", "Say more.", "a name has letters, digits, - and _"),
        ("empty", "---\ndescription: x\n---\n", "there is nothing in it to send"),
    ],
)
async def test_the_question_says_of_a_file_that_makes_no_command_why(launch, name, text, reason):
    (launch.root / ".codeagent/commands" / f"{name}.md").write_text(text)
    _, person = await brought_by(launch, Deny())
    entries = {entry.name: entry for entry in person.asked[0].preview.entries}
    entry = entries[f".codeagent/commands/{name}.md"]
    assert (entry.effect, entry.notes, entry.text) == ("no effect", (f"makes no command: {reason}.",), text)


@pytest.mark.parametrize("text", ["[model", "[model]\nno_such = 1\nname = 3", "name = 1"])
async def test_the_question_says_when_the_settings_are_broken(launch, text):
    (launch.root / ".codeagent/config.toml").write_text(text)
    _, person = await brought_by(launch, Deny())
    assert person.asked[0].preview.entries[0].notes


@pytest.mark.parametrize("text", ["[model", "[model]\nname = 3", "name = 1"])
async def test_broken_settings_that_are_trusted_have_no_effect_and_say_so(launch, text):
    (launch.root / ".codeagent/config.toml").write_text(text)
    brought, person = await brought_by(launch, TRUST)
    assert person.asked[0].preview.entries[0].notes[0].startswith("no effect until it is mended: ")
    assert brought.settings is None
    assert [one.text for one in brought.instructions] == ["Use tabs."]
    (notice,) = brought.notices
    assert notice.text.startswith(str(launch.root / ".codeagent/config.toml"))
    assert notice.text.endswith(" As limits may be missing, every call is asked about until that is mended.")
    assert notice.text.removeprefix(brought.fault()) != notice.text
    assert said(without_asking(look_at_project(launch))) == [notice.text]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (
            '[permissions]\ndenied = ["bash(ls)"]',
            "line 2: there is no setting permissions.denied: did you mean",
        ),
        (
            '[Permissions]\ndeny = ["bash(ls)"]',
            "line 2: there is no setting Permissions.deny: did you mean",
        ),
        ('permissions.never = ["bash(ls)"]', "line 1: there is no setting permissions.never."),
    ],
)
async def test_a_misspelt_limit_of_a_trusted_project_is_a_fault_that_says_what_was_meant(launch, text, meant):
    (launch.root / ".codeagent/config.toml").write_text(text)
    brought, _ = await brought_by(launch, TRUST)
    says = f"{launch.root / '.codeagent/config.toml'}, {meant}"
    assert brought.fault() == (f"{says} permissions.deny?" if meant.endswith("mean") else says)
    (notice,) = brought.notices
    assert notice.text == f"{brought.fault()} As limits may be missing, every call is asked about until that is mended."


async def test_another_misspelt_setting_of_a_trusted_project_is_told_and_the_others_count(launch):
    (launch.root / ".codeagent/config.toml").write_text('[model]\neffrot = "low"\nmax_tokens = 9\n[ui]\nvi = true')
    brought, _ = await brought_by(launch, TRUST)
    (notice,) = brought.notices
    assert notice.text.endswith("config.toml, line 2: there is no setting model.effrot: did you mean model.effort?")
    assert brought.settings is not None


@pytest.mark.parametrize("content", [b"\xff", b"x" * 70_000, b"a\0b"])
async def test_settings_that_are_no_text_are_a_fault_where_the_project_counts(launch, content):
    (launch.root / ".codeagent/config.toml").write_bytes(content)
    brought, _ = await brought_by(launch, TRUST)
    assert brought.settings is None
    assert brought.fault().startswith(".codeagent/config.toml ")
    assert said(brought)[-1].endswith("until that is mended.")


async def test_settings_of_an_untrusted_project_are_no_fault(launch):
    (launch.root / ".codeagent/config.toml").write_text("[model")
    brought, _ = await brought_by(launch, Deny())
    assert brought.fault() == ""


async def test_what_can_have_no_effect_says_why(launch):
    (launch.root / "AGENTS.md").unlink()
    (launch.root / "AGENTS.md").symlink_to("/etc/hostname")
    brought, person = await brought_by(launch, TRUST)
    entry = person.asked[0].preview.entries[1]
    assert (entry.effect, entry.text) == ("no effect", "")
    assert "is a link to a place outside the project" in entry.notes[0]
    assert brought.instructions == ()
    assert "AGENTS.md is a link to a place outside the project" in said(brought)[0]


async def test_where_nothing_is_brought_along_nothing_is_asked(launch, tmp_path):
    empty = Launch(root=tmp_path, places=launch.places, environ={})
    brought, person = await brought_by(empty)
    assert person.asked == []
    assert said(brought) == []


async def test_asking_anew_can_take_a_yes_back(launch):
    await brought_by(launch, TRUST)
    again = Launch(root=launch.root, places=launch.places, environ={}, asks_trust=True, answered=launch.answered)
    brought, person = await brought_by(again, Deny())
    assert len(person.asked) == 1
    assert not brought.is_trusted
    assert not (await brought_by(launch))[0].is_trusted
    assert not is_trusted(launch.root, launch.places.trust_file)


def test_without_a_person_an_untrusted_project_is_told_of_as_a_warning(launch):
    brought = without_asking(look_at_project(launch))
    assert not brought.is_trusted
    assert [notice.level for notice in brought.notices] == [Level.WARNING]
    assert "codeagent trust, or --trust" in said(brought)[0]


def test_without_a_person_what_was_trusted_before_counts(launch):
    trust(launch.root, launch.places.trust_file)
    assert without_asking(look_at_project(launch)).is_trusted


def test_a_flag_lets_it_count_for_one_run(launch):
    flagged = Launch(root=launch.root, places=launch.places, environ={}, trusts=True)
    assert without_asking(look_at_project(flagged)).is_trusted
    assert not launch.places.trust_file.exists()


async def test_ones_own_instructions_always_count_and_come_first(launch):
    launch.places.config.mkdir(parents=True)
    launch.places.instructions_file.write_text("Be brief.\n")
    assert [one.text for one in without_asking(look_at_project(launch)).instructions] == ["Be brief."]
    brought, _ = await brought_by(launch, TRUST)
    assert [one.text for one in brought.instructions] == ["Be brief.", "Use tabs."]


async def test_a_project_of_which_nothing_can_be_used_is_told_without_a_question(tmp_path):
    launch = Launch(root=tmp_path, places=find_places({"CODEAGENT_HOME": str(tmp_path / "home")}), environ={})
    (tmp_path / "AGENTS.md").write_bytes(b"U\0s\0e\0")
    brought, person = await brought_by(launch)
    assert (person.asked, said(brought)) == ([], ["AGENTS.md is not text; it has no effect."])


def test_ones_own_instructions_that_cannot_be_read_are_told(launch):
    launch.places.config.mkdir(parents=True)
    launch.places.instructions_file.write_bytes(b"\xff\xfe\x00")
    assert "it is not UTF-8 text" in said(look_at_project(launch))[0]


async def test_the_sizes_are_told_and_what_became_of_the_files(launch):
    brought, _ = await brought_by(launch, TRUST)
    assert [(part.name, part.tokens, part.note) for part in brought.context()] == [("AGENTS.md", 3, "")]
    (launch.root / "AGENTS.md").write_text("Use spaces.\n")
    (launch.root / "CLAUDE.md").write_text("New.\n")
    notes = {part.name: part.note for part in brought.context()}
    assert notes == {
        "AGENTS.md": "changed since the session began: /new takes it up",
        "CLAUDE.md": "not in use: /new takes it up",
    }
    (launch.root / "AGENTS.md").unlink()
    assert {part.name: part.note for part in brought.context()}["AGENTS.md"] == "gone since the session began"


async def test_the_sizes_name_what_is_not_trusted(launch):
    brought, _ = await brought_by(launch, Deny())
    assert [(part.name, part.note) for part in brought.context()] == [
        ("AGENTS.md", "not in use: not trusted, /trust asks")
    ]


async def test_the_sizes_name_what_is_trusted_since_the_session_began(launch):
    (launch.root / "AGENTS.md").unlink()
    brought = without_asking(look_at_project(launch))
    (launch.root / "AGENTS.md").write_text("Use tabs.\n")
    trust(launch.root, launch.places.trust_file)
    assert [(part.name, part.note) for part in brought.context()] == [("AGENTS.md", "not in use: /new takes it up")]


async def test_an_answer_that_cannot_be_kept_holds_for_the_run(launch):
    launch.places.state.parent.mkdir(parents=True)
    launch.places.state.write_text("in the way")
    brought, _ = await brought_by(launch, TRUST)
    assert brought.is_trusted
    assert "could not be kept" in said(brought)[0]
