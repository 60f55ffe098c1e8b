"""Which files of the work tree a git command writes or deletes, as far as its words and the repository tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from codeagent.policy.effort import A_PROCESS, spend
from codeagent.policy.git_names import is_pattern
from codeagent.policy.options import names, split_git
from codeagent.policy.replaced import written_names, written_out
from codeagent.policy.shell_words import Word
from codeagent.workspace.files import is_folder
from codeagent.workspace.git import run_git, uncommitted
from codeagent.workspace.git_places import is_there, repository_of

_ELSEWHERE = ("--git-dir", "--work-tree")
_HARMLESS = names(
    "add commit push fetch tag branch remote config notes gc fsck prune repack init bundle blame annotate log show diff"
    " status grep archive ls-files ls-tree ls-remote rev-parse rev-list describe shortlog update-ref write-tree"
    " commit-tree hash-object mktree mktag cat-file for-each-ref reflog range-diff format-patch request-pull"
    " fast-export maintenance count-objects diff-tree diff-index diff-files help version var name-rev merge-base"
    " show-ref symbolic-ref check-ignore check-attr whatchanged cherry show-branch update-index verify-tag"
)
_INTO = {"archive": "-o", "format-patch": "-o", "config": "-f"}
_READS_SETTINGS = ("-l", "--list", "--get", "get", "list")
_KEEPS = names("list show drop clear create store")
_HARD = ("--h", "--k", "--me")
"""``--hard``, ``--keep``, ``--merge``: of these ``git reset`` writes files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitWrites:
    """``sure``: files that are written or deleted. ``below``: folders in which any other file may be.

    ``is_named``: the command names the files, or one place where they all are, rather than another state of everything.
    """

    sure: tuple[Path, ...] = ()
    below: tuple[Path, ...] = ()
    is_named: bool = False


_NONE = GitWrites()


def git_writes(words: Sequence[Word], folder: Path) -> GitWrites:
    """What the command ``words`` (behind ``git``) writes when it runs in ``folder``."""
    own, words = split_git(words)
    for option, value in own:
        folder = folder / value if option == "-C" else folder
    top = repository_of(folder) or folder
    anything = GitWrites(below=(top,))
    if not words:
        return _NONE
    if not words[0].is_fixed or any(option.startswith(_ELSEWHERE) for option, _ in own):
        return anything
    command, rest = words[0].text, words[1:]
    texts = written_out(rest, folder)
    if texts is None:
        return _NONE if command in _HARMLESS and not any("-o" in word.text for word in rest) else anything
    if outputs := tuple(_outputs(command, texts)):
        return GitWrites(sure=tuple(folder / name for name in outputs), is_named=True)
    if command in _HARMLESS:
        return _NONE
    find = _COMMANDS.get(command)
    return (find(texts, folder, top) if find else None) or anything


def _outputs(command: str, texts: Sequence[str]) -> Iterator[str]:
    """The files into which a command puts what it would print, or which it takes in place of git's settings."""
    if command == "bundle" and texts[:1] == ["create"]:
        yield from (text for text in texts[1:] if not text.startswith("-"))
    if command == "config" and any(text.startswith(_READS_SETTINGS) for text in texts):
        return
    short = _INTO.get(command, "")
    for text, following in pairwise([*texts, ""]):
        name, equals, value = text.partition("=")
        is_file = command == "config" and len(name) > len("--f") and "--file".startswith(name)
        if is_file or (len(name) > len("--ou") and "--output-directory".startswith(name)):
            yield value if equals else following
        elif short and text[:2] == short:
            yield text[2:] or following


