"""Decides about one shell command by rules and mode: what is to be said of each of its parts, and of all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TypeVar

from codeagent.core.approvals import Decision, Mode, Verdict, VerdictPart
from codeagent.core.protocols import Cover
from codeagent.policy.beyond_sandbox import beyond_sandbox
from codeagent.policy.commands import Analysis, Command
from codeagent.policy.effort import Effort, TooMuch, spend
from codeagent.policy.fed_readers import FedReaders
from codeagent.policy.files_in_code import FilesInCode
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.from_root import from_root
from codeagent.policy.git_programs import configured_programs
from codeagent.policy.losses import Losses
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.own_processes import OwnProcesses
from codeagent.policy.read_only import reading
from codeagent.policy.reading import Reading
from codeagent.policy.real_programs import chosen_by, own_program, steering_files
from codeagent.policy.rules import Rule, RuleSet, exact_rule, remedy
from codeagent.policy.run_in_texts import RunInTexts
from codeagent.policy.services_named import NamedServices
from codeagent.policy.shell_places import elsewhere
from codeagent.policy.shell_script import Direction, Problem, SimpleCommand
from codeagent.policy.shell_words import Word
from codeagent.policy.surely_written import surely_written
from codeagent.policy.trees import whole_reading
from codeagent.policy.verdicts import ORDER, sentence
from codeagent.policy.wrappers import base_name

Seen = TypeVar("Seen")

_WRITERS = frozenset(
    {"tee", "touch", "truncate", "cp", "mv", "rm", "rmdir", "mkdir", "ln", "chmod", "chown", "chgrp", "dd", "install"}
    | {"rsync", "patch", "sed", "tar", "unzip", "shred", "sponge", "perl", "curl", "wget"}
)
_NO_READERS = frozenset({"touch", "rm", "rmdir", "mkdir", "chmod", "chown", "chgrp", "kill"})
_COMMAND = 20
_LOOKED_UP = 5
_MOST_EFFORT = 200_000
"""Less than a second: five thousand commands, twenty thousand files, or a hundred runs of git."""
_EFFORT_FOR_A_PART = 20_000

TOO_MUCH = "It would take too long to look at all that it does."
_UNSEEN = " Rules on reading do not hold for what the program itself opens."
_HELD = ", confined"
_HELD_BUT = ", confined but for services and other processes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a decision depends on besides the call: the mode, and what holds a command.

    ``is_confined``: the operating system holds commands in the workspace.
    ``is_unconfined_by_choice``: the person switched that off on purpose.
    ``cover`` knows what undo would bring back; None when nothing is kept before.
    """

    mode: Mode = Mode.ASK
    is_confined: bool = False
    is_unconfined_by_choice: bool = False
    cover: Cover | None = None

    @property
    def runs_commands(self) -> bool:
        """Whether commands run without a question unless something stands against them."""
        return self.mode is Mode.AUTO and (self.is_confined or self.is_unconfined_by_choice)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision on one simple command; ``rules`` are those that would allow it, all together.

    ``is_by_mode``: nothing but auto mode allows it, so that the reason is how that holds the whole line.
    """

    command: Command
    decision: Decision
    because: str
    rules: tuple[str, ...] = ()
    is_covered: bool = False
    is_by_mode: bool = False


class CommandCase:
    """One shell command before the judge: its parts, and the ruling on each."""

    def __init__(self, analysis: Analysis, rules: RuleSet, paths: NamedPaths, around: Surroundings) -> None:
        self.analysis = analysis
        is_whole = not any(problem.is_unread for problem in analysis.doubts)
        self.effort = Effort(_MOST_EFFORT if is_whole else _EFFORT_FOR_A_PART)
        self._effort_to_deny = Effort(_MOST_EFFORT)
        self._rules = rules
        self._paths = paths
        self._around = around
        self._processes = OwnProcesses(analysis)
        self._coded = FilesInCode(analysis, paths)
        self._texts = RunInTexts(analysis, self._processes.holds)
        self._fed = FedReaders(analysis, paths)
        self._services = NamedServices(analysis, self._processes.holds, self._texts.beyond, paths.roots)
        self._programs = cache(partial(configured_programs, roots=paths.roots))
        self._own_program = cache(partial(own_program, roots=paths.roots))
        self.losses = Losses(analysis, paths, self.changes, around.cover)

    @cached_property
    def rulings(self) -> tuple[Ruling, ...]:
        """The decision on each simple command as it is written."""
        with self.effort.drawn_on():
            return tuple(map(self._ruling, self.analysis.commands))

    def _ruling(self, command: Command) -> Ruling:
        try:
            spend(_COMMAND + len(command.words))
            return self._rule(command)
        except TooMuch:
            return self._denied_at_least(command) or Ruling(command=command, decision=self._doubtful, because=TOO_MUCH)

    def _denied_at_least(self, command: Command) -> Ruling | None:
        """The ruling by deny rules alone, which hold for what was seen however much there is."""
        with self._effort_to_deny.drawn_on():
            try:
                return self._denied(command)
            except TooMuch:
                return None

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on all parts together: the strictest counts."""
        verdict = self._joined(self.rulings)
        with self.effort.drawn_on():
            try:
                is_asked = verdict.decision is Decision.ASK
                writes = surely_written(self.analysis.commands, self._paths) if is_asked else ()
                if self._around.is_confined and self._services.are_open(verdict.decision, self.changes):
                    verdict = self._joined(self.rulings, opens_services=True)
                lost = self.losses.lost
                loses = (bool(lost) and any(self.losses.sentences(ruling.command)) for ruling in self.rulings)
                parts = tuple(replace(part, loses=one) for part, one in zip(verdict.parts, loses, strict=True))
                return replace(verdict, parts=parts, losses=lost, writes=writes)
            except TooMuch:
                return self._too_much(verdict)

    def _too_much(self, verdict: Verdict) -> Verdict:
        """The verdict where it would take too long to tell what is lost and written."""
        if verdict.decision is not Decision.ALLOW:
            return replace(verdict, remedy="")
        return replace(verdict, decision=self._doubtful, because=TOO_MUCH, is_covered=False)

    @property
    def _doubtful(self) -> Decision:
        """What is done where nobody can tell what a command does."""
        return Decision.DENY if self._around.mode is Mode.PLAN else Decision.ASK

    def _joined(self, rulings: Sequence[Ruling], *, opens_services: bool = False) -> Verdict:
        """All rulings as one verdict; ``opens_services``: what runs is held but for services and other processes."""
        if opens_services:
            held = {covered: self._by_mode(_HELD_BUT, is_covered=covered) for covered in (False, True)}
            rulings = [replace(one, because=held[one.is_covered]) if one.is_by_mode else one for one in rulings]
        parts = tuple(
            VerdictPart(
                words=tuple(word.text for word in ruling.command.words) or (ruling.command.simple.source,),
                decision=ruling.decision,
                because=ruling.because,
            )
            for ruling in rulings
        )
        worst = max(rulings, key=lambda ruling: (ORDER.index(ruling.decision), ruling.is_covered), default=None)
        decision, because = (worst.decision, worst.because) if worst else (Decision.ALLOW, "It runs nothing.")
        doubts = self.analysis.problems
        asked = next((doubt for doubt in doubts if not self._lets(doubt)), None)
        if asked and decision is not Decision.DENY:
            decision = self._doubtful
            because = f"It is not certain what this does: {asked.reason}."
        rules = tuple(dict.fromkeys(rule for ruling in rulings for rule in ruling.rules))
        can_be_allowed = not doubts and all(ruling.rules for ruling in rulings if ruling.decision is not Decision.ALLOW)
        return Verdict(
            decision=decision,
            because=because,
            parts=parts,
            is_opaque=self.analysis.is_opaque,
            remedy=remedy(rules) if can_be_allowed and decision is Decision.ASK else "",
            is_covered=decision is Decision.ALLOW and any(ruling.is_covered for ruling in rulings),
            opens_services=opens_services,
        )

    def _by_mode(self, held: str, *, is_covered: bool) -> str:
        """Why auto mode allows it."""
        undo = ", and undo brings back what this one would delete" if is_covered else ""
        return f"Auto mode runs commands{held if self._around.is_confined else ''}{undo}."

    def _denied(self, command: Command) -> Ruling | None:
        """The ruling by a deny rule that names the command, or what it runs."""
        for found in command.everything():
            rule = self._rules.find_command(Decision.DENY, found.words)
            if rule:
                return Ruling(command, Decision.DENY, f"The rule {rule} denies {found.simple.name or 'it'}.")
        return None

    def changes(self, command: Command) -> str:
        """Why a command as it is written may change something, or an empty string."""
        simple = command.simple
        written = [found.target for found in simple.redirections if found.direction is not Direction.READS]
        if any(target.text != "/dev/null" or not target.is_fixed for target in written):
            return "it writes to a file"
        if not simple.words:
            return ""
        found = reading(simple.words)
        return found if isinstance(found, str) else self._chosen_for(command, found)

    def _chosen_for(self, command: Command, found: Reading) -> str:
        """The files and settings that choose what a command runs which only reads by its words; empty when none do."""
        simple = command.simple
        names = [one.simple.name for one in command.everything()]
        spend(_LOOKED_UP * len(names))
        own = next((why for name in names if (why := self._own_program(name))), "")
        files = steering_files(found, names)
        folders = self._paths.folders(simple.places, found.base) if found.uses_git or files else ()
        if own or ((found.uses_git or files) and not folders):
            return own or f"where {simple.name} runs is not known"
        spend(_LOOKED_UP * (len(files) + found.uses_git) * len(folders))
        chosen = next((file for folder in folders if (file := chosen_by(files, folder, self._paths.roots))), "")
        if chosen or not found.uses_git:
            return f"{chosen} chooses the program that runs" if chosen else ""
        return next((why for folder in folders if (why := self._programs(folder))), "")

    @cached_property
    def overlooked(self) -> tuple[str, ...]:
        """What the words of the command do not say: where its files really are, and which programs it would run."""
        with self.effort.drawn_on():
            try:
                return tuple(self._overlooked())
            except TooMuch:
                return (TOO_MUCH,)

    def seen_by(self, look: Callable[[Sequence[Command], NamedPaths], Seen]) -> Seen | None:
        """What ``look`` finds at the places that the command names; None where that is too much."""
        with self.effort.drawn_on():
            try:
                return look(self.analysis.commands, self._paths)
            except TooMuch:
                return None

    def _overlooked(self) -> Iterator[str]:
        for command in self.analysis.commands:
            found = reading(command.simple.words) if command.simple.words else ""
            if not isinstance(found, str) and (chosen := self._chosen_for(command, found)):
                yield sentence(chosen)
            yield from (sentence(one.because) for one in self._findings(command) if one.decision is Decision.ASK)
            if self._around.runs_commands and (beyond := self._beyond_sandbox(command)):
                yield sentence(beyond)

    def _rule(self, command: Command) -> Ruling:  # noqa: PLR0911 - strictest first, one return a reason
        """Strictest first: refusals, deny rules, what is asked each time, ask rules, what allows, the mode."""
        changes = self.changes(command)
        findings = list(self._findings(command))
        refused = next((finding for finding in findings if finding.is_refused), None)
        if refused:
            return Ruling(command=command, decision=Decision.DENY, because=refused.because)
        if by_rule := self._denied(command):
            return by_rule
        denied = next((finding for finding in findings if finding.decision is Decision.DENY), None)
        if denied:
            return Ruling(command=command, decision=Decision.DENY, because=sentence(denied.because))
        if self._around.mode is Mode.PLAN and (changes or command.problems or any(c.problems for c in command.inner)):
            why = changes or next(problem.reason for c in command.everything() for problem in c.problems)
            return Ruling(command=command, decision=Decision.DENY, because=f"Plan mode only reads: {why}.")
        for because in self._each_time(command, findings):
            return Ruling(command=command, decision=Decision.ASK, because=sentence(because))
        for found in command.everything():
            rule = self._rules.find_command(Decision.ASK, found.words)
            if rule:
                because = f"The rule {rule} asks about {found.simple.name or 'it'}."
                return Ruling(command=command, decision=Decision.ASK, because=because)
        return self._by_permission(command, findings, changes)

    def _each_time(self, command: Command, findings: Sequence[Finding]) -> Iterator[str]:
        """Reasons to ask that no rule lifts."""
        for finding in findings:
            if finding.each_time:
                yield finding.because
        for found in command.everything():
            if ends_all := self._processes.ends_all(found.words, is_confined=self._around.is_confined):
                yield ends_all
            for problem in found.problems:
                if not self._lets(problem):
                    yield f"It is not certain what this does: {problem.reason}."
            for decision in (Decision.DENY, Decision.ASK):
                rule = self._rules.find_command(decision, found.words, maybe=True)
                if rule and not self._rules.find_command(decision, found.words):
                    yield f"The rule {rule} may concern this; its words are only known when it runs."
        if self._around.mode is Mode.AUTO:
            yield from self.losses.doubts(command, is_confined=self._around.is_confined)

    def _by_permission(self, command: Command, findings: Sequence[Finding], changes: str) -> Ruling:
        """What rules and mode allow; a rule for exactly this command covers the places that it names as well."""
        far = next((finding for finding in findings if finding.is_far), None)
        if self._around.runs_commands and far:
            return Ruling(command=command, decision=Decision.ASK, because=sentence(far.because))
        beyond = self._beyond_sandbox(command)
        if beyond and (self._around.runs_commands or self._allowing(command)):
            rule = exact_rule(command.words)
            return Ruling(command=command, decision=Decision.ASK, because=beyond, rules=(rule,) if rule else ())
        if self._around.runs_commands:
            is_covered = any(self.losses.sentences(command))
            because = self._by_mode(_HELD, is_covered=is_covered)
            return Ruling(command, Decision.ALLOW, because, is_covered=is_covered, is_by_mode=True)
        rule = self._allowing(command)
        needs_rule = bool(command.words and changes and not rule)
        is_covered = needs_rule or (rule is not None and rule.is_exact)
        asked = [found for found in findings if found.is_write or found.is_unknown or not is_covered]
        if not needs_rule and not asked:
            because = f"The rule {rule} allows it." if rule else "It only reads in the workspace."
            because += _UNSEEN if changes and self._rules.concerns_reading else ""
            return Ruling(command=command, decision=Decision.ALLOW, because=because)
        wanted = [found.rule for found in asked]
        if needs_rule:
            wanted.append(self._exact_rule(command))
        return Ruling(
            command=command,
            decision=Decision.ASK,
            because=sentence(changes if needs_rule else asked[0].because),
            rules=tuple(dict.fromkeys(wanted)) if all(wanted) else (),
        )

    def _written_from_root(self, command: Command) -> tuple[tuple[Word, ...], ...]:
        return from_root(command, self._paths.folders(command.simple.places), self._paths.roots[0])

    def _allowing(self, command: Command, *, by_name: bool = False) -> Rule | None:
        """The rule that allows it; one for a relative program is about the one in the workspace's root."""
        find = partial(self._rules.find_command, Decision.ALLOW, by_name=by_name)
        rule = find(command.words) if command.words else None
        if rule is not None and rule.is_everything:
            return rule
        return next(filter(None, (find(words) for words in self._written_from_root(command) if words)), None)

    def _exact_rule(self, command: Command) -> str:
        """The rule that would allow just it, or an empty string."""
        return next(map(exact_rule, self._written_from_root(command)), "")

    def _beyond_sandbox(self, command: Command) -> str:
        """What a confined command does where the sandbox cannot hold it, unless a rule allows this program."""
        if not self._around.is_confined or self._allowing(command, by_name=True):
            return ""
        reasons = (beyond_sandbox(found.words, self._processes.holds) for found in command.everything())
        return next(filter(None, reasons), "") or self._texts.beyond(command)

    def _findings(self, command: Command) -> Iterator[Finding]:
        """What stands against the files that the command and all in it name."""
        for found in command.everything():
            yield from self._fed.by(found)
            yield from self._coded.by(found)
            simple = found.simple
            for redirection in simple.redirections:
                if redirection.direction is Direction.READS:
                    yield from self._paths.read(Reading(paths=(redirection.target,)), simple.places)
                else:
                    yield from self._paths.redirected(redirection, simple.places)
            if not simple.words:
                continue
            known = reading(simple.words)
            whole = known if isinstance(known, Reading) else whole_reading(simple.words)
            against = self._against(simple, known if isinstance(known, Reading) else None, whole)
            may_read = whole is not None or (found is not command and base_name(simple.name) not in _NO_READERS)
            is_own = found is command or simple.places != command.simple.places
            for one in against:
                if one.is_unknown and may_read and self._rules.concerns_reading:
                    yield ask_each_time(
                        f"which files {simple.name} reads is only known when it runs, and rules limit that."
                    )
                # What a wrapper runs is named by the wrapper's own words already, but for another folder.
                elif is_own or one.each_time or one.decision is Decision.DENY:
                    yield one
        yield from self._paths.unseen()

    def _against(self, simple: SimpleCommand, known: Reading | None, whole: Reading | None) -> Iterator[Finding]:
        """What stands against the words of a command; ``known`` when it only reads, ``whole`` what it surely reads."""
        if known is not None:
            yield from self._paths.read(known, simple.places)
            return
        name, rest = base_name(simple.name), simple.words[1:]
        yield from self._paths.runs_in(simple.places)
        for places in dict.fromkeys((simple.places, elsewhere(rest, simple.places))):
            yield from self._paths.mentioned(rest, places, is_writer=name in _WRITERS)
        yield from self._paths.changes_git(name, rest, simple.places)
        yield from self._paths.unsaid(simple.words, simple.places)
        for one in self._paths.read(whole, simple.places) if whole else ():
            if one.each_time or one.is_unknown or one.decision is Decision.DENY:
                yield one

    def _lets(self, problem: Problem) -> bool:
        """In auto mode the confinement holds what is not certain, but for what was not read, or what rules concern."""
        if not self._around.runs_commands or problem.is_unread:
            return False
        return not (problem.is_hidden and self._rules.has_command_limits())
