"""What is kept before and after a changing call, in all kinds of repositories, without touching anything of theirs."""

import os
import shutil
import socket
import stat
import subprocess

import pytest

from codeagent.core.diff import ChangeKind
from codeagent.core.events import CheckpointTaken, NoticeGiven
from codeagent.core.messages import ToolCall
from codeagent.core.protocols import ToolContext
from codeagent.store import change_store, snapshots
from codeagent.tools.bash import BashArguments, BashTool
from codeagent.workspace.git import uncommitted
from codeagent.workspace.jobs import Jobs


def changed(result):
    return {diff.path: diff.change for diff in result.details.changes}


async def test_the_exact_changes_of_a_command_are_in_its_result(ground):
    result = await ground.bash("echo six >> a.txt; rm sub/b.txt; echo new > c.txt; chmod 750 .gitignore; ln -s a.txt l")
    assert changed(result) == {
        ".gitignore": ChangeKind.CHANGED,
        "a.txt": ChangeKind.CHANGED,
        "c.txt": ChangeKind.CREATED,
        "l": ChangeKind.CREATED,
        "sub/b.txt": ChangeKind.DELETED,
    }
    by_path = {diff.path: diff for diff in result.details.changes}
    assert (by_path["a.txt"].added, by_path["a.txt"].removed) == (1, 0)
    assert by_path[".gitignore"].notes == ("mode 0644 → 0750",)
    assert "[changed files: .gitignore mode 0644 → 0750; a.txt +1; created c.txt +1;" in result.text


async def test_a_command_that_changes_nothing_says_nothing(ground):
    result = await ground.bash("cat a.txt; touch a.txt")
    assert result.details.changes == ()
    assert "changed files" not in result.text
    assert ground.store.log.entries == ()


async def test_a_file_that_is_being_written_this_moment_is_no_change(ground):
    result = await ground.bash("echo half > .codeagent-tmp-1-00000000-00000000; echo x > d.txt")
    assert changed(result) == {"d.txt": ChangeKind.CREATED}
    found = uncommitted(ground.root)
    assert found is not None
    assert [path.name for path in found.new] == ["d.txt"]


async def test_each_changing_call_has_its_checkpoint(ground):
    await ground.write("c.txt", "c\n")
    await ground.bash("echo x > d.txt")
    taken = [event for event in ground.events if isinstance(event, CheckpointTaken)]
    assert [event.before_call for event in taken] == ["call1", "call2"]


async def test_what_the_person_changed_between_two_commands_is_not_the_agents(ground):
    await ground.bash("echo x > d.txt")
    (ground.root / "a.txt").write_text("mine\n")
    (ground.root / "mine.txt").write_text("mine\n")
    assert changed(await ground.bash("echo y > e.txt")) == {"e.txt": ChangeKind.CREATED}


async def test_a_change_within_the_second_is_seen_even_of_mode_alone(ground):
    await ground.write("key.txt", "k\n")
    assert changed(await ground.bash("chmod 600 key.txt")) == {"key.txt": ChangeKind.CHANGED}
    assert changed(await ground.bash("printf x > key.txt; printf k > key.txt; printf 'j\\n' > key.txt")) == {
        "key.txt": ChangeKind.CHANGED
    }


async def test_nothing_of_the_persons_git_directory_changes(ground, run_git, git_state_of, tree_of):
    root = ground.root
    (root / "a.txt").write_text("staged\n")
    run_git(root, "add", "a.txt")
    (root / "a.txt").write_text("stashed\n")
    run_git(root, "stash")
    (root / "sub" / "b.txt").write_text("staged too\n")
    run_git(root, "add", "sub/b.txt")
    (root / ".git" / "hooks" / "post-index-change").write_text("#!/bin/sh\ntouch ran\n")
    (root / ".git" / "hooks" / "post-index-change").chmod(0o755)
    before = git_state_of(root / ".git")
    await ground.bash("echo more >> a.txt; echo new > new.txt; rm sub/b.txt")
    await ground.undo()
    assert git_state_of(root / ".git") == before
    assert not (root / "ran").exists()
    assert "new.txt" not in tree_of(root)


async def test_a_hostile_repository_gets_nothing_run(ground, run_git, tmp_path):
    root, program = ground.root, tmp_path / "pwn.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'owned'}\ncat\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "core.hooksPath", "core.pager", "diff.external", "core.sshCommand"):
        run_git(root, "config", name, str(program))
    for name in ("filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv", "merge.x.driver"):
        run_git(root, "config", name, str(program))
    (root / ".gitattributes").write_text("* filter=x diff=x merge=x text=auto eol=crlf working-tree-encoding=UTF-16\n")
    (root / "a.txt").write_bytes(b"bytes\r\nas they are\n$Id$\n")
    await ground.bash("printf 'other\\n' > a.txt")
    await ground.undo()
    assert (root / "a.txt").read_bytes() == b"bytes\r\nas they are\n$Id$\n"
    assert not (tmp_path / "owned").exists()


