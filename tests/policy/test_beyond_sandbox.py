"""In auto mode the sandbox answers for what runs; what it cannot hold is asked about."""

import os
import socket
import subprocess
import tempfile

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command

AUTO = Question(mode=Mode.AUTO, is_confined=True)


@pytest.mark.parametrize(
    "command",
    [
        "kill 1",
        "kill -9 1",
        "kill -TERM -1",
        "kill -s KILL 1",
        "kill $PID",
        "kill $PPID",
        "kill -9 $$ 1",
        "PID=$(pgrep x); sleep 1 & kill $PID",
        "PID=$!; PID=1; sleep 1 & kill $PID",
        "kill $!",
        "lsof -ti:3000 | xargs kill",
        "kill $(lsof -ti:3000)",
        "pkill -f vite",
        "/usr/bin/killall node",
        "fuser -k 3000/tcp",
        "bash -c 'kill 1'",
        "docker run -v /:/host alpine",
        "docker compose -f x.yml up -d",
        "docker -H tcp://x rm -f web",
        "podman exec web sh",
        "docker-compose down",
        "sudo docker build .",
        "nohup docker run x &",
        "crontab -r",
        "crontab jobs.txt",
        "echo 'touch x' | at now",
        "systemctl restart nginx",
        "systemctl --user enable --now x",
        "systemd-run --user touch x",
        "service nginx stop",
        "launchctl load x.plist",
        "tmux new-session -d 'touch x'",
        "tmux send-keys -t 0 'touch x' Enter",
        "tmux display-message -p '#(touch x)'",
        "tmux ls -F '#(touch x)'",
        "screen -dmS x touch x",
        "xdg-open README.md",
        "ssh host uname",
        "scp README.md host:",
        "rsync -a src/ me@host:src/",
        "ls && (cd src; kill 1)",
    ],
)
def test_what_the_sandbox_cannot_hold_is_asked_about(project, command):
    verdict = check_command(command, AUTO, project)
    assert verdict.decision is Decision.ASK
    assert verdict.because[-1] == "."


@pytest.mark.parametrize(
    "command",
    [
        "kill -0 1",
        "kill -9 $$",
        'kill -TERM "$$"',
        "kill -- -$$",
        "kill -l",
        "kill -l 9",
        "sleep 9 & kill %1",
        "sleep 9 & kill $!",
        "npm start & PID=$!; sleep 1; curl localhost; kill $PID",
        'python3 -m http.server & SERVER=$!\nsleep 1\nkill -9 "$SERVER"',
        "sleep 9 & kill $(jobs -p)",
        "pkill -P $$",
        "fuser 3000/tcp",
        "docker ps -a",
        "docker --version",
        "docker compose -f x.yml logs web",
        "docker container ls",
        "podman images",
        "crontab -l",
        "atq",
        "systemctl status nginx",
        "systemctl --user list-timers",
        "service nginx status",
        "tmux ls",
        "tmux capture-pane -p",
        "ssh -V",
        "rsync -a src/ out/",
        "scp a.txt b.txt",
        "pgrep node",
        "ssh-keygen -l -f README.md",
    ],
)
def test_looking_and_what_the_line_started_itself_are_not(project, command):
    assert check_command(command, AUTO, project).decision is Decision.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "d=docker; $d run x",
        "$(echo docker) run x",
        'D=(docker run x); "${D[@]}"',
        'trap "docker run x" EXIT',
        'bash <<< "docker run x"',
        'echo "docker run x" | sh',
        'printf "docker run x" | bash -s',
        'bash -c "$(echo docker run x)"',
        'env -S "docker run x"',
        'env "-Sdocker run x"',
        'script -qc "docker run x" /dev/null',
        'sed "1e docker run x" a',
        'sed "s/.*/docker run x/e" a',
        'tar cf /dev/null a --checkpoint=1 --checkpoint-action=exec="docker run x"',
        'make -f - <<< "all: ; docker run x"',
        'perl -e "exec qw(docker run x)"',
        "p=kill; $p 999999",
        "timeout 2 watch -n1 docker run x",
        "bash <<X\ndocker run x\nX",
        'python3 - <<X\nimport subprocess\nsubprocess.run(["docker","run","x"])\nX',
        "python3 -c \"import os; os.system('docker run x')\"",
        'set -- docker run x; "$@"',
        'awk "BEGIN{system(\\"docker run x\\")}"',
        'vim -c "!docker run x" -c q',
        'git -c alias.z="!docker run x" z',
        "alias k=kill; k 1",
        'eval "docker run x"',
        'x="sudo docker run y"; $x',
        '. /dev/stdin <<< "docker run x"',
        "parallel docker run ::: x",
        'script -c "docker run x" /dev/null',
        '/bin/sh -c "$(printf %s "systemctl stop x")"',
        'c="/usr/bin/docker"; $c run y',
        "export D=docker; $D run x",
        "echo docker run x | xargs env",
        "make SHELL=/bin/sh -f - <<X\nall:\n\tdocker run x\nX",
        'trap "kill 1" EXIT',
        'trap "at now" EXIT',
    ],
)
def test_a_program_that_stands_in_a_text_which_may_be_run_is_asked_about(project, command):
    verdict = check_command(command, AUTO, project)
    assert verdict.decision is Decision.ASK
    assert verdict.because[-1] == "."


