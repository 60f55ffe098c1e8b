"""A git directory of our own: git's speed at finding what changed, and nothing of the person's repository at work.

No setting, hook, filter or attribute of any repository, person or machine takes
part; only ignore files do.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import CheckpointError
from codeagent.core.programs import find_program
from codeagent.workspace.git import run_git, settings_of
from codeagent.workspace.git_repository import repository_around
from codeagent.workspace.git_stand_in import file_at_home, quoted_place
from codeagent.workspace.held_objects import hold
from codeagent.workspace.leftovers import TEMP_PREFIX
from codeagent.workspace.private import make_private_folder

_SETTINGS = """\
[core]
\trepositoryformatversion = {version}
\tbare = true
\tfilemode = true
\tsymlinks = true
\tautocrlf = false
\tsafecrlf = false
\tignorecase = false
\ttrustctime = true
\tfsmonitor = false
\tuntrackedcache = false
\tlooseCompression = 1
\thooksPath = /dev/null
[gc]
\tauto = 0
[extensions]
{extensions}
"""
_ATTRIBUTES = "* -text -crlf -eol -ident -filter -working-tree-encoding -merge -diff\n"
_SPECIAL = re.compile(rb"[\\*?\[\] ]")
"""Characters that mean something in an ignore file (gitignore(5))."""
_FIXED = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_EXEC_PATH": os.devnull,  # no program is found by its name, not even git itself for a submodule
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "PATH": os.devnull,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The repository that a folder lies in, or the bare folder itself when there is none.

    ``top`` is the folder that git's names start from; ``index``, ``objects``,
    ``excludes`` (ignore files besides those in the tree) and ``attributes`` (files of
    attributes besides those in the tree) are the person's own files, only ever read.
    ``turns_line_ends``: a setting says that git changes line ends.
    """

    top: Path
    object_format: str = "sha1"
    index: Path | None = None
    objects: Path | None = None
    excludes: tuple[Path, ...] = ()
    attributes: tuple[Path, ...] = ()
    turns_line_ends: bool = False


def look_around(root: Path) -> Surroundings:
    """What git says about the repository around ``root``.

    One in which ``root`` does not lie, as when the environment names another, does not count, and neither does one
    that ignores all of ``root``: its files are none of that repository's business.
    """
    repository = repository_around(root)
    if repository is None or not _lies_in(root, repository.top) or _is_ignored(root, repository.top):
        return Surroundings(top=root)
    own, info = settings_of(repository), repository.common / "info"
    return Surroundings(
        top=repository.top,
        object_format=own.get("extensions.objectformat", "sha1"),
        index=repository.inside / "index",
        objects=repository.objects,
        excludes=(Path(own.get("core.excludesfile") or file_at_home("ignore")), info / "exclude"),
        attributes=(
            Path("/etc/gitattributes"),
            Path(own.get("core.attributesfile") or file_at_home("attributes")),
            info / "attributes",
        ),
        turns_line_ends=own.get("core.autocrlf", "false").lower() not in {"false", "no", "off", "0"},
    )


def _lies_in(root: Path, top: Path) -> bool:
    try:
        return any(folder.samefile(top) for folder in (root, *root.parents))
    except OSError:
        return False


def _is_ignored(root: Path, top: Path) -> bool:
    """Whether ignore files above name the folder, or one around it."""
    return root != top and run_git(root, "check-ignore", "-q", "--no-index", ".") is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateGit:
    """Runs git on a folder of ours (``folder``) and on the files below ``root``; ``index`` is ours too.

    ``apart`` are folders that count as ignored where they lie below ``root``.
    """

    folder: Path
    root: Path
    surroundings: Surroundings
    index: Path
    apart: tuple[Path, ...] = ()

    @property
    def held(self) -> Path:
        """Where second names of the person's objects lie."""
        return self.folder / "held"

    def hold(self) -> None:
        """Keeps the person's objects from going; what was held stays held."""
        if self.surroundings.objects is not None:
            hold(self.surroundings.objects, self.held)

    def prepare(self) -> None:
        """Makes the git directory where it is missing; raises OSError."""
        for inner in ("objects/info", "objects/pack", "refs", "info"):
            make_private_folder(self.folder / inner)
        sha256 = self.surroundings.object_format != "sha1"
        extensions = f"\tobjectformat = {self.surroundings.object_format}" if sha256 else ""
        own = f"{TEMP_PREFIX}*".encode()  # a file that is being written this moment is nobody's yet
        excludes = b"\n".join((*map(_contents, self.surroundings.excludes), own, *self._apart_from_it()))
        files = {
            "HEAD": b"ref: refs/heads/none\n",
            "config": _SETTINGS.format(version=int(sha256), extensions=extensions).encode(),
            "info/attributes": _ATTRIBUTES.encode(),
            "info/exclude": excludes,
            "objects/info/alternates": b"",
        }
        for name, content in files.items():
            _keep(self.folder / name, content)

    def _apart_from_it(self) -> Iterator[bytes]:
        """The folders that are no part of the workspace although they lie in it, as an ignore file names them."""
        for folder in (path.resolve() for path in self.apart):
            if folder != self.root and folder.is_relative_to(self.root):
                name = _SPECIAL.sub(rb"\\\g<0>", os.fsencode(folder.relative_to(self.surroundings.top)))
                yield b"/" + name + b"/"

    def run(
        self,
        *words: str,
        given: bytes = b"",
        at: Path | None = None,
        borrows: bool = False,
        accepted: Collection[int] = (0,),
        is_literal: bool = True,
        seconds: float = 60.0,
    ) -> bytes:
        """What a git command prints; raises CheckpointError when it fails or takes longer than ``seconds``.

        Any exit code that is not ``accepted`` is a failure. ``is_literal``: names are no patterns.

        ``given`` is its standard input, ``at`` is another folder to take for the
        whole work tree. When it ``borrows``, objects of the person's repository count as present.
        """
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {**_FIXED, "GIT_LITERAL_PATHSPECS": str(int(is_literal))}
        environment["GIT_DIR"] = str(self.folder)
        environment["GIT_WORK_TREE"] = str(at or self.surroundings.top)
        environment["GIT_INDEX_FILE"] = str(self.folder / "no-index" if at else self.index)
        if borrows:
            theirs = self.surroundings.objects
            folders = (self.held,) if theirs is None else (self.held, theirs)
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = ":".join(map(quoted_place, folders))
        git = find_program("git")
        if git is None:
            raise CheckpointError("git cannot be run: there is none")
        try:
            done = subprocess.run(
                [git, "--no-pager", *words],
                input=given,
                capture_output=True,
                cwd=at or self.root,
                env=environment,
                timeout=seconds,
                check=False,
                umask=0o077,
            )
        except subprocess.TimeoutExpired as error:
            raise CheckpointError(f"git {words[0]} took longer than {seconds:.0f} s") from error
        except OSError as error:
            raise CheckpointError(f"git cannot be run: {error.strerror}") from error
        if done.returncode not in accepted:
            said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
            raise CheckpointError(f"git {words[0]} failed: {said}")
        return done.stdout


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError:
        return b""


def _keep(path: Path, content: bytes) -> None:
    """Writes a private file unless it holds just that."""
    if _contents(path) == content and path.is_file():
        return
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    fresh.replace(path)
