"""A folder that git takes in place of a repository's inside: all that it reads there, but no setting and no hook.

What git runs, it runs because a setting or a hook says so. codeagent's own git never sees those of a repository:
of the settings only the few that are known to choose what is read, and to start nothing, are written into the
stand-in (``CARRIED``); a program that a repository names cannot be among them, whatever git is asked and whatever
changes meanwhile. It lies where commands cannot write.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from codeagent.workspace.git_repository import Repository, head_of
from codeagent.workspace.private import make_private_folder

CARRIED = frozenset(
    {"core.abbrev", "core.attributesfile", "core.autocrlf", "core.checkroundtripencoding", "core.checkstat"}
    | {"core.disambiguate", "core.eol", "core.excludesfile", "core.filemode", "core.ignorecase", "core.notesref"}
    | {"core.precomposeunicode", "core.sparsecheckout", "core.sparsecheckoutcone", "core.symlinks"}
    | {"core.trustctime", "core.usereplacerefs", "branch.*.merge", "branch.*.pushremote", "branch.*.rebase"}
    | {"branch.*.remote", "diff.algorithm", "diff.orderfile", "diff.renamelimit", "diff.renames"}
    | {"grep.extendedregexp", "grep.patterntype", "i18n.commitencoding", "i18n.logoutputencoding", "log.diffmerges"}
    | {"log.follow", "log.mailmap", "mailmap.blob", "mailmap.file", "merge.directoryrenames", "merge.renames"}
    | {"push.default", "remote.*.fetch", "remote.*.push", "remote.pushdefault"}
    | {"sparse.expectfilesoutsideofpatterns"}
)
"""The settings that take effect: each only says which commits and files are meant, and how they are compared."""

_FORMATS = frozenset({"extensions.compatobjectformat", "extensions.objectformat", "extensions.refstorage"})
"""How the repository is kept; without these git would not read it."""

_FILES_AT_HOME = {"core.attributesfile": "attributes", "core.excludesfile": "ignore"}
_NAMES_OF_FILES = frozenset({*_FILES_AT_HOME, "diff.orderfile", "mailmap.file"})
_FIXED = """\
[core]
\trepositoryformatversion = {version}
\tbare = false
\tfsmonitor = false
\thooksPath = /dev/null
[diff]
\tignoreSubmodules = all
[protocol]
\tallow = never
[submodule]
\trecurse = false
"""
_LINKED = frozenset({"info", "logs", "packed-refs", "refs", "reftable", "shallow", "worktrees"})
_ALSO_LINKED = re.compile(r"sharedindex\.[0-9a-f]+|(?!HEAD$)[A-Z_]+")
"""Parts of a split index; names of commits such as MERGE_HEAD."""
_PREFIX = "git-look-"
_ABANDONED = 3600.0


@contextmanager
def stand_in(repository: Repository, settings: bytes) -> Generator[dict[str, str]]:
    """The environment in which git takes the stand-in; it is gone afterwards. Raises OSError.

    ``settings`` are those in force for the repository, as ``git config --list -z`` prints them.
    """
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_base()))
    try:
        common = inside = folder / "common"
        _fill(common, repository.common)
        if repository.inside != repository.common:
            inside = folder / "inside"
            _fill(inside, repository.inside)
            (inside / "commondir").write_text(f"{common}\n")
        (common / "objects").mkdir()
        (common / "config").write_bytes(_carried(settings))
        yield {
            "GIT_DIR": str(inside),
            "GIT_COMMON_DIR": str(common),
            "GIT_WORK_TREE": str(repository.top),
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),  # even to read some kinds of index git writes objects
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted_place(repository.objects),
            "GIT_INDEX_FILE": str(inside / "index"),
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def quoted_place(path: Path) -> str:
    """A path as git's lists of object folders want it: in quotes, as C would write it, where it is odd."""
    text = str(path)
    if ":" not in text and not text.startswith('"'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def file_at_home(name: str) -> Path:
    """Where the person's own ``ignore`` or ``attributes`` lie when no setting names another place."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "git" / name


def values_in_force(settings: bytes) -> Iterator[tuple[str, str]]:
    """Name and value of each setting that takes effect; of several with one name the last counts, or all."""
    for entry in os.fsdecode(settings).split("\0"):
        name, has_value, value = entry.partition("\n")
        section, _, rest = name.partition(".")
        _, has_subsection, key = rest.rpartition(".")
        if (f"{section}.*.{key}" if has_subsection else name) in CARRIED | _FORMATS:
            value = value if has_value else "true"
            yield name, str(Path(value).expanduser()) if name in _NAMES_OF_FILES and value[:1] == "~" else value


def _carried(settings: bytes) -> bytes:
    """The settings of the stand-in: what is fixed comes last and so takes effect."""
    values = [(name, str(file_at_home(own))) for name, own in _FILES_AT_HOME.items()]
    values += values_in_force(settings)
    version = int(any(name in _FORMATS for name, _ in values))
    return os.fsencode("".join(_as_written(values)) + _FIXED.format(version=version))


def _as_written(values: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, value in values:
        section, _, rest = name.partition(".")
        subsection, _, key = rest.rpartition(".")
        head = f'{section} "{_escaped(subsection)}"' if subsection else section
        yield f'[{head}]\n\t{key} = "{_escaped(value)}"\n'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _fill(folder: Path, source: Path) -> None:
    folder.mkdir()
    (folder / "HEAD").write_bytes(head_of(source) or b"ref: refs/heads/none\n")
    for name in os.listdir(source):  # noqa: PTH208 - only names
        if name in _LINKED or _ALSO_LINKED.fullmatch(name):
            (folder / name).symlink_to(source / name)
        elif name == "index":
            _take_index(folder / name, (source / name).resolve())


def _take_index(place: Path, theirs: Path) -> None:
    """The same index under a name of its own: git, which writes one anew to change it, leaves theirs as it is."""
    if not theirs.is_file():
        return
    try:
        place.hardlink_to(theirs)
    except OSError:  # on another disk
        shutil.copy2(theirs, place)


def _base() -> Path:
    """The program's own folder, which commands cannot write to; what crashed runs left there goes. Raises OSError."""
    home = os.environ.get("CODEAGENT_HOME")
    own = platformdirs.user_state_path("codeagent", appauthor=False)
    base = (Path(home).expanduser().absolute() / "state" if home else own).resolve() / "git"
    make_private_folder(base)
    for left in base.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED:
                shutil.rmtree(left, ignore_errors=True)
    return base
