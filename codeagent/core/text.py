"""Makes foreign text safe: to print, to read without being fooled, to store, and to share without secrets.

``clean`` is for the terminal, ``show_invisible`` for texts that a person decides
on, ``storable`` for history and disk, ``Redactor`` for everything that is written
down. All are pure and cost next to nothing on plain text. ``counted`` is for our own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from codeagent.core.long_texts import find, is_plain, is_sound
from codeagent.core.seldom import seldom
from codeagent.core.unseen import HIDDEN, INVISIBLE, is_at_home, is_at_home_in_prose

REDACTED = "[redacted]"
_SHORTEST_SECRET = 8

_UNSAFE = seldom("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL = seldom("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_BUT_ESCAPE = seldom("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")
_BYTE = re.compile("(?<![\ud800-\udbff])[\udc80-\udcff]")
_COLOUR = seldom(r"\x1b\[[0-9;:]*m")
_COLOUR_OR_CHARACTER = seldom(r"\x1b\[[0-9;:]*m|.", re.DOTALL)

# ECMA-48: control strings (OSC, DCS, SOS, PM, APC), CSI with its parameters, all other escapes. A control
# string without an end is cut at the end of its line, so that it cannot swallow what follows.
_ESCAPE = seldom(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)

_LONG_BLANK = seldom(r"[ \t]{24,}")
_LONG_GAP = seldom(r"\n{5,}")
# Letters that look like Latin ones, or may be taken for them: all of a script that nobody writes into a Latin word,
# and of Greek, which formulas do (Δt, λ_max), only those with the very same shape.
_DISGUISED = seldom(
    "[\u0251\u0261\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf"
    "\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\u1d00-\u1d7f\u2c80-\u2cff\uff21-\uff3a\uff41-\uff5a"
    "\U0001d400-\U0001d7ff]"
)
_LETTERS = seldom(r"[^\W\d_]+")
# Signs that pass for one the shell or a program acts on. The first have no other use in a line without letters of the
# scripts that they belong to; the others stand in prose and formulas as well.
_FOREIGN_SIGNS = (
    "\u01c0\u02d0\u02f8\u037e\u0589\u05c0\u05c3\u0703\u0704\u1361\u1735\u2024\u2044\u204f\u29f5\u29f8\u29f9\ua4fa\ua4fd"
    "\ua789\ua78c\ufe10-\ufe19\ufe50-\ufe6b\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff5e"
)
_OTHER_SIGNS = (
    "\u00b4\u00b7\u02b9-\u02bc\u02c8\u02ca\u02cb\u02dc\u0387\u05f3\u05f4\u060c\u061b\u2010-\u201f\u2025\u2026\u2032-\u2037\u2039"
    "\u203a\u203c\u2047-\u2049\u204e\u2052\u2053\u2212\u2215-\u2219\u2223\u2225\u2236\u223c\u2758-\u275e\u276e\u276f\u2a74\u3008\u3009"
)
_FOREIGN = seldom(f"[{_FOREIGN_SIGNS}]")
_LIKE_ASCII = seldom(f"[{_FOREIGN_SIGNS}{_OTHER_SIGNS}]")
_FULL_WIDTH = seldom("[\uff21-\uff3a\uff41-\uff5a]")
_QUOTED = seldom(r"""\\.|'[^'\n]*'|"(?:[^"\\\n]++|\\.)*+\"""")
_LATIN = seldom("[A-Za-z]")

