"""Which program a name really stands for: one of the workspace's own, or one that a file in the folder chooses.

Version managers put a program of their own in the place of the real one. It looks for such a file in the folder and
above, and what the file names may lie in the workspace. That holds also for programs that only tell their version.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from codeagent.core.programs import named_by_path
from codeagent.policy.options import names
from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word
from codeagent.workspace.git_places import is_there

# Left out on purpose: yarn, pnpm, mvn, gradle, pytest, poetry and dotnet, which run what a project names even for this.
_PLAIN = names(
    "python3 python node npm pip pip3 gcc g++ cc c++ clang clang++ make cmake ninja perl ruby php jq rg fd uv ruff mypy"
    " black docker gh git curl wget sqlite3 psql deno cargo rustc rustup gdb tree sed awk gawk grep tar zip bash sh zsh"
)
_SPELLINGS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_PLAIN, names("--version")),
    **dict.fromkeys(names("python python3 pip pip3 cargo rustc ruff"), names("--version -V")),
    **dict.fromkeys(names("node npm"), names("--version -v")),
    **dict.fromkeys(names("java javac"), names("-version --version")),
    "go": names("version"),
}
# Those of asdf, mise and proto, which can stand for any program.
_OF_ANY = (
    ".tool-versions",
    ".prototools",
    ".rtx.toml",
    *(f"{dot}mise{local}.toml" for dot in ("", ".") for local in ("", ".local")),
    *("mise/config.toml", ".mise", ".config/mise", ".config/mise.toml", ".config/mise.local.toml"),
)
_RUST = ("rust-toolchain.toml", "rust-toolchain")
_NODE = (".node-version", ".nvmrc", ".volta", "package.json")
_JAVA = (".java-version", ".sdkmanrc")
_OF_ONE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("cargo", "rustc", "rustup"), _RUST),
    **dict.fromkeys(("python", "python3", "pip", "pip3"), (".python-version",)),
    **dict.fromkeys(("java", "javac"), _JAVA),
    "node": _NODE,
    "npm": (*_NODE, ".npmrc"),
    "go": (".go-version", "go.mod", "go.work"),
    "ruby": (".ruby-version",),
    "perl": (".perl-version",),
    "php": (".php-version",),
    "deno": (".deno-version", ".dvmrc"),
}
_WHERE_IT_SAYS: Mapping[str, re.Pattern[bytes]] = {
    **dict.fromkeys(("go.mod", "go.work"), re.compile(rb"^[ \t]*toolchain\b", re.MULTILINE)),
    "package.json": re.compile(rb'"volta"|"packageManager"\s*:\s*"npm|\\u'),
}
"""Files that have other purposes as well, and how they look when they choose a program."""
_LARGEST = 1_000_000
_BUILT_IN = names("[ [[ : true false echo printf pwd cd test type command time read exit return break continue for")
_MANAGERS = frozenset({"asdf", "mise", "rtx", "volta-shim", "proto-shim", "rustup"})


def own_program(name: str, roots: Sequence[Path]) -> str:
    """Why the program ``name`` may be one of the workspace's own, or an empty string."""
    if not name or "/" in name or name in _BUILT_IN:
        return ""
    path = os.environ.get("PATH", os.defpath)
    if not all(entry.startswith("/") for entry in path.split(os.pathsep)):
        return f"where {name} lies depends on the folder: PATH names one that is not absolute"
    found = named_by_path(name, path)
    if found is None:
        return ""
    real = Path(found).resolve()
    return f"{name} is a program of the workspace: {found}" if any(real.is_relative_to(root) for root in roots) else ""


def read_version(name: str, words: Sequence[Word]) -> Reading | None:
    """That a program only tells its version; None when it is not called just so."""
    if len(words) != 1 or not words[0].is_fixed or words[0].text not in _SPELLINGS.get(name, ()):
        return None
    return Reading(steered_by=(*_OF_ONE.get(name, ()), *_OF_ANY))


def steering_files(found: Reading, programs: Sequence[str]) -> tuple[str, ...]:
    """The files that would choose what runs: for versions those that are known, else those of a manager's stand-ins."""
    if found.steered_by:
        return found.steered_by
    path = os.environ.get("PATH", os.defpath)
    managed = [name for name in programs if _is_stand_in(name, path)]
    return tuple(file for name in managed for file in (*_OF_ONE.get(name, ()), *_OF_ANY))


def chosen_by(files: Sequence[str], folder: Path, roots: Sequence[Path]) -> str:
    """The file in ``folder`` or above it that chooses which program really runs, or an empty string.

    What stands in the home folder or above is the person's own, unless they work right there.
    npm's settings count in the workspace alone: it looks no higher than the package it is in.
    """
    for place in _upwards(folder, roots):
        is_inside = any(place.is_relative_to(root) for root in roots)
        for name in files:
            if (is_inside or name != ".npmrc") and is_there(place / name) and _chooses(place / name):
                return str(place / name)
    return ""


def _upwards(folder: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """The folder and those above it, as far as they are not the person's own."""
    home = Path.home()
    for place in (folder, *folder.parents):
        if place == home and place not in roots:
            return
        yield place


def _chooses(file: Path) -> bool:
    """Whether a file that is there says something about programs; one that cannot be looked through does."""
    says = _WHERE_IT_SAYS.get(file.name)
    if says is None:
        return True
    if not file.is_file():
        return True
    try:
        with file.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
    except OSError:
        return True
    return len(data) > _LARGEST or says.search(data) is not None


@lru_cache(maxsize=256)
def _is_stand_in(name: str, path: str) -> bool:
    """Whether what lies under this name in the folders of ``path`` is a version manager's."""
    found = named_by_path(name, path) if name else None
    return found is not None and ("shims" in Path(found).parts or Path(found).resolve().name in _MANAGERS)
