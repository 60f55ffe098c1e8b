"""A workspace with ordinary and with sensitive files in it."""

from __future__ import annotations

import subprocess

import pytest

PROJECT = {
    "README.md": "# x\n",
    "src/a.py": "def foo():\n    pass\n",
    "src/b.py": "x = 1\n",
    "docs/x.md": "y\n",
    "tests/t.py": "t\n",
    "setup.py": "z\n",
    "package.json": '{"name": "x", "scripts": {}}\n',
    "data.csv": "a,b\n",
    ".gitignore": "build/\n",
}


@pytest.fixture(scope="session")
def shared_workspace(tmp_path_factory):
    root = tmp_path_factory.mktemp("machine") / "workspace"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in ("README.md", "a.py", "src/a.py", "src/b.py", "docs/x.md", "sub/x", "-dash.txt", "certs/s.pem"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x\n")
    for name in (".env", ".env.example", "id_rsa", "id_rsa.pub"):
        (root / name).write_text("x\n")
    (root / "src/app").mkdir()
    (root / "lnk").symlink_to("/etc")
    return root


@pytest.fixture(scope="session")
def shared_project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project") / "project"
    for name, content in PROJECT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["commit", "-qm", "one"],
        ["commit", "-qm", "two", "--allow-empty"],
        ["branch", "dev"],
    ):
        subprocess.run(["git", "-c", "user.name=me", "-c", "user.email=me@x", "-C", root, *words], check=True)
    return root


@pytest.fixture
def project(shared_project, monkeypatch):
    """An ordinary project with a history and nothing secret in it, only for tests that change nothing in it."""
    monkeypatch.chdir(shared_project)
    return shared_project


@pytest.fixture
def workspace(shared_workspace, monkeypatch):
    """Only for tests that change nothing in it."""
    monkeypatch.chdir(shared_workspace)
    return shared_workspace