def _given(texts: Sequence[str], valued: str) -> tuple[dict[str, str], list[str], list[str] | None]:
    """Options with their values, operands, and what stands behind ``--``; ``valued`` options take the next word."""
    options: dict[str, str] = {}
    operands: list[str] = []
    takes = valued.split()
    rest = iter(texts)
    for text in rest:
        if text == "--":
            return options, operands, list(rest)
        if text == "-" or not text.startswith("-"):
            operands.append(text)
            continue
        name, equals, value = text.partition("=")
        if name[:2] != "--" and name[:2] in takes and text[2:]:
            name, value = text[:2], text[2:]
        elif not equals and any(name == one or (len(name) > len("--s") and one.startswith(name)) for one in takes):
            value = next(rest, "")
        options[name] = value
    return options, operands, None


def _git(folder: Path, *words: str) -> list[str] | None:
    spend(A_PROCESS)
    out = run_git(folder, *words)
    return None if out is None else [name for name in out.split("\0") if name]


def _changed(folder: Path, top: Path, *words: str) -> list[Path] | None:
    """The files that differ; None where git cannot tell."""
    plain = ("--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff", "--ignore-submodules=all")
    found = _git(folder, "diff", *plain, *words)
    return None if found is None else [top / name for name in found]


def _is_commit(folder: Path, word: str) -> bool:
    return bool(_git(folder, "rev-parse", "--verify", "--quiet", f"{_tree(word)}^{{commit}}"))


def _tree(word: str) -> str:
    return "@{-1}" if word == "-" else word


def _taken(folder: Path, top: Path, tree: str, paths: Sequence[str]) -> GitWrites | None:
    """Files are taken from a commit, or from the index when ``tree`` is empty."""
    changed = _changed(folder, top, *([_tree(tree)] if tree else []), "--", *paths)
    plain = [path for path in paths if path[:1] != ":" and not is_pattern(path)]
    if changed is None or len(plain) < len(paths):
        return GitWrites(sure=tuple(changed or ()), below=(top,), is_named=True)
    folders = tuple(folder / path for path in plain if is_folder(folder / path))
    files = tuple(folder / path for path in plain if not is_folder(folder / path))
    return GitWrites(sure=(*files, *changed), below=folders, is_named=True)


def _moved(folder: Path, top: Path, *words: str) -> GitWrites | None:
    """Another commit comes into the work tree."""
    changed = _changed(folder, top, *words)
    return None if changed is None else GitWrites(sure=tuple(changed), below=(top,))


def _checkout(texts: Sequence[str], folder: Path, top: Path) -> GitWrites | None:
    options, operands, limits = _given(texts, "-b -B --orphan")
    if any(option.startswith("--pathspec-f") for option in options):
        return None
    tree, paths = "", [*operands, *(limits or ())]
    if operands and (limits is not None or _is_commit(folder, operands[0])):
        tree, paths = operands[0], paths[1:]
    if paths:
        is_guess = not tree and limits is None and not is_there(folder / paths[0])
        return None if is_guess else _taken(folder, top, tree, paths)
    return _moved(folder, top, "HEAD", _tree(tree)) if tree else _moved(folder, top) if "-f" in options else _NONE


def _switch(texts: Sequence[str], folder: Path, top: Path) -> GitWrites | None:
    options, operands, _ = _given(texts, "-c -C --create --force-create --orphan")
    if not operands:
        return _NONE if options else None
    return _moved(folder, top, "HEAD", _tree(operands[0]))


def _restore(texts: Sequence[str], folder: Path, top: Path) -> GitWrites | None:
    options, operands, limits = _given(texts, "-s --source")
    if any(option.startswith("--pathspec-f") for option in options):
        return None
    if options.keys() & {"-S", "--staged"} and not options.keys() & {"-W", "--worktree"}:
        return _NONE
    tree = next((value for option, value in options.items() if option == "-s" or option.startswith("--so")), "")
    paths = [*operands, *(limits or ())]
    return _taken(folder, top, tree, paths) if paths else _NONE


def _reset(texts: Sequence[str], folder: Path, top: Path) -> GitWrites | None:
    options, operands, _ = _given(texts, "")
    is_hard = any(option.startswith(_HARD) for option in options)
    return _moved(folder, top, operands[0] if operands else "HEAD") if is_hard else _NONE


