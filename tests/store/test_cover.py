"""Auto mode destroys without a question only what undo brings back, whole; everybody else is told what is at stake."""

import os
import shutil

import pytest

from codeagent.core.approvals import Access, Approve, CommandPreview, Decision, Hold, Mode, Touch
from codeagent.core.events import NoticeGiven
from codeagent.core.messages import ToolCall
from codeagent.core.protocols import Allowed
from codeagent.policy.gate import ToolGate
from codeagent.policy.rules import RuleSet


class Person:
    """Says yes and keeps what was asked."""

    def __init__(self):
        self.requests = []

    async def ask(self, request):
        self.requests.append(request)
        return Approve()


class Plan:
    """A command as the gate sees it."""

    touches = ()

    def __init__(self, preview):
        self.preview = preview


def make_gate(ground, person=None, *, confined=True, covered=True):
    return ToolGate(
        ground.paths,
        RuleSet.parse(),
        person,
        ground.events.append,
        lambda: ground.mode,
        hold=Hold.WHOLE if confined else Hold.NONE,
        sandbox_is_off=not confined,
        cover=ground.undoing.cover if covered else None,
    )


def verdict(ground, command, *, background=False, confined=True, covered=True):
    preview = CommandPreview(command=command, cwd=ground.root, timeout=60, background=background)
    gate = make_gate(ground, confined=confined, covered=covered)
    return gate.judge("bash", (), preview, ground.mode)


async def warned(ground, command):
    """What the question about the command warns of."""
    person = Person()
    plan = Plan(CommandPreview(command=command, cwd=ground.root, timeout=60))
    await make_gate(ground, person).check(ToolCall(id="c1", name="bash", arguments_json="{}"), plan)
    (request,) = person.requests
    return request.warnings


@pytest.fixture
def messy(ground, repository, run_git):
    """Work of every kind that is in no commit."""
    (repository / "a.txt").write_text("one\nmine\n")
    (repository / "new.txt").write_text("new\n")
    (repository / "notes").mkdir()
    (repository / "notes" / "deep").mkdir()
    (repository / "notes" / "deep" / "n.txt").write_text("n\n")
    (repository / "notes" / "run.sh").write_text("#!/bin/sh\n")
    (repository / "notes" / "run.sh").chmod(0o755)
    (repository / "notes" / "link").symlink_to("deep/n.txt")
    (repository / "ignored.log").write_text("log\n")
    (repository / "build").mkdir()
    (repository / "build" / "ignored.o").write_text("o\n")
    (repository / "inner").mkdir()
    run_git(repository / "inner", "init", "-q")
    (repository / "inner" / "i.txt").write_text("i\n")
    (repository / "big").mkdir()
    with (repository / "big" / "big.bin").open("wb") as file:
        file.truncate(30_000_000)
    os.mkfifo(repository / "pipe")
    ground.mode = Mode.AUTO
    return ground


COVERED = (
    "rm -rf notes",
    "rm -r sub",
    "rm -rf notes/ sub new.txt",
    "rm -rf notes && rm -rf sub",
    "cd notes && rm -rf deep",
    "rm -rf not-there",
    "rm -f notes/*",
    "rm -rf notes/*",
    "rm -rf -- notes",
    "git checkout -- a.txt",
    "git checkout .",
    "git checkout -- .",
    "git restore a.txt",
    "git restore .",
    "git reset --hard",
    "git reset --hard HEAD",
    "git clean -fd notes",
    "git clean -f new.txt",
    "echo hello > a.txt",
    "echo hello | tee new.txt",
    "ls; rm -rf notes",
)


@pytest.mark.parametrize("command", COVERED)
async def test_what_undo_brings_back_whole_is_not_asked_about_and_does_come_back(messy, tree_of, command):
    before = tree_of(messy.root)
    found = verdict(messy, command)
    assert (found.decision, found.is_covered) == (Decision.ALLOW, True)
    assert "undo brings back" in found.because
    messy.turn(1)
    await messy.bash(command)
    if "not-there" not in command:
        assert tree_of(messy.root) != before
        await messy.undo()
    assert tree_of(messy.root) == before


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "rm -rf ignored.log",
        "rm -rf .",
        "rm -rf ./*",
        "rm -rf .git",
        "rm -rf inner",
        "rm -rf big",
        "rm -rf pipe",
        "rm -rf ..",
        "rm -rf /usr",
        "rm -rf ~/x",
        "rm -rf $HOME/x",
        "rm -rf $(ls)",
        "rm -rf notes --no-preserve-root",
        "ln -s build l; rm -rf l/*",
        "mv build notes2 && rm -rf notes2",
        "sudo rm -rf notes",
        "xargs rm -rf < new.txt",
        "find . -delete",
        "find notes -delete",
        "git reset --hard HEAD~1",
        "git checkout HEAD -- a.txt",
        "git checkout -f",
        "git restore --staged --worktree a.txt",
        "git restore --source=HEAD~1 a.txt",
        "git restore ':(exclude)a.txt'",
        "git clean -fdx",
        "git clean -ffd",
        "git clean -fd",
        "git -C sub checkout .",
        "git stash drop",
        "git branch -D old",
        "git push --force",
        "chmod -R 777 notes",
        "dd of=a.txt",
        "shred a.txt",
        "echo x > ignored.log",
        "echo x > big/big.bin",
        "echo x | tee ignored.log",
    ],
)
def test_what_undo_would_not_bring_back_whole_is_asked_about(messy, command):
    found = verdict(messy, command)
    assert (found.decision, found.is_covered) == (Decision.ASK, False)


