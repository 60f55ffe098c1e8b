"""The path sandbox: what a written path really is, and who has to be asked."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codeagent.core.approvals import Access, ConcernKind
from codeagent.core.errors import PathRefused
from codeagent.workspace.paths import PathSandbox

READ, WRITE = Access.READ, Access.WRITE


@pytest.fixture
def world(tmp_path) -> Path:
    for folder in ("project/src", "project-evil", "outside", "home/.ssh", "logs", "config"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "project/src/a.py").write_text("x")
    (tmp_path / "outside/s.txt").write_text("secret")
    return tmp_path.resolve()


@pytest.fixture
def sandbox(world) -> PathSandbox:
    return PathSandbox(world / "project", home=world / "home", readable=[world / "logs"], protected=[world / "config"])


def kind(sandbox: PathSandbox, path: str, access: Access) -> str:
    """inside, outside, sensitive or refused."""
    try:
        touch = sandbox.resolve(path, access)
    except PathRefused:
        return "refused"
    return touch.concern.kind.value if touch.concern else "inside"


def test_a_file_in_the_workspace_raises_no_concern(sandbox, world):
    for path in ("src/a.py", "./src//a.py", "src/../src/a.py", str(world / "project/src/a.py")):
        for access in Access:
            touch = sandbox.resolve(path, access)
            assert (touch.path, touch.access, touch.written, touch.concern) == (
                world / "project/src/a.py",
                access,
                path,
                None,
            )


def test_a_relative_path_starts_at_the_given_folder(sandbox, world):
    assert sandbox.resolve("a.py", READ, base=world / "project/src").path == world / "project/src/a.py"


def test_a_file_that_does_not_exist_yet_is_inside(sandbox, world):
    assert sandbox.resolve("new/deep/b.py", WRITE).path == world / "project/new/deep/b.py"
    assert kind(sandbox, "new/deep/b.py", WRITE) == "inside"


@pytest.mark.parametrize(
    "path", ["../project-evil/s.txt", "{world}/project-evil/s.txt", "../outside/s.txt", "src/../../outside/new", "/"]
)
def test_outside_reading_asks_and_writing_is_refused(sandbox, world, path):
    path = path.format(world=world)
    assert kind(sandbox, path, READ) == "outside"
    assert kind(sandbox, path, WRITE) == "refused"


def test_the_question_names_the_real_target(sandbox, world):
    (world / "project/link").symlink_to(world / "outside")
    concern = sandbox.resolve("link/s.txt", READ).concern
    assert concern is not None
    assert concern.kind is ConcernKind.OUTSIDE
    assert str(world / "outside/s.txt") in concern.reason
    with pytest.raises(PathRefused, match=str(world / "outside/s.txt")):
        sandbox.resolve("link/s.txt", WRITE)


@pytest.mark.parametrize("path", ["out/new.txt", "out/deep/new.txt", "file", "dangling", "dangling/x", "chain/s.txt"])
def test_links_that_lead_outside_are_outside(sandbox, world, path):
    project = world / "project"
    (project / "out").symlink_to("../outside")
    (project / "file").symlink_to(world / "outside/s.txt")
    (project / "dangling").symlink_to(world / "outside/not-there-yet")
    (project / "chain").symlink_to("out")
    assert kind(sandbox, path, READ) == "outside"
    assert kind(sandbox, path, WRITE) == "refused"


def test_dots_after_a_link_are_taken_as_the_system_takes_them(sandbox, world):
    (world / "outside/deep").mkdir()
    (world / "project/link").symlink_to(world / "outside/deep")
    assert sandbox.resolve("link/../s.txt", READ).path == world / "outside/s.txt"


def test_a_link_within_the_workspace_is_its_target(sandbox, world):
    (world / "project/link.py").symlink_to("src/a.py")
    assert sandbox.resolve("link.py", WRITE).path == world / "project/src/a.py"
    assert kind(sandbox, "link.py", WRITE) == "inside"


def test_links_in_a_circle_are_refused(sandbox, world):
    (world / "project/a").symlink_to("b")
    (world / "project/b").symlink_to("a")
    for path in ("a", "a/x"):
        assert kind(sandbox, path, READ) == "refused"


def test_a_workspace_reached_through_a_link_is_the_real_folder(world):
    (world / "alias").symlink_to("project")
    sandbox = PathSandbox(world / "alias", home=world / "home")
    assert sandbox.root == world / "project"
    assert sandbox.resolve(str(world / "alias/src/a.py"), WRITE).path == world / "project/src/a.py"


def test_a_folder_that_may_not_be_entered_is_judged_by_its_name(shared_folder, as_ordinary_user):
    (shared_folder / "closed").mkdir()
    (shared_folder / "closed").chmod(0o000)
    sandbox = PathSandbox(shared_folder, home=shared_folder / "home")

    def work() -> None:
        assert kind(sandbox, "closed/a.py", READ) == "inside"
        assert kind(sandbox, "closed/a.py", WRITE) == "inside"
        assert kind(sandbox, "closed/.git/config", WRITE) == "sensitive"

    as_ordinary_user(work)


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 256, "x/" * 2_100 + "y", "\ud83d", "ü" * 128])
def test_what_can_be_no_path_is_refused(sandbox, path):
    for access in Access:
        assert kind(sandbox, path, access) == "refused"


@pytest.mark.parametrize("path", ["src/", "new/", "src/.", "src/new/..", ".", ".."])
def test_a_folder_is_nothing_to_write(sandbox, path):
    assert kind(sandbox, path, WRITE) == "refused"


def test_a_name_that_is_no_unicode_can_be_used(sandbox, world):
    name = os.fsdecode(b"caf\xe9.txt")
    assert sandbox.resolve(name, WRITE).path == world / "project" / name


def test_the_home_folder_is_expanded_and_nothing_else(sandbox, world):
    assert sandbox.resolve("~/notes.txt", READ).path == world / "home/notes.txt"
    assert sandbox.resolve("~", READ).path == world / "home"
    for literal in ("$HOME/x", "~root/x", "file:///etc/passwd", "%2e%2e/x"):
        assert kind(sandbox, literal, READ) == "inside"


def test_two_leading_slashes_are_one(sandbox, world):
    assert sandbox.resolve(f"/{world}/project/src/a.py", READ).path == world / "project/src/a.py"
    assert kind(sandbox, f"/{world}/home/.aws/credentials", READ) == "sensitive"


SECRETS = [
    ".env",
    ".ENV",
    ".env.local",
    ".env.production",
    "sub/.env",
    "server.pem",
    "server.PEM",
    "tls.key",
    "a.p12",
    "a.pfx",
    "a.keystore",
    "id_rsa",
    "id_ed25519",
    "id_custom",
    "id_rsa.bak",
    "prod.env",
    "deploy/docker.env",
    "release.jks",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    ".streamlit/secrets.toml",
    "config/secrets.yml",
    "credentials.json",
    ".htpasswd",
    "dotfiles/.aws/credentials",
    "dotfiles/.kube/config",
    "dotfiles/.docker/config.json",
    ".netrc",
    ".env.",
    ".env\u200b",
    *(".env~", "#.env#", ".env.swp", ".env-prod", ".env_local", "app.env.production", "server.key.old", "x.pem.bak"),
    *(".server.key.swp", ".netrc.save", "credentials.json.1", "dotfiles/.aws/credentials.orig", "x.pem.bak.old"),
    *(".env (copy)", "prod.env-copy", "#secrets.json#"),
]
HOME_SECRETS = [
    "~/.ssh/known_hosts",
    "~/.ssh",
    "~/.aws/credentials",
    "~/.kube/config",
    "~/.gnupg/x",
    "~/.netrc",
    "~/.pgpass",
    "~/.config/gcloud/x",
    "~/.docker/config.json",
    "~/.git-credentials",
    "~/.npmrc",
    "~/.pypirc",
    "~/.AWS/credentials",
]


@pytest.mark.parametrize("path", SECRETS)
def test_secrets_in_the_workspace_are_asked_about_for_reading_and_writing(sandbox, path):
    assert kind(sandbox, path, READ) == "sensitive"
    assert kind(sandbox, path, WRITE) == "sensitive"


@pytest.mark.parametrize("path", HOME_SECRETS)
def test_secrets_in_the_home_folder_are_asked_about_and_never_written(sandbox, path):
    assert kind(sandbox, path, READ) == "sensitive"
    assert kind(sandbox, path, WRITE) == "refused"
    with pytest.raises(PathRefused):
        sandbox.examine(path, WRITE)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.dist",
        "example.env",
        "process.env",
        "docker-sample.env",
        ".aws/task-definition.json",
        "src/env.py",
        "variables.tf",
        "secrets.py",
        "id_rsa.pub",
        "environment.py",
        "monkey.py",
        "id_map.py",
        *("import.meta.env.MODE", "vite.env.d.ts", ".env-example", "app.env.sample", ".env.example~", "monkey.bak"),
        *("README.md~", "#notes#", "a.environment.txt"),
    ],
)
def test_names_that_only_look_alike_are_ordinary(sandbox, path):
    assert kind(sandbox, path, READ) == "inside"


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        (".npmrc", "//registry.npmjs.org/:_authToken=npm_abc", "sensitive"),
        (".npmrc", "//registry.npmjs.org/:_authToken=${NPM_TOKEN}", "inside"),
        (".npmrc", "save-exact=true\nregistry=https://r.example.org", "inside"),
        (".envrc", "export AWS_SECRET_ACCESS_KEY='abc'", "sensitive"),
        (".envrc", 'export DB_PASSWORD="hunter2"', "sensitive"),
        (".envrc", "use flake\nexport TOKEN=$(pass show x)\nexport PASSWORD=", "inside"),
        (".yarnrc.yml", "npmAuthToken: abc", "sensitive"),
        (".yarnrc.yml", 'npmAuthToken: "${TOKEN}"', "inside"),
        ("notes.txt", "password=x", "inside"),
        (".git/config", '[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic abc', "sensitive"),
        (".git/config", '[remote "origin"]\n\turl = https://me:hunter2@git.example/x.git', "sensitive"),
        (".git/config", '[remote "origin"]\n\turl = https://0123456789abcdef0123@git.example/x.git', "sensitive"),
        (".git/config", '[remote "origin"]\n\turl = git@github.com:me/token.git\n[credential]\nhelper = x', "inside"),
        (".git/modules/libs/a/config", '[remote "origin"]\n\turl = https://me:hunter2@git.example/x', "sensitive"),
        (".git/worktrees/w/config.worktree", "[sendemail]\n\tsmtpPass = hunter2", "sensitive"),
        (".git/credentials", "", "sensitive"),
        ("config", "url = https://me:hunter2@git.example/x", "inside"),
    ],
)
def test_a_file_that_seldom_holds_keys_is_asked_about_when_it_does(sandbox, world, name, text, where):
    (world / "project" / name).parent.mkdir(parents=True, exist_ok=True)
    (world / "project" / name).write_text(text)
    assert kind(sandbox, name, READ) == where


def test_a_pipe_in_the_place_of_such_a_file_is_not_waited_for(sandbox, world):
    os.mkfifo(world / "project/.npmrc")
    assert kind(sandbox, ".npmrc", READ) == "inside"


def test_a_harmless_name_for_a_secret_file_is_seen_through(sandbox, world):
    (world / "project/.env").write_text("KEY=1")
    (world / "project/notes.txt").symlink_to(".env")
    assert kind(sandbox, "notes.txt", READ) == "sensitive"


def test_a_secret_name_for_a_harmless_file_still_asks(sandbox, world):
    (world / "project/.env").symlink_to("src/a.py")
    assert kind(sandbox, ".env", READ) == "sensitive"


STARTERS = [
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    "sub/.git/hooks/x",
    ".git",
    "sub/.git",
    ".git/worktrees/w/config",
    ".git/modules/m/config",
    ".g\u200cit/config",
    ".git./config",
    ".envrc",
    ".gitmodules",
    "sub/.gitattributes",
    ".mcp.json",
    ".codeagent/config.toml",
    ".codeagent/commands/x.md",
    "AGENTS.md",
    "agents.md",
    "sub/CLAUDE.md",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    "web/.npmrc",
    ".bashrc",
    "dotfiles/.zshrc",
    ".github/workflows/ci.yml",
    ".githooks/pre-commit",
    ".husky/pre-push",
    ".gitlab-ci.yml",
    "Jenkinsfile",
    ".buildkite/pipeline.yml",
    ".devcontainer.json",
    "my.code-workspace",
    ".zed/tasks.json",
    ".dir-locals.el",
    "sub/.exrc",
    ".claude/settings.json",
    ".cursor/mcp.json",
    "GEMINI.md",
    "sub/mise.toml",
    "lefthook.yml",
    ".hg/hgrc",
]


@pytest.mark.parametrize("path", STARTERS)
def test_files_that_start_programs_are_asked_about_for_writing_only(sandbox, path):
    touch = sandbox.resolve(path, WRITE)
    assert touch.concern is not None
    assert touch.concern.kind is ConcernKind.SENSITIVE
    assert "asked about each time: " in touch.concern.reason
    assert kind(sandbox, path, READ) == "inside"


@pytest.mark.parametrize("path", [".gitignore", "github/workflows/x", ".github/dependabot.yml", "git/config", "HEAD"])
def test_neighbours_of_start_files_are_ordinary(sandbox, path):
    assert kind(sandbox, path, WRITE) == "inside"


def test_a_link_into_git_s_folder_is_seen_through(sandbox, world):
    (world / "project/.git/hooks").mkdir(parents=True)
    (world / "project/tools").symlink_to(".git/hooks")
    assert kind(sandbox, "tools/pre-commit", WRITE) == "sensitive"


def test_a_configured_hook_folder_that_does_not_exist_yet_asks(sandbox, world):
    (world / "project/.git").mkdir()
    (world / "project/.git/config").write_text("[core]\n\thooksPath = scripts/hooks\n")
    assert kind(sandbox, "scripts/hooks/pre-commit", WRITE) == "sensitive"


def test_where_the_workspace_lies_does_not_make_its_files_sensitive(world):
    root = world / "home/.codeagent/worktrees/one"
    root.mkdir(parents=True)
    assert kind(PathSandbox(root, home=world / "home"), "a.py", WRITE) == "inside"


@pytest.mark.parametrize("path", ["~/.bashrc", "~/.profile", "~/.zshrc", "~/.config/fish/config.fish", "~/.gitconfig"])
def test_shell_start_up_files_outside_are_never_written(sandbox, path):
    assert kind(sandbox, path, READ) == "outside"
    with pytest.raises(PathRefused):
        sandbox.examine(path, WRITE)


def test_shell_start_up_files_ask_when_home_is_the_workspace(world):
    sandbox = PathSandbox(world / "home", home=world / "home")
    assert kind(sandbox, ".bashrc", WRITE) == "sensitive"
    assert kind(sandbox, "notes.txt", WRITE) == "inside"


def test_a_start_up_file_that_links_into_the_workspace_asks(sandbox, world):
    (world / "project/bashrc").write_text("x")
    (world / "home/.bashrc").symlink_to(world / "project/bashrc")
    for path in ("~/.bashrc", f"{world}/home/.bashrc", f"/{world}/home/.bashrc", "../home/x/../.bashrc"):
        assert kind(sandbox, path, WRITE) == "sensitive"


def test_codeagent_s_own_configuration_is_never_written(world):
    sandbox = PathSandbox(world, home=world / "home", protected=[world / "config"])
    assert kind(sandbox, "config/config.toml", WRITE) == "refused"
    assert kind(sandbox, "config/config.toml", READ) == "inside"


def test_a_command_may_ask_to_write_outside_where_a_file_tool_may_not(sandbox, world):
    touch = sandbox.examine("../outside/new.txt", WRITE)
    assert touch.concern is not None
    assert touch.concern.kind is ConcernKind.OUTSIDE


def test_the_session_s_logs_are_read_without_asking_and_not_written(sandbox, world):
    assert kind(sandbox, str(world / "logs/1.log"), READ) == "inside"
    assert kind(sandbox, str(world / "logs/1.log"), WRITE) == "refused"


def test_an_added_folder_counts_as_workspace(world):
    sandbox = PathSandbox(world / "project", [world / "outside"])
    assert sandbox.roots == (world / "project", world / "outside")
    assert kind(sandbox, "../outside/s.txt", WRITE) == "inside"
    assert kind(sandbox, "../outside/.git/config", WRITE) == "sensitive"


def test_a_search_can_tell_sensitive_files_by_name(sandbox, world):
    assert sandbox.is_sensitive(world / "project/.env")
    assert not sandbox.is_sensitive(world / "project/src/a.py")
    assert sandbox.is_sensitive(world / "project/.git/config", WRITE)
    assert not sandbox.is_sensitive(world / "project/.git/config")


def test_paths_are_shown_as_short_as_they_can_be(sandbox, world):
    assert sandbox.show(world / "project/src/a.py") == "src/a.py"
    assert sandbox.show(world / "project") == "."
    assert sandbox.show(world / "home/x") == "~/x"
    assert sandbox.show(world / "outside/x") == str(world / "outside/x")


PIECES = st.sampled_from(
    ["..", ".", "", "src", "a.py", "new", "out", "in", "loop", "dangling", ".git", "HEAD", "~", "é", "back", "file"]
) | st.text(max_size=5)


@given(parts=st.lists(PIECES, max_size=7), is_absolute=st.booleans())
@example(parts=["loop", "..", "out", "src"], is_absolute=False)
@example(parts=["new", "..", "loop", "..", "out", "new"], is_absolute=True)
@settings(max_examples=600, suppress_health_check=list(HealthCheck))
def test_no_path_whatever_its_shape_is_written_outside_without_a_refusal(sandbox, world, parts, is_absolute):
    links = {
        "out": "../outside",
        "in": "src",
        "loop": "loop",
        "dangling": "../outside/x/y",
        "back": "..",
        "file": "src/a.py",
    }
    for name, target in links.items():
        link = world / "project" / name
        if not link.is_symlink():
            link.symlink_to(target)
    path = "/".join(parts)
    if is_absolute:
        path = f"{world}/project/{path}"
    try:
        touch = sandbox.resolve(path, WRITE)
    except PathRefused:
        return
    assert touch.path is not None
    assert touch.path.is_relative_to(world / "project")
    assert touch.path == touch.path.resolve()


@pytest.mark.parametrize("secret", ["project/.env", "project/src/key.pem", "home/.ssh/id_rsa", "home/.netrc"])
@pytest.mark.parametrize("name", ["project/src/notes.txt", "outside/notes.txt"])
def test_a_hard_link_to_a_secret_is_asked_about_as_the_secret_is(sandbox, world, secret, name):
    (world / secret).write_text("KEY=x")
    (world / name).hardlink_to(world / secret)
    if secret == "project/src/key.pem" and name.startswith("outside"):
        (world / "project/key.pem").hardlink_to(world / secret)
    touch = sandbox.resolve(str(world / name), READ)
    assert touch.concern.kind is ConcernKind.SENSITIVE
    assert "it is the same file as " in touch.concern.reason
    assert sandbox.examine(str(world / name), READ).concern.kind is ConcernKind.SENSITIVE


def test_a_hard_link_to_an_ordinary_file_is_an_ordinary_file(sandbox, world):
    (world / "project/.env").write_text("KEY=x")
    (world / "project/b.py").hardlink_to(world / "project/src/a.py")
    for access in Access:
        assert kind(sandbox, "b.py", access) == "inside"
