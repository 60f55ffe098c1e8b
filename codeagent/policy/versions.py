"""The programs that may be asked for their version: only those that then run nothing the workspace could choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

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
_STEERED: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("cargo", "rustc", "rustup"), ("rust-toolchain.toml", "rust-toolchain")
)


def read_version(name: str, words: Sequence[Word]) -> Reading | None:
    """That a program only tells its version; None when it is not called just so."""
    if len(words) != 1 or not words[0].is_fixed or words[0].text not in _SPELLINGS.get(name, ()):
        return None
    return Reading(steered_by=_STEERED.get(name, ()))


def chosen_by(found: Reading, folder: Path) -> str:
    """The file in ``folder`` or above it that chooses which program really runs, or an empty string."""
    for place in (folder, *folder.parents):
        for name in found.steered_by:
            if is_there(place / name):
                return str(place / name)
    return ""