@pytest.mark.parametrize("command", ["git checkout -- sub", "git restore .", "git reset --hard"])
def test_an_ignored_file_where_git_would_make_a_folder_is_at_stake(messy, command):
    shutil.rmtree(messy.root / "sub")
    (messy.root / "sub").write_text("mine\n")
    (messy.root / ".git" / "info" / "exclude").write_text("sub\n")
    assert verdict(messy, command).decision is Decision.ASK


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
@pytest.mark.parametrize("command", ["git checkout -- a.txt", "git restore .", "git reset --hard"])
def test_a_file_that_git_was_told_not_to_look_at_is_at_stake(messy, run_git, flag, command):
    run_git(messy.root, "update-index", flag, "a.txt")
    assert verdict(messy, command).is_covered
    with (messy.root / "a.txt").open("wb") as file:
        file.truncate(30_000_000)
    assert verdict(messy, command).decision is Decision.ASK


def test_a_reset_is_asked_about_while_a_merge_is_under_way(messy, run_git):
    (messy.root / ".git" / "MERGE_HEAD").write_text(run_git(messy.root, "rev-parse", "HEAD"))
    assert verdict(messy, "git reset --hard").decision is Decision.ASK


def test_a_pattern_that_fits_nothing_stands_for_the_file_of_that_name(messy):
    (messy.root / "[id]").mkdir()
    (messy.root / "[id]" / "page.txt").write_text("page\n")
    assert verdict(messy, "rm -rf [id]").is_covered
    (messy.root / ".gitignore").write_text("page.txt\n")
    assert verdict(messy, "rm -rf [id]").decision is Decision.ASK


def test_a_repository_without_a_work_tree_is_gits(messy, run_git):
    run_git(messy.root, "init", "-q", "--bare", "mirror")
    assert verdict(messy, "rm -rf mirror").decision is Decision.ASK


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("echo x | tee -- -a ignored.log", Decision.ASK),
        ("echo x | tee -i ignored.log", Decision.ASK),
        ("echo x | tee -ia ignored.log", Decision.ALLOW),
        ("echo x | tee --append ignored.log", Decision.ALLOW),
    ],
)
def test_tee_loses_nothing_only_where_it_adds(messy, command, decision):
    assert verdict(messy, command).decision is decision


@pytest.mark.parametrize(
    "command",
    [
        "git read-tree --reset -u HEAD",
        "git checkout-index -fa",
        "git tag -d v1",
        "git tag -f v1",
        "git submodule deinit -f --all",
        "git commit --amend --no-edit",
        "git commit --am -m x",
        "git -C sub commit --amend",
        "sh -c 'git commit --amend'",
        "git rebase main",
        "git rebase -i HEAD~2",
        "git rebase --abort",
        "git pull --rebase",
        "git pull -f",
        "git fetch origin +main:main",
        "git merge --abort",
        "git cherry-pick --quit",
        "git symbolic-ref HEAD refs/heads/other",
        "git symbolic-ref -d HEAD",
        "git update-ref -d refs/heads/old",
        "git filter-branch --all",
        "git reflog expire --all",
        "git reflog delete HEAD@{0}",
        "git gc --prune=now",
        "git repack -ad",
        "git maintenance run",
        "git stash clear",
        "git branch --delete --force old",
        "git branch -df old",
        "git branch -M old",
        "git worktree remove x",
        "git worktree add -B old ../x",
        "git reset HEAD~1",
        "git reset --soft HEAD~1",
        "git reset --mixed other",
        "git reset other",
        "git reset 1234567",
        "git checkout -B other",
        "git notes prune",
        "git replace HEAD HEAD~1",
        "git $command",
    ],
)
def test_what_git_destroys_by_rarer_commands_is_asked_about(messy, command):
    assert verdict(messy, command).decision is Decision.ASK


