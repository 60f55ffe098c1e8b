"""Which files hold secrets or start programs, mostly by their names: the ones that are asked about each time."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

SECRETS = "it may hold secrets"
GIT_INTERNALS = "it belongs to git's own files, which can make git run programs"

_EXAMPLE_STEMS = ("example", "sample", "template", "dist")
_EXAMPLES = tuple(f"{sign}{stem}" for stem in _EXAMPLE_STEMS for sign in ".-_")
_OF_AN_ENVIRONMENT = re.compile(r"(?P<stem>.+)\.env(?P<kind>\..+)?", re.DOTALL)
_ENVIRONMENTS_IN_CODE = frozenset({"process", "import.meta", "meta", "deno", "bun", "os", "self"})
"""``process.env`` is no file."""

_SECRET_ENDINGS = (
    *(".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".ppk", ".kdbx"),
    *(".tfstate", ".tfstate.backup"),  # terraform writes passwords into it as they are
)
_COPY = re.compile(
    r"#(?P<between>[^#]+)#"
    r"|(?P<name>.+?)(?:(?P<swap>\.sw[a-z])|~|\.\d+| \((?:copy|\d+)\)"
    r"|[._ -](?:bak|backup|bk|old|orig|original|save|saved|tmp|temp|copy)\d*)",
    re.DOTALL,
)
_COPIES_OF_COPIES = 3
"""What editors and people call a copy of a file."""

_SECRET_NAMES = frozenset(
    {".netrc", ".pgpass", ".git-credentials", ".pypirc", ".my.cnf", ".htpasswd", ".s3cfg", ".vault-token"}
    | {"credentials.json", "client_secret.json", "secrets.toml", "secrets.json", "secrets.yml", "secrets.yaml"}
)
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg"})
_SECRET_PLACES = (
    *((".aws", "credentials"), (".kube", "config"), (".docker", "config.json")),
    (".git", "credentials"),
)
_SECRET_BY_CONTENT = frozenset({".envrc", ".npmrc", ".yarnrc.yml"})
_KEY_IN_IT = re.compile(
    rb"(?:token|secret|passw(?:or)?d|_auth|(?:api|access|private)_?key|credentials?)\w*[\"']?[ \t]*[=:][ \t]*[\"']?"
    rb"[^\s\"'$#({]",
    re.IGNORECASE,
)
_LOOKED_AT = 4_096
"""Bytes of a file that are looked at for keys."""
_GIT_SETTINGS = frozenset({"config", "config.worktree"})
_KEY_IN_GIT_SETTINGS = re.compile(
    rb"extraheader[ \t]*=|smtppass[ \t]*=|://[^\s/@:]*:[^\s/@]+@|://[^\s/@:]{20,}@|" + _KEY_IN_IT.pattern, re.IGNORECASE
)
_MOST_PARTS = 200
_LOOKED_AT_IN_GIT_SETTINGS = 65_536
"""A name of some length before ``@`` in an address is a token; each branch takes its lines."""

_SECRETS_AT_HOME = tuple(
    tuple(place.split("/"))
    for place in (
        *(".ssh", ".aws", ".kube", ".gnupg", ".netrc", ".pgpass", ".config/gcloud", ".docker/config.json"),
        *(".git-credentials", ".npmrc", ".pypirc"),
    )
)
_SOURCE_ENDINGS = frozenset(
    {".c", ".cc", ".cpp", ".cs", ".css", ".cxx", ".dart", ".ex", ".go", ".h", ".hpp", ".html", ".java", ".js"}
    | {".jsx", ".kt", ".lua", ".md", ".mjs", ".php", ".proto", ".py", ".pyi", ".rb", ".rs", ".rst", ".scala"}
    | {".scss", ".sql", ".swift", ".ts", ".tsx", ".vue"}
)
_STARTS_AT_HOME = frozenset(
    {".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv"}
    | {".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".xprofile"}
    | {".xinitrc", ".xsessionrc", ".pam_environment", ".gitconfig"}
)
_START_FOLDERS_BELOW_HOME = (
    ".config/fish",
    ".config/git",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".local/bin",
    "Library/LaunchAgents",
)
_START_FOLDERS_AT_HOME = tuple(tuple(place.lower().split("/")) for place in _START_FOLDERS_BELOW_HOME)

_START_FILES = {
    ".envrc": "direnv runs it when somebody enters the folder",
    ".gitmodules": "it makes git fetch and run other repositories' content",
    ".gitattributes": "it makes git run filter and diff programs",
    ".gitconfig": "git may take settings from it that make it run programs",
    ".mcp.json": "it starts tool servers",
    "agents.md": "agents take instructions from it",
    "claude.md": "agents take instructions from it",
    ".gitlab-ci.yml": "it runs on the build server",
    ".pre-commit-config.yaml": "it runs with every commit",
    ".npmrc": "npm takes settings from it that can make it run programs",
    ".yarnrc.yml": "yarn takes settings from it that can make it run programs",
    ".devcontainer.json": "the editor can run programs from it when the folder is opened",
    ".exrc": "an editor can run programs from it when the folder is opened",
    ".nvim.lua": "an editor can run programs from it when the folder is opened",
    ".nvimrc": "an editor can run programs from it when the folder is opened",
    ".lvimrc": "an editor can run programs from it when the folder is opened",
    ".dir-locals.el": "an editor can run programs from it when the folder is opened",
    ".gdbinit": "a debugger runs it by itself",
    ".lldbinit": "a debugger runs it by itself",
    "gemini.md": "agents take instructions from it",
    "agents.override.md": "agents take instructions from it",
    ".cursorrules": "agents take instructions from it",
    "opencode.json": "agents take instructions or settings from it",
    "opencode.jsonc": "agents take instructions or settings from it",
    ".aider.conf.yml": "agents take instructions or settings from it",
    ".yarnrc": "yarn takes settings from it that can make it run programs",
    ".pnpmfile.cjs": "pnpm runs it with every command",
    ".travis.yml": "it runs on the build server",
    "azure-pipelines.yml": "it runs on the build server",
    "bitbucket-pipelines.yml": "it runs on the build server",
    "jenkinsfile": "it runs on the build server",
    ".drone.yml": "it runs on the build server",
    ".woodpecker.yml": "it runs on the build server",
    "appveyor.yml": "it runs on the build server",
    ".mise.toml": "it chooses the programs that run here",
    "mise.toml": "it chooses the programs that run here",
    ".tool-versions": "it chooses the programs that run here",
    "lefthook.yml": "git runs what it names",
    ".lefthook.yml": "git runs what it names",
}
_START_FOLDERS = {
    (".codeagent",): "it configures this agent",
    (".vscode",): "the editor can run programs from it when the folder is opened",
    (".devcontainer",): "the editor can run programs from it when the folder is opened",
    (".idea",): "the editor can run programs from it when the folder is opened",
    (".github", "workflows"): "it runs on the build server",
    (".github", "actions"): "it runs on the build server",
    (".circleci",): "it runs on the build server",
    (".claude",): "agents take instructions or settings from it",
    (".codex",): "agents take instructions or settings from it",
    (".cursor",): "agents take instructions or settings from it",
    (".gemini",): "agents take instructions or settings from it",
    (".opencode",): "agents take instructions or settings from it",
    (".zed",): "an editor can run programs from it when the folder is opened",
    (".fleet",): "an editor can run programs from it when the folder is opened",
    (".buildkite",): "it runs on the build server",
    (".woodpecker",): "it runs on the build server",
    (".hg",): "it belongs to the own files of Mercurial, which can make it run programs",
    (".husky",): "git runs the scripts in it",
    (".githooks",): "git runs the scripts in it",
}
_START_ENDINGS = (".code-workspace",)
_GIT_FOLDERS = frozenset({".git", "git~1"})


def plain_name(name: str) -> str:
    """A file name as it is compared: letter case, invisible characters and trailing dots or blanks left out.

    Some file systems see such names as one; asking once too often is the cheaper mistake.
    """
    if name.isascii() and name.isprintable():
        return name.lower().rstrip(" .") or name
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) not in {"Cf", "Cc"})
    return visible.casefold().rstrip(" .") or name


def plain_names(path: Path) -> tuple[str, ...]:
    """The components of a path, as they are compared."""
    return tuple(plain_name(part) for part in path.parts)


def secret_reason(names: tuple[str, ...], at_home: tuple[str, ...] | None) -> str:
    """Why reading asks, or an empty string.

    ``names`` are the compared components to look at, ``at_home`` those below the
    home folder, None when the path is not there.
    """
    is_secret = (
        (names and any(_is_secret_file((*names[-2:-1], name)) for name in (names[-1], *_copied_from(names[-1]))))
        or not _SECRET_FOLDERS.isdisjoint(names)
        or (at_home is not None and any(at_home[: len(place)] == place for place in _SECRETS_AT_HOME))
    )
    return SECRETS if is_secret else ""


def _is_secret_file(names: tuple[str, ...]) -> bool:
    """By its name, or by that and the folder it is in."""
    name = names[-1]
    return (
        _is_environment_file(name)
        or name.endswith(_SECRET_ENDINGS)
        or name in _SECRET_NAMES
        or names in _SECRET_PLACES
        or _is_private_key(name)
    )


def _copied_from(name: str) -> Iterator[str]:
    """The names of which this would be a copy that an editor or a person keeps: ``.env~``, ``#.env#``, ``key.pem.bak``.

    Vim puts a dot before its own: ``.server.key.swp``.
    """
    for _ in range(_COPIES_OF_COPIES):
        if not (found := _COPY.fullmatch(name)):
            return
        name = found["name"] or found["between"]
        yield name
        if name.startswith(".") and found["swap"]:
            yield name[1:]


def holds_key(path: Path, names: tuple[str, ...]) -> bool:
    """Whether a file that often has none in it, as its compared ``names`` tell, sets a key to more than a variable.

    That is also an address with a password, and a header, in the settings of a git repository.
    """
    if names and names[-1] in _SECRET_BY_CONTENT:
        return _holds(path, _KEY_IN_IT, _LOOKED_AT)
    return bool(names) and names[-1] in _GIT_SETTINGS and not _GIT_FOLDERS.isdisjoint(names) and has_git_key(path)


def often_holds_key(path: Path) -> bool:
    """Whether a file may have held a key though it holds none now: told by its name alone."""
    return plain_name(path.name) in _SECRET_BY_CONTENT


def has_git_key(settings: Path) -> bool:
    """Whether a file with settings of git's holds a key, or an address with a password."""
    return _holds(settings, _KEY_IN_GIT_SETTINGS, _LOOKED_AT_IN_GIT_SETTINGS)


