"""The command line: its words, and what they mean."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, Protocol

from codeagent import __version__
from codeagent.cli.options import Options, OutputFormat
from codeagent.config.launch import LATEST, PICK
from codeagent.core.approvals import Mode
from codeagent.core.errors import ConfigError
from codeagent.core.text import clean
from codeagent.core.values import value

_COMMANDS = """commands:
  codeagent demo                 play a real session on a sample project; no key, no network
  codeagent doctor               check terminal, key, model, git, ripgrep and sandbox
  codeagent sessions             list, search, show, export, rename, fork, replay and delete sessions
  codeagent sessions undo        take back the last change that the agent made here
  codeagent config               the settings in force; change one, keep a key, complete in your shell
  codeagent trust [PATH]         let a project's own settings take effect
  codeagent permissions          the rules that hold here; list, add and remove them
  codeagent permissions check    what the gate would say to a command or path
"""


_PLAIN_WORDS = (
    (r"argument (.+?): expected (?:one|at least one) argument", r"\1 needs a value behind it"),
    (r"argument (.+?): not allowed with argument (.+)", r"\1 does not go with \2"),
    (r"argument (.+?): ignored explicit argument (.+)", r"\1 takes no value, and got \2"),
    (r"argument (.+?): invalid choice: (.+) \(choose from (.+)\)", r"\1 takes one of \3, not \2"),
    (r"unrecognized arguments: (.+)", r"'\1' is no flag and no word that belongs here"),
    (r"the following arguments are required: (.+)", r"\1 has to be named"),
)
"""What argparse says of words that make no sense, and how it is told."""


class _Writable(Protocol):
    """What text can be written to."""

    def write(self, text: str, /) -> object:
        """Takes the text."""


class WordsParser(argparse.ArgumentParser):
    """A parser of words whose complaints may reach a terminal, whatever it was given."""

    def error(self, message: str) -> NoReturn:
        """Raises ConfigError."""
        raise ConfigError(f"{clean(_in_plain_words(message))}.", hint=f"{self.prog} --help shows what there is.")

    def _print_message(self, message: str, file: _Writable | None = None) -> None:
        """Raises OSError where help does not get out, over which argparse keeps silent; a complaint may get lost."""
        if file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


@value
class Flag:
    """One flag as completion shows it; a value that ``needs_value`` does not name may be left out."""

    names: tuple[str, ...]
    what: str
    choices: tuple[str, ...] = ()
    takes_value: bool = False
    needs_value: bool = False


def _in_plain_words(complaint: str) -> str:
    """A complaint of argparse's as a sentence; one that is not known, as from another Python, stays as it is."""
    for theirs, ours in _PLAIN_WORDS:
        if found := re.fullmatch(theirs, complaint, re.DOTALL):
            return found.expand(ours)
    return complaint


def flags() -> tuple[Flag, ...]:
    """Every flag of the main command, in the order of the help."""
    return tuple(
        Flag(
            names=tuple(action.option_strings),
            what=action.help or "",
            choices=tuple(str(choice) for choice in action.choices or ()),
            takes_value=action.nargs != 0,
            needs_value=action.nargs is None,
        )
        for action in build_parser()._actions  # noqa: SLF001 - argparse has no other list of them
        if action.option_strings
    )