@pytest.mark.parametrize(
    "command",
    [
        "git add .",
        "git commit -m 'amend'",
        "git checkout other",
        "git checkout a.txt",
        "git checkout -b new",
        "git switch -c new",
        "git merge other",
        "git rebase --continue",
        "git reset",
        "git reset a.txt",
        "git reset HEAD a.txt",
        "git stash",
        "git stash pop",
        "git branch new",
        "git tag v2",
        "git cherry-pick other",
        "git pull",
        "git fetch --all",
        "git symbolic-ref HEAD",
    ],
)
def test_what_git_adds_is_not_asked_about(messy, command):
    assert verdict(messy, command).decision is Decision.ALLOW


def test_a_reset_is_asked_about_while_something_is_staged(messy, run_git):
    run_git(messy.root, "add", "a.txt")
    assert verdict(messy, "git reset --hard").decision is Decision.ASK


async def test_a_folder_with_permissions_of_its_own_comes_back_with_them(messy, tree_of):
    (messy.root / "notes" / "deep").chmod(0o2710)
    before = tree_of(messy.root)
    assert verdict(messy, "rm -rf notes").decision is Decision.ALLOW
    await messy.bash("rm -rf notes")
    await messy.undo()
    assert tree_of(messy.root) == before


def test_auto_mode_says_what_undo_would_not_bring_back(messy, run_git):
    lost = "notes would be deleted with everything below."
    big = "big would be deleted with everything below."
    assert verdict(messy, "rm -rf big").because == (
        f"{big} Undo would not bring back all of it: big/big.bin is too large to be kept."
    )
    assert verdict(messy, "rm -rf notes", confined=False).because == f"{lost} It would run without the sandbox."
    assert verdict(messy, "rm -rf notes", covered=False).because == lost
    run_git(messy.root, "add", "a.txt")
    assert verdict(messy, "git reset --hard").because.endswith("what only git holds, such as what is staged.")


@pytest.mark.parametrize("around", [{"background": True}, {"confined": False}, {"covered": False}])
def test_without_a_checkpoint_or_a_wall_every_loss_is_asked_about(messy, around):
    assert verdict(messy, "rm -rf notes", **around).decision is Decision.ASK


def test_other_modes_ask_as_before(messy):
    messy.mode = Mode.EDITS
    assert verdict(messy, "rm -rf notes").decision is Decision.ASK


async def test_nothing_runs_when_the_promised_checkpoint_cannot_be_taken(messy):
    plan = Plan(CommandPreview(command="rm -rf notes", cwd=messy.root, timeout=60))
    call = ToolCall(id="c1", name="bash", arguments_json="{}")
    assert isinstance(await make_gate(messy).check(call, plan), Allowed)
    shutil.rmtree(messy.state)
    messy.state.write_text("no folder can be made here")
    plan.touches = (Touch(path=None, access=Access.WRITE),)
    assert "could not be kept" in await messy.undoing.hook.before(call, plan)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rm -rf build", "git ignores build"),
        ("rm -rf inner", "inner/.git belongs to git"),
        ("rm -rf big", "big/big.bin is too large"),
        ("rm -rf $X", "ignored and very large files are not kept"),
        ("rm -f ignored.log", "git ignores ignored.log"),
        ("mv -f new.txt big/big.bin", "big/big.bin is too large"),
    ],
)
@pytest.mark.parametrize("mode", [Mode.ASK, Mode.AUTO])
async def test_the_question_says_what_undo_would_not_bring_back(messy, command, said, mode):
    messy.mode = mode
    warnings = await warned(messy, command)
    assert any(said in warning for warning in warnings), warnings


async def test_the_question_says_that_undo_would_bring_it_back(messy):
    messy.mode = Mode.ASK
    assert "It is kept before: /undo would bring it back." in await warned(messy, "rm -rf notes")


async def test_the_question_counts_the_work_that_is_in_no_commit(messy):
    messy.mode = Mode.ASK
    assert "1 changed file is not committed (a.txt)." in await warned(messy, "git reset --hard")


async def test_auto_mode_on_uncommitted_work_says_so_once(messy):
    messy.turn(1)
    await messy.bash("touch x1")
    await messy.bash("touch x2")
    notices = [event.text for event in messy.events if isinstance(event, NoticeGiven)]
    assert len(notices) == 1
    assert notices[0].startswith("1 changed file and ")
    assert "All of it is kept before each change, save big/big.bin, too large for that; /undo" in notices[0]


async def test_other_modes_say_nothing_of_it(messy):
    messy.mode = Mode.ASK
    messy.turn(1)
    await messy.bash("touch x1")
    assert not [event for event in messy.events if isinstance(event, NoticeGiven)]


