"""Every tool that there is, made for one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from codeagent.core.events import Emit, Level, NoticeGiven
from codeagent.tools.bash import BashTool
from codeagent.tools.edit import EditTool
from codeagent.tools.glob import GlobTool
from codeagent.tools.grep import GrepTool
from codeagent.tools.job import JobTool
from codeagent.tools.left_out import RuleAgainst
from codeagent.tools.ls import LsTool
from codeagent.tools.read import ReadTool
from codeagent.tools.registry import Registry
from codeagent.tools.write import WriteTool
from codeagent.workspace.confine import Confinement
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles


def make_tools(  # noqa: PLR0913 - all that tools work with; most are named
    paths: PathSandbox,
    seen: SeenFiles,
    jobs: Jobs,
    *,
    logs: Path,
    is_read_only: Callable[[str, Path], bool],
    environ: Mapping[str, str],
    confinement: Confinement | None,
    keep: Sequence[str],
    secrets: Sequence[str],
    emit: Emit,
    puts_git_back: Callable[[], bool],
    rule_against: RuleAgainst,
) -> Registry:
    """All that the model can do; what a command did behind everybody's back is told through ``emit``.

    ``secrets`` are in no log of a command; ``rule_against``: the rule that stands against reading a file.
    ``puts_git_back``: whether such a change of git's is taken back without asking.
    """
    bash = BashTool(
        paths,
        seen,
        logs,
        is_read_only,
        environ,
        jobs=jobs,
        confine=confinement,
        keep=keep,
        known_secrets=secrets,
        warn=lambda text: emit(NoticeGiven(text=text, level=Level.WARNING)),
        puts_git_back=puts_git_back,
    )
    return Registry(
        (
            ReadTool(paths, seen, rule_against),
            WriteTool(paths, seen),
            EditTool(paths, seen),
            bash,
            JobTool(jobs, paths, seen, confinement),
            GrepTool(paths, seen, rule_against=rule_against),
            GlobTool(paths, rule_against=rule_against),
            LsTool(paths, rule_against),
        )
    )
