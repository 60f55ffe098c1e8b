"""What was typed last is what is kept, however slow the disk was with what came before."""

import threading

from codeagent.tui import drafts


class SlowDisk:
    """Writes the first thing late: after the second, if that does not wait for it."""

    def __init__(self):
        self.written = []
        self.has_begun = False
        self._second = threading.Event()

    def write(self, what):
        if not self.has_begun:
            self.has_begun = True
            self._second.wait(0.5)
        self.written.append(what)
        self._second.set()


async def test_the_newest_draft_is_kept_last(stage_of, monkeypatch):
    disk = SlowDisk()
    monkeypatch.setattr(drafts, "SECONDS", 0.0)
    async with stage_of() as stage:
        monkeypatch.setattr(stage.bench, "save_draft", disk.write)
        await stage.type("a")
        await stage.until(lambda: disk.has_begun)
        await stage.type("b")
        await stage.until(lambda: len(disk.written) > 1)
        assert disk.written[-1].text == "ab"


async def test_what_was_sent_is_remembered_in_order(stage_of, monkeypatch):
    disk = SlowDisk()
    async with stage_of() as stage:
        monkeypatch.setattr(stage.bench, "remember", disk.write)
        await stage.type("one\n")
        await stage.until(lambda: disk.has_begun)
        await stage.type("two\n")
        await stage.until(lambda: len(disk.written) > 1)
        assert [typed.text for typed in disk.written] == ["one", "two"]


async def test_the_newest_habit_is_kept_last(stage_of, monkeypatch):
    disk = SlowDisk()
    async with stage_of() as stage:
        monkeypatch.setattr(stage.bench, "keep_habits", lambda habits: disk.write(habits.shows_times))
        await stage.pilot.press("f2")
        await stage.until(lambda: disk.has_begun)
        await stage.pilot.press("f2")
        await stage.until(lambda: len(disk.written) > 1)
        assert disk.written[-1] is False


async def test_a_burst_of_letters_starts_one_that_keeps_them_all(stage_of):
    async with stage_of() as stage:
        stage.app.main.prompt.text = "word " * 200
        for _ in range(1000):
            stage.app._drafts.changed(0.05)
        assert len([worker for worker in stage.app.workers if worker.group == "draft"]) <= 2
        await stage.until(lambda: stage.bench.kept == "word " * 200)