_SECRET_NAME = seldom(
    r"SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY$|(?<!PUBLIC)_KEY$|(?:ACCESS|PRIVATE)_?KEY(?:_ID)?$|CONNECTION_?STRING$"
    r"|(?:^|_)(?:TOKEN|PASS|CREDENTIALS?|CREDS|PAT)(?:_|$)|(?:^|_)(?:PW|DSN|JWT|PWD_?HASH|COOKIES?|COOKIE_HEADER)$"
    r"|(?<!^)(?<!^OLD)PWD$|^SSHPASS$|WEBHOOKS?(?:_URLS?)?$"
    r"|(?:^|_)O?AUTH(?:ORIZATION)?(?:_|$)(?!(?:.*_)?(?:SOCK|URLS?|URI|HOST|PORT|TYPE|METHODS?|MODE|DOMAIN|ENABLED|DISABLED"
    r"|PROVIDERS?|SERVER|SERVICE|USER|USERNAME|NAME|ID|TTL|TIMEOUT|PATH|FILE|DIR|REALM|ISSUER|AUDIENCE|SCOPES?)$)",
    re.IGNORECASE,
)
_SCHEME = seldom(r"(?:^|[:=]\s*)(?i:bearer|basic|token)\s+(?![A-Z]?[a-z]*(?:\s|$))(\S{6,})")
"""As in a header; an ordinary word there (``Basic settings``) is none."""
_PASSWORD = re.compile(r"://[^\s/@:]*:([^\s/@]+)@|\b(?:password|passwd|pwd)\s*=\s*['\"]?([^;&\s'\"]+)", re.IGNORECASE)
_ESCAPED = re.compile("%([0-9A-Fa-f]{2})")
_ORDINARY = re.compile(r"[a-z]*|[A-Z][a-z]*")
"""Taken out of every text, ``postgres`` or ``password`` would leave holes in much that is no secret."""

