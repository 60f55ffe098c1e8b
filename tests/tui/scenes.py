"""What happens in the pictures of the screens: turns of an agent, questions it asks, and a person's steps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.events import Focus

from codeagent.core.approvals import (
    ApprovalRequest,
    Decision,
    DiffPreview,
    Hold,
    ProjectEntry,
    ProjectPreview,
    RuleOffer,
    TextPreview,
    Verdict,
    VerdictPart,
)
from codeagent.core.archive import Hit, Speaker
from codeagent.core.context import ContextPart, ContextReport
from codeagent.core.diff import make_diff
from codeagent.core.events import (
    ApprovalAsked,
    CheckpointTaken,
    Emit,
    Level,
    NoticeGiven,
    ReplyEnded,
    StepStarted,
    TextStreamed,
    ThinkingStreamed,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
    UsageReported,
)
from codeagent.core.jobs import Job, JobState
from codeagent.core.messages import CommandDetails, Outcome, ReadDetails, SearchDetails, TextBlock, ToolResult, Usage

NARROW, WIDE, SMALLEST = (80, 24), (120, 40), (60, 15)
SIZES = pytest.mark.parametrize(
    ("size", "theme"), [(NARROW, "dark"), (WIDE, "light")], ids=["narrow_dark", "wide_light"]
)

ANSWER = """\
The total divides by what is left after the discount, which is nothing at **100 %**.

## What I changed

1. `Cart.total` returns zero when everything is off.
2. A test holds it: `tests/test_cart.py`.

| discount | before | now |
| -------- | ------ | --- |
| 50 %     | 20.00  | 20.00 |
| 100 %    | error  | 0.00 |

```python
def total(self) -> Decimal:
    if self.discount >= 1:
        return Decimal(0)
    return self.sum * (1 - self.discount)
```

