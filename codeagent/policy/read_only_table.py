"""The table of ordinary commands that change nothing, each with the options that keep it so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from codeagent.policy.options import Allowed, allow, names


class Operands(StrEnum):
    """What the words of a command are that are no options."""

    PATHS = "paths"
    TEXT = "text"
    PATTERN = "a pattern, then paths"
    PROGRAMS = "names of programs, or paths where there is a slash in them"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one command is kept harmless; ``most`` is the largest number of operands, and none may precede an option."""

    allowed: Allowed
    operands: Operands
    most: int | None


def _row(  # noqa: PLR0913 - as many as a row has parts
    flags: str = "",
    valued: str = "",
    longs: str = "",
    long_valued: str = "",
    paths: str = "",
    *,
    counts: bool = False,
    operands: Operands = Operands.PATHS,
    most: int | None = None,
) -> Row:
    """A row; the options are those of ``allow``."""
    allowed = allow(flags, valued, longs, long_valued, paths, counts=counts)
    return Row(allowed=allowed, operands=operands, most=most)


_GREP = _row(
    "EFGPaciHhILlnoqRrsTUuVvwxyZz",
    "ABCDdefm",
    "extended-regexp fixed-strings basic-regexp perl-regexp text count ignore-case no-ignore-case with-filename"
    " no-filename files-without-match files-with-matches line-number only-matching quiet silent recursive"
    " dereference-recursive no-messages initial-tab invert-match word-regexp line-regexp null null-data color"
    " colour byte-offset line-buffered binary help version",
    "after-context before-context context devices directories regexp file max-count include exclude exclude-dir"
    " binary-files label group-separator",
    "f file",
    operands=Operands.PATTERN,
    counts=True,
)
_RG = _row(
    "abciFHhIlLnNopPqsSUuvVwx0.",
    "ABCeEfgjmMrtTd",
    "text count count-matches ignore-case fixed-strings with-filename no-filename files-with-matches"
    " files-without-match follow line-number no-line-number only-matching pretty pcre2 quiet no-messages"
    " smart-case multiline multiline-dotall unrestricted invert-match word-regexp line-regexp null hidden"
    " no-ignore no-ignore-vcs no-ignore-dot no-ignore-parent no-ignore-global no-ignore-exclude files json stats"
    " heading no-heading column no-column trim no-config no-mmap crlf vimgrep passthru byte-offset"
    " case-sensitive one-file-system type-list version help no-unicode null-data block-buffered line-buffered",
    "after-context before-context context regexp encoding file glob iglob threads max-count max-columns replace"
    " type type-not color colors max-depth maxdepth max-filesize sort sortr context-separator engine"
    " path-separator",
    "f file g glob iglob",
    operands=Operands.PATTERN,
)


