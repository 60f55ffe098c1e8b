"""A file that starts programs is not overwritten unasked, whichever program writes it; other folders are followed."""

from __future__ import annotations

import subprocess

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command

AUTO = Question(mode=Mode.AUTO, is_confined=True)
BY_RULE = Question(allow=("bash(*)",))
LIMITED = Question(mode=Mode.AUTO, is_confined=True, deny=("edit(keep/**)", "read(private/**)"))
SCRIPT = """
git init -q; mkdir -p .vscode .github/workflows keep private sub; ln -s ../AGENTS.md sub/link
for f in AGENTS.md CLAUDE.md .envrc .vscode/tasks.json .github/workflows/ci.yml; do echo x > $f; done
for f in a.py keep/y private/x; do echo x > $f; done
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A workspace with files that start programs."""
    root = tmp_path_factory.mktemp("outer") / "inner"
    root.mkdir()
    subprocess.run(["/bin/bash", "-ec", SCRIPT], cwd=root, check=True)
    return root


STARTS = [
    *("sort -o AGENTS.md a.py", "sort -uoAGENTS.md a.py", "sort --outp=AGENTS.md a.py", "sort -o AGENT*.md a.py"),
    *('sort -o "$PWD/AGENTS.md" a.py', "sort -o sub/link a.py", "sort -o ~/.bashrc a.py", "uniq a.py .envrc"),
    *("sort -o .codeagent/config.toml a.py", "shuf -o CLAUDE.md a.py", "split a.py .git/hooks/", "xxd a.py AGENTS.md"),
    *("split -x a.py .git/hooks/", "xxd -c 16 a.py AGENTS.md", "uniq -f 1 a.py AGENTS.md", "tree -o AGENTS.md"),
    *("find . -name a.py -fprint .github/workflows/ci.yml", "find . -fprintf AGENTS.md x", "find . -fls AGENTS.md"),
    *("find .git/hooks -delete", "gcc -o AGENTS.md a.c", "gcc -oAGENTS.md a.c", "python3 x.py AGENTS.md"),
    *("tool --file=AGENTS.md", "tool of=AGENTS.md", "tool --output AGENTS.md", "less -o AGENTS.md a.py"),
    *("time -o AGENTS.md ls", "strace -o AGENTS.md ls", "git clone ../x .vscode", "xargs sort -o AGENTS.md"),
    *("env -C .vscode cp ../a.py tasks.json", "env --chdir=.vscode sort -o tasks.json ../a.py"),
    *("cd .vscode && sort -o tasks.json ../a.py", "make -C .github/workflows ci.yml"),
    *("tar -C .github -xf a.tar workflows/ci.yml", "for f in AGENTS.md; do sort -o $f a.py; done"),
    *("bash -c 'sort -o AGENTS.md a.py'", "tac a.py | sort -o AGENTS.md", "tool --exclude-x AGENTS.md"),
]


@pytest.mark.parametrize("command", STARTS)
@pytest.mark.parametrize("question", [AUTO, BY_RULE], ids=["auto", "by rule"])
def test_a_file_that_starts_programs_is_asked_about_whoever_may_write_it(folder, question, command):
    assert check_command(command, question, folder).decision is Decision.ASK


NEEDLESS = [
    *("git add AGENTS.md", "git commit -m 'see docs/AGENTS.md' AGENTS.md", "git log -- AGENTS.md", "black .github"),
    *("black --exclude .git .", "ruff check --exclude=.git,.venv .", "cloc --exclude-dir=.git .", "pytest -c x"),
    *("grep --unknown x AGENTS.md", "yamllint .github/workflows/ci.yml", "shellcheck .envrc", "cat AGENTS.md"),
    *("find . -name .git -prune -o -exec grep x {} +", "find .github/workflows -name '*.yml' -exec cat {} +"),
    *("python3 -c \"print('AGENTS.md')\"", "timeout 5 cat AGENTS.md", "env -C sub ls", "make -C sub test"),
    *("sort a.py -o out.txt", "uniq a.py out.txt", "gcc -o app a.c", "npx eslint --ignore-pattern .git ."),
    *("gh api repos/x/y/contents/AGENTS.md", "python3 log.py 'see docs/AGENTS.md'", "uv run pytest tests"),
]


@pytest.mark.parametrize("command", NEEDLESS)
def test_what_leaves_such_files_alone_is_not_asked_about(folder, command):
    assert check_command(command, AUTO, folder).because.startswith(("Auto mode", "gh ")), command


DENIED = [
    *("sort -o keep/y.txt a.py", "sort -uokeep/y.txt a.py", "uniq a.py keep/z", "shuf -o keep/z a.py"),
    *("find . -fprint keep/z", "xxd a.py keep/z", "split a.py keep/", "gcc -o keep/app a.c", "time -o keep/y ls"),
    *("pandoc a.md -o keep/a.html", "tool --output=keep/a.html", "cd keep && sort -o y ../a.py"),
    *("env -C keep rm y", "env -C keep sort -o y ../a.py", "env --chdir=keep rm y", "sudo -D keep rm y"),
    *("env -C private cat x", "env -iC private cat x", "env -Cprivate cat x"),
]


@pytest.mark.parametrize("command", DENIED)
def test_rules_hold_for_outputs_and_in_the_folder_to_which_a_wrapper_goes(folder, command):
    assert check_command(command, LIMITED, folder).decision is Decision.DENY


@pytest.mark.parametrize(
    "command", ["sort -o $X a.py", 'env -C "$X" rm y', "env -C $X rm y", "find . -execdir rm y {} +"]
)
def test_what_is_only_known_when_it_runs_asks_where_a_rule_could_be_hit(folder, command):
    assert check_command(command, LIMITED, folder).decision is Decision.ASK


def test_a_wrapper_that_leaves_the_workspace_is_asked_about_like_the_path(folder):
    assert check_command("env -C .. cat outside.txt", BY_RULE, folder).decision is Decision.ASK
    assert check_command("cat ../outside.txt", BY_RULE, folder).decision is Decision.ASK


@pytest.mark.parametrize("command", ["set -o pipefail", "kubectl get pods -o json", "ssh -o BatchMode=yes x", "ls -o"])
def test_an_option_that_names_no_file_is_no_output(folder, command):
    question = Question(mode=Mode.AUTO, is_confined=True, deny=("edit(**)",))
    assert check_command(command, question, folder).decision is not Decision.DENY