def _rm(texts: Sequence[str], folder: Path, top: Path) -> GitWrites | None:
    options, operands, limits = _given(texts, "")
    if any(option.startswith("--pathspec-f") for option in options):
        return None
    if any(option.startswith("--ca") for option in options) or options.keys() & {"-n", "--dry-run"}:
        return _NONE
    paths = [*operands, *(limits or ())]
    known = _git(folder, "ls-files", "-z", "--full-name", "--", *paths) if paths else []
    if known is None:
        return None
    return GitWrites(sure=(*(folder / path for path in paths), *(top / name for name in known)), is_named=True)


def _mv(texts: Sequence[str], folder: Path, _top: Path) -> GitWrites | None:
    words = [Word("mv"), *(Word(text) for text in texts if text == "--" or not text.startswith("-"))]
    found = written_names(words, folder)
    return GitWrites(sure=tuple(folder / name for name in found), is_named=True)


def _stash(texts: Sequence[str], folder: Path, top: Path) -> GitWrites | None:
    options, operands, limits = _given(texts, "-m --message")
    verb = operands[0] if operands else "push"
    if verb in _KEEPS:
        return _NONE
    if verb in {"pop", "apply"}:
        found = _git(folder, "stash", "show", "--name-only", "-z", "--no-renames", *operands[1:2])
        return None if found is None else GitWrites(sure=tuple(top / name for name in found), is_named=True)
    paths = [*operands[1:], *(limits or ())]
    changed = _changed(folder, top, "HEAD", "--", *paths)
    new = uncommitted(folder, paths) if options.keys() & {"-u", "-a", "--include-untracked", "--all"} else None
    if changed is None or verb != "push":
        return None
    return GitWrites(sure=(*changed, *(new.new if new else ())), below=tuple(folder / path for path in paths) or (top,))


def _apply(texts: Sequence[str], folder: Path, top: Path) -> GitWrites | None:
    options, operands, limits = _given(
        texts, "-p -C --directory --exclude --include --whitespace --build-fake-ancestor"
    )
    if options.keys() & {"--check", "--stat", "--numstat", "--summary"} and "--apply" not in options:
        return _NONE
    if not [*operands, *(limits or ())] or "-" in operands:
        return None
    found = _git(folder, "apply", "--numstat", "-z", *texts)
    if found is None:
        return None
    written = [name.rpartition("\t")[2] for name in found]
    return GitWrites(sure=tuple(base / name for name in written for base in {top, folder}), is_named=True)


def _clean(texts: Sequence[str], folder: Path, _top: Path) -> GitWrites | None:
    options, operands, limits = _given(texts, "-e --exclude")
    letters = {letter for option in options if option[:2] != "--" for letter in option[1:]}
    if "n" in letters or "--dry-run" in options:
        return _NONE
    paths = [*operands, *(limits or ())]
    found = uncommitted(folder, paths or ["."])
    below = tuple(folder / path for path in paths) or (folder,)
    return None if found is None else GitWrites(sure=found.new, below=below)


def _merge_file(texts: Sequence[str], folder: Path, _top: Path) -> GitWrites | None:
    options, operands, limits = _given(texts, "-L --marker-size")
    is_printed = options.keys() & {"-p", "--stdout"}
    first = tuple(folder / name for name in [*operands, *(limits or ())][:1])
    return _NONE if is_printed else GitWrites(sure=first, is_named=True)


def _submodule(texts: Sequence[str], _folder: Path, top: Path) -> GitWrites | None:
    is_list = any(text in {"add", "set-url", "set-branch"} for text in texts)
    return GitWrites(sure=(top / ".gitmodules",), below=(top,), is_named=True) if is_list else None


_COMMANDS: Mapping[str, Callable[[Sequence[str], Path, Path], GitWrites | None]] = {
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "reset": _reset,
    "rm": _rm,
    "mv": _mv,
    "stash": _stash,
    "apply": _apply,
    "clean": _clean,
    "merge-file": _merge_file,
    "submodule": _submodule,
}