@pytest.mark.parametrize(
    "command",
    [
        "rm {}",
        "rm -f new.txt {}",
        "unlink {}",
        "cp new.txt {}",
        "mv -f new.txt {}",
        "ln -sf new.txt {}",
        "install -m 644 new.txt {}",
        "sort new.txt -o {}",
        "sort -o{} new.txt",
        "sort --output={} new.txt",
        "sed -i s/l/x/ {}",
        "sed -Ei.bak s/l/x/ {}",
        "true && cp new.txt {}",
        "sed --in-pl s/l/x/ {}",
        "perl -pi -e s/l/x/ {}",
        "gzip {}",
        "mv -T new.txt {}",
        "for f in {}; do sed -i s/l/x/ $f; done",
        'for f in a.txt {}; do cp new.txt "$f"; done',
    ],
)
async def test_a_file_is_replaced_without_a_question_only_where_undo_brings_it_back(messy, command):
    for lost in ("ignored.log", "big/big.bin"):
        found = verdict(messy, command.format(lost))
        assert found.decision is Decision.ASK, lost
        assert "Undo would not bring back" in found.because
        assert lost in found.because
    assert verdict(messy, command.format("a.txt")).decision is Decision.ALLOW
    if "rm" not in command and "unlink" not in command:
        assert verdict(messy, command.format("not-there.log")).decision is Decision.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "mv ignored.log plain.txt",
        "mv ignored.log a.txt",
        "mv ign* plain.txt",
        "mv ./notes/../ignored.log plain.txt",
        "mv -t notes a.txt ignored.log",
        "mv --target-dir notes ignored.log",
        "mv ign* notes",
        "mv notes/../ignored.log notes/plain.txt",
        "mv build elsewhere",
        'for f in *.log; do mv "$f" plain.txt; done',
        "mv big/big.bin plain.bin",
    ],
)
def test_what_is_moved_away_must_come_back(messy, command):
    found = verdict(messy, command)
    assert found.decision is Decision.ASK
    assert "Undo would not bring back" in found.because


@pytest.mark.parametrize("command", ["mv a.txt plain.txt", "mv new.txt a.txt", "mv -t notes a.txt"])
def test_what_undo_brings_back_is_moved_without_a_question(messy, command):
    assert verdict(messy, command).decision is Decision.ALLOW


async def test_a_file_in_the_folder_that_is_copied_to_counts(messy):
    (messy.root / "ignored.o").write_text("other\n")
    for command in ("cp ignored.o build", "mv ignored.o build/", "cp -t build ignored.o", "mv ignored.log notes/"):
        assert verdict(messy, command).decision is Decision.ASK, command
    for command in (
        "cp new.txt build",
        "cp ignored.o notes",
        "cp -t notes ignored.o",
        "mv a.txt notes/",
        "cp ignored.log new.txt",
        "sed s/l/x/ ignored.log",
    ):
        assert verdict(messy, command).decision is Decision.ALLOW, command


@pytest.mark.parametrize(
    "command",
    [
        "rm *.log",
        "rm -f ignored.*",
        "sed -i s/l/x/ *.log",
        "for f in *.log; do rm $f; done",
        "cp -r taken/. build",
        "cp -r taken/. build/",
        "cp -rT taken build",
        "cp -R taken/ build",
        "rsync -a taken/ build",
        "cp -tbuild taken/ignored.o",
        "cp -rt build taken/ignored.o",
        "cp --target-directory=build taken/ignored.o",
        "cp --target-dir build taken/ignored.o",
        "install -m 644 -t build taken/ignored.o",
        "cp taken/* build",
    ],
)
def test_files_that_are_replaced_without_being_named_count(messy, command):
    (messy.root / "taken").mkdir()
    (messy.root / "taken" / "ignored.o").write_text("other\n")
    assert verdict(messy, command).decision is Decision.ASK
    (messy.root / "ignored.log").unlink()
    (messy.root / "build" / "ignored.o").unlink()
    assert verdict(messy, command).decision is Decision.ALLOW


@pytest.mark.parametrize(
    "command", ['mv new.txt "$x"', "cp new.txt $(ls)", "grep -l x . | xargs sed -i s/l/x/", 'cd "$x" && rm a.txt']
)
def test_what_is_replaced_is_asked_about_where_nobody_can_tell(messy, command):
    assert verdict(messy, command).decision is Decision.ASK
    for name in ("ignored.log", "build", "inner", "big", "pipe"):
        path = messy.root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert verdict(messy, command).decision is Decision.ALLOW  # undo would bring back whatever it is
    assert verdict(messy, command, background=True).decision is Decision.ASK


@pytest.mark.parametrize(
    "command",
    ["rm a.txt & sleep 1", "(sleep 9; rm a.txt) &", "sh -c 'rm a.txt &'", "setsid rm a.txt", "rm -rf notes &"],
)
def test_what_goes_on_in_the_background_is_not_covered(messy, command):
    assert verdict(messy, command).decision is Decision.ASK
    assert verdict(messy, "sleep 1 & echo a").decision is Decision.ALLOW
    assert verdict(messy, "rm a.txt", background=True).decision is Decision.ASK
