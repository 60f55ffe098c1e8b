from __future__ import annotations

import shutil
import subprocess

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command
from codeagent.policy.path_words import leaves_out_dots


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    (folder / "src/deep").mkdir(parents=True)
    (folder / "src/a.py").write_text("x")
    (folder / "README.md").write_text("x")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def outcome(command, root, **question):
    return check_command(command, Question(**question), root).decision.value


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd src && cat ../README.md", "allow"),
        ("cd src && cat ../../x", "ask"),
        ("cd src/deep; cat ../../README.md", "allow"),
        ("cd src/deep && cd .. && cat ../README.md", "allow"),
        ("cd src || cat ../x", "ask"),
        ("cd missing && cat ../x", "ask"),
        ("cd src & cat ../x", "ask"),
        ("(cd src && cat ../README.md) && cat ../x", "ask"),
        ("(cd src); cat ../x", "ask"),
        ("cd src | cat ../x", "ask"),
        ("false && cd src; cat ../x", "ask"),
        ("if cd src; then cat ../README.md; fi", "ask"),
        ("for i in 1 2; do cd ..; cat x; done", "ask"),
        ("cd src/deep && for i in 1 2 3; do cd ..; done; cat x", "ask"),
        ("cd $x && cat a", "ask"),
        ("cd -- src && cat a.py", "allow"),
        ("command cd .. ; cat x", "ask"),
        ("cd src && git -C deep status", "allow"),
        ("cd src && git -C ../.. status", "ask"),
        ("cd src && ls > /dev/null", "allow"),
    ],
)
def test_the_folder_is_followed_through_a_script(root, command, expected):
    assert outcome(command, root) == expected


@pytest.mark.parametrize(
    "command",
    [
        "cd .git && echo x > config",
        "cd .git/hooks && cp /bin/ls pre-commit",
        "cd .git; echo x | tee config",
        "(cd .git && echo x >> config)",
        "git -C . status && cd .git && echo > HEAD",
    ],
)
def test_writing_is_judged_where_it_happens(root, command):
    assert outcome(command, root, mode=Mode.AUTO, is_confined=True) == "ask"


def test_a_glob_is_judged_by_the_names_it_stands_for(root):
    assert outcome("cat src/*", root) == "allow"
    (root / "src/server.pem").write_text("k")
    assert outcome("cat src/*", root) == "ask"
    assert outcome("cat src/*.py", root) == "allow"
    assert outcome("echo src/*", root) == "ask"


def test_a_name_that_would_be_taken_for_an_option_is_asked_about(root):
    assert outcome("sort *.md", root) == "allow"
    (root / "-o.md").write_text("x")
    assert outcome("sort *.md", root) == "ask"
    assert outcome("sort ./*.md", root) == "allow"


