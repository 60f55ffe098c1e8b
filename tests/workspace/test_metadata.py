"""Access lists survive a rewrite, and a folder's defaults do not creep in."""

import os
import struct
import sys
from pathlib import Path

import pytest

from codeagent.workspace.atomic import write_atomic

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="access lists as attributes are a Linux matter")

OWNER, USER, GROUP, MASK, OTHERS = 1, 2, 4, 16, 32
NOBODY, UNUSED = 65534, 0xFFFFFFFF


def access_list(others: int) -> bytes:
    """A list that lets one more user read and write, in the kernel's own form."""
    entries = [(OWNER, 6, UNUSED), (USER, 6, NOBODY), (GROUP, 4, UNUSED), (MASK, 6, UNUSED), (OTHERS, others, UNUSED)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def set_list(path: Path, name: str) -> bytes:
    value = access_list(0)
    try:
        os.setxattr(path, name, value)
    except OSError:
        pytest.skip("no access lists on this file system")
    return value


def test_a_file_s_access_list_is_kept(tmp_path):
    path = tmp_path.resolve() / "a"
    path.write_bytes(b"old")
    value = set_list(path, "system.posix_acl_access")
    mode = path.stat().st_mode
    write_atomic(path, b"new", expected=b"old")
    assert os.getxattr(path, "system.posix_acl_access") == value
    assert path.stat().st_mode == mode


def test_a_folder_s_default_list_does_not_reach_a_file_that_had_none(tmp_path):
    path = tmp_path.resolve() / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    set_list(tmp_path, "system.posix_acl_default")
    write_atomic(path, b"new", expected=b"old")
    assert "system.posix_acl_access" not in os.listxattr(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_new_file_takes_the_folder_s_default_list(tmp_path):
    set_list(tmp_path, "system.posix_acl_default")
    path = tmp_path.resolve() / "new"
    write_atomic(path, b"x", expected=None)
    assert "system.posix_acl_access" in os.listxattr(path)
