"""Programs that run another command: what stands behind ``sudo``, ``env``, ``xargs``, ``sh -c`` and their kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from codeagent.policy.effort import spend
from codeagent.policy.options import names
from codeagent.policy.shell_words import Word

_MARKS_IN_ONE = 16
ANYTHING = Word("…", is_known=False, may_split=True)
"""Words that a wrapper adds and nobody knows before it runs."""

_ANY_SETTING = re.compile(r"[^=]+=.*", re.DOTALL)
_SHELL_SETTING = re.compile(r"!|[A-Za-z_]\w*\+?=.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Inside:
    """What a wrapper runs: a command's words or a shell script; ``is_hidden`` when that is not all of it.

    ``folder``: it goes there before. ``is_anywhere``: where it runs is only known when it runs.
    """

    words: tuple[Word, ...] = ()
    script: str | None = None
    is_hidden: bool = False
    folder: Word | None = None
    is_anywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """A wrapper's own options: ``valued`` ones have a value behind them, ``operands`` stand before the command.

    Words like ``setting`` may stand there as well, as many as there are.
    The value of those in ``moves`` is the folder in which it runs the command.
    """

    flags: str = ""
    valued: str = ""
    long_flags: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    operands: int = 0
    setting: re.Pattern[str] | None = None
    adds_words: bool = False
    query: str = ""
    is_shell: str = ""
    moves: str = ""


_WRAPPERS: Mapping[str, _Options] = {
    "sudo": _Options(
        flags="AbBEHnNPS",
        valued="CDghpRrtTuU",
        long_flags=names("askpass background bell preserve-env set-home non-interactive preserve-groups stdin"),
        long_valued=names("close-from chdir group host prompt chroot role type command-timeout user other-user"),
        setting=_ANY_SETTING,
        moves="D",
    ),
    "doas": _Options(flags="nL", valued="uC", setting=_ANY_SETTING),
    "env": _Options(
        flags="i0v",
        valued="uC",
        long_flags=names("ignore-environment null debug"),
        long_valued=names("unset chdir"),
        setting=_ANY_SETTING,
        moves="C",
    ),
    "command": _Options(flags="p", query="vV"),
    "builtin": _Options(),
    "exec": _Options(flags="cl", valued="a"),
    "nohup": _Options(),
    "time": _Options(
        flags="apqv",
        valued="fo",
        long_flags=names("append portability quiet verbose"),
        long_valued=names("format output"),
        setting=_SHELL_SETTING,
    ),
    "nice": _Options(flags="0123456789", valued="n", long_valued=names("adjustment")),
    "ionice": _Options(flags="t", valued="cn", long_flags=names("ignore"), long_valued=names("class classdata")),
    "timeout": _Options(
        flags="v",
        valued="ks",
        long_flags=names("foreground preserve-status verbose"),
        long_valued=names("kill-after signal"),
        operands=1,
    ),
    "gtimeout": _Options(valued="ks", operands=1),
    "stdbuf": _Options(valued="ioe", long_valued=names("input output error")),
    "setsid": _Options(flags="cfw", long_flags=names("ctty fork wait")),
    "chrt": _Options(flags="abdfior", operands=1),
    "taskset": _Options(flags="a", operands=1),
    "flock": _Options(flags="sxenuoFv", valued="wE", operands=1, is_shell="c"),
    "chroot": _Options(operands=1, long_valued=names("groups userspec")),
    "fakeroot": _Options(),
    "unbuffer": _Options(flags="p"),
    "caffeinate": _Options(flags="disu", valued="tw"),
    "arch": _Options(),
    "busybox": _Options(),
    "toybox": _Options(),
    "coproc": _Options(),
    "strace": _Options(flags="fFqrtTvxyC", valued="eopsuESPIaO"),
    "ltrace": _Options(flags="fS", valued="eop"),
    "xargs": _Options(
        flags="0rtpxo",
        valued="nPLsdaEIJR",
        long_flags=names("null no-run-if-empty verbose interactive exit open-tty"),
        long_valued=names("max-args max-procs max-lines max-chars delimiter arg-file eof replace process-slot-var"),
        adds_words=True,
    ),
}
_RUNNERS = frozenset(
    tuple(words.split())
    for words in (
        *("uv run", "poetry run", "pipenv run", "pdm run", "rye run", "hatch run", "bundle exec", "npm exec", "npm x"),
        *("pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx", "conda run", "direnv exec", "mise exec", "nix-shell --run"),
        *("npx", "bunx", "pipx run", "uvx"),
    )
)
SHELLS = names("sh bash dash zsh ksh mksh ash fish rbash csh tcsh")
_UNSEEN = names(
    "eval source . parallel watch su runuser pkexec ssh script entr at batch trap nsenter unshare systemd-run screen"
    " tmux expect socat find0 rush doit ccache sccache dbus-launch dbus-run-session xvfb-run firejail proot faketime"
    " bwrap"
)
INTERPRETERS = SHELLS | names(
    "python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua luajit tclsh wish osascript awk gawk mawk"
    " nawk pwsh powershell Rscript R julia ghci irb ipython groovy scala guile racket sqlite3 psql mysql ed vim vi ex"
    " emacs gdb make"
)


def base_name(word: str) -> str:
    """The program that a command word starts, without its folder."""
    return PurePosixPath(word).name if "/" in word else word


def is_wrapper(name: str) -> bool:
    """Whether a program runs a command that it is given."""
    return name in _WRAPPERS.keys() | _UNSEEN | SHELLS | {"find", "fd", "npx", "bunx", "uvx", "pipx"}


def inside(words: Sequence[Word]) -> tuple[Inside, ...]:  # noqa: PLR0911 - one return a kind
    """What the command given by ``words`` would run besides itself; empty when it runs nothing else."""
    if not words or not words[0].is_fixed:
        return ()
    name = base_name(words[0].text).lower()
    rest = words[1:]
    if name in _WRAPPERS:
        return _wrapped(_WRAPPERS[name], rest)
    if name in SHELLS:
        return _shell(rest)
    if name == "eval":
        return _evaluated(rest)
    if name in _UNSEEN:
        return (Inside(is_hidden=True),)
    if name in _FINDERS:
        return _FINDERS[name](rest)
    for length in (1, 2):
        if tuple(word.text for word in words[:length]) in _RUNNERS:
            return _after_runner(words[length:])
    return ()


def _wrapped(options: _Options, rest: Sequence[Word]) -> tuple[Inside, ...]:  # noqa: PLR0911 - one return a kind
    """Skips a wrapper's own options; any that is not known makes the rest unseen."""
    at = 0
    folder: Word | None = None
    while at < len(rest) and (rest[at].text.startswith("-") or not rest[at].is_known):
        word = rest[at]
        if not word.is_known:
            return (Inside(is_hidden=True),)
        if word.text == "--":
            at += 1
            break
        if options.query and word.text[1:2] in options.query:
            return ()
        step = _long_step(options, word.text) if word.text.startswith("--") else _short_step(options, word.text[1:])
        value = rest[at + 1] if step == 2 and at + 1 < len(rest) else None  # noqa: PLR2004 - the option and its value
        if step is None or word.glob:
            return (Inside(is_hidden=True),)
        if value and (value.may_split or value.glob):
            behind = _wrapped(options, rest[at + step :])
            return (Inside(is_hidden=True), *(replace(one, is_anywhere=True) for one in behind))
        folder = _folder(options, word.text, value) or folder
        at += step
    at = _skip_settings(options, rest, at)
    if not all(word.is_fixed for word in rest[at : at + options.operands]):
        return (Inside(is_hidden=True),)
    at += options.operands
    command = tuple(rest[at:])
    if options.is_shell and command and command[0].text == "-" + options.is_shell:
        return _evaluated(command[1:])
    if options.adds_words:
        command = (*_without_placeholders(rest[:at], command), ANYTHING) if command else ()
    return (Inside(words=command, folder=folder),) if command else ()