@pytest.mark.parametrize(
    "command",
    [
        "grep docker README.md",
        "cat docker-compose.yml",
        "git log --grep kill",
        'npm start & pid=$!; trap "kill $pid" EXIT; sleep 1',
        'trap "rm -rf x" EXIT; echo "at exit"',
        'echo "start docker compose up" | tee x',
        "source .venv/bin/activate && pytest tests/docker",
        "export PATH=$PWD/bin:$PATH; make docker",
        "python3 -c \"print('docker run x')\"",
        'python3 - <<X\ns = open("README.md").read().replace("docker run", "podman run")\nX',
        'sed -i "s/docker run/podman run/" README.md',
        'cmd="pytest -q"; $cmd tests/docker',
        "watch -n1 docker ps",
        "$PY -m pytest docker",
        'awk "/docker/ {print}" a',
        'git commit -m "run docker compose up in CI"',
        "x=$(docker ps -q); echo $x",
        "for c in docker podman; do command -v $c; done",
        'bash -c "docker ps"',
        'script -qc "docker ps" /dev/null',
        "$(npm bin)/jest ssh",
        'eval "$(ssh-agent -s)"',
        'echo "docker run x" > run.sh',
        "cat > run.sh <<X\ndocker run x\nX",
        'node -e "console.log(1)"',
        "make docker-build",
        'python3 -m pytest -k "docker and kill"',
        'perl -pi -e "s/docker run/podman run/" README.md',
        'ruby -e "puts 1"',
        'export X=1; echo "kill the server"',
        'which docker && echo "docker is there"',
        'set -e; docker ps; echo "docker up"',
        "bash -n run.sh",
        'PGPASSWORD=x psql -c "select kill from t"',
    ],
)
def test_a_text_that_only_mentions_such_a_program_is_not(project, command):
    assert check_command(command, AUTO, project).decision is Decision.ALLOW


def test_a_process_that_came_of_this_one_may_be_ended_and_no_other(project):
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True) as shell:
        grandchild = shell.stdout.readline().strip()
        for pid in (str(shell.pid), grandchild):
            assert check_command(f"kill {pid}", AUTO, project).decision is Decision.ALLOW
        assert check_command(f"kill {grandchild} {os.getppid()}", AUTO, project).decision is Decision.ASK
        subprocess.run(["kill", grandchild], check=True)


def test_the_socket_of_a_service_is_known_by_what_it_is(project):
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as service:
        service.bind(f"{folder}/docker.sock")
        for words in (f"nc -U {folder}/docker.sock", f"socat - UNIX-CONNECT:{folder}/docker.sock"):
            verdict = check_command(words, AUTO, project)
            assert verdict.because == f"It may speak to a service outside of the sandbox, through {folder}/docker.sock."


def test_a_rule_allows_it_and_the_question_names_that_rule(project):
    verdict = check_command("docker compose up -d", AUTO, project)
    assert verdict.because == "docker has it done by a service outside of the sandbox."
    assert verdict.remedy == "--allow 'bash(docker compose up -d)'"
    allowed = Question(mode=Mode.AUTO, is_confined=True, allow=("bash(docker compose *)",))
    assert check_command("docker compose up -d", allowed, project).decision is Decision.ALLOW
    assert check_command("docker run x", allowed, project).decision is Decision.ASK


ASK = Question(mode=Mode.ASK, is_confined=True)
RULED = Question(mode=Mode.AUTO, is_confined=True, allow=("bash(docker *)", "bash(kill *)", "bash(./x)"))


