"""Where the program keeps its files on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import platformdirs

from codeagent.core.values import value

HOME_VARIABLE = "CODEAGENT_HOME"
PROJECT_FOLDER = ".codeagent"
KEYS_NAME = "keys.json"


@value
class Places:
    """The four folders of the program; none of them is made before something is kept there."""

    config: Path
    data: Path
    state: Path
    cache: Path

    @property
    def own(self) -> tuple[Path, Path, Path]:
        """The folders that hold what nobody else may write."""
        return self.config, self.data, self.state

    @property
    def config_file(self) -> Path:
        """The person's own settings."""
        return self.config / "config.toml"

    @property
    def instructions_file(self) -> Path:
        """What the person tells the model in every project."""
        return self.config / "AGENTS.md"

    @property
    def models_file(self) -> Path:
        """What the person adds to the table of models: windows and prices."""
        return self.config / "models.toml"

    @property
    def keys_file(self) -> Path:
        """The keys that the person entered, where no keyring keeps them."""
        return self.config / KEYS_NAME

    @property
    def listed_models(self) -> Path:
        """The models that the services listed when they were last asked."""
        return self.cache / "models.json"

    @property
    def checkpoints(self) -> Path:
        """What is kept of the agent's changes, one folder a workspace, named as that of its sessions."""
        return self.state / "checkpoints"

    @property
    def sessions(self) -> Path:
        """The records of all sessions, one folder a workspace."""
        return self.data / "sessions"

    @property
    def grants_file(self) -> Path:
        """The permission rules that a person stored from a dialog."""
        return self.state / "grants.json"

    @property
    def trust_file(self) -> Path:
        """Which repositories may configure the program."""
        return self.state / "trust.json"

    @property
    def habits_file(self) -> Path:
        """What the person chose with a key and has so the next time."""
        return self.state / "habits.json"

    @property
    def prompts(self) -> Path:
        """What was typed before, one folder a workspace."""
        return self.state / "prompts"

    @property
    def commands(self) -> Path:
        """The person's own commands, as Markdown files."""
        return self.config / "commands"

    @property
    def background_file(self) -> Path:
        """Whether the terminal was dark or light when the app last ran."""
        return self.state / "background"

    @property
    def themes(self) -> Path:
        """The person's own themes."""
        return self.config / "themes"


def find_places(environ: Mapping[str, str]) -> Places:
    """The folders that the system's customs ask for, or all below ``CODEAGENT_HOME`` when that is set."""
    if home := environ.get(HOME_VARIABLE):
        root = Path(home).expanduser().absolute()
        return Places(config=root / "config", data=root / "data", state=root / "state", cache=root / "cache")
    dirs = platformdirs.PlatformDirs("codeagent", appauthor=False)
    return Places(
        config=dirs.user_config_path, data=dirs.user_data_path, state=dirs.user_state_path, cache=dirs.user_cache_path
    )


def project_config_file(root: Path) -> Path:
    """The settings that a repository brings along."""
    return root / PROJECT_FOLDER / "config.toml"


def project_commands(root: Path) -> Path:
    """The commands that a repository brings along."""
    return root / PROJECT_FOLDER / "commands"
