"""What a command changes without naming it answers to the same rules and questions as what is named."""

from __future__ import annotations

import subprocess

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command

AUTO = Question(mode=Mode.AUTO, is_confined=True)
DENIES = Question(mode=Mode.AUTO, is_confined=True, deny=("edit(src/**)",))
ASKS = Question(mode=Mode.AUTO, is_confined=True, ask=("edit(src/b.py)",))
SCRIPT = """
git init -q -b main; git config user.name me; git config user.email me@x
mkdir src q docs; echo x > README.md; echo x > src/s.py; echo x > src/b.py; echo x > x; echo '{}' > q/tasks.json
echo d > docs/d.md; git add -f .; git commit -qm one
git switch -qc other; mkdir -p .github/workflows
for f in .github/workflows/a.yml .envrc AGENTS.md; do echo a > $f; done
echo y >> src/b.py; echo z >> docs/d.md; git add -f .; git commit -qm two; git switch -q main
git switch -qc docs-only; echo y >> docs/d.md; git commit -qam three; git switch -q main
git diff main other -- AGENTS.md > agents.patch; git diff main other -- src > src.patch
git diff main docs-only > d.patch
echo a > CLAUDE.md; git add CLAUDE.md; git stash -q
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository of which another branch, a patch and a stash hold files that are asked about."""
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["/bin/bash", "-ec", SCRIPT], cwd=root, check=True)
    return root


STARTS = [
    *(
        "git mv x AGENTS.md",
        "git mv q/tasks.json .vscode/tasks.json",
        "git mv q .vscode",
        "git -C q mv tasks.json ../.mcp.json",
    ),
    *("git checkout other -- .github/workflows/a.yml .envrc AGENTS.md", "git checkout other AGENTS.md"),
    *("git checkout other -- .", "git checkout other -- .github", "git restore --source other -- AGENTS.md"),
    *(
        "git restore -s other .",
        "git restore -sother .",
        "git restore --sour=other '*.md'",
        "git stash pop",
        "git stash apply",
    ),
    *("git apply agents.patch", "git apply --directory=. agents.patch", "git diff --output=AGENTS.md other"),
    *("git log --outp AGENTS.md", "git archive -o AGENTS.md other", "git bundle create AGENTS.md other"),
    *("git config -f AGENTS.md a.b c", "git merge-file AGENTS.md x README.md", "git submodule add ./q sub"),
    *("git format-patch -o.vscode -1", "for f in AGENTS.md; do git mv x $f; done", "env git mv x AGENTS.md"),
]


@pytest.mark.parametrize("command", STARTS)
@pytest.mark.parametrize("question", [AUTO, Question(allow=("bash(*)",))], ids=["auto", "by rule"])
def test_git_that_writes_files_which_start_programs_asks_each_time(repository, question, command):
    assert check_command(command, question, repository).decision is Decision.ASK


SURE = [
    *("git rm -q src/b.py", "git rm -rq src", "git rm 'src/*.py'", "git rm src/*.py", "git -C src rm b.py"),
    *("git mv src/b.py x", "git mv src lib", "git mv x src/new.py", "git mv q src", "git restore src/b.py"),
    *("git checkout src/b.py", "git checkout other -- src", "git checkout other -- .", "git restore -s other ."),
    *(
        "git checkout other",
        "git switch other",
        "git switch --detach other",
        "git reset --hard other",
        "git apply src.patch",
    ),
    *("mv q src", "cp -r q/. src", "rm -r src", "git checkout -B new other"),
]
UNSURE = [
    *(
        "git checkout docs-only",
        "git merge other",
        "git pull",
        "git reset --hard",
        "git restore src",
        "git checkout -- .",
    ),
    *(
        "git clean -fd",
        "git clean -fdx src",
        "git stash",
        "git rebase other",
        "git cherry-pick other",
        "git apply < d.patch",
    ),
    *(
        "git checkout nowhere",
        "git am d.patch",
        "git unheard-of",
        "git --work-tree=. mv x y",
        "git mv $f y",
        "git mv x $f",
    ),
    *("find src -delete", "find . -delete", "find . -name '*.py' -delete", "find src -exec sed -i s/a/b/ {} +"),
    *("find docs -exec cp {} src/{} ';'", "find src -name '*.py' | xargs sed -i s/a/b/", "xargs rm < list", 'rm "$f"'),
    *('echo x > "$f"', "git ls-files | xargs git rm", "patch -p1 < d.patch", "tar xf a.tar", 'cd "$d" && touch b.py'),
]
FREE = [
    *("git rm -q docs/d.md", "git rm --cached src/b.py", "git mv docs lib", "git mv x docs/x", "git checkout -b new"),
    *(
        "git switch -c new",
        "git restore --staged .",
        "git stash -- docs",
        "git apply d.patch",
        "git apply --stat src.patch",
    ),
    *(
        "git add -A",
        "git commit -m x",
        "git fetch",
        "git config user.name x",
        "git archive -o x.tar other",
        "git reset",
    ),
    *(
        "sed -i s/a/b/ docs/d.md",
        "touch docs/new.md",
        "find docs -name '*.md' -exec sed -i s/a/b/ {} +",
        "tar czf x.tgz docs",
    ),
    *("mv docs lib", "cp -r docs copy-of-it", "git ls-files | xargs wc -l", "git config -f .gitmodules --list"),
]


@pytest.mark.parametrize("command", SURE)
def test_what_surely_changes_a_file_that_a_rule_denies_is_denied(repository, command):
    assert check_command(command, DENIES, repository).decision is Decision.DENY


@pytest.mark.parametrize("command", UNSURE)
@pytest.mark.parametrize(
    "question", [DENIES, Question(allow=("bash(*)",), deny=("edit(src/**)",))], ids=["auto", "by rule"]
)
def test_what_may_change_a_file_that_a_rule_denies_is_asked_about(repository, question, command):
    assert check_command(command, question, repository).decision is Decision.ASK


@pytest.mark.parametrize("command", [*SURE, "rm -r src", "mv src lib"])
def test_a_rule_that_asks_about_a_file_holds_for_its_folder(repository, command):
    expected = (
        Decision.ALLOW
        if command in {"git mv x src/new.py", "git mv q src", "mv q src", "cp -r q/. src"}
        else Decision.ASK
    )
    assert check_command(command, ASKS, repository).decision is expected


@pytest.mark.parametrize("command", FREE)
def test_other_changes_are_let_through_in_spite_of_the_rule(repository, command):
    assert check_command(command, DENIES, repository).decision is Decision.ALLOW


@pytest.mark.parametrize(
    "command", ["git checkout docs-only", "git pull", "git merge docs-only", "git stash", "git mv x y"]
)
def test_without_such_a_rule_nothing_more_is_asked(repository, command):
    assert check_command(command, AUTO, repository).decision is Decision.ALLOW


@pytest.mark.parametrize("rule", ["edit(docs/**)", "edit(/etc/**)", "edit(~/notes/**)", "edit(./docs/*.md)"])
def test_a_rule_on_another_place_is_not_concerned(repository, rule):
    question = Question(mode=Mode.AUTO, is_confined=True, deny=(rule,))
    assert check_command("git stash -- src", question, repository).decision is Decision.ALLOW


@pytest.mark.parametrize("rule", ["edit(*.py)", "edit(**/b.py)", "edit", "edit(SRC/B.py)", "edit(./src/b.py)"])
def test_a_rule_that_may_fit_below_the_folder_is_concerned(repository, rule):
    question = Question(mode=Mode.AUTO, is_confined=True, deny=(rule,))
    assert check_command("git checkout docs-only", question, repository).decision is not Decision.ALLOW
