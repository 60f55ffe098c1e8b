"""Options by which an ordinary program is told to run another one, such as ``git -c`` and ``tar --to-command``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codeagent.policy.shell_words import Word

_GIT_GLOBAL = ("-c", "--config-env", "--exec-path", "--git-dir", "--work-tree")
_GIT_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_GIT: Mapping[str, tuple[str, ...]] = {
    "rebase": ("-x", "--exec", "-i", "--interactive", "-s", "--strategy"),
    "submodule": ("foreach",),
    "bisect": ("run",),
    "difftool": ("-x", "--extcmd"),
    "mergetool": ("-t", "--tool"),
    "grep": ("-O", "--open-files-in-pager"),
    "clone": ("-u", "--upload-pack", "-c", "--config"),
    "fetch": ("--upload-pack",),
    "pull": ("--upload-pack",),
    "ls-remote": ("--upload-pack",),
    "push": ("--receive-pack", "--exec"),
    "archive": ("--exec",),
}
_OTHERS: Mapping[str, tuple[str, ...]] = {
    "tar": (
        "-I",
        "-F",
        "--checkpoint-action",
        "--to-command",
        "--use-compress-program",
        "--rsh-command",
        "--info-script",
    ),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S", "-o"),
    "sftp": ("-S", "-o"),
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
        return _first(words, _OTHERS.get(name, ()))
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        if _first(words[at : at + 1], _GIT_GLOBAL):
            return words[at].text
        at += 2 if words[at].text in _GIT_VALUED else 1
    return _first(words[at + 1 :], _GIT.get(words[at].text, ())) if at < len(words) else ""


def _first(words: Sequence[Word], options: tuple[str, ...]) -> str:
    """Long options may be cut short and have their value behind ``=``, short ones have it stuck on."""
    for word in words:
        given = word.text.partition("=")[0]
        for option in options:
            is_long = option.startswith("--") and len(option) > len("--")
            if given == option:
                return word.text
            if is_long and given.startswith("--") and len(given) > len("--x") and option.startswith(given):
                return word.text
            if not is_long and option.startswith("-") and not given.startswith("--") and given.startswith(option):
                return word.text
    return ""
