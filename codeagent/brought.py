"""What the project and the person bring along: read once, asked about, and then taken into a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from codeagent.agent.instructions import Instructions, own_instructions, project_instructions
from codeagent.agent.meter import tokens_of_text
from codeagent.config.custom_commands import why_no_command
from codeagent.config.launch import Launch
from codeagent.config.places import project_config_file
from codeagent.config.sources import Source, check, parse, project_settings, unknown_settings
from codeagent.core.approvals import (
    ApprovalRequest,
    Approve,
    Decision,
    Deny,
    ProjectEntry,
    ProjectPreview,
    Scope,
    Verdict,
)
from codeagent.core.context import ContextPart
from codeagent.core.desk import Approver
from codeagent.core.errors import ConfigError, FileProblem, NotOpened
from codeagent.core.events import Level, NoticeGiven
from codeagent.core.project import Brings, FileChange, ProjectFile, Standing, Trust
from codeagent.core.text import counted
from codeagent.core.values import value
from codeagent.policy.trust import (
    COMMANDS,
    UNTIL_MENDED,
    can_take_effect,
    distrust,
    fingerprint,
    read_project,
    settings_of,
    standing,
    trust,
)
from codeagent.workspace.files import read_bytes

_BECAUSE = (
    "Whoever wrote these files decides with them what the model is told and some of the settings. Your yes holds for "
    "exactly what they say now: when one of them changes you are asked again, and told which. It is kept in "
    "codeagent's own folder, outside the project. Whatever they say, a project can set no address that anything is "
    "sent to, no key, no rule that allows something, neither auto mode nor a missing sandbox."
)


@value
class Brought:
    """What there is, and whether the project's part of it counts in this session.

    ``own`` are the person's own instructions; ``notices`` are told when the session opens.
    """

    launch: Launch
    files: tuple[ProjectFile, ...]
    standing: Standing
    own: Instructions | None = None
    is_trusted: bool = False
    notices: tuple[NoticeGiven, ...] = ()

    @property
    def settings(self) -> str | None:
        """The text of the project's settings, None when there are none, they do not count, or cannot be used."""
        return settings_of(self.files) if self.is_trusted and not self.fault() else None

    def fault(self) -> str:
        """Why the project's settings cannot be used, as a sentence that names their file; empty where they can.

        It is also empty where they do not count anyway.
        """
        if not self.is_trusted:
            return ""
        if unread := next((file for file in self.files if file.brings is Brings.SETTINGS and file.problem), None):
            return f"{unread.name} {unread.problem}."
        text = settings_of(self.files)
        if text is None:
            return ""
        file = project_config_file(self.launch.root)
        try:
            check(Source(name=str(file), tables=project_settings(file, text)[0], text=text))
        except ConfigError as error:
            return error.message
        return " ".join(said for said, is_limit in self._unknown() if is_limit)

    def unknown(self) -> tuple[str, ...]:
        """A sentence for each setting of the project that does not exist; none where that is a fault."""
        return () if self.fault() else tuple(said for said, _ in self._unknown())

    def _unknown(self) -> tuple[tuple[str, bool], ...]:
        if (text := settings_of(self.files)) is None:
            return ()
        file = project_config_file(self.launch.root)
        return unknown_settings(Source(name=str(file), tables=parse(file, text), text=text))

    @property
    def instructions(self) -> tuple[Instructions, ...]:
        """What the model is told, in a stable order: the person's own first, the nearest of the project last."""
        own = () if self.own is None else (self.own,)
        return own + (project_instructions(self.files) if self.is_trusted else ())

    def may_use_commands(self) -> bool:
        """Whether the project's commands count, as their files are now; call it on a thread."""
        commands = [file for file in self.files if file.brings is Brings.COMMAND]
        if not self.is_trusted or any(file.name == COMMANDS and file.problem for file in commands):
            return False
        return fingerprint(read_project(self.launch.root)) == fingerprint(self.files)

    def context(self) -> tuple[ContextPart, ...]:
        """Each text of instructions with its size, and what became of its file since; call it on a thread."""
        found = look_at_project(self.launch)
        now = {one.source: one.text for one in replace(found, is_trusted=True).instructions}
        before = {one.source for one in self.instructions}
        parts = [
            ContextPart(name=one.source, tokens=tokens_of_text(one.text), note=one.note or _became(one, now))
            for one in self.instructions
        ]
        would_count = self.is_trusted or found.standing.trust is Trust.TRUSTED
        is_new = "not in use: /new takes it up" if would_count else "not in use: not trusted, /trust asks"
        return (*parts, *(ContextPart(name=name, tokens=0, note=is_new) for name in now if name not in before))


