"""``codeagent permissions``: prints what would be allowed, asked or denied, and why; keeps rules."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from codeagent.cli.command_line import WordsParser
from codeagent.cli.permission_rules import add_parsers, rules_here, run_rules
from codeagent.core.approvals import Access, Decision, Mode, Verdict
from codeagent.core.errors import CodeagentError
from codeagent.core.json_types import JsonValue
from codeagent.core.programs import pass_over
from codeagent.core.text import clean, show_invisible, storable
from codeagent.policy.check import Question, check_command, check_path, verdict_as_json, verdict_as_text

_USAGE = 2


class _Request(BaseModel):
    """One line of ``--json -``: a command or a path, and what it is judged by."""

    model_config = ConfigDict(extra="forbid")

    command: str | None = None
    path: str | None = None
    access: Literal["read", "write"] = "read"
    mode: Mode = Mode.ASK
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    confined: bool = False

    @model_validator(mode="after")
    def _has_one_subject(self) -> _Request:
        if (self.command is None) == (self.path is None):
            raise ValueError("give either a command or a path")
        return self

    @classmethod
    def read(cls, line: str) -> _Request:
        """Reads one line; half characters, which JSON can write, are replaced. Raises ValueError."""
        found: JsonValue = json.loads(line)
        if isinstance(found, dict):
            found = {name: storable(value) if isinstance(value, str) else value for name, value in found.items()}
        return cls.model_validate(found)

    def verdict(self, root: Path, extra_roots: Sequence[Path] = ()) -> Verdict:
        """The policy's answer; raises ConfigError."""
        question = Question(mode=self.mode, allow=self.allow, ask=self.ask, deny=self.deny, is_confined=self.confined)
        if self.path is not None:
            return check_path(self.path, Access(self.access), question, root, extra_roots)
        return check_command(self.command or "", question, root, extra_roots)


def run(argv: Sequence[str]) -> int:
    """Runs ``permissions`` with the words behind it; 0 whatever the verdict, 2 when the question makes no sense."""
    options = _parser().parse_args(argv)
    if options.what != "check":
        return run_rules(options)
    root = Path.cwd()
    extra_roots = tuple(Path(folder) for folder in options.add_dir)
    pass_over(extra_roots)
    if options.json and options.command == "-":
        return _answer_lines(root, extra_roots)
    try:
        held = rules_here(root)
        request = _Request(
            command=options.command,
            path=options.path,
            access=options.access,
            mode=Mode(options.mode),
            allow=(*held[Decision.ALLOW], *options.allow),
            ask=(*held[Decision.ASK], *options.ask),
            deny=(*held[Decision.DENY], *options.deny),
            confined=options.confined,
        )
        verdict = request.verdict(root, extra_roots)
    except ValidationError as error:
        return _complain("; ".join(found["msg"] for found in error.errors()))
    except CodeagentError as error:
        return _complain(str(error))
    if options.json:
        _print_json(verdict)
    else:
        sys.stdout.write(show_invisible(clean(verdict_as_text(verdict))) + "\n")
    return 0


def _answer_lines(root: Path, extra_roots: Sequence[Path]) -> int:
    """One request a line in, one answer a line out, until the input ends."""
    outcome = 0
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            _print_json(_Request.read(line).verdict(root, extra_roots))
        except ValidationError as error:
            outcome = _complain("; ".join(found["msg"] for found in error.errors()), as_json=True)
        except (CodeagentError, ValueError, RecursionError) as error:
            outcome = _complain(str(error), as_json=True)
    return outcome


def _print_json(verdict: Verdict) -> None:
    sys.stdout.write(json.dumps(verdict_as_json(verdict)) + "\n")
    sys.stdout.flush()


def _complain(problem: str, *, as_json: bool = False) -> int:
    if as_json:
        sys.stdout.write(json.dumps({"error": problem}) + "\n")
    else:
        sys.stderr.write(f"codeagent permissions: {clean(problem)}\n")
    return _USAGE


def _parser() -> argparse.ArgumentParser:
    parser = WordsParser(prog="codeagent permissions", description="Shows the permission rules that hold here, or:")
    commands = parser.add_subparsers(dest="what", metavar="COMMAND", title="commands")
    check = commands.add_parser(
        "check",
        help="say what would be allowed, asked or denied, and why",
        description="Says what the rules that hold here, and those given, make of a command or a file; "
        "a request of --json - is judged by the rules it names alone.",
    )
    add_parsers(commands.add_parser)
    check.add_argument("command", nargs="?", metavar="COMMAND", help="the shell command; - with --json reads requests")
    check.add_argument("--path", help="judge a file instead of a command")
    check.add_argument(
        "--access", choices=[access.value for access in Access], default="read", help="what is done to it"
    )
    check.add_argument(
        "--mode", choices=[str(mode) for mode in Mode], default=str(Mode.ASK), help="the permission mode"
    )
    for kind in ("allow", "ask", "deny"):
        check.add_argument(f"--{kind}", action="append", default=[], metavar="RULE", help=f"a rule that says {kind}")
    check.add_argument(
        "--add-dir", action="append", default=[], metavar="DIR", help="a folder that belongs to the workspace"
    )
    check.add_argument("--confined", action="store_true", help="suppose that the system confines commands")
    check.add_argument("--json", action="store_true", help="answer in JSON; with - one request a line")
    return parser