_KEY_SHAPES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("-----BEGIN ",), r"-{5}BEGIN [A-Z ]{0,40}PRIVATE KEY-{5}(?:[^-]++|-(?!-{4}))*(?:-{5}END [A-Z ]{0,40}KEY-{5})?"),
    (("sk-", "pk-", "rk-"), r"\b(?:sk|pk|rk)-(?:ant-|proj-|live-|test-|or-)?[A-Za-z0-9_-]{16,}"),
    (("sk_", "pk_", "rk_"), r"\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    (("glpat-",), r"\bglpat-[A-Za-z0-9_-]{16,}"),
    (("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (("xapp-",), r"\bxapp-[A-Za-z0-9-]{10,}"),
    (("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    (("AIza",), r"\bAIza[A-Za-z0-9_-]{30,}"),
    (("ya29.",), r"\bya29\.[A-Za-z0-9_-]{20,}"),
    (("hf_",), r"\bhf_[A-Za-z0-9]{20,}"),
    (("npm_",), r"\bnpm_[A-Za-z0-9]{30,}"),
    (("pypi-",), r"\bpypi-[A-Za-z0-9_-]{30,}"),
    (("gsk_",), r"\bgsk_[A-Za-z0-9]{20,}"),
    (("xai-",), r"\bxai-[A-Za-z0-9]{20,}"),
    (("dop_v1_",), r"\bdop_v1_[a-f0-9]{40,}"),
    (("eyJ",), r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{10,})+"),
    (("://",), r"(://)[^\s/@:\"']*+:[^\s/@\"']++(?=@)"),
    (("://",), r"(?:(?<=(?i:http))|(?<=(?i:https)))(://)[\w.~%!$&*+=-]++(?=@)"),
    (("https://hooks.slack.com/",), r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{8,}"),
    (("https://",), r"https://[\w.-]*discord(?:app)?\.com/api/webhooks/\d+/[\w-]{16,}"),
    (("bearer ", "Bearer "), r"([Bb]earer )[A-Za-z0-9._~+/-]{16,}=*"),
    (
        ("extraheader", "extraHeader", "ExtraHeader", "EXTRAHEADER"),  # of git's settings, with the name of the header
        r"((?i:extraheader)(?:[ \t]{0,9}=[ \t]{0,9}|[ \t]{1,9})\\{0,3}[\"']?[A-Za-z][\w-]{0,60}:[ \t]{0,9})[^\n\"'\\]+",
    ),
    (
        ("authorization", "Authorization", "AUTHORIZATION"),
        r"((?i:authorization)\\{0,3}[\"']?[ \t]*+[:=][ \t]*+\\*+[\"']?(?i:basic|bearer|token)[ \t]+)[\w.~+/-]{8,}=?=?",
    ),
)
"""Kinds of key: what one may begin with, and how it looks. What stands in round brackets before a key stays."""

_NOT_IN_ADDRESSES = tuple(kind for kind in _KEY_SHAPES if kind[0] != ("://",))


def clean(text: str, *, keep_colours: bool = False) -> str:
    """The text as it may reach a terminal.

    Escape sequences and control characters go (``keep_colours`` leaves the colour
    ones), bytes of names are written out, lone surrogates are replaced, and of a line that was overwritten with
    carriage returns the last state stays. Tabs and newlines stay.
    """
    if is_plain(text) or not _UNSAFE().search(text):
        return text
    text = storable(show_bytes(text))
    text = _ESCAPE().sub(_kept_colour, text) if keep_colours else _ESCAPE().sub("", text)
    if "\r" in text:
        text = "\n".join(_last_state(line) if "\r" in line else line for line in text.split("\n"))
    if "\b" in text:
        text = _rubbed_out(text)
    return (_CONTROL_BUT_ESCAPE if keep_colours else _CONTROL)().sub("", text)


def show_invisible(text: str, brackets: str = "<>") -> str:
    """The text with everything that cannot be seen written out, such as ``<U+202E>``.

    That is control characters but tab and newline, direction marks, zero-width
    and filler characters, odd spaces, lone surrogates; bytes of a name as ``show_bytes``. Joiners and style marks
    stay inside an emoji and between letters that look other with them; nothing else changes. Each stands in the
    two ``brackets``.
    """
    if is_plain(text):
        return text
    return INVISIBLE().sub(lambda found: _written_out(found, brackets), text)


def show_hidden(text: str) -> str:
    """``show_invisible`` for prose: what hides between the letters, such as ``<U+200B>``, is written out.

    A wide or unbroken space is a space there, and a mark stays where it belongs to a script.
    """
    if text.isascii():
        return text
    return HIDDEN().sub(lambda found: found[0] if is_at_home_in_prose(found) else _code(found), text)


def show_bytes(text: str, *, in_json: bool = False) -> str:
    r"""The text with each byte of a file's name that is no UTF-8 written out, as ``\xff``.

    Python has such a byte as half a surrogate pair. ``in_json`` when the text is JSON.
    """
    if text.isascii() or not _BYTE.search(text):
        return text
    return _BYTE.sub(lambda found: ("\\" if in_json else "") + _byte(found[0]), text)


def counted(count: int, noun: str, more: str = "") -> str:
    """How many of something, in words: "1 file", "2,000 files"; ``more`` is the plural that is not made with an s."""
    return f"{count:,} {noun if count == 1 else more or f'{noun}s'}"


def count_gaps(text: str) -> str:
    """The text with every long run of blanks or empty lines replaced by how long it is: nothing can hide behind it."""
    text = _LONG_BLANK().sub(lambda found: f" <{len(found[0]) - 2:,} blanks> ", text)
    return _LONG_GAP().sub(lambda found: f"\n<{len(found[0]) - 1:,} empty lines>\n", text)


def has_invisible(text: str) -> bool:
    """Whether ``show_invisible`` would change the text."""
    return not is_plain(text) and any(_written_out(found) != found[0] for found in INVISIBLE().finditer(text))


def show_disguised(text: str) -> str:
    """``show_invisible``, and what passes for ASCII is written out as well.

    That is letters in a Latin word that look Latin, and signs such as U+FF1B or U+2044
    in a line without letters of a script that uses them.
    """
    if is_plain(text):
        return text
    text = show_invisible(text)
    if _DISGUISED().search(text):
        text = _LETTERS().sub(_undisguised, text)
    if not _FOREIGN().search(text):
        return text
    return "\n".join(line if _has_other_script(line) else _FOREIGN().sub(_code, line) for line in text.split("\n"))


def show_command(text: str) -> str:
    """``show_disguised`` for a command or a name: every sign that passes for an ASCII one is written out.

    Between quotes, in a text with blanks in it, it is prose, where dashes and curly quotes may stand.
    """
    if is_plain(text):
        return text
    shown: list[str] = []
    at = 0
    for found in _QUOTED().finditer(text):
        if " " in found[0] and found[0][0] != "\\":
            shown += [_LIKE_ASCII().sub(_sign, show_disguised(text[at : found.start()])), show_disguised(found[0])]
            at = found.end()
    shown.append(_LIKE_ASCII().sub(_sign, show_disguised(text[at:])))
    return "".join(shown)


def has_disguised(text: str) -> bool:
    """Whether ``show_disguised`` would write out a letter or sign that only looks like another."""
    if text.isascii() or not (_DISGUISED().search(text) or _FOREIGN().search(text)):
        return False
    text = show_invisible(text)
    if any(_undisguised(found) != found[0] for found in _LETTERS().finditer(text)):
        return True
    return any(_FOREIGN().search(line) and not _has_other_script(line) for line in text.split("\n"))


def looks_like_ascii(text: str) -> bool:
    """Whether a sign in the text passes for an ASCII one."""
    return not text.isascii() and _LIKE_ASCII().search(text) is not None


def storable(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it always encodes as UTF-8; true pairs are joined."""
    if is_sound(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Redactor:
    """Takes known secrets, and whatever has the shape of a well-known kind of key, out of texts."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """``secrets`` are literal values; those under 8 characters are left out, they would hit ordinary words."""
        self.secrets = tuple(secrets)
        forms = {
            form
            for secret in self.secrets
            if len(secret) >= _SHORTEST_SECRET
            for form in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
        }
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._forms = longest_first
        self._known = re.compile("|".join(map(re.escape, longest_first)))

    def redact(self, text: str) -> str:
        """The text with each secret replaced by ``[redacted]``."""
        text, end = self.redact_known(text), 0
        kept: list[str] = []
        for start, after in sorted((one.end(1) if one.lastindex else one.start(), one.end()) for one in _keys_in(text)):
            kept += (text[end:start], REDACTED) if start >= end else ()
            end = max(end, after)
        return "".join((*kept, text[end:])) if kept else text

    def redact_known(self, text: str) -> str:
        """The text with each of the known secrets replaced; what only has the shape of a key stays."""
        return self._known.sub(REDACTED, text) if any(find(text, form) >= 0 for form in self._forms) else text

    def cut(self, text: str, at: int, *, keeps_end: bool = False) -> int:
        """Where to cut instead of ``at``, so that what is kept, the start or the end, holds no part of a secret."""
        known = self._known.finditer(text) if self._forms else ()
        for start, end in sorted((found.span() for found in (*known, *_keys_in(text))), reverse=not keeps_end):
            if start < at < end:
                at = end if keeps_end else start
        return at

    def begun(self, text: str) -> int:
        """How many characters at the end of the text may be the beginning of a known secret."""
        return max((_overlap(text, form) for form in self._forms), default=0)


def _keys_in(text: str, kinds: Sequence[tuple[tuple[str, ...], str]] = _KEY_SHAPES) -> Iterator[re.Match[str]]:
    """What looks like a key, tried only where one may begin: a search through megabytes would hold up all threads."""
    for mark, shape in ((mark, shape) for marks, shape in kinds for mark in marks):
        at, end = find(text, mark), 0
        while at >= 0:
            if found := re.compile(shape, re.DOTALL).match(text, at):
                yield found
                end = found.end()
            at = find(text, mark, max(at + 1, end - len(mark) - 2))  # 2: base64 may end in so many =


def _overlap(text: str, form: str) -> int:
    """The longest end of the text that ``form`` begins with, but for all of it."""
    at = text.find(form[0], max(len(text) - len(form) + 1, 0))
    while at >= 0 and not form.startswith(text[at:]):
        at = text.find(form[0], at + 1)
    return len(text) - at if at >= 0 else 0


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of those environment variables that hold a secret, and the passwords in others.

    A password stands in an address (``postgres://me:…@host``) or in words for a connection (``Server=db;Password=…``).
    """
    whole = {name: value for name, value in environ.items() if value and holds_secret(name, value)}
    inside = (found[1] for value in whole.values() for found in _SCHEME().finditer(value))
    others = (value for name, value in environ.items() if name not in whole)
    return (*whole.values(), *dict.fromkeys((*inside, *(form for value in others for form in _passwords_in(value)))))


def _passwords_in(value: str) -> Iterator[str]:
    """As it is written there, and as programs take it from an address; not one that is an ordinary word."""
    for found in _PASSWORD.finditer(value):
        password = found[1] or found[2]
        for form in dict.fromkeys((password, _ESCAPED.sub(lambda byte: chr(int(byte[1], 16)), password))):
            if not _ORDINARY.fullmatch(form):
                yield form


def names_secret(name: str) -> bool:
    """Whether an environment variable is called like one that holds a key."""
    return _SECRET_NAME().search(name) is not None


def holds_secret(name: str, value: str) -> bool:
    """Whether an environment variable holds a key, by its name or by how its value looks.

    Names of files do not count, whatever a part of them looks like, nor do addresses with a password.
    """
    if names_secret(name) or _SCHEME().search(value):
        return True
    return any(not value[: found.start()].endswith("/") for found in _keys_in(value, _NOT_IN_ADDRESSES))


def _kept_colour(found: re.Match[str]) -> str:
    return found[0] if _COLOUR().fullmatch(found[0]) else ""


def _last_state(line: str) -> str:
    """What stands on a line in the end; a trailing carriage return has not overwritten anything yet."""
    return next((state for state in reversed(line.split("\r")) if state), "")


def _rubbed_out(text: str) -> str:
    """Backspaces take the character before them, but never a line end nor a part of a colour."""
    kept: list[str] = []
    for found in _COLOUR_OR_CHARACTER().finditer(text):
        if found[0] != "\b":
            kept.append(found[0])
        elif kept and kept[-1] != "\n" and len(kept[-1]) == 1:
            kept.pop()
    return "".join(kept)


def _written_out(found: re.Match[str], brackets: str = "<>") -> str:
    character, at = found[0], found.start()
    if is_at_home(found):
        return character
    if "\udc80" <= character <= "\udcff" and not "\ud800" <= found.string[at - 1 : at] <= "\udbff":
        return _byte(character)
    return _code(found, brackets)


def _byte(half: str) -> str:
    """The byte that Python has as half a surrogate pair."""
    return f"\\x{ord(half) - 0xDC00:02x}"


def _undisguised(found: re.Match[str]) -> str:
    word = found[0]
    if word.isascii() or not _LATIN().search(word):
        return word
    return _DISGUISED().sub(_code, word)


def _code(found: re.Match[str], brackets: str = "<>") -> str:
    return f"{brackets[0]}U+{ord(found[0]):04X}{brackets[1]}"


def _sign(found: re.Match[str]) -> str:
    """A sign written out, but for one of a Chinese or Japanese text next to a letter of that."""
    text, at = found.string, found.start()
    around = text[max(at - 1, 0) : at] + text[at + 1 : at + 2]
    is_at_home = found[0] > "\u3000" and any(
        one > "\u2e80" and one.isalpha() and not _FULL_WIDTH().match(one) for one in around
    )
    return found[0] if is_at_home else _code(found)


def _has_other_script(line: str) -> bool:
    """Whether letters stand in it that are no Latin ones, and pass for none."""
    words = _LETTERS().findall(line)
    return any(character > "\u024f" and not _DISGUISED().search(character) for word in words for character in word)