def git_secrets(inside: Path) -> Iterator[Path]:
    """Where keys may lie in the folder of a repository: its settings, those of its parts, and stored passwords."""
    yield from (inside / name for name in ("credentials", *sorted(_GIT_SETTINGS)))
    for pattern in ("modules/**/config*", "worktrees/*/config*"):
        yield from islice((path for path in inside.glob(pattern) if path.name in _GIT_SETTINGS), _MOST_PARTS)


def _holds(path: Path, key: re.Pattern[bytes], size: int) -> bool:
    """Whether the first ``size`` bytes of a file show such a key; one that cannot be read is taken for one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return False
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode) and bool(key.search(os.read(descriptor, size)))
    except OSError:
        return True
    finally:
        os.close(descriptor)


def secret_folders() -> tuple[str, ...]:
    """The folders, relative to the home folder, in which secret files lie."""
    places = ("/".join(place) for place in _SECRETS_AT_HOME)
    return tuple(dict.fromkeys(("", *places, *("/".join(place[:-1]) for place in _SECRETS_AT_HOME))))


def places_at_home() -> tuple[str, ...]:
    """What holds secrets or is run by itself in the home folder, relative to it."""
    return (*("/".join(place) for place in _SECRETS_AT_HOME), *sorted(_STARTS_AT_HOME), *_START_FOLDERS_BELOW_HOME)


def starts_at_home() -> tuple[str, ...]:
    """What is run by itself, or lets somebody in, in the home folder, relative to it."""
    return (*sorted(_STARTS_AT_HOME), *_START_FOLDERS_BELOW_HOME, ".ssh")


def start_reason(names: tuple[str, ...]) -> str:
    """Why writing asks, or an empty string; ``names`` are the compared components below the workspace root."""
    if not _GIT_FOLDERS.isdisjoint(names):
        return GIT_INTERNALS
    if names and names[-1] in _START_FILES:
        return _START_FILES[names[-1]]
    if names and names[-1] in _STARTS_AT_HOME:
        return "shells and desktops run such a file by themselves"
    if names and names[-1].endswith(_START_ENDINGS):
        return "the editor can run programs from it when it is opened"
    for folder, reason in _START_FOLDERS.items():
        if any(part == folder for part in _runs(names, len(folder))):
            return reason
    return ""


def is_shell_start(at_home: tuple[str, ...] | None) -> bool:
    """Whether shells or the desktop run it by themselves; ``at_home`` as for secret_reason."""
    if not at_home:
        return False
    return (len(at_home) == 1 and at_home[0] in _STARTS_AT_HOME) or any(
        at_home[: len(place)] == place for place in _START_FOLDERS_AT_HOME
    )


def _is_environment_file(name: str) -> bool:
    """``.env``, ``.env.local``, ``prod.env``, ``app.env.prod``, and none that is an example."""
    if name == ".env" or name.startswith((".env.", ".env-", ".env_")):
        return not name.rstrip("~").endswith(_EXAMPLES)
    found = _OF_AN_ENVIRONMENT.fullmatch(name)
    if not found or (found["kind"] and name.endswith((*_EXAMPLES, *_SOURCE_ENDINGS))):
        return False
    return not found["stem"].endswith(_EXAMPLE_STEMS) and found["stem"] not in _ENVIRONMENTS_IN_CODE


def _is_private_key(name: str) -> bool:
    """``id_rsa`` and its kin with any ending but that of a public key; source code may be called like that too."""
    return name.startswith("id_") and not name.endswith((".pub", *_SOURCE_ENDINGS))


def _runs(names: tuple[str, ...], length: int) -> Iterator[tuple[str, ...]]:
    return (names[at : at + length] for at in range(len(names) - length + 1))