> Negative discounts are still let through.
"""

TRACEBACK = """\
F....                                                            [100%]
E       decimal.DivisionByZero: [<class 'decimal.DivisionByZero'>]
shop/cart.py:42: DivisionByZero
1 failed, 4 passed in 0.31s
"""


def _call(emit: Emit, call_id: str, name: str, arguments: str) -> None:
    emit(ToolStarted(call_id=call_id, name=name, arguments_json=arguments))


def look_around(emit: Emit) -> None:
    """What a turn begins with: a thought, a word, two calls that went well."""
    emit(StepStarted(turn=1, step=1))
    emit(ThinkingStreamed(text="The discount is a fraction, so one is all of it."))
    emit(TextStreamed(text="I'll look at how totals are computed."))
    emit(ReplyEnded())
    _call(emit, "r1", "read", '{"path": "shop/cart.py"}')
    details = ReadDetails(path="shop/cart.py", first_line=1, last_line=88, total_lines=88)
    emit(ToolEnded(result=ToolResult(call_id="r1", blocks=(TextBlock(text="1→import decimal"),), details=details)))
    _call(emit, "g1", "grep", '{"pattern": "discount"}')
    found = SearchDetails(matches=7, files=3)
    emit(ToolEnded(result=ToolResult(call_id="g1", blocks=(TextBlock(text="shop/cart.py:4"),), details=found)))
    emit(UsageReported(usage=Usage(input_tokens=68_000), window=200_000, cost=0.12))


async def tools_in_every_state(emit: Emit, _approver: object) -> None:
    """Calls that went well, failed, were denied, run and wait, below a reply."""
    look_around(emit)
    _call(emit, "b1", "bash", '{"command": "pytest -q tests/test_cart.py"}')
    emit(ToolRunning(call_id="b1"))
    details = CommandDetails(command="pytest -q tests/test_cart.py", cwd=".", ended="exit code 1", exit_code=1)
    failed = ToolResult(call_id="b1", blocks=(TextBlock(text=TRACEBACK),), outcome=Outcome.FAILED, details=details)
    emit(ToolEnded(result=failed, seconds=1.4))
    _call(emit, "b2", "bash", '{"command": "git push --force"}')
    refused = ToolResult(call_id="b2", blocks=(TextBlock(text="denied: not before Monday"),), outcome=Outcome.DENIED)
    emit(ToolEnded(result=refused))
    _call(emit, "b3", "bash", '{"command": "python -m shop.check --all"}')
    emit(ToolRunning(call_id="b3"))
    emit(ToolProgressed(call_id="b3", text="checked 1,200 of 4,000 carts\n"))
    _call(emit, "e1", "edit", '{"path": "shop/cart.py", "old": "a", "new": "b"}')
    await asyncio.Event().wait()


async def streaming(emit: Emit, _approver: object) -> None:
    """A reply on its way."""
    look_around(emit)
    emit(StepStarted(turn=1, step=2))
    emit(TextStreamed(text=ANSWER))
    await asyncio.Event().wait()


async def done(emit: Emit, _approver: object) -> None:
    """A whole turn that went well."""
    look_around(emit)
    emit(StepStarted(turn=1, step=2))
    emit(TextStreamed(text=ANSWER))
    emit(ReplyEnded())


async def noticed(emit: Emit, _approver: object) -> None:
    """Notices of each weight."""
    look_around(emit)
    emit(CheckpointTaken(checkpoint="c1", before_call="b1"))
    emit(NoticeGiven(text="Room was made: 3 older outputs were taken out."))
    emit(NoticeGiven(text="The key of the service is near its limit; it allows 40 more requests.", level=Level.WARNING))
    emit(NoticeGiven(text="The record cannot be written: the disk is full.", level=Level.ERROR))
    emit(TextStreamed(text="Done."))
    emit(ReplyEnded())


def asking(*requests: ApprovalRequest) -> Callable[..., Awaitable[None]]:
    """A turn that looks at a file and then asks."""

    async def turn(emit: Emit, approver: object) -> None:
        look_around(emit)
        async with asyncio.TaskGroup() as group:
            for request in requests:
                if request.tool in ("edit", "write", "bash"):
                    emit(ToolStarted(call_id=request.call_id, name=request.tool, arguments_json="{}"))
                    label = getattr(request.preview, "command", "shop/cart.py")
                    emit(ToolPreviewed(call_id=request.call_id, preview=request.preview, label=label))
                emit(ApprovalAsked(request=request))
                group.create_task(approver.ask(request))

    return turn


OLD = '''\
from decimal import Decimal


class Cart:
    """What a customer wants to buy."""

    def __init__(self, discount: Decimal = Decimal(0)) -> None:
        self.items: list[Item] = []
        self.discount = discount

    def add(self, item: Item, count: int = 1) -> None:
        self.items += [item] * count

    @property
    def sum(self) -> Decimal:
        return sum((item.price for item in self.items), Decimal(0))

    @property
    def is_empty(self) -> bool:
        return not self.items

    def total(self) -> Decimal:
        """What is to be paid."""
        return self.sum / (1 - self.discount)

    def clear(self) -> None:
        """Takes everything out again, and the discount with it."""
        self.items.clear()
        self.discount = Decimal(0)

    def receipt(self) -> str:
        lines = [f"{item.name}: {item.price}" for item in self.items]
        return "\\n".join(lines)
'''
NEW = OLD.replace("        return self.sum / (1 - self.discount)\n", "        return self.sum * (1 - self.discount)\n")
NEW = NEW.replace("{item.name}: {item.price}", "{item.name}: {item.price:.2f}")


def change(before: str = OLD, after: str = NEW, *, call_id: str = "c1", path: str = "shop/cart.py") -> ApprovalRequest:
    """A question about a change, or about a new file when ``before`` is empty."""
    preview = DiffPreview(diff=make_diff(path, before or None, after), proposal=after)
    return ApprovalRequest(
        call_id=call_id,
        tool="edit" if before else "write",
        preview=preview,
        touches=(),
        verdict=Verdict(decision=Decision.ASK, because="In ask mode every change is asked about."),
        offers=(RuleOffer(rule="edit(shop/**)", covers="every change below shop/"),),
    )


def parted(request: ApprovalRequest) -> ApprovalRequest:
    """The question about a command, with a verdict on each of its parts and a rule on offer."""
    parts = (
        VerdictPart(
            words=("rm", "-rf", "build"), decision=Decision.ASK, because="it deletes what it names", loses=True
        ),
        VerdictPart(words=("pytest", "-q"), decision=Decision.ALLOW, because="the rule bash(pytest *) allows it"),
    )
    verdict = Verdict(
        decision=Decision.ASK,
        because="One part of it must be asked about.",
        parts=parts,
        remedy="bash(rm -rf build)",
    )
    offers = (RuleOffer(rule="bash(rm -rf build)", covers="exactly this command"),)
    return replace(request, verdict=verdict, offers=offers, hold=Hold.WHOLE)


def sentence(tool: str, title: str, text: str, because: str, *, is_proposal: bool = False) -> ApprovalRequest:
    """A question that is about no call."""
    preview = TextPreview(title=title, text=text, is_proposal=is_proposal)
    verdict = Verdict(decision=Decision.ASK, because=because)
    return ApprovalRequest(call_id=f"{tool}-1", tool=tool, preview=preview, touches=(), verdict=verdict)


SUMMARY = sentence(
    "compact",
    "compact: this summary in place of 42 messages",
    "# Goal\nTotals are right for every discount.\n\n# Done\n- `Cart.total` multiplies (shop/cart.py:20)\n"
    "- a test holds it (tests/test_cart.py)\n\n# Next\n- refuse negative discounts",
    "From here on the model would see this summary in place of the earlier messages, which makes room in its "
    "window; the session's record keeps them. Editing changes what it will know.",
    is_proposal=True,
)
LIMIT = sentence(
    "limit",
    "A limit is reached",
    "The session has cost $2.04; the limit is $2.00.\nGo on for $2.00 more?",
    "budget.max_cost is set, and another request would go over it.",
)
PROJECT = ApprovalRequest(
    call_id="project",
    tool="trust",
    preview=ProjectPreview(
        root=Path("/src/shop"),
        entries=(
            ProjectEntry(
                name=".codeagent/config.toml",
                effect="settings",
                text='[model]\nname = "anthropic/claude-test"\n',
                notes=("sets model.name",),
            ),
            ProjectEntry(
                name="AGENTS.md",
                effect="instructions for the model, 2 lines",
                text="Use tabs.\nRun the tests with make check.\n",
                change="changed since it was trusted",
            ),
        ),
    ),
    touches=(),
    verdict=Verdict(decision=Decision.ASK, because="Whoever wrote these files decides with them."),
)

REPORT = ContextReport(
    used=68_000,
    window=200_000,
    is_estimate=False,
    parts=(
        ContextPart(name="system prompt", tokens=3_100),
        ContextPart(name="tools", tokens=4_300),
        ContextPart(name="what you said", tokens=1_600),
        ContextPart(name="what the model said", tokens=9_000),
        ContextPart(name="tool results", tokens=50_000),
    ),
    by_tool=(ContextPart(name="read", tokens=34_000), ContextPart(name="bash", tokens=16_000)),
    by_file=(ContextPart(name="shop/cart.py", tokens=20_000), ContextPart(name="shop/money.py", tokens=14_000)),
    compact_at=0.85,
)
JOBS = [
    Job(number=1, command="npm run dev", state=JobState.RUNNING, seconds=83.0, tail="ready on port 3000\n"),
    Job(number=2, command="pytest -q --slow", state=JobState.ENDED, seconds=41.5, ended="exit code 1", tail="1 failed"),
    Job(number=3, command="tail -f shop.log", state=JobState.STOPPED, seconds=300.0, ended="stopped"),
]


def asked(*keys: str, until: tuple[str, ...] = (), is_call: bool = True) -> Callable[..., Awaitable[None]]:
    """Sends a message, waits until keys count at the question, and presses some; then ``until`` can be read."""

    async def steps(stage) -> None:
        await shows("f1 keys", "main*")(stage)
        await stage.type("totals\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.answers_to(Focus().time))
        await stage.press_slowly(*keys)
        words = (("waiting for you", "approve") if is_call and not until else ()) + until
        await shows(*words)(stage)

    return steps


def shows(*words: str) -> Callable[..., Awaitable[None]]:
    """Waits until all of that can be read."""

    async def steps(stage) -> None:
        await stage.until(lambda: all(word in stage.text for word in words))
        await stage.pilot.pause()

    return steps


def typed(text: str, *keys: str, until: tuple[str, ...] = ()) -> Callable[..., Awaitable[None]]:
    """Types, presses keys, and waits until something can be read."""

    async def steps(stage) -> None:
        await shows("f1 keys", "main*")(stage)
        await stage.type(text)
        await stage.pilot.press(*keys)
        await shows(*until)(stage)

    return steps


async def filled(stage) -> None:
    """Gives the lists something to show."""
    await stage.opened.wait()
    stage.bench.background = list(JOBS)
    stage.conversation.report = REPORT
    stage.bench.archive.titles = {"s-1": "mend the totals", "old-1": "a shop in a day", "old-2": "receipts as PDF"}
    stage.bench.archive.said = (
        Hit(
            session_id="old-1",
            title="a shop in a day",
            updated_at="2026-01-02T03:04:05",
            record=4,
            speaker=Speaker.PERSON,
            text="round each total to cents",
            start=11,
            length=5,
        ),
    )
