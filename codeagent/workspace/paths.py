"""The path sandbox: decides for every tool which file a written path means, and whether it may be touched."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from codeagent.core.approvals import Access, Concern, ConcernKind, Touch
from codeagent.core.errors import PathRefused
from codeagent.core.values import value
from codeagent.workspace.git_places import is_hook, is_in_git_folder
from codeagent.workspace.sensitive import (
    GIT_INTERNALS,
    SECRETS,
    holds_key,
    is_shell_start,
    plain_names,
    secret_folders,
    secret_reason,
    start_reason,
)

_LONGEST_NAME = 255
_LONGEST_PATH = 4095
_MOST_ENTRIES = 2_000
"""Of so many names in a folder it is looked whether they are secret ones."""


@value
class _Views:
    """A path as a person reads it, ``..`` taken back but no link followed, and the real file that it means."""

    written: Path
    real: Path

    @property
    def different(self) -> tuple[Path, ...]:
        """Each of the two, once."""
        return (self.real,) if self.written == self.real else (self.written, self.real)


class PathSandbox:
    """The wall around the workspace.

    ``root`` is the workspace and ``extra_roots`` are further folders the person added;
    ``readable`` are folders outside that may be read without asking (the session's own
    logs), ``protected`` folders that are never written (codeagent's own configuration).
    ``secrets`` are files that are asked about each time: the person's keys.
    ``home`` is the person's home folder; None takes the one of the process.
    """

    def __init__(
        self,
        root: Path,
        extra_roots: Sequence[Path] = (),
        *,
        home: Path | None = None,
        readable: Sequence[Path] = (),
        protected: Sequence[Path] = (),
        secrets: Sequence[Path] = (),
    ) -> None:
        self._roots = tuple(dict.fromkeys(_real(path) for path in (root, *extra_roots)))
        self._home = home or Path.home()
        self._homes = tuple(plain_names(path) for path in dict.fromkeys((self._home, _real(self._home))))
        self._readable = tuple(_real(path) for path in readable)
        self._protected = tuple(_real(path) for path in protected)
        self._secrets = frozenset(view for path in secrets for view in (path, _real(path)))

    @property
    def root(self) -> Path:
        """The workspace, links followed."""
        return self._roots[0]

    @property
    def roots(self) -> tuple[Path, ...]:
        """The workspace and the folders added to it, links followed."""
        return self._roots

    def resolve(self, path: str, access: Access | str, *, base: Path | None = None) -> Touch:
        """What a file tool's path means: the real file, and the concern to ask a person about.

        A relative path starts at ``base`` (default: the workspace root), ``~`` is the
        home folder; nothing else is expanded. Raises PathRefused for what cannot be a
        path, for every write outside the roots, and for writing protected folders.
        """
        touch = self.examine(path, access, base=base)
        if touch.access is Access.WRITE and touch.path is not None:
            if not self._is_inside(touch.path):
                raise PathRefused(
                    f"{path} is {_outside(path, touch.path)}.",
                    hint=f"Only files in {self.root} and folders added with --add-dir are written.",
                )
            if path.endswith(("/", "/.", "/..")) or path in {".", "..", "~"}:
                raise PathRefused(f"{path} names a folder.", hint="Name the file to write.")
        return touch

    def examine(self, path: str, access: Access | str, *, base: Path | None = None) -> Touch:
        """Like resolve, for what a shell command writes: outside the roots most paths are only a concern.

        Raises PathRefused for what cannot be a path, and for writes to credentials,
        shell start-up files outside the roots and protected folders.
        """
        access = Access(access)
        lexical = self._absolute(path, base)
        real = _real(lexical)
        _check_loop(path, real)
        views = _Views(written=lexical if lexical == real else without_dots(lexical), real=real)
        if access is Access.WRITE:
            self._refuse_hard_writes(path, views)
        return Touch(path=real, access=access, written=path, concern=self._concern(path, views, access))

    def is_sensitive(self, path: Path, access: Access = Access.READ) -> bool:
        """Whether an absolute path is asked about each time, told by its name, of a few by their start; quick."""
        return bool(self._secret(path) or (access is Access.WRITE and start_reason(self._names_in_root(path))))

    def search_filter(self) -> Callable[[Path], bool]:
        """Tells of each file that one search finds whether it is asked about each time.

        By its name, or as another name (a hard link) of such a file; a folder is looked through once in a search.
        """
        near = cache(self._linked_secrets)

        def is_secret(path: Path) -> bool:
            if self.is_sensitive(path):
                return True
            linked = _linked_file(path)
            return linked is not None and linked in near(path.parent)

        return is_secret

    def show(self, path: Path) -> str:
        """The path for people: relative in the workspace, with ``~`` in the home folder, else absolute."""
        if path.is_relative_to(self.root):
            return str(path.relative_to(self.root))
        for home in (self._home, _real(self._home)):
            if path.is_relative_to(home):
                return str(Path("~") / path.relative_to(home))
        return str(path)

    def _absolute(self, path: str, base: Path | None) -> Path:
        """The written path joined and tidied by its text alone, no link followed."""
        _check_text(path)
        if path == "~" or path.startswith("~/"):
            joined = self._home / path[2:].lstrip("/")
        elif path.startswith("/"):
            joined = Path("/" + path.lstrip("/"))
        else:
            joined = (base or self.root) / path
        if len(os.fsencode(joined)) > _LONGEST_PATH:
            raise PathRefused("The path is too long.", hint=f"At most {_LONGEST_PATH} bytes are possible.")
        return joined

    def _concern(self, written: str, views: _Views, access: Access) -> Concern | None:
        real = views.real
        is_outside = not self._is_inside(real) and not (
            access is Access.READ and any(real.is_relative_to(folder) for folder in self._readable)
        )
        place = f" ({_outside(written, real)})" if is_outside else ""
        for path in views.different:
            reason = self._secret(path)
            if access is Access.WRITE and not reason:
                reason = self._start(path)
            if reason:
                return Concern(
                    kind=ConcernKind.SENSITIVE, reason=f"{written}{place} is asked about each time: {reason}."
                )
        secret = _other_secret_name(real, self._secret_places(real), lambda path: bool(self._secret(path)))
        if secret is not None:
            because = f"{written}{place} is asked about each time: it is the same file as {self.show(secret)}."
            return Concern(kind=ConcernKind.SENSITIVE, reason=because)
        if is_outside:
            return Concern(kind=ConcernKind.OUTSIDE, reason=f"{written} is {_outside(written, real)}.")
        return None

    def _secret(self, path: Path) -> str:
        if path in self._secrets:
            return SECRETS
        names = self._names_in_root(path)
        return secret_reason(names, self._at_home(path)) or (SECRETS if holds_key(path, names) else "")

    def _secret_places(self, path: Path) -> Iterator[Path]:
        """Where the secrets are looked for that a hard link could give another name."""
        yield from self._roots
        yield from (parent for parent in path.parents if self._is_inside(parent))
        yield from (self._home / place for place in secret_folders())
        yield from (path.parent for path in self._secrets)

    def _linked_secrets(self, folder: Path) -> frozenset[tuple[int, int]]:
        """The secret files with more than one name that a file in ``folder`` may be another name of."""
        places = dict.fromkeys(self._secret_places(folder / "_"))
        secrets = (path for place in places for path in _secrets_in(place, lambda path: bool(self._secret(path))))
        return frozenset(filter(None, map(_file_behind, secrets)))

    def _start(self, path: Path) -> str:
        reason = start_reason(self._names_in_root(path))
        if reason:
            return reason
        if is_shell_start(self._at_home(path)):
            return "it is run by itself when somebody logs in or opens a shell"
        root = self._innermost_root(path)
        if root and is_in_git_folder(path, root):
            return GIT_INTERNALS
        if root and is_hook(path, root):
            return "git runs the scripts in it"
        return ""

    def _refuse_hard_writes(self, written: str, views: _Views) -> None:
        real = views.real
        for path in views.different:
            if any(path.is_relative_to(folder) for folder in self._protected):
                raise PathRefused(f"{written} belongs to codeagent's own configuration and is never written by tools.")
        if self._is_inside(real):
            return
        for path in views.different:
            if self._secret(path):
                raise PathRefused(f"{written} may hold credentials and lies outside the workspace: it is {real}.")
            if is_shell_start(self._at_home(path)):
                raise PathRefused(f"{written} is run by itself at login and lies outside the workspace: it is {real}.")

    def _is_inside(self, real: Path) -> bool:
        return any(real.is_relative_to(root) for root in self._roots)

    def _names_in_root(self, path: Path) -> tuple[str, ...]:
        """The compared names below the innermost root; where the workspace itself lies says nothing about a file."""
        inner = self._innermost_root(path)
        return plain_names(path.relative_to(inner) if inner else path)

    def _innermost_root(self, path: Path) -> Path | None:
        return max(
            (root for root in self._roots if path.is_relative_to(root)), key=lambda r: len(r.parts), default=None
        )

    def _at_home(self, path: Path) -> tuple[str, ...] | None:
        names = plain_names(path)
        for home in self._homes:
            if names[: len(home)] == home:
                return names[len(home) :]
        return None


def _other_secret_name(path: Path, folders: Iterable[Path], is_secret: Callable[[Path], bool]) -> Path | None:
    """The secret file in one of ``folders`` that is the same as ``path``; None for a file with one name only."""
    linked = _linked_file(path)
    if linked is None:
        return None
    secrets = (secret for folder in dict.fromkeys(folders) for secret in _secrets_in(folder, is_secret))
    return next((secret for secret in secrets if _file_behind(secret) == linked), None)


def _secrets_in(folder: Path, is_secret: Callable[[Path], bool]) -> Iterator[Path]:
    """The secret files right in a folder, as far as its names are looked through."""
    try:
        with os.scandir(folder) as entries:
            yield from filter(is_secret, (Path(entry.path) for entry in islice(entries, _MOST_ENTRIES)))
    except OSError:
        return


def _file_behind(path: Path) -> tuple[int, int] | None:
    """The same for a path that may be a link."""
    try:
        return _linked_file(_real(path))
    except PathRefused:
        return None


def _linked_file(path: Path) -> tuple[int, int] | None:
    """What tells a file with more than one name from all others; None for every other file."""
    try:
        here = path.lstat()
    except (OSError, ValueError):
        return None
    if here.st_nlink < 2 or not stat.S_ISREG(here.st_mode):  # noqa: PLR2004 - its own name is one
        return None
    return here.st_dev, here.st_ino


def _check_text(path: str) -> None:
    """Refuses what can be no path on any system that we run on."""
    if not path:
        raise PathRefused("The path is empty.", hint="Name a file or folder; the workspace itself is '.'.")
    if "\0" in path:
        raise PathRefused("The path holds a NUL character.")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise PathRefused("The path holds half a character (a lone surrogate).") from None
    if any(len(name) > _LONGEST_NAME for name in encoded.split(b"/")):
        raise PathRefused("A name in the path is too long.", hint=f"At most {_LONGEST_NAME} bytes are possible.")


def _check_loop(written: str, real: Path) -> None:
    """What is still a link after all links were followed leads in a circle."""
    try:
        is_link = real.is_symlink()
    except OSError as error:
        is_link = error.errno == errno.ELOOP
    if is_link:
        raise _circle(written)


def _real(path: Path) -> Path:
    """The path with links followed, as far as it exists.

    Behind a circle ``resolve`` follows no more links but takes ``..`` back all the same: what it returns then may
    hold links still, and no system would open the path.
    """
    try:
        real = path.resolve()
        if real == real.resolve():
            return real
    except (RuntimeError, OSError):
        pass
    raise _circle(str(path))


def _circle(written: str) -> PathRefused:
    return PathRefused(f"The links in {written} lead in a circle.")


def without_dots(path: Path) -> Path:
    """``..`` taken back by its text alone: the path as a person reads it."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if len(parts) > 1:
                parts.pop()
        else:
            parts.append(part)
    return Path(*parts)


def _outside(written: str | Path, real: Path) -> str:
    """Where a path leads; said in full where the way it is written does not say so."""
    return "outside the workspace" if str(written) == str(real) else f"outside the workspace: it is {real}"
