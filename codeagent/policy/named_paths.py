"""Judges the files that a shell command names: where they really are, and whether they may be read or written."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from codeagent.core.approvals import Access, ConcernKind, Decision, Touch
from codeagent.core.errors import PathRefused
from codeagent.core.programs import temporary_folder
from codeagent.policy.effort import spend
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.git_contents import contents_shown, shown_by_git
from codeagent.policy.git_programs import settings_with_key
from codeagent.policy.path_words import (
    PLAIN_PATH,
    candidates,
    exists,
    is_other_home,
    is_telling,
    known_ends,
    matches,
    spend_on,
    written,
)
from codeagent.policy.reading import Reading
from codeagent.policy.rules import RuleSet, path_pattern
from codeagent.policy.shell_script import Places, Redirection
from codeagent.policy.shell_words import Word, one_by_one
from codeagent.policy.trees import found_below
from codeagent.policy.unsaid_writes import unknown_write, written_unsaid
from codeagent.workspace.files import is_file
from codeagent.workspace.git_places import is_there
from codeagent.workspace.paths import PathSandbox, without_dots

_NEW_NAME = f"new-{secrets.token_hex(8)}"  # nothing can be called that already
_MOST_MATCHES = 1_000
_MOST_LOOKED_AT = 10_000
_MOST_WORDS = 5_000
_LOOKED_UP = 10
_WRITTEN = 40
_READ = 4
_DEVICES = frozenset(
    {"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2", "-"}
)
_A_NUMBER = re.compile(r"(-?)(\"?)\$[$!?#]\2")
"""What the shell counts itself: of a process, of arguments, an exit code."""

_HIDDEN_SAMPLES = (".env", ".env.local", ".ssh", ".netrc", ".npmrc", ".aws")
_TEMPORARY = tuple(Path(folder).resolve() for folder in dict.fromkeys((temporary_folder(), "/tmp", "/var/tmp")))  # noqa: S108 - places that commands may write to


class NamedPaths:
    """Answers for the paths of one command; ``cwd`` is where the shell starts."""

    def __init__(self, sandbox: PathSandbox, rules: RuleSet, cwd: Path) -> None:
        self._sandbox = sandbox
        self.roots = sandbox.roots
        self._rules = rules
        self._cwd = cwd
        self._known_folders: dict[tuple[Places, Word | None], tuple[Path, ...]] = {}
        self._known: dict[tuple[str, Access, Path], Touch | PathRefused] = {}

    def folders(self, places: Places | None, base: Word | None = None) -> tuple[Path, ...]:
        """The folders that a command may run in; empty when that is not known."""
        if places is None or (base and not base.is_fixed):
            return ()
        if (places, base) not in self._known_folders:
            self._known_folders[places, base] = self._look_for_folders(places, base)
        return self._known_folders[places, base]

    def _look_for_folders(self, places: Places, base: Word | None) -> tuple[Path, ...]:
        found: list[Path] = []
        for chain in places:
            spend(len(chain))
            here = [self._cwd]
            for word in (*chain, *((base,) if base else ())):
                moved = [self._moved(folder, word) for folder in here]
                there = [path for paths in moved for path in paths]
                if not all(moved) or len(there) > 8:  # noqa: PLR2004 - more places than anybody can follow
                    return ()
                here = there
            found += here
        return tuple(dict.fromkeys(found))

    def is_free(self, name: Path) -> bool:
        """Whether nothing stands against reading a file of this name, wherever it is in the workspace."""
        return not self._rules.concerns_reading and not self._sandbox.is_sensitive(self.roots[0] / name)

    def unseen(self) -> Iterator[Finding]:
        """What stands against a command that names more files than can be looked at."""
        if len(self._known) >= _MOST_LOOKED_AT:
            yield ask_each_time("it names more files than are looked at.")

    def _look(self, text: str, access: Access, folder: Path) -> Touch:
        """What a written path means, each looked up once; raises PathRefused."""
        asked = text, access, folder
        if asked not in self._known:
            if len(self._known) >= _MOST_LOOKED_AT:
                raise PathRefused("It names more files than are looked at.")
            spend(_WRITTEN if access is Access.WRITE else _LOOKED_UP)
            try:
                self._known[asked] = self._sandbox.examine(text, access, base=folder)
            except PathRefused as error:
                self._known[asked] = error
        found = self._known[asked]
        if isinstance(found, PathRefused):
            raise found.with_traceback(None)
        return found

    def read(self, reading: Reading, places: Places | None) -> Iterator[Finding]:
        """What stands against a reading command."""
        if reading.base is not None:
            yield from self._read_words((reading.base,), self.folders(places))
        yield from self._read_words(reading.globs, self.folders(places))
        folders = self.folders(places, reading.base)
        yield from self._read_words(reading.paths, folders)
        if reading.is_recursive:
            for folder in folders:
                for word in one_by_one(reading.paths):
                    yield from self._tree(word, folder, reading)
        if reading.shows_tracked:
            for folder in folders:
                yield from shown_by_git(reading, folder, self._sandbox, self._rules)
        settings = next(filter(None, map(settings_with_key, folders if reading.shows_addresses else ())), None)
        if settings:
            yield ask_each_time(f"it shows addresses, and a key may stand in {self._sandbox.show(settings)}.")

    def redirected(self, redirection: Redirection, places: Places | None) -> Iterator[Finding]:
        """What stands against a file that the shell opens for writing."""
        word, folders = redirection.target, self.folders(places)
        if word.text in _DEVICES and word.is_fixed:
            return
        if not word.is_known or word.glob or not folders:
            yield from self._ends(word, Access.WRITE, folders)
            yield from unknown_write(self._rules)
            yield _unknown(word)
            return
        for folder in folders:
            yield from self._write(written(word), folder)

    def overwrites(self, target: Word, places: Places | None) -> bool:
        """Whether a file that is written is there already."""
        if target.text in _DEVICES:
            return False
        folders = self.folders(places)
        if not target.is_fixed or not folders:
            return True
        return any(is_file(folder / target.text) for folder in folders)

    def mentioned(self, words: Iterable[Word], places: Places | None, *, is_writer: bool) -> Iterator[Finding]:
        """What stands against the words of a program that is not known: each could be a path."""
        folders = self.folders(places) or (self._cwd,)
        words = list(islice(words, _MOST_WORDS + 1))
        if len(words) > _MOST_WORDS:
            yield ask_each_time("it has more words than are looked at.")
            return
        for word in words:
            if _A_NUMBER.fullmatch(word.text) and not is_writer:
                continue
            if not word.is_known or word.glob:
                yield from self._read_words((word,), folders)
                if is_writer:
                    yield from self._ends(word, Access.WRITE, folders)
                    yield from self._changed_by_glob(word, folders)
                if "=~" not in word.text and ":~" not in word.text:
                    continue
            for text in candidates(word):
                for folder in folders:
                    yield from self._mention(text, folder, is_writer=is_writer)

    def changes_git(self, name: str, words: Iterable[Word], places: Places | None) -> Iterator[Finding]:
        """What stands against changing a whole folder that holds a ``.git``: the folder need not be named for that."""
        folders = self.folders(places) or (self._cwd,)
        operands = [word for word in words if not word.text.startswith("-") and word.is_known and not word.glob]
        spend(len(operands) * len(folders))
        for folder in folders:
            holders = [word.text for word in operands if is_there(folder / word.text / ".git")]
            is_onto = name in {"cp", "mv", "rsync"} and bool(holders[1:]) and holders[-1] == operands[-1].text
            if is_onto or (name in {"rm", "chmod", "chown", "chgrp"} and holders):
                yield ask_each_time(f"it changes {holders[-1]}/.git, which can make git run programs.")

    def unsaid(self, words: Sequence[Word], places: Places | None) -> Iterator[Finding]:
        """What stands against files that a command changes, or git prints, without naming them."""
        for folder in self.folders(places) or ((self._cwd,) if words[0].text == "git" else (None,)):
            yield from written_unsaid(words, folder, self._sandbox, self._rules)
            if folder is not None and words[0].text == "git":
                yield from contents_shown(words[1:], folder, self._sandbox, self._rules)

    def _ends(self, word: Word, access: Access, folders: tuple[Path, ...]) -> Iterator[Finding]:
        """What stands against a word of which only the end is known: there may be a file's whole name in it."""
        for text in known_ends(word):
            for folder in folders or (self._cwd,):
                try:
                    concern = self._look(text, access, folder).concern
                except PathRefused:
                    concern = None
                    yield ask_each_time(f"{word.text} may be a file that is never written.")
                if concern and concern.kind is ConcernKind.SENSITIVE:
                    yield ask_each_time(f"{word.text} may be a file that is asked about each time.")

    def _changed_by_glob(self, word: Word, folders: tuple[Path, ...]) -> Iterator[Finding]:
        for folder in folders:
            for match in islice(matches(word, folder), _MOST_MATCHES):
                yield from self._mention(match, folder, is_writer=True)

    def runs_in(self, places: Places | None) -> Iterator[Finding]:
        """What stands against running a program that is not known where it runs: it may write there."""
        for folder in self.folders(places):
            try:
                concern = self._look(_NEW_NAME, Access.WRITE, folder).concern
            except PathRefused as error:
                yield ask_each_time(str(error))
                continue
            if concern and concern.kind is ConcernKind.SENSITIVE:
                yield ask_each_time(f"it runs in {self._sandbox.show(folder)}, where files are asked about each time.")

    def _mention(self, text: str, folder: Path, *, is_writer: bool) -> Iterator[Finding]:
        spend()
        if text in _DEVICES or text.startswith("//"):
            return
        accesses = (Access.READ, Access.WRITE) if is_writer else (Access.READ,)
        is_there = "/" in text or text.startswith("..") or exists(folder, text)
        for access in accesses:
            try:
                touch = self._look(text, access, folder)
            except PathRefused as error:
                if access is Access.WRITE:
                    yield ask_each_time(str(error))
                continue
            if (
                touch.concern
                and touch.concern.kind is ConcernKind.SENSITIVE
                and (access is Access.WRITE or is_there or is_telling(text))
            ):
                yield ask_each_time(touch.concern.reason)
            elif is_there or touch.concern is None:
                yield from self._by_rules(touch, folder)

    def _moved(self, folder: Path, word: Word) -> list[Path]:
        text = written(word)
        if not text or is_other_home(word):
            return []
        try:
            path = self._look(text, Access.READ, folder).path
        except PathRefused:
            return []
        if path is None:
            return []
        return [path] if path.is_dir() else [folder, path]

    def _read_words(self, words: Iterable[Word], folders: tuple[Path, ...]) -> Iterator[Finding]:
        for word in words:
            if word.text in _DEVICES or word.text == "":
                continue
            if word.values:
                yield from self._loop(word, folders)
                continue
            if not word.is_known or is_other_home(word):
                yield from self._ends(word, Access.READ, folders)
                yield _unknown(word)
            elif not folders:
                if word.text.startswith("/"):
                    yield from self._read_path(word.text, self._cwd)
                yield _unknown(word)
            else:
                for folder in folders:
                    yield from self._glob(word, folder) if word.glob else self._read_path(written(word), folder)

    def _loop(self, word: Word, folders: tuple[Path, ...]) -> Iterator[Finding]:
        """The variable of a loop: every word that it stands for, which an unquoted one must not split."""
        yield from self._read_words(word.values, folders)
        for value in word.values:
            spend(_LOOKED_UP)
            found = [match for folder in folders for match in islice(matches(value, folder), _MOST_MATCHES)]
            texts = found if value.glob else [value.text]
            if word.may_split and not all(map(PLAIN_PATH.fullmatch, texts)):
                yield _unknown(word)
            elif any(text.startswith("-") for text in texts):
                yield Finding(decision=Decision.ASK, because=f"what {word.text} stands for is taken for an option.")

    def _glob(self, word: Word, folder: Path) -> Iterator[Finding]:
        """A pattern is judged by itself and by the names that it stands for now."""
        spend_on(word.glob)
        yield from self._read_path(written(word), folder)
        last = word.glob.rpartition("/")[2]
        if re.match(r"\.[^*?\[]", last) and any(fnmatch(sample, last) for sample in _HIDDEN_SAMPLES):
            yield ask_each_time(f"{word.text} may stand for files with secrets.")
        found = list(islice(matches(word, folder), _MOST_MATCHES + 1))
        if len(found) > _MOST_MATCHES:
            yield Finding(decision=Decision.ASK, because=f"{word.text} stands for more files than are looked at.")
            return
        for match in found:
            if match.startswith("-"):
                yield Finding(
                    decision=Decision.ASK, because=f"{word.text} stands for {match}, which is taken for an option."
                )
            yield from self._read_path(match, folder)

    def _read_path(self, text: str, folder: Path) -> Iterator[Finding]:
        spend(_READ)
        try:
            touch = self._look(text, Access.READ, folder)
        except PathRefused as error:
            yield Finding(decision=Decision.ASK, because=str(error))
            return
        if touch.concern and touch.concern.kind is ConcernKind.SENSITIVE:
            yield ask_each_time(touch.concern.reason)
        yield from self._by_rules(touch, folder)

    def _by_rules(self, touch: Touch, folder: Path) -> Iterator[Finding]:
        """Rules on reading that concern the path; outside the workspace only a rule that names the place allows it."""
        if touch.path is None:
            return
        paths = _both_names(touch, folder)
        rule = self._rules.find_path(Decision.DENY, touch.access, paths, self._sandbox.root)
        if rule:
            yield Finding(decision=Decision.DENY, because=f"the rule {rule} denies {touch.written}.")
        rule = self._rules.find_path(Decision.ASK, touch.access, paths, self._sandbox.root)
        if rule:
            yield ask_each_time(f"the rule {rule} asks about {touch.written}.")
        if touch.concern and touch.concern.kind is ConcernKind.OUTSIDE and touch.access is Access.READ:
            allowed = self._rules.find_path(
                Decision.ALLOW, Access.READ, (touch.path,), self._sandbox.root, places_only=True
            )
            if not allowed:
                yield Finding(
                    decision=Decision.ASK, because=touch.concern.reason, rule=f"read({path_pattern(str(touch.path))})"
                )

    def _write(self, text: str, folder: Path) -> Iterator[Finding]:
        spend(_READ)
        try:
            touch = self._look(text, Access.WRITE, folder)
        except PathRefused as error:
            yield Finding(decision=Decision.DENY, because=str(error), is_refused=True)
            return
        if touch.path is None:
            return
        yield from self._by_rules(touch, folder)
        if touch.concern and touch.concern.kind is ConcernKind.SENSITIVE:
            yield ask_each_time(touch.concern.reason)
        elif touch.concern:
            is_far = not any(touch.path.is_relative_to(folder) for folder in _TEMPORARY)
            yield Finding(decision=Decision.ASK, because=touch.concern.reason, is_write=True, is_far=is_far)
        elif not self._rules.find_path(Decision.ALLOW, Access.WRITE, (touch.path,), self._sandbox.root):
            yield Finding(
                decision=Decision.ASK,
                because=f"it writes to {text}.",
                is_write=True,
                rule=f"edit({path_pattern(self._sandbox.show(touch.path))})",
            )

    def _tree(self, word: Word, folder: Path, reading: Reading) -> Iterator[Finding]:
        """Looks for files with secrets below a folder that is read as a whole."""
        texts = islice(matches(word, folder), _MOST_MATCHES) if word.glob else [written(word)]
        for text in texts if word.is_known else ():
            try:
                top = self._look(text, Access.READ, folder).path
            except PathRefused:
                continue
            if top is None or not top.is_dir():
                continue
            found = found_below(top, reading, self._sandbox, self._rules)
            if found:
                yield found
                return


def _unknown(word: Word) -> Finding:
    return Finding(
        decision=Decision.ASK, because=f"what {word.text} stands for is only known when it runs.", is_unknown=True
    )


def _both_names(touch: Touch, folder: Path) -> tuple[Path, ...]:
    """The real path and the one that is written, for rules that forbid."""
    if touch.path is None:
        return ()
    lexical = without_dots(folder / touch.written) if not touch.written.startswith("~") else touch.path
    return tuple(dict.fromkeys((touch.path, lexical)))