async def test_everything_is_private_whatever_the_umask(ground):
    before = os.umask(0)
    try:
        await ground.bash("echo x > c.txt")
        await ground.write("d.txt", "d\n")
        await ground.undo()
    finally:
        os.umask(before)
    for path in [ground.state, *ground.state.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        is_held = path.is_file() and path.is_relative_to(ground.state / "git-sha1" / "held")  # the person's own files
        assert is_held or (mode == 0o700 if path.is_dir() else mode & 0o177 == 0), path


async def test_ignored_files_are_left_alone_by_commands_and_kept_by_write(ground):
    (ground.root / "ignored.txt").write_text("old\n")
    assert (await ground.bash("echo new > ignored.txt")).details.changes == ()
    await ground.write("ignored.txt", "newest\n")
    await ground.undo()
    assert (ground.root / "ignored.txt").read_text() == "new\n"


async def test_the_persons_own_ignore_file_counts(ground, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "git").mkdir(parents=True)
    (tmp_path / "config" / "git" / "ignore").write_text("*.swp\n")
    (ground.root / ".git" / "info" / "exclude").write_text("*.local\n")
    assert (await ground.bash("touch a.swp b.local")).details.changes == ()


@pytest.mark.parametrize("is_repository", [False, True])
async def test_the_programs_own_folders_are_no_part_of_a_workspace_that_holds_them(
    tmp_path, grounds, run_git, is_repository
):
    root = tmp_path / "home"
    state, data = root / ".local/state/[a] *", root / ".local/share/codeagent"
    data.mkdir(parents=True)
    if is_repository:
        run_git(root, "init", "-q")
    (data / "session.jsonl").write_text("1\n")
    ground = grounds(root, state / "checkpoints", own=(state, data))
    command = f"echo 2 >> {data}/session.jsonl; mkdir -p {data}/new; echo x > .local/share/other"
    result = await ground.bash(command)
    assert [change.path for change in result.details.changes] == [".local/share/other"]
    await ground.undo()
    assert not (root / ".local/share/other").exists()
    assert (data / "session.jsonl").read_text() == "1\n2\n"
    assert (data / "new").is_dir()


async def test_huge_files_are_not_kept_and_that_is_told(ground, monkeypatch):
    monkeypatch.setattr(snapshots, "LARGEST", 1000)
    (ground.root / "huge").write_bytes(b"x" * 2000)
    assert "too large" not in (await ground.bash("echo x > c.txt")).text
    result = await ground.bash("echo more >> huge")
    assert result.details.changes == ()
    assert result.details.uncovered == ("huge",)
    assert "[too large to be undone: huge]" in result.text


async def test_odd_names_and_special_files_do_no_harm(ground, tree_of):
    root = ground.root
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        names = (b"a\nb", b"\xff\xfe", b"*", b":(top)x", b"-n", b'"q"', b"\xc3\xa4 b")
        for name in names:
            (root / os.fsdecode(name)).write_bytes(name)
        before = tree_of(root)
        result = await ground.bash(
            "for f in $'a\\nb' $'\\xff\\xfe' '*' ':(top)x' ./-n '\"q\"' 'ä b'; do echo x >> \"$f\"; done"
        )
        assert result.details.changed_files == len(names)
        await ground.undo()
        assert tree_of(root) == before


@pytest.mark.parametrize(
    "command", ["rm sub/b.txt; rmdir sub; echo file > sub", "rm a.txt; mkdir a.txt; echo x > a.txt/x"]
)
async def test_a_file_in_place_of_a_folder_comes_back(ground, tree_of, command):
    before = tree_of(ground.root)
    await ground.bash(command)
    await ground.undo()
    assert tree_of(ground.root) == before


async def test_it_works_without_a_repository(bare_ground, tree_of):
    before = tree_of(bare_ground.root)
    result = await bare_ground.bash("echo two >> a.txt; mkdir -p x/y; echo z > x/y/z")
    assert set(changed(result)) == {"a.txt", "x/y/z"}
    await bare_ground.undo()
    assert tree_of(bare_ground.root) == before


@pytest.mark.parametrize("there", [(), ("x/y/",), ("src/",)])
async def test_the_first_files_of_a_new_project_can_be_undone(tmp_path, grounds, tree_of, there):
    root = tmp_path / "new"
    root.mkdir()
    for folder in there:
        (root / folder).mkdir(parents=True)
    ground, nothing = grounds(root, tmp_path / "state"), tree_of(root)
    result = await ground.bash("echo one > a.md; mkdir -p src; echo two > src/b.py")
    assert set(changed(result)) >= {"a.md", "src/b.py"}
    assert not [event for event in ground.events if isinstance(event, NoticeGiven)]
    ground.reopen()
    await ground.undo()
    assert tree_of(root) == nothing


async def test_the_first_files_of_a_repository_without_a_commit_can_be_undone(tmp_path, grounds, tree_of, run_git):
    root = tmp_path / "new"
    root.mkdir()
    run_git(root, "init", "-q")
    ground, nothing = grounds(root, tmp_path / "state"), tree_of(root)
    await ground.bash("echo one > a.md")
    await ground.undo()
    assert tree_of(root) == nothing


async def test_a_workspace_inside_a_repository_sees_its_own_part(repository, grounds, tmp_path):
    ground = grounds(repository / "sub", tmp_path / "state")
    result = await ground.bash("echo c >> b.txt; echo x > new; echo out >> ../a.txt")
    assert set(changed(result)) == {"b.txt", "new"}
    await ground.undo()
    assert (repository / "sub" / "b.txt").read_text() == "b\n"
    assert (repository / "a.txt").read_text().endswith("out\n")


async def test_a_linked_work_tree_is_like_any_other(repository, grounds, run_git, tmp_path):
    run_git(repository, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    ground = grounds(tmp_path / "tree", tmp_path / "state")
    assert set(changed(await ground.bash("echo x >> a.txt"))) == {"a.txt"}
    await ground.undo()
    assert (tmp_path / "tree" / "a.txt").read_text() == (repository / "a.txt").read_text()


async def test_submodules_and_nested_repositories_are_covered(repository, grounds, run_git, tmp_path, git_state_of):
    other = tmp_path / "other"
    shutil.copytree(repository, other)
    run_git(repository, "submodule", "--quiet", "add", str(other), "module")
    run_git(repository, "commit", "-qm", "module")
    nested = repository / "nested"
    shutil.copytree(other, nested)
    (nested / "deep").mkdir()
    run_git(nested / "deep", "init", "-q")
    (nested / "deep" / "d.txt").write_text("d\n")
    before = git_state_of(repository / ".git"), git_state_of(nested / ".git")
    ground = grounds(repository, tmp_path / "state")
    result = await ground.bash(
        "echo x >> module/a.txt; rm nested/a.txt; echo y >> nested/deep/d.txt; echo z > nested/z"
    )
    assert set(changed(result)) == {"module/a.txt", "nested/a.txt", "nested/deep/d.txt", "nested/z"}
    await ground.undo()
    assert run_git(repository, "status", "--porcelain") == "?? nested/\n"
    assert run_git(nested, "status", "--porcelain") == "?? deep/\n"
    run_git(repository, "status")
    assert (git_state_of(repository / ".git")["HEAD"], git_state_of(nested / ".git")["HEAD"]) == (
        before[0]["HEAD"],
        before[1]["HEAD"],
    )


async def test_a_submodule_as_the_workspace_has_its_git_directory_elsewhere(repository, grounds, run_git, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(repository, other)
    run_git(repository, "submodule", "--quiet", "add", str(other), "module")
    assert (repository / "module" / ".git").is_file()
    ground = grounds(repository / "module", tmp_path / "state")
    assert set(changed(await ground.bash("echo x >> a.txt"))) == {"a.txt"}
    await ground.undo()
    assert run_git(repository / "module", "status", "--porcelain") == ""


async def test_flags_that_hide_files_from_git_hide_nothing_here(ground, run_git):
    run_git(ground.root, "update-index", "--assume-unchanged", "a.txt")
    run_git(ground.root, "update-index", "--skip-worktree", "sub/b.txt")
    assert set(changed(await ground.bash("echo x >> a.txt; echo y >> sub/b.txt"))) == {"a.txt", "sub/b.txt"}


async def test_an_unmerged_index_is_no_obstacle(ground, run_git):
    root = ground.root
    run_git(root, "checkout", "-qb", "side")
    (root / "a.txt").write_text("side\n")
    run_git(root, "commit", "-qam", "side")
    run_git(root, "checkout", "-q", "main")
    (root / "a.txt").write_text("main\n")
    run_git(root, "commit", "-qam", "main")
    with pytest.raises(subprocess.CalledProcessError):
        run_git(root, "merge", "side")
    before = (root / "a.txt").read_bytes()
    assert b"<<<<" in before
    await ground.bash("echo resolved > a.txt")
    await ground.undo()
    assert (root / "a.txt").read_bytes() == before


async def test_a_split_index_and_one_that_is_damaged_are_no_obstacles(ground, run_git):
    run_git(ground.root, "update-index", "--split-index")
    assert set(changed(await ground.bash("echo x >> a.txt"))) == {"a.txt"}
    shutil.rmtree(ground.state)
    (ground.root / ".git" / "index").write_bytes(b"DIRCnonsense")
    ground.reopen("s2")
    assert set(changed(await ground.bash("echo x >> a.txt"))) == {"a.txt"}


async def test_cleaning_up_in_the_persons_repository_breaks_no_checkpoint(ground, run_git):
    root = ground.root
    (root / "a.txt").write_text("never committed, only staged\n")
    run_git(root, "add", "a.txt")
    old = (root / "sub" / "b.txt").read_bytes()
    await ground.bash(
        "git reset -q --hard; echo gone > sub/b.txt; git commit -qam second --amend;"
        "git reflog expire --expire=now --all; git gc -q --prune=now"
    )
    await ground.undo()
    assert (root / "a.txt").read_text() == "never committed, only staged\n"
    assert (root / "sub" / "b.txt").read_bytes() == old


async def test_what_is_looked_at_to_be_taken_back_is_held_by_then_however_much_it_is(ground, monkeypatch, tree_of):
    monkeypatch.setattr(change_store, "_MOST_ADOPTED", 1)
    before = tree_of(ground.root)
    await ground.bash("rm -rf a.txt sub .gitignore")
    plan = await ground.timeline.plan_undo()
    shutil.rmtree(ground.root / ".git")
    shutil.rmtree(ground.state / "git-sha1" / "held")
    await ground.timeline.carry_out(plan)
    assert tree_of(ground.root) == before


async def test_even_the_loss_of_the_git_directory_between_calls_breaks_no_checkpoint(ground):
    await ground.bash("echo changed > a.txt")
    shutil.rmtree(ground.root / ".git")
    ground.reopen()
    await ground.undo()
    assert (ground.root / "a.txt").read_text().startswith("one\n")


async def test_even_the_loss_of_all_files_and_the_git_directory_at_once_can_be_undone(ground, tree_of):
    before = tree_of(ground.root)
    await ground.bash("rm -rf .git ./* .gitignore")
    assert tree_of(ground.root) == {}
    await ground.undo()
    assert tree_of(ground.root) == before


async def test_packed_objects_outlive_their_repository(ground, run_git, tree_of):
    run_git(ground.root, "gc", "-q")
    before = tree_of(ground.root)
    await ground.bash("rm -rf .git ./* .gitignore")
    await ground.undo()
    assert tree_of(ground.root) == before


async def test_a_stopped_command_leaves_what_it_did_undoable(ground):
    tool = BashTool(
        ground.paths,
        ground.seen,
        ground.state.parent,
        lambda command, cwd: False,
        dict(os.environ),
        jobs=Jobs(lambda job: None),
    )
    call = ToolCall(id="c", name="bash", arguments_json="{}")
    plan = await tool.plan(BashArguments(command="echo x >> a.txt"), ToolContext(call_id="c"))
    await ground.undoing.hook.before(call, plan)
    await plan.run(lambda text: None)
    assert "a.txt" in await ground.undoing.hook.dropped(call)
    (entry,) = ground.store.log.entries
    assert [change.name for change in entry.changes] == ["a.txt"]


async def test_where_nothing_can_be_kept_the_command_runs_and_the_person_is_told_once(ground):
    ground.state.parent.joinpath("state").write_text("a file is in the way")
    result = await ground.bash("echo x > c.txt")
    await ground.bash("echo x > d.txt")
    assert result.details.exit_code == 0
    (notice,) = [event for event in ground.events if isinstance(event, NoticeGiven)]
    assert "cannot be undone" in notice.text
    assert (ground.root / "c.txt").exists()


async def test_too_much_that_is_new_is_refused_and_told(bare_ground, monkeypatch):
    monkeypatch.setattr(snapshots, "MOST_FILES", 3)
    for number in range(5):
        (bare_ground.root / f"f{number}").write_text("x")
    result = await bare_ground.bash("echo x > c.txt")
    assert result.details.changes == ()
    assert any("too much" in event.text for event in bare_ground.events if isinstance(event, NoticeGiven))


async def test_a_repository_of_the_other_hash_is_like_any_other(tmp_path, grounds, run_git):
    root = tmp_path / "new"
    root.mkdir()
    run_git(root, "init", "-q", "--object-format=sha256")
    (root / "a.txt").write_text("a\n")
    run_git(root, "add", ".")
    run_git(root, "commit", "-qm", "x")
    ground = grounds(root, tmp_path / "state")
    await ground.bash("echo b > a.txt")
    await ground.undo()
    assert (root / "a.txt").read_text() == "a\n"