def look_at_project(launch: Launch) -> Brought:
    """Reads what there is and where it stands with the person; nothing of it counts yet. Call it on a thread."""
    files = read_project(launch.root)
    own, notices = _own(launch)
    found = standing(files, launch.root, launch.places.trust_file)
    return Brought(launch=launch, files=files, standing=found, own=own, notices=notices)


def without_asking(found: Brought) -> Brought:
    """The project counts where the person said so before; where not, that is told as a warning."""
    return _settled(found, Level.WARNING)


async def with_asking(found: Brought, approver: Approver) -> Brought:
    """Asks the person where that is needed; raises NotOpened when the question is closed without an answer."""
    launch, key = found.launch, fingerprint(found.files)
    is_known = launch.trusts or key in launch.answered or found.standing.trust is Trust.TRUSTED
    if not can_take_effect(found.files) or (is_known and not launch.asks_trust):
        return _settled(found, Level.INFO)
    match await approver.ask(_question(found)):
        case Approve(scope=Scope.PROJECT):
            found = await asyncio.to_thread(_remember, found)
            launch.answered[key] = True
        case Approve():
            launch.answered[key] = True
        case Deny():
            found = await asyncio.to_thread(_forget, found)
            launch.answered[key] = False
        case _:
            raise NotOpened("The question about the project's files was not answered.")
    return _settled(found, Level.INFO)


def _settled(found: Brought, level: Level) -> Brought:
    """What counts by what is known of the person's will; ``level`` is that of the notice on what does not."""
    answered = found.launch.answered.get(fingerprint(found.files))
    problems = [f"{file.name} {file.problem}; it has no effect." for file in found.files if file.problem]
    if found.launch.trusts or answered or (answered is None and found.standing.trust is Trust.TRUSTED):
        cut = [f"{one.source}: {one.note}." for one in project_instructions(found.files) if one.note]
        found = replace(found, is_trusted=True)
        faults = [f"{fault} {UNTIL_MENDED}"] if (fault := found.fault()) else found.unknown()
        return replace(found, notices=(*found.notices, *map(_warning, (*problems, *faults, *cut))))
    if found.standing.trust is Trust.NOTHING_TO_TRUST:
        return replace(found, notices=(*found.notices, *map(_warning, problems)))
    way = "/trust asks again." if level is Level.INFO else "To let it: codeagent trust, or --trust for one run."
    left_out = [NoticeGiven(text=f"{text} {way}", level=level) for text in _left_out(found)]
    return replace(found, notices=(*found.notices, *left_out))


def _warning(text: str) -> NoticeGiven:
    return NoticeGiven(text=text, level=Level.WARNING)


def _remember(found: Brought) -> Brought:
    """Keeps the answer; where that cannot be done it holds for this run."""
    try:
        trust(found.launch.root, found.launch.places.trust_file, found.files)
    except OSError as error:
        said = f"That the project is trusted could not be kept: {error.strerror}. It holds for this run."
        return replace(found, notices=(*found.notices, _warning(said)))
    return found


def _forget(found: Brought) -> Brought:
    """Takes an earlier yes to the same files back; where that cannot be done, for this run."""
    if found.standing.trust is not Trust.TRUSTED:
        return found
    try:
        distrust(found.launch.root, found.launch.places.trust_file)
    except OSError as error:
        said = f"That the project is not trusted any more could not be kept: {error.strerror}. It holds for this run."
        return replace(found, notices=(*found.notices, _warning(said)))
    return found


