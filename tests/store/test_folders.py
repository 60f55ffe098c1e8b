"""Folders come and go with their permissions, empty ones too; what git ignores stays what it is, whatever is done."""

import pytest

from codeagent.core.diff import ChangeKind


def changed(result):
    return {diff.path: (diff.change, diff.notes) for diff in result.details.changes}


async def test_empty_folders_that_come_and_go_are_told_and_taken_back(ground, tree_of):
    (ground.root / "bare" / "inner").mkdir(parents=True)
    (ground.root / "bare" / "inner").chmod(0o2750)
    before = tree_of(ground.root)
    result = await ground.bash("mkdir -p made/by/hand; rmdir bare/inner bare")
    assert changed(result) == {
        "bare/inner/": (ChangeKind.DELETED, ("folder",)),
        "made/by/hand/": (ChangeKind.CREATED, ("folder",)),
    }
    assert "[changed files: deleted bare/inner/ folder; created made/by/hand/ folder]" in result.text
    after = tree_of(ground.root)
    assert await ground.undo() == "Took back bash mkdir -p made/by/hand; rmdir bare/inner bare: 2 folders."
    assert tree_of(ground.root) == before
    await ground.redo()
    assert tree_of(ground.root) == after


async def test_the_permissions_of_folders_are_told_and_taken_back(ground, tree_of):
    before = tree_of(ground.root)
    result = await ground.bash("chmod 700 sub; chmod 711 .; echo x > sub/x; rm sub/b.txt; chmod 500 sub")
    assert changed(result)["sub/"] == (ChangeKind.CHANGED, ("mode 0755 → 0500",))
    assert changed(result)["./"] == (ChangeKind.CHANGED, ("mode 0755 → 0711",))
    await ground.undo()
    assert tree_of(ground.root) == before
    assert ground.root.stat().st_mode & 0o777 == 0o755


async def test_a_whole_tree_comes_back_with_the_permissions_of_its_folders(ground, tree_of):
    for number in range(3):
        folder = ground.root / "deep" / str(number) / "er"
        folder.mkdir(parents=True)
        (folder / "f").write_text("x")
        folder.chmod(0o700 + number)
    (ground.root / "deep").chmod(0o1777)
    before = tree_of(ground.root)
    result = await ground.bash("rm -rf deep")
    assert set(changed(result)) == {f"deep/{number}/er/f" for number in range(3)}
    ground.reopen()
    assert await ground.undo() == "Took back bash rm -rf deep: 3 files."
    assert tree_of(ground.root) == before


async def test_a_folder_of_the_agents_that_the_person_uses_stays(ground):
    await ground.bash("mkdir -p made/by; echo x > made/by/x; mkdir empty")
    (ground.root / "made" / "mine.txt").write_text("mine\n")
    (ground.root / "empty" / "mine").mkdir()
    plan = await ground.timeline.plan_undo()
    assert [file.path for file in plan.files] == ["made/by/x"]
    await ground.timeline.carry_out(plan)
    assert (ground.root / "made" / "mine.txt").read_text() == "mine\n"
    assert (ground.root / "empty" / "mine").is_dir()
    assert not (ground.root / "made" / "by").exists()


async def test_permissions_that_the_person_gave_a_folder_since_stay(ground):
    await ground.bash("chmod 700 sub")
    (ground.root / "sub").chmod(0o750)
    await ground.undo()
    assert (ground.root / "sub").stat().st_mode & 0o777 == 0o750


async def test_what_happens_inside_of_ignored_folders_is_nobodys_business(ground):
    (ground.root / ".gitignore").write_text("node_modules/\nignored*\n")
    (ground.root / "node_modules" / "a").mkdir(parents=True)
    (ground.root / ".venv" / "lib").mkdir(parents=True)
    (ground.root / ".venv" / ".gitignore").write_text("*\n")
    (ground.root / ".venv" / "lib" / "x.py").write_text("x\n")
    await ground.bash("echo first > first")
    result = await ground.bash("mkdir node_modules/b; echo x > node_modules/c; mkdir .venv/bin; echo > .venv/lib/y.py")
    assert changed(result) == {}


@pytest.fixture
def ignoring(ground, run_git):
    """Files that are ignored by an ignore file of the top, of a folder, of one that ignores itself, and inside."""
    root = ground.root
    (root / ".gitignore").write_text("ignored*\n/node_modules/\n")
    (root / "ignored.log").write_text("mine\n")
    for name in ("node_modules/a/index.js", ".venv/lib/x.py", "sub/secret.env", "inner/inner.log"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine\n")
    (root / ".venv" / ".gitignore").write_text("*\n")
    (root / "sub" / ".gitignore").write_text("*.env\n")
    run_git(root / "inner", "init", "-q")
    (root / "inner" / ".gitignore").write_text("*.log\n")
    return ground


@pytest.mark.parametrize(
    "command",
    [
        "rm .gitignore sub/.gitignore .venv/.gitignore inner/.gitignore",
        "rm .gitignore; rm sub/.gitignore; echo '*.none' > .venv/.gitignore; : > inner/.gitignore",
        (
            "rm .gitignore */.gitignore .venv/.gitignore; for f in *.log */*.log */*.env .venv/lib/* node_modules/a/*; "
            "do echo changed >> $f; done"
        ),
    ],
)
@pytest.mark.parametrize("is_known", [True, False])
async def test_what_was_ignored_until_now_is_not_taken_for_the_agents(ignoring, tree_of, command, is_known):
    if is_known:
        await ignoring.bash("echo first > first")
    before = tree_of(ignoring.root)
    result = await ignoring.bash(f"{command}; echo new > new.txt")
    names = set(changed(result))
    assert "new.txt" in names
    assert all(name == "new.txt" or name.endswith(".gitignore") for name in names), names
    await ignoring.undo()
    after = tree_of(ignoring.root)
    assert set(after) >= {name for name in before if name != ".venv/.gitignore"}
    assert (ignoring.root / "ignored.log").read_text().startswith("mine\n")


async def test_an_ignore_file_above_the_workspace_counts(repository, grounds, tmp_path):
    (repository / "sub" / "ignored.log").write_text("mine\n")
    (repository / "sub" / ".gitignore").write_text("*.tmp\n")
    (repository / "sub" / "x.tmp").write_text("mine\n")
    ground = grounds(repository / "sub", tmp_path / "state")
    result = await ground.bash("rm .gitignore; echo more >> ignored.log; echo more >> x.tmp")
    assert "x.tmp" not in changed(result)
    await ground.undo()
    assert (repository / "sub" / "ignored.log").exists()
    assert (repository / "sub" / "x.tmp").exists()
