"""Undo, redo and rewind in any order, beside a person who works on: the agent's files are as the model says, always."""

import asyncio
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from codeagent.core.errors import NothingToUndo, ToolError

NAMES = st.sampled_from(["a.txt", "sub/b.txt", "new/deep/c.txt", "odd \u202e name\n.txt", "ignored.log"])
TEXTS = st.sampled_from(["", "one\n", "two\r\n", "no end", "é\n" * 3])
COMMANDS = st.sampled_from(
    [
        "echo more >> a.txt",
        "rm -f a.txt",
        "mkdir -p made/by && mv sub/b.txt made/by/ 2>/dev/null; true",
        "chmod 755 a.txt 2>/dev/null; true",
        "ln -sfn a.txt link",
        "rm -rf sub new made",
        "mkdir -p bare/inner new; chmod 700 sub bare 2>/dev/null; true",
        "rmdir bare/inner bare new 2>/dev/null; chmod 500 sub 2>/dev/null; true",
        "printf 'x\\0y' > binary",
        "git stash -u 2>/dev/null; git stash pop 2>/dev/null; true",
        "git add -A; git commit -qm agent; true",
        "true",
    ]
)
PERSONS = st.sampled_from(["person.txt", "mine/p.bin", "ignored.mine"])


class UndoMachine(RuleBasedStateMachine):
    """The agent changes its files, the person others; ``trees`` is what each undo must lead back to."""

    ground_type = None
    tree_of = None

    @initialize()
    def start(self):
        self.folder = tempfile.TemporaryDirectory()
        base = Path(self.folder.name)
        self.root = base / "work"
        self.root.mkdir()
        for words in (["init", "-q"], ["config", "user.name", "A"], ["config", "user.email", "a@example.com"]):
            subprocess.run(["git", *words], cwd=self.root, check=True)
        (self.root / "sub").mkdir()
        (self.root / "a.txt").write_text("a\n")
        (self.root / "sub" / "b.txt").write_text("b\n")
        (self.root / ".gitignore").write_text("ignored*\n")
        subprocess.run(["git", "add", "."], cwd=self.root, check=True)
        subprocess.run(["git", "commit", "-qm", "first"], cwd=self.root, check=True)
        self.ground = type(self).ground_type(self.root, base / "state")
        self.turn = 1
        self.ground.turn(1)
        self.done = []
        self.undone = []
        self.persons = {}
        self.tree = self.agents()

    def agents(self):
        """Everything but the person's files and folders."""
        found = type(self).tree_of(self.root)
        return {name: value for name, value in found.items() if name != "mine" and name not in self.persons}

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def changed(self):
        now = self.agents()
        if now != self.tree:
            self.done.append((self.turn, self.tree))
            self.undone.clear()
            self.tree = now

    @rule(name=NAMES, text=TEXTS)
    def agent_writes(self, name, text):
        with suppress(ToolError):
            asyncio.run(self.ground.write(name, text))
        self.changed()

    @rule(command=COMMANDS)
    def agent_runs(self, command):
        asyncio.run(self.ground.bash(command))
        self.changed()

    @rule(name=PERSONS, content=st.binary(max_size=20))
    def person_writes(self, name, content):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        self.persons[name] = content

    @rule()
    def next_turn(self):
        self.turn += 1
        self.ground.turn(self.turn)

    @rule()
    def restart(self):
        self.ground.reopen()
        self.ground.turn(self.turn)

    @precondition(lambda self: self.done)
    @rule()
    def undo(self):
        asyncio.run(self.ground.undo())
        entry = self.done.pop()
        self.undone.append((self.tree, [entry]))
        self.tree = entry[1]

    @precondition(lambda self: self.done)
    @rule(data=st.data())
    def rewind(self, data):
        turn = data.draw(st.sampled_from(sorted({turn for turn, _ in self.done})))
        plan = asyncio.run(self.ground.timeline.plan_rewind(turn))
        asyncio.run(self.ground.timeline.carry_out(plan))
        gone = [entry for entry in self.done if entry[0] >= turn]
        self.done = self.done[: -len(gone)]
        self.undone.append((self.tree, gone))
        self.tree = gone[0][1]

    @precondition(lambda self: not self.done)
    @rule()
    def undo_of_nothing(self):
        with pytest.raises(NothingToUndo):
            asyncio.run(self.ground.undo())

    @precondition(lambda self: self.undone)
    @rule()
    def redo(self):
        asyncio.run(self.ground.redo())
        after, entries = self.undone.pop()
        self.done += entries
        self.tree = after

    @invariant()
    def agents_files_are_as_they_should_be(self):
        if hasattr(self, "ground"):
            assert self.agents() == self.tree

    @invariant()
    def persons_files_are_untouched(self):
        if hasattr(self, "ground"):
            assert {name: (self.root / name).read_bytes() for name in self.persons} == self.persons


def test_any_order_of_changes_undo_and_redo_keeps_every_byte(grounds, tree_of):
    UndoMachine.ground_type = staticmethod(grounds)
    UndoMachine.tree_of = staticmethod(tree_of)
    run = settings(max_examples=10, stateful_step_count=12, deadline=None, derandomize=True)
    UndoMachine.TestCase.settings = run
    machine = UndoMachine.TestCase("runTest")
    machine.settings = run
    machine.runTest()
