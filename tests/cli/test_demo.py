"""The demo works in a folder whose name is fit to be seen."""

import tempfile

from codeagent.cli.demo import _own_folder


def test_the_demos_folder_has_a_plain_name_where_that_is_free_and_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with _own_folder() as first, _own_folder() as second:
        assert first == tmp_path / "codeagent-demo"
        assert second.name.startswith("codeagent-demo-")
        assert first.stat().st_mode & 0o077 == second.stat().st_mode & 0o077 == 0
        (first / "shop").mkdir()
    assert list(tmp_path.iterdir()) == []