def parse_options(words: Sequence[str]) -> Options:
    """Reads the command line; raises ConfigError where it makes no sense.

    Words after ``--`` are the prompt, whatever they begin with.
    """
    parser = build_parser()
    end = words.index("--") if "--" in words else len(words)
    found = parser.parse_intermixed_args(words[:end])
    plain = " ".join(words[end + 1 :])
    output_format = OutputFormat(found.output_format)
    if found.print is None and output_format is not OutputFormat.TEXT:
        parser.error("--output-format goes with -p")
    if sum(map(bool, (found.print, found.prompt, plain))) > 1:
        parser.error("there are two prompts; put quotes around the whole text")
    if found.resume == PICK and found.print is not None:
        parser.error("-r needs an ID with -p; codeagent sessions list shows them")
    if found.fork and not (found.continues or found.resume):
        parser.error("--fork goes with -c or -r: it opens a copy of that session")
    if not found.keeps_session and (found.continues or found.resume):
        parser.error("--no-session cannot go on with a stored session")
    return Options(
        prompt=found.print or found.prompt or plain,
        prints=found.print is not None,
        output_format=output_format,
        directory=found.cd,
        resume=LATEST if found.continues else found.resume,
        forks=found.fork,
        keeps_session=found.keeps_session,
        trusts=found.trust,
        tables=_tables(found),
    )


def build_parser() -> argparse.ArgumentParser:
    """The parser of the main command."""
    parser = WordsParser(
        prog="codeagent",
        description="A terminal coding agent that shows every change before it happens.",
        epilog=_COMMANDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("prompt", nargs="?", metavar="PROMPT", help="what to do first, once the app is open")
    add(
        "-p",
        "--print",
        nargs="?",
        const="",
        metavar="PROMPT",
        help="run without a screen and print the answer; piped input is added to PROMPT",
    )
    add(
        "--output-format",
        choices=[str(one) for one in OutputFormat],
        default=str(OutputFormat.TEXT),
        metavar="FORMAT",
        help="with -p: text, json (the end) or stream-json (every event, one a line)",
    )
    add("-C", "--cd", type=Path, metavar="DIR", help="work in DIR instead of the current directory")
    add("--model", metavar="PROVIDER/NAME", help="anthropic/NAME, openai/NAME, openai-chat/NAME or scripted/FILE")
    modes = [str(mode) for mode in Mode]
    add("--mode", choices=modes, metavar="MODE", help="plan, ask (default), edits or auto")
    add("--allow", action="append", metavar="RULE", help="let calls through that fit, such as 'bash(pytest *)'")
    add("--ask", action="append", metavar="RULE", help="always ask about calls that fit")
    add("--deny", action="append", metavar="RULE", help="never run calls that fit")
    add("--add-dir", action="append", metavar="DIR", help="treat DIR as part of the workspace")
    add(
        "--sandbox",
        choices=["read-only", "workspace-write", "off"],
        metavar="LEVEL",
        help="how commands are confined: read-only, workspace-write or off",
    )
    add("--trust", action="store_true", help="let this project's own settings take effect for this run")
    resume = parser.add_mutually_exclusive_group()
    resume.add_argument(
        "-c",
        "--continue",
        dest="continues",
        action="store_true",
        help="go on with the latest session of this directory",
    )
    resume.add_argument(
        "-r", "--resume", nargs="?", const=PICK, metavar="ID", help="go on with that session, or choose one from a list"
    )
    add("--fork", action="store_true", help="with -c or -r: go on with a copy, the session itself stays as it is")
    add("--no-session", dest="keeps_session", action="store_false", help="keep no record of this session")
    add("--max-steps", metavar="N", help="requests one turn may take (default 50)")
    add("--max-cost", metavar="USD", help="stop when the session has cost more")
    add("--version", action="version", version=f"codeagent {__version__}")
    return parser


def _tables(found: argparse.Namespace) -> dict[str, dict[str, object]]:
    """The flags that are settings, as the tables of a settings file."""
    values: dict[str, dict[str, object]] = {
        "model": {"name": found.model},
        "permissions": {
            "mode": found.mode,
            "allow": found.allow,
            "ask": found.ask,
            "deny": found.deny,
            "add_dirs": found.add_dir,
        },
        "sandbox": {"level": found.sandbox},
        "budget": {"max_steps": found.max_steps, "max_cost": found.max_cost},
    }
    given = {table: {key: value for key, value in keys.items() if value is not None} for table, keys in values.items()}
    return {table: keys for table, keys in given.items() if keys}
