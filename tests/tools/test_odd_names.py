"""Files with odd names are found, read and changed like others, by the name that the tools show."""

import json
import os
from pathlib import Path

import pytest

NAMES = [
    b"a b  c.txt",
    b"line\nbreak.txt",
    b"tab\there.txt",
    b"[x]*?{a,b}.txt",
    b'it\'s "quoted".txt',
    b"back\\slash.txt",
    b"-rf.txt",
    b"--pre=cat.txt",
    b"$HOME `id` $(id).txt",
    b"#comment !not.txt",
    b"..txt",
    b" leading and trailing ",
    "emoji 🙂 and é.txt".encode(),
    "e\u0301 split.txt".encode(),
    "right\u202eto left.txt".encode(),
    b"\x1b[31mred.txt",
    b"caf\xe9.txt",
    b"x" * 255,
]


def as_sent(shown: str) -> str:
    """The name that a model would send after it was shown this."""
    return json.loads(shown) if shown.startswith('"') else shown


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_found_read_and_changed_by_the_name_that_is_shown(searching, name):
    file = Path(os.fsdecode(os.fsencode(searching.root) + b"/sub/" + name))
    file.parent.mkdir()
    file.write_text("needle = 1\n")

    (found,) = searching.text("glob", pattern="**").splitlines()
    listed = searching.text("ls", path="sub").rpartition("  ")[0]
    heading, *_ = searching.text("grep", pattern="needle").splitlines()
    assert as_sent(heading.removesuffix(":")) == as_sent(found) == f"sub/{as_sent(listed)}"

    path = as_sent(found)
    assert searching.text("read", path=path) == "1→needle = 1"
    assert searching.run("edit", path=path, old="needle = 1", new="needle = 2").outcome == "ok"
    assert searching.run("write", path=path, content="needle = 3\n").outcome == "ok"
    assert file.read_text() == "needle = 3\n"
    assert [os.fsencode(entry.name) for entry in file.parent.iterdir()] == [name]
