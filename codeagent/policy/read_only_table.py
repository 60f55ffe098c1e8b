"""The table of ordinary commands that change nothing, each with the options that keep it so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from codeagent.policy.options import Allowed, names


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

    allowed: Allowed = field(default_factory=Allowed)
    operands: Operands = Operands.PATHS
    most: int | None = None


_GREP = Allowed(
    flags="EFGPaciHhILlnoqRrsTUuVvwxyZz",
    valued="ABCDdefm",
    longs=names(
        "extended-regexp fixed-strings basic-regexp perl-regexp text count ignore-case no-ignore-case with-filename"
        " no-filename files-without-match files-with-matches line-number only-matching quiet silent recursive"
        " dereference-recursive no-messages initial-tab invert-match word-regexp line-regexp null null-data color"
        " colour byte-offset line-buffered binary help version"
    ),
    long_valued=names(
        "after-context before-context context devices directories regexp file max-count include exclude exclude-dir"
        " binary-files label group-separator"
    ),
    paths=names("f file"),
    counts=True,
)
_RG = Allowed(
    flags="abciFHhIlLnNopPqsSUuvVwx0.",
    valued="ABCeEfgjmMrtTd",
    longs=names(
        "text count count-matches ignore-case fixed-strings with-filename no-filename files-with-matches"
        " files-without-match follow line-number no-line-number only-matching pretty pcre2 quiet no-messages smart-case"
        " multiline multiline-dotall unrestricted invert-match word-regexp line-regexp null hidden no-ignore"
        " no-ignore-vcs no-ignore-dot no-ignore-parent no-ignore-global no-ignore-exclude files json stats heading"
        " no-heading column no-column trim no-config no-mmap crlf vimgrep passthru byte-offset case-sensitive"
        " one-file-system type-list version help no-unicode null-data block-buffered line-buffered"
    ),
    long_valued=names(
        "after-context before-context context regexp encoding file glob iglob threads max-count max-columns replace"
        " type type-not color colors max-depth maxdepth max-filesize sort sortr context-separator engine path-separator"
    ),
    paths=names("f file g glob iglob"),
)


_FD = Row(
    allowed=Allowed.of(
        "HIusigapF0q1",
        "dtSjcEeo",
        "hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex"
        " fixed-strings absolute-path full-path print0 quiet prune no-follow",
        "max-depth min-depth exact-depth type extension exclude size changed-within changed-before color threads"
        " max-results owner",
    ),
    operands=Operands.PATTERN,
)
_CHECKSUM = Row(allowed=Allowed.of("btz", longs="binary text tag zero"))
_NOTHING = Row(operands=Operands.TEXT)
TABLE: Mapping[str, Row] = {
    "true": _NOTHING,
    "false": _NOTHING,
    ":": _NOTHING,
    "pwd": Row(allowed=Allowed.of("LP"), operands=Operands.NONE),
    "whoami": Row(operands=Operands.NONE),
    "id": Row(allowed=Allowed.of("aGgnruzZ", longs="group groups name real user zero"), operands=Operands.TEXT),
    "uname": Row(allowed=Allowed.of("asnrvmpio", longs="all kernel-name nodename machine"), operands=Operands.NONE),
    "ls": Row(
        allowed=Allowed.of(
            "aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1",
            "I",
            "all almost-all author escape block-size ignore-backups color directory classify file-type format full-time"
            " group-directories-first no-group human-readable si dereference hide hyperlink indicator-style inode"
            " kibibytes dereference-command-line numeric-uid-gid literal hide-control-chars show-control-chars"
            " quote-name quoting-style reverse recursive size sort time time-style context zero",
            "ignore tabsize width",
            "I",  # elsewhere a switch without a value
        )
    ),
    "cat": Row(
        allowed=Allowed.of(
            "AbeEnstTuv", longs="show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"
        )
    ),
    "head": Row(
        allowed=Allowed(
            flags="qvz", valued="nc", longs=names("quiet silent verbose"), long_valued=names("lines bytes"), counts=True
        )
    ),
    "tail": Row(
        allowed=Allowed(
            flags="qvzr",
            valued="ncs",
            longs=names("quiet silent verbose"),
            long_valued=names("lines bytes"),
            counts=True,
        )
    ),
    "wc": Row(allowed=Allowed.of("cmlLw", longs="bytes chars lines max-line-length words total")),
    "stat": Row(allowed=Allowed.of("LftxrsnqF", "c", "dereference file-system terse", "format printf cached")),
    "file": Row(
        allowed=Allowed.of(
            "bhiLkNnrs0EdlvI", "FeP", "brief mime mime-type mime-encoding dereference keep-going", "separator"
        )
    ),
    "du": Row(
        allowed=Allowed.of(
            "acbhkmsSxLHDl0",
            "dBt",
            "all total bytes human-readable apparent-size summarize separate-dirs one-file-system"
            " dereference si inodes",
            "max-depth block-size threshold exclude time time-style",
        )
    ),
    "df": Row(
        allowed=Allowed.of(
            "ahHiklPTm",
            "Btx",
            "all human-readable si inodes local portability print-type total output",
            "type exclude-type",
        )
    ),
    "which": Row(allowed=Allowed.of("as", longs="all"), operands=Operands.PROGRAMS),
    "type": Row(allowed=Allowed.of("afptP"), operands=Operands.PROGRAMS),
    "basename": Row(allowed=Allowed.of("az", "s", "multiple zero", "suffix"), operands=Operands.TEXT),
    "dirname": Row(allowed=Allowed.of("z", longs="zero"), operands=Operands.TEXT),
    "realpath": Row(
        allowed=Allowed.of(
            "eEmLPqsz",
            longs="canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero",
            long_valued="relative-to relative-base",
            paths="relative-to relative-base",
        )
    ),
    "diff": Row(
        allowed=Allowed.of(
            "qsycnubwBEZirNaptTdWe",
            "CULxFI",
            "brief report-identical-files side-by-side normal context unified ignore-case ignore-all-space"
            " ignore-space-change ignore-blank-lines ignore-trailing-space ignore-tab-expansion minimal recursive text"
            " new-file unidirectional-new-file color left-column suppress-common-lines expand-tabs initial-tab"
            " strip-trailing-cr show-c-function speed-large-files no-dereference ed rcs",
            "label exclude width tabsize show-function-line ignore-matching-lines horizon-lines",
        )
    ),
    "cmp": Row(allowed=Allowed.of("bls", "in", "print-bytes verbose silent quiet", "bytes ignore-initial")),
    "sort": Row(
        allowed=Allowed.of(
            "bcCdfghiMmnRrsuVz",
            "ktS",
            "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort"
            " human-numeric-sort numeric-sort random-sort reverse version-sort check merge stable"
            " unique zero-terminated debug",
            "key field-separator buffer-size sort parallel",
        )
    ),
    "uniq": Row(
        allowed=Allowed.of(
            "cdDiuz",
            "fsw",
            "count repeated all-repeated ignore-case unique zero-terminated group",
            "skip-fields skip-chars check-chars",
        ),
        most=1,
    ),
    "cut": Row(
        allowed=Allowed.of(
            "nsz",
            "bcdf",
            "complement only-delimited zero-terminated",
            "bytes characters delimiter fields output-delimiter",
        )
    ),
    "tr": Row(
        allowed=Allowed.of("cCdst", longs="complement delete squeeze-repeats truncate-set1"), operands=Operands.TEXT
    ),
    "nl": Row(
        allowed=Allowed.of(
            "p", "bdfhilnsvw", "no-renumber", "body-numbering number-width number-format number-separator"
        )
    ),
    "tac": Row(allowed=Allowed.of("br", "s", "before regex", "separator")),
    "rev": Row(),
    "comm": Row(
        allowed=Allowed.of(
            "123iz", longs="check-order nocheck-order total zero-terminated", long_valued="output-delimiter"
        )
    ),
    "join": Row(allowed=Allowed.of("iz", "aevot12j", "ignore-case check-order nocheck-order header zero-terminated")),
    "paste": Row(allowed=Allowed.of("sz", "d", "serial zero-terminated", "delimiters")),
    "fold": Row(allowed=Allowed.of("bs", "w", "bytes spaces", "width")),
    "column": Row(
        allowed=Allowed.of(
            "txeLn",
            "csoNRdHOTEC",
            "table fillrows",
            "separator output-separator output-width table-columns table-right",
        )
    ),
    "seq": Row(
        allowed=Allowed(
            flags="w", valued="fst", longs=names("equal-width"), long_valued=names("format separator"), counts=True
        ),
        operands=Operands.TEXT,
    ),
    "sleep": _NOTHING,
    "nproc": Row(allowed=Allowed.of("", "", "all", "ignore"), operands=Operands.NONE),
    "hostname": Row(
        allowed=Allowed.of("sfdiIA", longs="short fqdn long domain ip-address all-ip-addresses all-fqdns"),
        operands=Operands.NONE,
    ),
    "readlink": Row(
        allowed=Allowed.of(
            "femnqsvz",
            longs="canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
        )
    ),
    "tree": Row(
        allowed=Allowed.of(
            "adfixpsughDFqNQvtcUrSnACJX",
            "LPI",
            "dirsfirst filesfirst noreport gitignore prune du si inodes device metafirst matchdirs ignore-case nolinks",
            "charset filelimit sort timefmt",
        )
    ),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"), _CHECKSUM),
    "b2sum": Row(allowed=Allowed.of("btz", "l", "binary text tag zero", "length")),
    "cksum": Row(allowed=Allowed.of("z", "al", "untagged raw base64 zero tag", "algorithm length")),
    "od": Row(
        allowed=Allowed.of(
            "abcdDefFhHiIlLosvxXOB",
            "AjNt",
            "output-duplicates",
            "address-radix skip-bytes read-bytes format",
        )
    ),
    "jq": Row(
        allowed=Allowed.of(
            "rcnseSCMajR",
            longs="raw-output compact-output null-input slurp exit-status sort-keys color-output monochrome-output"
            " ascii-output join-output raw-input tab",
            long_valued="indent",
        ),
        operands=Operands.PATTERN,
    ),
    "strings": Row(allowed=Allowed.of("awf", "neto", "all print-file-name", "bytes encoding radix")),
    "base64": Row(allowed=Allowed.of("di", "w", "decode ignore-garbage", "wrap")),
    "base32": Row(allowed=Allowed.of("di", "w", "decode ignore-garbage", "wrap")),
    "hexdump": Row(allowed=Allowed.of("bcCdoxv", "nse", "canonical", "length skip")),
    "hd": Row(allowed=Allowed.of("v", "ns")),
    "sum": Row(allowed=Allowed.of("rs", longs="sysv")),
    "expand": Row(allowed=Allowed.of("i", "t", "initial", "tabs")),
    "unexpand": Row(allowed=Allowed.of("a", "t", "all first-only", "tabs")),
    "fmt": Row(allowed=Allowed.of("cstu", "w", "split-only uniform-spacing", "width")),
    "tsort": Row(),
    "shuf": Row(
        allowed=Allowed.of("erz", "in", "echo repeat zero-terminated", "head-count input-range"),
        operands=Operands.PATHS,
    ),
    "expr": _NOTHING,
    "factor": _NOTHING,
    "numfmt": Row(
        allowed=Allowed.of(
            "z",
            "d",
            "to from suffix padding round grouping header invalid zero-terminated",
            "delimiter field format from-unit to-unit",
        ),
        operands=Operands.TEXT,
    ),
    "uptime": Row(allowed=Allowed.of("ps", longs="pretty since"), operands=Operands.NONE),
    "free": Row(
        allowed=Allowed.of("bkmghtlw", longs="bytes kibi mebi gibi tebi human total lohi wide si"),
        operands=Operands.NONE,
    ),
    "lscpu": Row(allowed=Allowed.of("aJep", longs="all json extended parse online"), operands=Operands.NONE),
    "lsblk": Row(
        allowed=Allowed.of("abdfilmpJ", "o", "all bytes fs json list paths", "output"), operands=Operands.NONE
    ),
    "arch": Row(operands=Operands.NONE),
    "tty": Row(allowed=Allowed.of("s"), operands=Operands.NONE),
    "groups": _NOTHING,
    "who": Row(allowed=Allowed.of("abHqu"), operands=Operands.NONE),
    "w": Row(allowed=Allowed.of("hsfi"), operands=Operands.NONE),
    "users": Row(operands=Operands.NONE),
    "locale": Row(allowed=Allowed.of("am", longs="all-locales charmaps"), operands=Operands.NONE),
    "getconf": _NOTHING,
    "pgrep": Row(
        allowed=Allowed.of("flaxncoiv", "uUPt", "list-name list-full full count exact"), operands=Operands.TEXT
    ),
    "help": Row(allowed=Allowed.of("dms"), operands=Operands.TEXT),
    "man": Row(allowed=Allowed.of("kf", longs="apropos whatis"), operands=Operands.TEXT),
    "apropos": Row(operands=Operands.TEXT),
    "whatis": Row(operands=Operands.TEXT),
    "whereis": Row(allowed=Allowed.of("bms"), operands=Operands.PROGRAMS),
    "fd": _FD,
    "fdfind": _FD,
    "grep": Row(allowed=_GREP, operands=Operands.PATTERN),
    "egrep": Row(allowed=_GREP, operands=Operands.PATTERN),
    "fgrep": Row(allowed=_GREP, operands=Operands.PATTERN),
    "rg": Row(allowed=_RG, operands=Operands.PATTERN),
}

DEEP: Mapping[str, frozenset[str]] = {
    "grep": names("r R recursive dereference-recursive"),
    "egrep": names("r R recursive dereference-recursive"),
    "fgrep": names("r R recursive dereference-recursive"),
    "rg": names(
        "u . L follow hidden no-ignore no-ignore-vcs no-ignore-dot no-ignore-parent no-ignore-global no-ignore-exclude"
        " unrestricted"
    ),
    "diff": names("r recursive"),
}
"""Options that make a command read whole trees, ignored and hidden files as well."""