def test_a_glob_through_a_link_leads_outside(root, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/s.txt").write_text("x")
    (root / "link").symlink_to(tmp_path / "outside")
    assert outcome("cat link/*.txt", root) == "ask"
    assert outcome("cat */s.txt", root) == "ask"
    assert outcome("cat src/../link/s.txt", root) == "ask"


def test_a_quoted_tilde_is_a_name(root):
    assert outcome("cat '~/x'", root) == "allow"
    assert outcome("cat ~/x", root) == "ask"


def test_reading_a_whole_tree_asks_when_it_holds_a_secret(root):
    assert outcome("grep -r foo .", root) == "allow"
    assert outcome("diff -r src .", root) == "allow"
    (root / "src/deep/.env").write_text("S=1")
    for command in (
        "grep -r foo .",
        "grep -rn foo",
        "grep -r foo src",
        "rg -uu foo",
        "rg --hidden foo src",
        "diff -r src .",
    ):
        assert outcome(command, root) == "ask", command
    assert outcome("rg foo", root) == "allow"
    assert outcome("grep -r --include='*.py' foo .", root) == "allow"
    assert outcome("grep -r foo README.md", root) == "allow"


def test_following_links_out_of_the_workspace_is_asked_about(root, tmp_path):
    (root / "src/link").symlink_to(tmp_path)
    assert outcome("grep -r foo src", root) == "allow"
    assert outcome("grep -R foo src", root) == "ask"
    assert outcome("rg -L foo src", root) == "ask"


def test_a_tree_too_large_to_look_through_is_asked_about(root):
    many = root / "many"
    many.mkdir()
    for number in range(20_001):
        (many / str(number)).touch()
    assert outcome("grep -r foo many", root) == "ask"


def test_rules_on_reading_hold_for_commands_as_well(root):
    assert outcome("cat src/a.py", root, deny=("read(src/**)",)) == "deny"
    assert outcome("cd src && cat a.py", root, deny=("read(src/**)",)) == "deny"
    assert outcome("cat README.md", root, deny=("read(src/**)",)) == "allow"
    assert outcome("cat src/a.py", root, ask=("read(src/**)",), allow=("bash(cat *)",)) == "ask"


def test_a_link_cannot_hide_what_a_rule_forbids(root):
    (root / "alias").symlink_to("src")
    assert outcome("cat alias/a.py", root, deny=("read(src/**)",)) == "deny"
    assert outcome("cat alias/a.py", root, deny=("read(alias/**)",)) == "deny"


@pytest.mark.parametrize(
    "command",
    ["mv .g* g2", "mv .gi? g2", "cp evil/* .git", "rm -rf .[a-z]*", "chmod -R 777 .", "rm -rf ./.", "cp -r inner/. ."],
)
def test_auto_mode_asks_before_git_is_changed_without_being_named(root, command):
    subprocess.run(["git", "init", "-q", root / "inner"], check=True)
    (root / "evil").mkdir()
    assert outcome(command, root, mode=Mode.AUTO, is_confined=True) == "ask"


@pytest.mark.parametrize(
    "command", ["mv s* lib", "cp -r src/. .", "mv src/a.py .", "chmod 644 README.md", "cp src/*.py src/deep"]
)
def test_auto_mode_does_not_ask_about_everyday_writing(root, command):
    assert outcome(command, root, mode=Mode.AUTO, is_confined=True) == "allow"


def test_a_circular_link_of_any_name_stops_no_command(root):
    (root / "x").symlink_to("x")
    assert outcome("make test", root, mode=Mode.AUTO, is_confined=True) == "allow"


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("sort -k * README.md", "-ostolen"),
        ("git log --author *", "--output=stolen"),
        ("git branch --list *", "-D"),
        ("git -C docs log *", "--output=stolen"),
        ("grep -A * README.md", "-f"),
        ("echo *", "-e"),
        ('for f in *; do sort "$f"; done', "-ostolen"),
    ],
)
def test_a_pattern_anywhere_asks_where_a_file_could_be_taken_for_an_option(project, tmp_path, command, file):
    shutil.copytree(project, tmp_path / "copy")
    assert check_command(command, Question(), tmp_path / "copy").decision is Decision.ALLOW
    (tmp_path / "copy" / file).write_text("")
    assert check_command(command, Question(), tmp_path / "copy").decision is Decision.ASK


@pytest.mark.parametrize("name", ["a b.py", "a;b.py", "a'b.py", "a[1].py", "é ü.py"])
def test_the_bare_variable_of_a_loop_asks_where_a_file_name_would_be_split(project, tmp_path, name):
    shutil.copytree(project, tmp_path / "copy")
    bare, quoted = (f"for f in *.py; do wc -l {word}; done" for word in ("$f", '"$f"'))
    assert check_command(bare, Question(), tmp_path / "copy").decision is Decision.ALLOW
    (tmp_path / "copy" / name).write_text("")
    assert check_command(bare, Question(), tmp_path / "copy").decision is Decision.ASK
    assert check_command(quoted, Question(), tmp_path / "copy").decision is Decision.ALLOW


@pytest.mark.parametrize("file", ["rust-toolchain", "rust-toolchain.toml"])
def test_a_version_is_asked_about_where_the_project_chooses_the_program(tmp_path, file):
    (tmp_path / "in").mkdir()
    for command in ("cargo --version", "rustc -V"):
        assert check_command(command, Question(), tmp_path / "in").decision is Decision.ALLOW
    (tmp_path / file).write_text("[toolchain]\npath = 'evil'\n")
    for command in ("cargo --version", "rustc -V"):
        assert check_command(command, Question(), tmp_path / "in").decision is Decision.ASK


@pytest.mark.parametrize(
    ("command", "file", "text"),
    [
        ("python3 --version", ".python-version", "../../evil"),
        ("python --version", ".tool-versions", "python path:./evil"),
        ("pip --version", "mise.toml", "[tools]\npython = 'path:./evil'"),
        ("node --version", ".config/mise/config.toml", ""),
        ("node -v", "package.json", '{"volta": {"node": "1.0.0"}}'),
        ("npm --version", ".npmrc", "node-options=--require ./evil.js"),
        ("npm -v", "package.json", '{"packageManager": "npm@https://example.org/evil.tgz"}'),
        ("go version", "go.mod", "module a\n\ntoolchain go1.2.3-evil\n"),
        ("go version", "go.work", "go 1.22\ntoolchain go1.2.3-evil\n"),
        ("java -version", ".java-version", "evil"),
        ("javac --version", ".sdkmanrc", "java=evil"),
        ("ruby --version", ".ruby-version", "evil"),
        ("deno --version", ".prototools", "deno = 'evil'"),
        ("jq --version", ".tool-versions", "jq path:./evil"),
    ],
)
def test_a_version_is_asked_about_where_a_file_chooses_the_program(root, command, file, text):
    (root / "sub").mkdir()
    for words in (command, f"cd sub && {command}"):
        assert outcome(words, root) == "allow"
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text)
    for words in (command, f"cd sub && {command}", f"ls | head && {command}"):
        assert outcome(words, root) == "ask"