@pytest.mark.parametrize(
    ("command", "question", "are_open"),
    [
        ("docker build .", ASK, True),
        ("docker build . && ./x", ASK, True),
        ("sudo docker build .", ASK, True),
        ("d=docker; $d build .", ASK, True),
        ("bash -c 'docker build .'", ASK, True),
        ("kill -9 1", ASK, True),
        ("gh pr create", ASK, True),
        ("curl --unix-socket {socket} x", ASK, True),
        ("./x", ASK, False),
        ("make test", ASK, False),
        ("d=dock; $d'er' build .", ASK, False),
        ("docker ps", AUTO, True),
        ("docker ps | head", AUTO, True),
        ("docker ps; ./x", AUTO, False),
        ("docker ps | tee x", AUTO, False),
        ("./docker ps", AUTO, False),
        ("PATH=. docker ps", AUTO, False),
        ("DOCKER_CONFIG=. docker ps", AUTO, False),
        ("docker(){ ./x; }; docker ps", AUTO, False),
        ("docker ps $(./x)", AUTO, False),
        ("docker ps <(./x)", AUTO, False),
        ("docker ps; d=dock; $d'er' run x", AUTO, False),
        ("sh -c 'docker ps; ./x'", AUTO, False),
        ("gh pr list", AUTO, False),
        ("make test", AUTO, False),
        ("ls", AUTO, False),
        ("docker run x", RULED, True),
        ("kill -9 1", RULED, True),
        ("docker run x && ./x", RULED, False),
    ],
)
def test_services_are_in_reach_of_what_names_them_and_of_nothing_beside(project, command, question, are_open):
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        assert (
            check_command(
                command.format(socket=f"{folder}/s") if "{socket}" in command else command, question, project
            ).opens_services
            is are_open
        )


def test_services_are_not_in_reach_of_a_program_of_the_workspace(project, monkeypatch):
    (project / "docker").write_text("#!/bin/sh")
    (project / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{project}:{os.environ['PATH']}")
    assert not check_command("docker ps", AUTO, project).opens_services


def test_without_a_sandbox_nothing_is_opened(project):
    assert not check_command("docker build .", Question(mode=Mode.ASK), project).opens_services


@pytest.mark.parametrize(
    ("command", "decision"), [("kill -9 $$", "allow"), ("kill $x", "ask"), ("kill $$/../x", "ask")]
)
def test_a_rule_for_any_kill_covers_what_the_shell_counts_itself(project, command, decision):
    question = Question(mode=Mode.ASK, allow=("bash(kill *)",))
    assert check_command(command, question, project).decision == decision


BROAD = ("bash(*)", "*", "bash", "bash(k* *)", "bash(* run *)")


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.AUTO])
@pytest.mark.parametrize("command", ["kill 999999999", "docker run x", "pkill -f vite", "systemctl stop x"])
def test_a_rule_that_does_not_name_the_program_opens_no_services(project, command, mode):
    verdict = check_command(command, Question(mode=mode, is_confined=True, allow=BROAD), project)
    assert verdict.decision is Decision.ASK
    assert verdict.remedy == f"--allow 'bash({command})'"
    named = Question(mode=mode, is_confined=True, allow=(*BROAD, f"bash({command.split()[0]} *)"))
    verdict = check_command(command, named, project)
    assert (verdict.decision, verdict.opens_services) == (Decision.ALLOW, True)
    assert "confined." not in verdict.because


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 -1",
        "kill -kill -1",
        "kill -s KILL -- -1",
        "kill -9 -01",
        "kill -n 9 1",
        "kill {pid}",
        "kill -9 -- -{group}",
        "kill {parent}",
        "sudo kill -9 -1",
        "bash -c 'kill -9 -1'",
        "for p in 7 -1; do kill -9 $p; done",
        "pkill -u me",
        "pkill -f .",
        "pkill -v nothing",
        "pkill -9 codeagent",
        "killall python3",
        "pkill -f keeper_program",
    ],
)
@pytest.mark.parametrize("confined", [True, False])
def test_no_rule_lets_everything_or_codeagent_itself_be_ended(project, command, confined):
    command = command.format(pid=os.getpid(), group=os.getpgrp(), parent=os.getppid())
    exact = () if ";" in command else (f"bash({command})",)  # a rule is about one simple command
    rules = ("bash(*)", "bash(kill *)", "bash(pkill *)", *exact, "bash(sudo *)", "bash(bash *)")
    for mode in (Mode.ASK, Mode.AUTO):
        question = Question(mode=mode, is_confined=confined, allow=(*rules, "bash(killall *)"))
        assert check_command(command, question, project).decision is Decision.ASK, mode


@pytest.mark.parametrize("command", ["x=-1; kill -9 $x", "kill -9 $(echo -1)", "kill $(lsof -ti:3000)"])
def test_what_a_kill_would_end_in_the_open_must_be_known(project, command):
    assert check_command(command, RULED, project).decision is Decision.ASK


@pytest.mark.parametrize("command", ["kill -9 $$", "kill 999999999", "pkill -9 -f vite", "killall -l", "pkill -P $$"])
def test_a_rule_for_it_covers_ending_other_programs(project, command):
    rules = ("bash(kill *)", "bash(pkill *)", "bash(killall *)")
    assert check_command(command, Question(mode=Mode.AUTO, is_confined=True, allow=rules), project).decision == "allow"


def test_what_runs_with_services_in_reach_is_not_called_confined(project):
    verdict = check_command("docker ps", AUTO, project)
    assert verdict.because == "Auto mode runs commands, confined but for services and other processes."
    assert {part.because for part in verdict.parts} == {verdict.because}
