"""A workspace with ordinary and with sensitive files in it."""

from __future__ import annotations

import subprocess

import pytest


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


@pytest.fixture
def workspace(shared_workspace, monkeypatch):
    """Only for tests that change nothing in it."""
    monkeypatch.chdir(shared_workspace)
    return shared_workspace