def _own(launch: Launch) -> tuple[Instructions | None, tuple[NoticeGiven, ...]]:
    """The person's own instructions, and what is to be said of them."""
    path = launch.places.instructions_file
    try:
        if not path.exists():
            return None, ()
        text = read_bytes(path.resolve(), limit=1024 * 1024).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, FileProblem) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        return None, (_warning(f"Your own instructions in {path} are not used: {reason}"),)
    if not text.strip():
        return None, ()
    own = own_instructions(str(path), text)
    return own, (_warning(f"{path}: {own.note}."),) if own.note else ()


def _left_out(found: Brought) -> Iterator[str]:
    """What is told, once, of a project that does not count."""
    names = [file.name for file in found.files if not file.problem]
    if not names:
        return
    others = {1: "", 2: " and 1 more file of it"}.get(len(names), f" and {len(names) - 1:,} more files of it")
    why = "changed since you trusted it" if found.standing.trust is Trust.CHANGED else "is not trusted"
    yield f"This project {why}: {names[0]}{others} {'has' if len(names) == 1 else 'have'} no effect."


def _became(one: Instructions, now: dict[str, str]) -> str:
    if one.source not in now:
        return "gone since the session began"
    return "" if now[one.source] == one.text else "changed since the session began: /new takes it up"


def _question(found: Brought) -> ApprovalRequest:
    changes = found.standing.changes
    preview = ProjectPreview(
        root=found.launch.root,
        entries=tuple(_entries(found)),
        gone=tuple(name for name, change in changes.items() if change is FileChange.GONE),
    )
    verdict = Verdict(decision=Decision.ASK, because=_BECAUSE)
    return ApprovalRequest(call_id="project", tool="trust", preview=preview, touches=(), verdict=verdict)


def _entries(found: Brought) -> Iterator[ProjectEntry]:
    """Each file as the person decides about it; what is shown is what would be used."""
    used = {one.source: one for one in project_instructions(found.files)}
    for file in found.files:
        change = found.standing.changes.get(file.name)
        entry = ProjectEntry(name=file.name, effect=_effect(file), change=str(change or ""))
        if file.problem:
            yield replace(entry, effect="no effect", notes=(file.problem,))
            continue
        if file.brings is Brings.COMMAND and (reason := why_no_command(_command_name(file), file.text)):
            yield replace(entry, effect="no effect", text=file.text, notes=(f"makes no command: {reason}.",))
            continue
        notes = _settings_notes(found, file) if file.brings is Brings.SETTINGS else ()
        text = file.text
        if file.brings is Brings.INSTRUCTIONS:
            one = used.get(file.name)
            text = "" if one is None else one.text
            notes = ("says the same as the file beside it",) if one is None and file.text.strip() else notes
            notes = (one.note,) if one is not None and one.note else notes
        yield replace(entry, text=text, notes=notes)


def _effect(file: ProjectFile) -> str:
    lines = file.text.count("\n") + (0 if file.text.endswith("\n") else 1) if file.text else 0
    match file.brings:
        case Brings.SETTINGS:
            return "settings"
        case Brings.INSTRUCTIONS:
            return f"instructions for the model, {counted(lines, 'line')}"
        case Brings.COMMAND:
            return f"the command /{_command_name(file)}"


def _command_name(file: ProjectFile) -> str:
    return ":".join(Path(file.name).with_suffix("").parts[2:])


def _settings_notes(found: Brought, file: ProjectFile) -> tuple[str, ...]:
    """Which settings would count and which not; what is wrong with the file otherwise."""
    path = project_config_file(found.launch.root)
    try:
        harmless, refused = project_settings(path, file.text)
        check(Source(name=file.name, tables=harmless))
    except ConfigError as error:
        return (f"no effect until it is mended: {error.message.removeprefix(f'{path} is ').removeprefix(f'{path}: ')}",)
    names = [f"{table}.{key}" for table, values in harmless.items() for key in values]
    notes = [f"sets {', '.join(names)}" if names else "sets nothing"] if names or not refused else []
    if refused:
        notes.append(f"left out, since no project may set them: {', '.join(refused)}")
    return tuple(notes)