_FD = _row(
    "HIusigapF0q1",
    "dtSjcEeo",
    "hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex"
    " fixed-strings absolute-path full-path print0 quiet prune no-follow",
    "max-depth min-depth exact-depth type extension exclude size changed-within changed-before color threads"
    " max-results owner",
    operands=Operands.PATTERN,
)
_CHECKSUM = _row("btz", longs="binary text tag zero")
_NOTHING = _row(operands=Operands.TEXT)
TABLE: Mapping[str, Row] = {
    "true": _NOTHING,
    "false": _NOTHING,
    ":": _NOTHING,
    "pwd": _row("LP", operands=Operands.NONE),
    "whoami": _row(operands=Operands.NONE),
    "id": _row("aGgnruzZ", longs="group groups name real user zero", operands=Operands.TEXT),
    "uname": _row("asnrvmpio", longs="all kernel-name nodename machine", operands=Operands.NONE),
    "ls": _row(
        "aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        "I",
        "all almost-all author escape block-size ignore-backups color directory classify file-type format full-time"
        " group-directories-first no-group human-readable si dereference hide hyperlink indicator-style inode"
        " kibibytes dereference-command-line numeric-uid-gid literal hide-control-chars show-control-chars"
        " quote-name quoting-style reverse recursive size sort time time-style context zero",
        "ignore tabsize width",
        "I",  # elsewhere a switch without a value
    ),
    "cat": _row(
        "AbeEnstTuv", longs="show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"
    ),
    "head": _row("qvz", "nc", "quiet silent verbose", "lines bytes", counts=True),
    "tail": _row("qvzr", "ncs", "quiet silent verbose", "lines bytes", counts=True),
    "wc": _row("cmlLw", longs="bytes chars lines max-line-length words total"),
    "stat": _row("LftxrsnqF", "c", "dereference file-system terse", "format printf cached"),
    "file": _row("bhiLkNnrs0EdlvI", "FeP", "brief mime mime-type mime-encoding dereference keep-going", "separator"),
    "du": _row(
        "acbhkmsSxLHDl0",
        "dBt",
        "all total bytes human-readable apparent-size summarize separate-dirs one-file-system dereference si inodes",
        "max-depth block-size threshold exclude time time-style",
    ),
    "df": _row(
        "ahHiklPTm",
        "Btx",
        "all human-readable si inodes local portability print-type total output",
        "type exclude-type",
    ),
    "which": _row("as", longs="all", operands=Operands.PROGRAMS),
    "type": _row("afptP", operands=Operands.PROGRAMS),
    "basename": _row("az", "s", "multiple zero", "suffix", operands=Operands.TEXT),
    "dirname": _row("z", longs="zero", operands=Operands.TEXT),
    "realpath": _row(
        "eEmLPqsz",
        longs="canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero",
        long_valued="relative-to relative-base",
        paths="relative-to relative-base",
    ),
    "diff": _row(
        "qsycnubwBEZirNaptTdWe",
        "CULxFI",
        "brief report-identical-files side-by-side normal context unified ignore-case ignore-all-space"
        " ignore-space-change ignore-blank-lines ignore-trailing-space ignore-tab-expansion minimal recursive text"
        " new-file unidirectional-new-file color left-column suppress-common-lines expand-tabs initial-tab"
        " strip-trailing-cr show-c-function speed-large-files no-dereference ed rcs",
        "label exclude width tabsize show-function-line ignore-matching-lines horizon-lines",
    ),
    "cmp": _row("bls", "in", "print-bytes verbose silent quiet", "bytes ignore-initial"),
    "sort": _row(
        "bcCdfghiMmnRrsuVz",
        "ktS",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort"
        " human-numeric-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated"
        " debug",
        "key field-separator buffer-size sort parallel",
    ),
    "uniq": _row(
        "cdDiuz",
        "fsw",
        "count repeated all-repeated ignore-case unique zero-terminated group",
        "skip-fields skip-chars check-chars",
        most=1,
    ),
    "cut": _row(
        "nsz", "bcdf", "complement only-delimited zero-terminated", "bytes characters delimiter fields output-delimiter"
    ),
    "tr": _row("cCdst", longs="complement delete squeeze-repeats truncate-set1", operands=Operands.TEXT),
    "nl": _row("p", "bdfhilnsvw", "no-renumber", "body-numbering number-width number-format number-separator"),
    "tac": _row("br", "s", "before regex", "separator"),
    "rev": _row(),
    "comm": _row("123iz", longs="check-order nocheck-order total zero-terminated", long_valued="output-delimiter"),
    "join": _row("iz", "aevot12j", "ignore-case check-order nocheck-order header zero-terminated"),
    "paste": _row("sz", "d", "serial zero-terminated", "delimiters"),
    "fold": _row("bs", "w", "bytes spaces", "width"),
    "column": _row(
        "txeLn", "csoNRdHOTEC", "table fillrows", "separator output-separator output-width table-columns table-right"
    ),
    "seq": _row("w", "fst", "equal-width", "format separator", counts=True, operands=Operands.TEXT),
    "sleep": _NOTHING,
    "nproc": _row("", "", "all", "ignore", operands=Operands.NONE),
    "hostname": _row(
        "sfdiIA", longs="short fqdn long domain ip-address all-ip-addresses all-fqdns", operands=Operands.NONE
    ),
    "readlink": _row(
        "femnqsvz", longs="canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero"
    ),
    "tree": _row(
        "adfixpsughDFqNQvtcUrSnACJX",
        "LPI",
        "dirsfirst filesfirst noreport gitignore prune du si inodes device metafirst matchdirs ignore-case nolinks",
        "charset filelimit sort timefmt",
    ),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"), _CHECKSUM),
    "b2sum": _row("btz", "l", "binary text tag zero", "length"),
    "cksum": _row("z", "al", "untagged raw base64 zero tag", "algorithm length"),
    "od": _row("abcdDefFhHiIlLosvxXOB", "AjNt", "output-duplicates", "address-radix skip-bytes read-bytes format"),
    "jq": _row(
        "rcnseSCMajR",
        longs="raw-output compact-output null-input slurp exit-status sort-keys color-output monochrome-output"
        " ascii-output join-output raw-input tab",
        long_valued="indent",
        operands=Operands.PATTERN,
    ),
    "strings": _row("awf", "neto", "all print-file-name", "bytes encoding radix"),
    "base64": _row("di", "w", "decode ignore-garbage", "wrap"),
    "base32": _row("di", "w", "decode ignore-garbage", "wrap"),
    "hexdump": _row("bcCdoxv", "nse", "canonical", "length skip"),
    "hd": _row("v", "ns"),
    "sum": _row("rs", longs="sysv"),
    "expand": _row("i", "t", "initial", "tabs"),
    "unexpand": _row("a", "t", "all first-only", "tabs"),
    "fmt": _row("cstu", "w", "split-only uniform-spacing", "width"),
    "tsort": _row(),
    "shuf": _row("erz", "in", "echo repeat zero-terminated", "head-count input-range"),
    "expr": _NOTHING,
    "factor": _NOTHING,
    "numfmt": _row(
        "z",
        "d",
        "to from suffix padding round grouping header invalid zero-terminated",
        "delimiter field format from-unit to-unit",
        operands=Operands.TEXT,
    ),
    "uptime": _row("ps", longs="pretty since", operands=Operands.NONE),
    "free": _row("bkmghtlw", longs="bytes kibi mebi gibi tebi human total lohi wide si", operands=Operands.NONE),
    "lscpu": _row("aJep", longs="all json extended parse online", operands=Operands.NONE),
    "lsblk": _row("abdfilmpJ", "o", "all bytes fs json list paths", "output", operands=Operands.NONE),
    "arch": _row(operands=Operands.NONE),
    "tty": _row("s", operands=Operands.NONE),
    "groups": _NOTHING,
    "who": _row("abHqu", operands=Operands.NONE),
    "w": _row("hsfi", operands=Operands.NONE),
    "users": _row(operands=Operands.NONE),
    "locale": _row("am", longs="all-locales charmaps", operands=Operands.NONE),
    "getconf": _NOTHING,
    "pgrep": _row("flaxncoiv", "uUPt", "list-name list-full full count exact", operands=Operands.TEXT),
    "help": _row("dms", operands=Operands.TEXT),
    "man": _row("kf", longs="apropos whatis", operands=Operands.TEXT),
    "apropos": _row(operands=Operands.TEXT),
    "whatis": _row(operands=Operands.TEXT),
    "whereis": _row("bms", operands=Operands.PROGRAMS),
    "fd": _FD,
    "fdfind": _FD,
    **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
    "rg": _RG,
}

DEEP: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("grep", "egrep", "fgrep"), names("r R recursive dereference-recursive")),
    "rg": names(
        "u . L follow hidden no-ignore no-ignore-vcs no-ignore-dot no-ignore-parent no-ignore-global no-ignore-exclude"
        " unrestricted"
    ),
    "diff": names("r recursive"),
}
"""Options that make a command read whole trees, ignored and hidden files as well."""
