"""Renames in one step: swapping, and taking a name only when it is free."""

import os
from pathlib import Path

import pytest

from codeagent.workspace import renames
from codeagent.workspace.renames import exchange, rename_new


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").write_text("B")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_two_names_are_swapped(folder, tmp_path):
    if not exchange(folder, "a", "b"):
        pytest.skip("this file system cannot swap")
    assert content(tmp_path) == {"a": "B", "b": "A"}


def test_swapping_with_a_name_that_is_gone_is_an_error(folder, tmp_path):
    with pytest.raises(FileNotFoundError):
        exchange(folder, "a", "none")
    assert content(tmp_path) == {"a": "A", "b": "B"}


@pytest.fixture(params=["with the call", "without the call", "without hard links"])
def system(request, monkeypatch):
    """What the C library and the file system offer."""
    if request.param != "with the call":
        monkeypatch.setattr(renames, "_CALL", None)
    if request.param == "without hard links":
        return lambda folder, source, target: renames._rename_when_free(folder, source, target, folder)
    return rename_new


def test_a_free_name_is_taken(system, folder, tmp_path):
    system(folder, "a", "c")
    assert content(tmp_path) == {"c": "A", "b": "B"}


def test_a_name_in_use_is_not_taken(system, folder, tmp_path):
    with pytest.raises(FileExistsError):
        system(folder, "a", "b")
    assert content(tmp_path) == {"a": "A", "b": "B"}


def test_a_dangling_link_has_the_name_in_use(system, folder, tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        system(folder, "a", "link")
    assert (tmp_path / "link").is_symlink()


def test_what_is_not_there_cannot_be_renamed(system, folder):
    with pytest.raises(FileNotFoundError):
        system(folder, "none", "c")