def _folder(options: _Options, text: str, value: Word | None) -> Word | None:
    """The folder to which an option of a wrapper goes, None when it goes nowhere."""
    if text.startswith("--"):
        name, equals, stuck = text[2:].partition("=")
        return (Word(stuck) if equals else value) if options.moves and name == "chdir" else None
    at = next((at for at, letter in enumerate(text) if letter in options.valued), len(text))
    return (Word(text[at + 1 :]) if text[at + 1 :] else value) if text[at : at + 1] in {*options.moves} else None


def _skip_settings(options: _Options, rest: Sequence[Word], at: int) -> int:
    while options.setting and at < len(rest) and rest[at].is_fixed and options.setting.fullmatch(rest[at].text):
        at += 1
    return at


def _without_placeholders(own: Sequence[Word], command: tuple[Word, ...]) -> tuple[Word, ...]:
    """With ``xargs -I{}`` the placeholder may stand anywhere, also for the command itself."""
    marks = {word.text[2:] for word in own if word.text.startswith("-I")} | {
        value.text for word, value in pairwise(own) if word.text in {"-I", "-J"}
    }
    if any(word.text.startswith(("-I", "-J", "-i", "--replace")) for word in own):
        marks.add("{}")
    spend(len(marks) * len(command) // _MARKS_IN_ONE)
    return tuple(
        Word(word.text, is_known=False) if any(mark and mark in word.text for mark in marks) else word
        for word in command
    )


def _long_step(options: _Options, text: str) -> int | None:
    """How many words a long option takes, None when it is unknown."""
    name, equals, _ = text[2:].partition("=")
    if name in options.long_valued:
        return 1 if equals else 2
    return 1 if name in options.long_flags else None


def _short_step(options: _Options, cluster: str) -> int | None:
    """How many words a cluster of short options takes, None when one is unknown."""
    for at, letter in enumerate(cluster):
        if letter in options.valued:
            return 1 if at + 1 < len(cluster) else 2
        if letter not in options.flags:
            return None
    return 1


def _shell(rest: Sequence[Word]) -> tuple[Inside, ...]:  # noqa: PLR0911 - one return a kind
    """``sh -c text`` runs the text, ``sh file`` the file like a program, ``sh`` alone whatever comes in."""
    has_text = False
    if [(word.text, word.is_fixed) for word in rest] == [("--version", True)]:
        return ()
    for at, word in enumerate(rest):
        text = word.text
        if not word.is_fixed:
            return (Inside(script=text.strip('"') if has_text else None, is_hidden=True),)
        if text.startswith("--") or text == "-":
            if text not in {"--noprofile", "--norc", "--login", "--posix", "--", "-"}:
                return (Inside(is_hidden=True),)
        elif text.startswith(("-", "+")) and len(text) > 1:
            if set(text[1:]) - set("celuxfnvieoprsaBhkmPTEC") or "o" in text or "s" in text or text[0] == "+":
                return (Inside(is_hidden=True),)
            has_text = has_text or "c" in text
        elif has_text:
            return (Inside(script=text),)
        else:
            return (Inside(words=tuple(rest[at:])),)
    return (Inside(is_hidden=True),)


def _evaluated(rest: Sequence[Word]) -> tuple[Inside, ...]:
    """``eval`` puts its words together with blanks and runs the result."""
    script = " ".join(word.text if word.is_known else word.text.strip('"') for word in rest)
    return (Inside(script=script, is_hidden=not all(word.is_fixed for word in rest)),)


def _find(rest: Sequence[Word]) -> tuple[Inside, ...]:
    found: list[Inside] = []
    at = 0
    while at < len(rest):
        if rest[at].text in {"-exec", "-execdir", "-ok", "-okdir"}:
            end = at + 1
            while (
                end < len(rest) and rest[end].text != ";" and not (rest[end].text == "+" and rest[end - 1].text == "{}")
            ):
                end += 1
            command = tuple(ANYTHING if "{}" in word.text else word for word in rest[at + 1 : end])
            is_anywhere = rest[at].text.endswith("dir")
            found.append(Inside(words=command, is_hidden=not command, is_anywhere=is_anywhere))
            at = end
        elif not rest[at].is_known and rest[at].may_split:
            found.append(Inside(is_hidden=True))
        at += 1
    return tuple(found)


_FD_VALUED = "tdSjcEeo"


def _fd(rest: Sequence[Word]) -> tuple[Inside, ...]:
    for at, word in enumerate(rest):
        behind = runs_behind(word.text)
        if behind is not None:
            return (Inside(is_hidden=True) if behind else Inside(words=(*rest[at + 1 :], ANYTHING)),)
        if not word.is_known:
            return (Inside(is_hidden=True),)
    return ()


def runs_behind(text: str) -> str | None:
    """What of a command stands in this word of ``fd`` itself, behind ``-x``; None when it makes it run none."""
    if text.startswith("--"):
        option, _, value = text.partition("=")
        return value if option in {"--exec", "--exec-batch"} else None
    for at, letter in enumerate(text[1:] if text.startswith("-") else "", 2):
        if letter in "xX":
            return text[at:]
        if letter in _FD_VALUED:
            return None
    return None


_FINDERS: Mapping[str, Callable[[Sequence[Word]], tuple[Inside, ...]]] = {"find": _find, "fd": _fd, "fdfind": _fd}


def _after_runner(rest: Sequence[Word]) -> tuple[Inside, ...]:
    if rest and rest[0].text == "--":
        rest = rest[1:]
    if not rest:
        return ()
    if rest[0].text.startswith("-"):
        return (Inside(is_hidden=True),)
    return (Inside(words=tuple(rest)),)
