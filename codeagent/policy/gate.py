"""The gate: decides each tool call by rules and mode, and asks a person where these do not decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, assert_never, runtime_checkable

from codeagent.core.approvals import (
    Access,
    Answer,
    ApprovalRequest,
    Approve,
    CommandPreview,
    Decision,
    Deny,
    DiffPreview,
    Hold,
    Mode,
    Preview,
    Scope,
    Touch,
    Verdict,
    Withdraw,
)
from codeagent.core.desk import Approver, StoredRule
from codeagent.core.errors import ConfigError, ToolError
from codeagent.core.events import ApprovalAsked, ApprovalSettled, Emit
from codeagent.core.messages import ToolCall
from codeagent.core.protocols import Allowed, Cover, Denied, Plan
from codeagent.policy.asked import Again, Question, Yes, meaning_of
from codeagent.policy.command_case import CommandCase, Surroundings
from codeagent.policy.grants import Grant, forget_grant, load_grants, store_grants
from codeagent.policy.judge import Judge
from codeagent.policy.losses import RunsOn
from codeagent.policy.offers import command_offers, path_offers, warnings
from codeagent.policy.rule_meaning import rule_meaning
from codeagent.policy.rules import Rule, RuleSet
from codeagent.workspace.paths import PathSandbox

_MOST_ROUNDS = 5
"""How often one call may be asked about again because it changed."""


_OTHERWISE = "It did not run yet: files changed while you were asked, and it would do something else by now."


class ToolGate:
    """Stands between every tool call and its run.

    ``approver`` is the person; None means that nobody can be asked, and what would
    ask is denied. ``mode`` tells the mode in force. ``hold``: how far the
    system holds commands in the workspace; ``sandbox_is_off``: the person switched that off on
    purpose. ``grants_file`` keeps rules that a person stored for longer than this run.
    ``cover`` knows what undo would bring back; without it every loss is asked about.
    ``faults`` say which rules could not be read: what would be allowed is asked about then, as one may be against it.
    """

    def __init__(  # noqa: PLR0913 - wiring names each of them once
        self,
        sandbox: PathSandbox,
        rules: RuleSet,
        approver: Approver | None,
        emit: Emit,
        mode: Callable[[], Mode],
        *,
        hold: Hold,
        sandbox_is_off: bool = False,
        grants_file: Path | None = None,
        cover: Cover | None = None,
        faults: Sequence[str] = (),
    ) -> None:
        self._sandbox = sandbox
        self._rules = rules
        self._approver = approver
        self._emit = emit
        self._mode = mode
        self._hold = hold
        self._is_confined = hold is Hold.WHOLE
        self._sandbox_is_off = sandbox_is_off
        self._grants_file = grants_file
        self._cover = cover
        self._judge = Judge(sandbox, rules)
        self._faults = [*faults]
        if grants_file is not None:
            self._take_up(grants_file)

    @property
    def paths(self) -> PathSandbox:
        """The wall around the workspace."""
        return self._sandbox

    @property
    def faults(self) -> tuple[str, ...]:
        """Which rules could not be read, in sentences."""
        return tuple(self._faults)

    @property
    def _untold(self) -> str:
        return f"Whether a rule is against it cannot be told. {self._faults[0]}"

    def _take_up(self, grants_file: Path) -> None:
        """Puts the stored rules in force; one that allows and cannot be read is just not there."""
        try:
            grants = load_grants(grants_file, self._sandbox.root)
        except ConfigError as error:
            self._faults.append(str(error))
            return
        for grant in grants:
            try:
                self._rules.grant(grant.rule, grant.scope, grant.decision)
            except ConfigError as error:
                if grant.decision is not Decision.ALLOW:
                    self._faults.append(f"{grants_file}: {grant.decision}: {error}")

    def judge(self, tool: str, touches: Sequence[Touch], preview: Preview, mode: Mode) -> Verdict:
        """What the policy says to a call, without asking anybody."""
        return self._looked_at(tool, touches, preview, mode)[1]

    def _case(self, preview: Preview, mode: Mode) -> CommandCase | None:
        """A command before the judge, by the files as they are now; None for other calls."""
        if not isinstance(preview, CommandPreview):
            return None
        return self._judge.examine(preview.command, preview.cwd, self._around(mode, preview))

    def _looked_at(
        self, tool: str, touches: Sequence[Touch], preview: Preview, mode: Mode
    ) -> tuple[CommandCase | None, Verdict]:
        """One look at a call, which the verdict and the question about it share."""
        case = self._case(preview, mode)
        verdict = case.verdict if case else self._judge.call(tool, touches, self._around(mode, preview))
        once_more = preview.is_once_more if isinstance(preview, CommandPreview) else ""
        if isinstance(preview, CommandPreview) and once_more and verdict.decision is not Decision.DENY:
            flag = "--sandbox off" if preview.held_back else ""
            verdict = replace(verdict, decision=Decision.ASK, because=once_more, remedy=flag)
        elif self._faults and verdict.decision is Decision.ALLOW:
            verdict = replace(verdict, decision=Decision.ASK, because=self._untold, remedy="", is_covered=False)
        return case, verdict

    def is_read_only(self, command: str, cwd: Path) -> bool:
        """Whether a shell command surely changes nothing."""
        return self._judge.is_read_only(command, cwd)

    def rule_against_reading(self, path: Path) -> str:
        """The rule that denies or asks about reading a file, as it is written; empty when there is none."""
        for decision in (Decision.DENY, Decision.ASK):
            rule = self._rules.find_path(decision, Access.READ, (path,), self._sandbox.root)
            if rule:
                return str(rule)
        return ""

    def runs_unasked(self) -> bool:
        """Whether commands run as they come and nobody can be asked about what they did."""
        return self._approver is None and self._mode() is Mode.AUTO

    def stored_rules(self) -> tuple[StoredRule, ...]:
        """Every rule in force, from settings, answers and the list of rules; strictest first."""
        kept_in = self._sandbox.show(self._grants_file) if self._grants_file is not None else ""
        return tuple(
            replace(rule, place=kept_in) if rule.can_be_removed and rule.scope is not Scope.SESSION else rule
            for rule in self._rules.stored()
        )

    def add_rule(self, decision: Decision, rule: str, scope: Scope) -> None:
        """Puts a rule in force and keeps it as ``scope`` says; raises ConfigError and OSError."""
        rule_meaning(rule, decision)
        grant = Grant(rule=str(Rule.parse(rule)), decision=decision, scope=scope)
        if scope in {Scope.PROJECT, Scope.ALWAYS} and self._grants_file is not None:
            store_grants(self._grants_file, self._sandbox.root, [grant])
        self._rules.grant(grant.rule, scope, decision)

    def remove_rule(self, rule: StoredRule) -> None:
        """Takes a stored rule back; raises ConfigError for one of the settings, and OSError."""
        if not rule.can_be_removed:
            raise ConfigError(f"{rule.rule} stands in the settings.", hint="Take it out there.")
        grant = Grant(rule=rule.rule, decision=rule.decision, scope=rule.scope)
        if rule.scope in {Scope.PROJECT, Scope.ALWAYS} and self._grants_file is not None:
            forget_grant(self._grants_file, self._sandbox.root, grant)
        self._rules.revoke(rule.rule, rule.scope, rule.decision)

    async def check(self, call: ToolCall, plan: Plan) -> Allowed | Denied:
        """Decides one call; what a person changed in it is judged again. Cancelling withdraws the question."""
        return await self._decide(call, plan, None)

    async def ask_ahead(self, call: ToolCall, plan: Plan) -> Allowed | Denied | None:
        """A person's answer before the call's turn has come; None when nobody has to be asked by now."""
        verdict = await asyncio.to_thread(self.judge, call.name, plan.touches, plan.preview, self._mode())
        if verdict.decision is not Decision.ASK or self._approver is None:
            return None
        return await self._decide(call, plan, None)

    async def check_again(self, said: Allowed, call: ToolCall, plan: Plan) -> Allowed | Denied:
        """Decides when the turn has come: what ``ask_ahead`` brought holds where that is still what would be asked."""
        return await self._decide(call, plan, said if isinstance(said, Yes) else None)

    async def _decide(  # noqa: C901, PLR0911 - one return a decision
        self, call: ToolCall, plan: Plan, said: Yes | None
    ) -> Allowed | Denied:
        notes = [said.note] if said else []
        was_asked, why_again = said is not None, _OTHERWISE if said else ""
        for _ in range(_MOST_ROUNDS):
            mode = self._mode()
            case, verdict = await asyncio.to_thread(self._looked_at, call.name, plan.touches, plan.preview, mode)
            if verdict.decision is Decision.DENY:
                return Denied(reason=_reason(verdict, was_asked=was_asked))
            if verdict.decision is Decision.ALLOW:
                if verdict.is_covered and self._cover is not None:
                    self._cover.promise(call.id)
                plan = await asyncio.to_thread(_foreseen, plan, verdict)
                return Allowed(plan=plan, note=" ".join(notes), was_asked=was_asked)
            if self._approver is None:
                return Denied(reason=_nobody_there(verdict))
            plan = await asyncio.to_thread(_foreseen, plan, verdict)
            question = await asyncio.to_thread(self._question, call, plan, verdict, (case, mode), why_again)
            if said is not None and said.holds(plan, question):
                return said
            said = None
            answer = await self._ask(self._approver, question.request)
            was_asked = True
            match answer:
                case Deny():
                    return Denied(reason="The person said no.", feedback=answer.feedback)
                case Withdraw():
                    return Denied(reason=f"The question was closed without an answer. {answer.reason}".strip())
                case Approve():
                    decided = await self._approved(plan, question, answer, notes)
                    if isinstance(decided, Yes) and Mode.PLAN is self._mode() is not mode:
                        decided = Again(decided.plan, "")
                case _:
                    assert_never(answer)
            if not isinstance(decided, Again):
                return decided
            plan, why_again = decided.plan, decided.why
        return Denied(reason="What it would do kept changing while it was asked about, so nothing was run.")

    async def _ask(self, approver: Approver, request: ApprovalRequest) -> Answer:
        """Tells that a question is open, waits, and tells how it was closed, on every way out."""
        answer: Answer = Withdraw(reason="the question was called off")
        self._emit(ApprovalAsked(request=request))
        try:
            answer = await approver.ask(request)
        finally:
            self._emit(ApprovalSettled(call_id=request.call_id, answer=answer))
        return answer

    async def _approved(
        self, plan: Plan, question: Question, answer: Approve, notes: list[str]
    ) -> Yes | Denied | Again:
        """Carries out a yes: the chosen hunks, the person's own text, the rules to store.

        A yes to a command that would do something else by now is none: its files changed during the question.
        """
        if answer.feedback:
            notes.append(f"The person says: {answer.feedback}")
        proposal = _proposal(plan.preview)
        if answer.edited is not None and answer.edited != proposal:
            try:
                changed = await plan.edited(answer.edited)
            except ToolError as error:
                return Denied(reason=f"The person changed the proposal, but it cannot be done so: {error}")
            if not isinstance(plan.preview, CommandPreview):  # a command's result says itself what was run
                notes.append("The person changed the proposed text; what was written is theirs.")
            return Again(changed)
        now = await asyncio.to_thread(lambda: meaning_of(self._case(plan.preview, question.mode)))
        if not question.is_still(now):
            return Again(plan, _OTHERWISE)
        if answer.hunks is not None and isinstance(plan.preview, DiffPreview):
            count = len(plan.preview.diff.hunks)
            refused = [index for index in range(count) if index not in answer.hunks]
            if len(refused) == count:
                return Denied(reason="The person refused every part of the change.", feedback=answer.feedback)
            if refused:
                try:
                    plan = plan.narrowed(answer.hunks)
                except ToolError as error:
                    return Denied(reason=f"The person took parts of the change out, but that cannot be done: {error}")
        await self._store(question.request, answer.scope)
        return Yes(plan=plan, note=" ".join(notes), was_asked=True, question=question)

    async def _store(self, request: ApprovalRequest, scope: Scope) -> None:
        """Keeps the offered rules; that they cannot be written down is no reason to stop the call."""
        if scope is Scope.ONCE:
            return
        grants = [Grant(rule=offer.rule, scope=scope) for offer in request.offers]
        for grant in grants:
            self._rules.grant(grant.rule, scope)
        if grants and scope is not Scope.SESSION and self._grants_file is not None:
            try:
                await asyncio.to_thread(store_grants, self._grants_file, self._sandbox.root, grants)
            except OSError:
                for grant in grants:
                    self._rules.revoke(grant.rule, scope)
                    self._rules.grant(grant.rule, Scope.SESSION)

    def _question(
        self, call: ToolCall, plan: Plan, verdict: Verdict, looked_at: tuple[CommandCase | None, Mode], why_again: str
    ) -> Question:
        case, mode = looked_at
        meaning = meaning_of(case)
        request = self._request(call, plan, verdict, case)
        if why_again:
            request = replace(request, warnings=(why_again, *request.warnings))
        return Question(request=request, mode=mode, meaning=meaning, why_again=why_again)

    def _request(self, call: ToolCall, plan: Plan, verdict: Verdict, case: CommandCase | None) -> ApprovalRequest:
        preview, touches = plan.preview, plan.touches
        if isinstance(preview, CommandPreview):
            offers = () if preview.is_once_more or case is None or self._faults else command_offers(case)
        else:
            offers = path_offers(call.name, touches, self._sandbox) if verdict.remedy and not self._faults else ()
        if not offers and not (isinstance(preview, CommandPreview) and preview.held_back):
            verdict = replace(verdict, remedy="")  # the answers and the reasons name the same rules
        return ApprovalRequest(
            call_id=call.id,
            tool=call.name,
            preview=preview,
            touches=touches,
            verdict=verdict,
            offers=offers,
            warnings=(*((self._untold,) if self._faults else ()), *warnings(preview, case, self._sandbox.show)),
            hold=Hold.NONE if isinstance(preview, CommandPreview) and preview.held_back else self._hold,
        )

    def _around(self, mode: Mode, preview: Preview) -> Surroundings:
        return Surroundings(
            mode=mode,
            is_confined=self._is_confined,
            is_unconfined_by_choice=self._sandbox_is_off,
            cover=self._cover_of(preview),
        )

    def _cover_of(self, preview: Preview) -> Cover | None:
        """A command in the background goes on after its checkpoint was compared, so that nothing covers it."""
        if not isinstance(preview, CommandPreview) or self._cover is None:
            return None
        return RunsOn() if preview.background else self._cover


@runtime_checkable
class _Foresees(Protocol):
    """A plan that knows whether the sandbox would refuse what the person is asked about."""

    def foreseeing(self, writes: Sequence[Path], *, opens_services: bool) -> Plan:
        """The plan as it would have to run so that the sandbox lets these writes through, and services be reached."""
        ...


def _foreseen(plan: Plan, verdict: Verdict) -> Plan:
    """One question is enough: a yes to what the sandbox refuses would lead to the next one."""
    if isinstance(plan, _Foresees) and (verdict.writes or verdict.opens_services):
        return plan.foreseeing(verdict.writes, opens_services=verdict.opens_services)
    return plan


def _proposal(preview: Preview) -> str | None:
    if isinstance(preview, CommandPreview):
        return preview.command
    return preview.proposal if isinstance(preview, DiffPreview) else None


def _reason(verdict: Verdict, *, was_asked: bool) -> str:
    if was_asked:
        return f"{verdict.because} The question was asked before that held, so a yes to it does not count."
    return f"{verdict.because} Nobody was asked: the permission rules forbid it."


def _nobody_there(verdict: Verdict) -> str:
    """Why a call is denied where nobody can be asked, and which flag would have allowed it."""
    if verdict.remedy:
        return f"{verdict.because} Nobody is there to ask; {verdict.remedy} would allow it."
    if verdict.is_opaque:
        return f"{verdict.because} Nobody is there to ask; plain commands without expansions can be allowed by rules."
    return f"{verdict.because} Nobody is there to ask, and no rule for just this can allow it."
