"""What a run that was killed left behind is cleaned up by the next one, and the person is told."""

import pytest

from codeagent.workspace.leftovers import COPY_PREFIX, TEMP_PREFIX
from tests.server.replies import Reply, Say

pytestmark = pytest.mark.journey


def test_the_next_run_sweeps_every_folder_it_may_write_in_and_names_the_copy_of_a_broken_write(
    place, model_server, tmp_path
):
    model_server.reply(Reply(parts=(Say("Hello."),)))
    more = tmp_path / "more"
    (more / "deep").mkdir(parents=True)
    left = [folder / f"{TEMP_PREFIX}4194304-0badcafe-00000001" for folder in (place.root, more / "deep")]
    for file in left:
        file.write_text("half a file")
    save = place.root / f"{TEMP_PREFIX}4194304-0badcafe-00000002-{'0' * 16}-{'1' * 16}"
    save.write_text("saved by a person in the very moment")
    copy = tmp_path / f"{COPY_PREFIX}x1-notes.txt"
    copy.write_text("the old notes")
    place.environ["TMPDIR"] = str(tmp_path)

    events, code = place.events("-p", "hello", "--add-dir", str(more))

    notices = " ".join(event["text"] for event in events if event["type"] == "notice")
    assert code == 0
    assert "2 temporary files" in notices
    assert str(copy) in notices
    assert str(save) in notices
    assert (save.exists(), copy.exists(), [file.exists() for file in left]) == (True, True, [False, False])
