import pytest

from codeagent.tui.editor import EditorFailed, write_in_editor


def nothing(_pid, _file):
    """Who minds the terminal is not asked about."""


def script(folder, body):
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)
    return str(path)


async def test_what_was_written_comes_back(tmp_path, monkeypatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", script(tmp_path, 'echo "more" >> "$1"'))
    assert await write_in_editor("first\n", nothing) == "first\nmore"


@pytest.mark.parametrize(
    ("octal", "text"),
    [(r"gr\374\337e\r\n10 \200", "grüße\n10 €"), (r"\320\277\321\200", "пр"), (r"\374\201", "ü\x81")],
)
async def test_what_is_written_in_another_encoding_keeps_its_letters(tmp_path, monkeypatch, octal, text):
    monkeypatch.setenv("VISUAL", script(tmp_path, f"printf '{octal}' > \"$1\""))
    assert await write_in_editor("x", nothing) == text


async def test_an_editor_may_have_arguments(tmp_path, monkeypatch):
    monkeypatch.setenv("VISUAL", f"{script(tmp_path, 'echo $1 > $2')} --wait")
    assert await write_in_editor("x", nothing) == "--wait"


async def test_an_editor_that_fails_or_is_missing_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("VISUAL", script(tmp_path, "exit 3"))
    with pytest.raises(EditorFailed, match="exit code 3"):
        await write_in_editor("x", nothing)
    monkeypatch.setenv("VISUAL", str(tmp_path / "none"))
    with pytest.raises(EditorFailed, match=r"did not start: No such file or directory\. Set"):
        await write_in_editor("x", nothing)


async def test_ctrl_c_in_the_editor_does_not_end_us(tmp_path, monkeypatch):
    monkeypatch.setenv("VISUAL", script(tmp_path, 'kill -INT $PPID; echo "kept" > "$1"'))
    assert await write_in_editor("x", nothing) == "kept"
