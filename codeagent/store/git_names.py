"""What git says of the names in the workspace: which files changed, are gone or are new, and what is ignored."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import CheckpointError
from codeagent.workspace.private_git import PrivateGit

RULES = ".gitignore"
_FEW = 20
_NONE_IGNORED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the index holds of a file."""

    git_mode: str
    blob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What is not known: ``files`` with the repository inside, if any, that each belongs to, by its folder.

    ``folders`` are those in which nothing is known: empty ones, new ones, and those in
    which all is ignored; folders inside of them are not named.
    """

    files: dict[str, str]
    folders: tuple[str, ...]


class GitNames:
    """Each answer is one run of git, or two."""

    def __init__(self, git: PrivateGit) -> None:
        self._git = git

    def changed(self) -> tuple[dict[str, Known], dict[str, Known]]:
        """The known files that look changed, and those that are gone, as the index knows them."""
        out = self._git.run("diff-files", "-z", "--raw", "--relative", "--ignore-submodules=all", "--", ".")
        changed: dict[str, Known] = {}
        gone: dict[str, Known] = {}
        fields = os.fsdecode(out).split("\0")
        for about, name in zip(fields[0::2], fields[1::2], strict=False):
            git_mode, _, blob, _, what = about.removeprefix(":").split(" ")
            (gone if what == "D" else changed)[name] = Known(git_mode=git_mode, blob=blob)
        return changed, gone

    def new(self, gone: Iterable[str]) -> Listed:
        """What is neither known nor ignored, in repositories inside too; where a file is ``gone`` may be a folder."""
        listed = self._others("--directory")
        replaced = [name for name in gone if self._is_folder(name)]
        folders = (*(name[:-1] for name in listed if name.endswith("/")), *replaced)
        files = dict.fromkeys((name for name in listed if not name.endswith("/")), "")
        if any(map(self._holds_something, folders)):
            files |= self._all_others()
        return Listed(files=files, folders=folders)

    def held(self, names: list[str]) -> dict[str, Known]:
        """What the index holds of these files now."""
        if not names:
            return {}
        given = ("--", *names) if len(names) <= _FEW else ()
        wanted = set(names)
        held: dict[str, Known] = {}
        for entry in os.fsdecode(self._git.run("ls-files", "-z", "-s", *given)).split("\0"):
            about, _, name = entry.partition("\t")
            if name in wanted:
                git_mode, blob, _ = about.split(" ")
                held[name] = Known(git_mode=git_mode, blob=blob)
        return held

    def ignored(self, names: Iterable[str], rules: Mapping[str, bytes] | None = None, base: str = "") -> set[str]:
        """Those of the names that are ignored: by the workspace's ignore files, or by ``rules`` in place of them.

        ``rules`` are contents by name. With a ``base``, all that is above that folder is left out.
        Raises CheckpointError where git fails, or has no room for the rules.
        """
        cut = len(base) + 1 if base else 0
        shorter = {name[cut:]: name for name in names}
        if not shorter:
            return set()
        if rules is None:
            return {shorter[name] for name in self._check_ignore(shorter)}
        top = self._git.surroundings.top
        above = "" if base or self._git.root == top else f"{self._git.root.relative_to(top)}/"
        try:
            with tempfile.TemporaryDirectory(prefix="codeagent-rules-") as place:
                for folder in (*parents(above), "") if above else ():
                    with suppress(OSError):
                        _put(Path(place, folder, RULES), (top / folder / RULES).read_bytes())
                for name, content in rules.items():
                    _put(Path(place, above + name[cut:]), content)
                ignored = self._check_ignore((above + name for name in shorter), at=Path(place))
        except OSError as error:
            raise CheckpointError(f"What is ignored cannot be told: {error.strerror}") from error
        return {shorter[name[len(above) :]] for name in ignored}

    def _check_ignore(self, names: Iterable[str], at: Path | None = None) -> list[str]:
        """Names begin with ``./`` here, as it takes no names literally."""
        words = ("check-ignore", "-z", "--stdin", "--no-index")
        given = as_list(os.fsencode(f"./{name}") for name in names)
        out = self._git.run(*words, given=given, at=at, accepted=(0, _NONE_IGNORED), is_literal=False)
        return [name[2:] for name in os.fsdecode(out).split("\0") if name]

    def _is_folder(self, name: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(f"{self._git.root}/{name}").st_mode)
        except OSError:
            return False

    def _holds_something(self, folder: str) -> bool:
        try:
            with os.scandir(self._git.root / folder) as entries:
                return next(entries, None) is not None
        except OSError:
            return False

    def _all_others(self) -> dict[str, str]:
        files: dict[str, str] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            for name in self._others(at=self._git.root / folder if folder else None):
                if name.endswith("/"):
                    waiting.append(folder + name)
                elif name:
                    files[folder + name] = folder.removesuffix("/")
        return files

    def _others(self, *words: str, at: Path | None = None) -> list[str]:
        out = self._git.run("ls-files", "-z", "--others", "--exclude-standard", *words, at=at)
        return [name for name in os.fsdecode(out).split("\0") if name]


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def as_list(names: Iterable[bytes]) -> bytes:
    """Names as git reads them from its input."""
    return b"".join(name + b"\0" for name in names)


def parents(name: str) -> Iterable[str]:
    """The folders that a file or folder lies in, innermost first, the workspace itself aside."""
    at = name.rfind("/")
    while at > 0:
        yield name[:at]
        at = name.rfind("/", 0, at)