@pytest.mark.parametrize(
    ("command", "file", "text"),
    [("go version", "go.mod", "module a\n\ngo 1.22\n"), ("npm -v", "package.json", '{"name": "a"}')],
)
def test_a_version_is_not_asked_about_where_nothing_chooses_the_program(root, command, file, text):
    (root / file).write_text(text)
    assert outcome(command, root) == "allow"


def test_npms_settings_above_the_workspace_choose_nothing(root):
    (root.parent / ".npmrc").write_text("registry=https://example.org\n")
    assert outcome("npm --version", root) == "allow"


def test_a_managers_file_in_the_home_folder_is_the_persons_own(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "in").mkdir()
    (tmp_path / ".tool-versions").write_text("nodejs 20.1.0")
    assert outcome("node --version", tmp_path / "in") == "allow"
    assert outcome("node --version", tmp_path) == "ask"


def test_any_program_that_a_version_manager_stands_in_for_is_asked_about(root, tmp_path, monkeypatch):
    shims = tmp_path / "manager" / "shims"
    shims.mkdir(parents=True)
    (shims / "jq").write_text("#!/bin/sh\n")
    (shims / "jq").chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}:/usr/bin:/bin")
    for command in ("jq . a.json", "cat a.json | jq .", "time jq . a.json"):
        assert outcome(command, root) == "allow"
    (root / ".tool-versions").write_text("jq path:./evil")
    for command in ("jq . a.json", "cat a.json | jq .", "time jq . a.json"):
        assert outcome(command, root) == "ask"
    assert outcome("cat a.json", root) == "allow"


@pytest.mark.parametrize("command", ["rg x", "git log | rg x", "time rg x", "jq . a.json", "python3 --version"])
def test_a_program_that_lies_in_the_workspace_is_asked_about(root, monkeypatch, command):
    assert outcome(command, root) == "allow"
    (root / "bin").mkdir()
    for name in ("rg", "jq", "python3"):
        (root / "bin" / name).write_text("#!/bin/sh\ntouch x\n")
        (root / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}/bin:/usr/bin:/bin")
    assert outcome(command, root) == "ask"
    monkeypatch.setenv("PATH", "bin:/usr/bin:/bin")
    assert outcome(command, root) == "ask"
    monkeypatch.setenv("PATH", f"/usr/bin:/bin:{root}/bin")
    assert outcome("ls && cat README.md", root) == "allow"


def test_a_link_in_the_workspace_to_a_program_of_the_system_is_the_systems(root, monkeypatch):
    (root / "venv").mkdir()
    (root / "venv/cat").symlink_to("/bin/cat")
    monkeypatch.setenv("PATH", f"{root}/venv:/usr/bin:/bin")
    assert outcome("cat README.md", root) == "allow"


@pytest.mark.parametrize(
    "pattern",
    [
        '["!"i]d_rsa',
        '["^"i]d_rsa',
        '[i"]"]d_rsa',
        r"[i\]]d_rsa",
        '["["i]d_rsa',
        "['*'i]d_rsa",
        "[x[^i]d_rsa",
        '[h"-"i]d_rsa',
        "l[i$']']nk",
    ],
)
@pytest.mark.parametrize("command", ["cat {}", "head -1 < {}", "for f in {}; do cat $f; done", "ls -L {}"])
def test_a_quoted_sign_in_a_set_of_characters_hides_no_file(root, command, pattern):
    (root / "id_rsa").write_text("x")
    (root / "link").symlink_to("/etc")
    assert outcome(command.format(pattern), root) == "ask"


@pytest.mark.parametrize("pattern", ["[sR]*", 'src/["a"b].py', "[s]rc/'a'.py", "'[x]'/*", 'src/[a]"-"x*', "src/[[]*"])
def test_quotes_around_a_set_are_followed(root, pattern):
    assert outcome(f"ls {pattern}", root) == "allow"


@pytest.mark.parametrize(
    ("command", "is_asked"),
    [
        ("cat .?/x", True),
        ("ls .*", True),
        ("cd .? && cat x", True),
        ("cat src/.*/.*/x", True),
        ("ls .[!.]*", False),
        ("cat src/.*/README.md", False),
        ("ls *", False),
    ],
)
def test_to_an_older_bash_a_pattern_may_stand_for_the_folder_above(root, tmp_path, monkeypatch, command, is_asked):
    (tmp_path / "x").write_text("x")
    older = tmp_path / "bin/bash"
    older.parent.mkdir()
    older.write_text("#!/bin/sh\nexit 1\n")
    older.chmod(0o755)
    monkeypatch.setenv("PATH", str(older.parent), prepend=":")
    leaves_out_dots.cache_clear()
    assert outcome(command, root) == ("ask" if is_asked else "allow")
    leaves_out_dots.cache_clear()
