"""Options by which an ordinary program is told to run another one, such as ``git -c`` and ``tar --to-command``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from codeagent.policy.options import split_git
from codeagent.policy.shell_words import Word

_GIT_GLOBAL = ("-c", "--config-env", "--exec-path", "--git-dir", "--work-tree")
_GIT: Mapping[str, tuple[str, ...]] = {
    "rebase": ("-x", "--exec", "-i", "--interactive", "-s", "--strategy"),
    "submodule": ("foreach",),
    "bisect": ("run",),
    "difftool": ("-x", "--extcmd"),
    "mergetool": ("-t", "--tool"),
    "grep": ("-O", "--open-files-in-pager"),
    "clone": ("-u", "--upload-pack", "-c", "--config"),
    **dict.fromkeys(("fetch", "pull", "ls-remote"), ("--upload-pack",)),
    "push": ("--receive-pack", "--exec"),
    "archive": ("--exec",),
}
_OTHERS: Mapping[str, tuple[str, ...]] = {
    "tar": (
        *("-I", "-F", "--checkpoint-action", "--to-command", "--use-compress-program", "--rsh-command"),
        "--info-script",
    ),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    **dict.fromkeys(("scp", "sftp"), ("-S", "-o")),
    "ssh": ("-o",),
    "zip": ("-TT", "--unzip-command"),
    "man": ("-P", "--pager", "-H", "--html"),
    "sort": ("--compress-program",),
    "rg": ("--pre", "--hostname-bin"),
    "split": ("--filter",),
    "ctags": ("--options",),
}


def program_option(name: str, words: Sequence[Word]) -> str:
    """The first of a program's words that can make it run another program, or an empty string."""
    if name != "git":
        return _first([word.text for word in words], _OTHERS.get(name, ()))
    own, rest = split_git(words)
    texts = [word.text for word in rest]
    return _first([option for option, _ in own], _GIT_GLOBAL) or _first(texts[1:], _GIT.get("".join(texts[:1]), ()))


def _first(texts: Iterable[str], options: tuple[str, ...]) -> str:
    """Long options may be cut short and have their value behind ``=``, short ones have it stuck on."""
    for text in texts:
        given = text.partition("=")[0]
        for option in options:
            is_long = option.startswith("--") and len(option) > len("--")
            if given == option:
                return text
            if is_long and given.startswith("--") and len(given) > len("--x") and option.startswith(given):
                return text
            if not is_long and option.startswith("-") and not given.startswith("--") and given.startswith(option):
                return text
    return ""
