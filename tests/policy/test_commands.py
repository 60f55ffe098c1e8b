from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.policy.commands import LONGEST, analyze
from tests.effort import assert_takes_less

PROGRAMS = ("p0", "p1", "p2", "rm", "ls", "git")
TOKENS = (
    "p0|p1 |p2 |rm |ls |git | |  |;|&|&&|'|\"|\\|\n|$(|)|`|{ |}|(|#| #|<<E|<<'E'|\nE\n|>|<|>>|<<<|=|*|?|~|! |((|))"
    "|[[ | ]]|$|a|x=|$x|${x}|${x:-|if |then |fi|; do |done|case |esac| in |for x in |until |else |$'|\\\n|\t|-|1|2>"
    "|&>|{p1,p2}|[|]|time |coproc |function f |f()|eval |'p1 a'|\"p2 b\"|$((|1+1|E|;;|!|''|\"\""
)
SOUP = (*TOKENS.split("|"), "|", "||", "|&", "<& -", ">& -", "<&", ">&-", "{x}>")
OPENINGS = ("[ ", "[[ ", "[", "[[", "[\n", "[[\n", "[ a ", "[[ a ", "[ -f a ", "[[ -f a ")
CONDITION = (
    *("p0", " p0 ", "p1 ", " a ", "a", " ! ", " = ", " =~ ", " -a ", " -o ", "&&", " || ", "|", " & ", ";", "\n"),
    *(" \\\n", "(", ")", " > o ", " < /dev/null ", '"', "'", " ]", " ]]", " ]", " ]]", "]", "]]", "; p1"),
)


class Grammar:
    """Writes shell scripts that mean something, in all the ways there are."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def word(self, depth):
        one_of = self.random.choice
        inner = one_of(("a", "b c", "x;y", "$(p1 in)", "`p2 in`", "*", "#h", "~", " "))
        plain = one_of(("a", "b", "-x", "foo=bar", "a#b", "x\\ y", "\\;", "a\\'b", "{", "}", "[", "]", "!", "--", "+"))
        special = one_of(('"a\\"b"', '"a\\$b"', '"\\`p1\\`"', '"$x"', "$x", '"a\nb"', "'a\nb'", "$'a\\n'", "$'\\x41'"))
        braces = one_of(("{a,b}", "{a,b}{c,d}", "{1..3}", "x{,y}", "{a", "a,b}", "$'it\\'s'", "$'\\\\'"))
        kinds = [plain, plain, f"'{inner}'", f'"{inner}"', special, braces]
        if depth > 0:
            kinds += [f"$({self.script(depth - 1)})", f"<({self.script(0)})", "a" + self.word(0)]
        return one_of(kinds)

    def simple(self, depth):
        one_of = self.random.choice
        before = one_of(("", "", "", "", "FOO=1 ", "! ", "time ", "> o ", "2>/dev/null "))
        program = one_of(("p0", "p1", "p2", "rm", "ls", "git", "'p0'", 'p"1"', "\\p2", "r''m"))
        after = one_of(("", "", "", " > o", " 2>&1", " < /dev/null", " <<< w", " &> o", " >o a", " 2> o x"))
        words = [self.word(depth) for _ in range(self.random.randint(0, 3))]
        return before + " ".join([program, *words]) + after

    def script(self, depth):
        if depth <= 0:
            return self.simple(0)
        first, second, third = (self.script(depth - self.random.randint(1, 2)) for _ in range(3))
        return self.random.choice(
            (
                self.simple(depth),
                *(f"{first}{joint}{second}" for joint in ("; ", " && ", " || ", " | ", " & ", "\n", " # c; p0\n")),
                f'for x in {self.word(0)} b; do {first}; p1 "$x" $x; {second}; done; p2 "$x"',
                *(
                    f'for x in a b; do {first}; p0 "$x"; {change}; p1 "$x"; done'
                    for change in (
                        *("x=c", "read x <<< q", "read -r x < /dev/null", "for x in c d; do p2; done", "eval x=c"),
                        *("for y in 1 2; do p2 $x; for x in e f; do :; done; done", "printf -v x %s z", "(x=c; p2 $x)"),
                        *("p2 | while read x; do :; done", "for x in *; do p2 $x; done", "unset x", ": ${x:=d}"),
                    )
                ),
                *(f"({first})", f"{{ {first}; }}", f"if {first}; then {second}; else {third}; fi"),
                *(f"for x in a b; do {first}; done", f"case a in a) {first};; *) {second};; esac"),
                f"{self.simple(0)} <<E\nt $(p1 h) `p2`\nE\n{first}",
                f"{self.simple(0)} <<'E'\nt $(p1 h)\nE\n{first}",
            )
        )


NOTED = "printf '%s\\0' {name} \"$@\" end > $LOG/$BASHPID.$SRANDOM"


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """Programs that do nothing but note how they were called."""
    base = tmp_path_factory.mktemp("machine")
    (base / "bin").mkdir()
    for name in PROGRAMS:
        stub = base / "bin" / name
        stub.write_text(f"#!/bin/bash --norc\n{NOTED.format(name=name)}\n")
        stub.chmod(0o755)
    return base


FUNCTIONS = {f"BASH_FUNC_{name}%%": f"() {{ {NOTED.format(name=name)}; }}" for name in PROGRAMS}
"""The same as functions, which need no process each: for scripts in which it does not matter what a program is."""


def what_ran(base, command, **environ):
    with tempfile.TemporaryDirectory(dir=base) as log, tempfile.TemporaryDirectory(dir=base) as place:
        process = subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc", "-c", command],
            cwd=place,
            env={"PATH": str(base / "bin"), "HOME": place, "FUNCNEST": "20", "LOG": log, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        logs = [entry.read_bytes().decode(errors="replace") for entry in Path(log).iterdir()]
        return [tuple(text.split("\0")[:-2]) for text in logs if text.endswith("\0end\0")]


def is_said(argv, words):
    """Whether the analysis said that a program is called so; words it did not know may be anything."""
    if not words:
        return not argv
    word, rest = words[0], words[1:]
    splits = word.may_split and any(not value.text or set(value.text) & set(" \t\n*?[") for value in word.values)
    if word.values and not splits:
        return any(is_said(argv, (value, *rest)) for value in word.values)
    if word.may_split or word.glob:
        return any(is_said(argv[taken:], rest) for taken in range(len(argv) + 1))
    if not argv or (word.is_known and not word.has_tilde and argv[0] != word.text):
        return False
    return is_said(argv[1:], rest)


def assert_nothing_else_runs(base, scripts, **environ):
    clear = 0
    for script in scripts:
        analysis = analyze(script)
        if analysis.is_opaque:
            continue
        clear += 1
        for argv in what_ran(base, script, **environ):
            assert any(is_said(argv, command.words) for command in analysis.everything()), (script, argv)
    return clear


def test_what_bash_runs_was_said_before_for_scripts_that_mean_something(machine):
    grammar = Grammar(7)
    assert assert_nothing_else_runs(machine, [grammar.script(3) for _ in range(250)]) > 40


def test_what_bash_runs_was_said_before_for_any_soup_of_tokens(machine):
    chance = random.Random(7)
    soups = ["".join(chance.choices(SOUP, k=chance.randint(2, 9))) for _ in range(600)]
    assert assert_nothing_else_runs(machine, soups) > 60


def test_what_bash_runs_was_said_before_where_conditions_begin_or_end_oddly(machine):
    chance = random.Random(7)
    soups = [
        chance.choice(OPENINGS) + "".join(chance.choices(CONDITION, k=length)) + chance.choice((" ]", " ]]", "]", "]]"))
        for length in chance.choices(range(1, 5), k=2500)
    ]
    assert assert_nothing_else_runs(machine, soups) > 60


VALUES = (
    *(
        "a",
        "bc",
        '"a b"',
        "'*'",
        "'$x'",
        "-n",
        '"~"',
        "{p,q}",
        "{1..3}",
        "a\\ b",
        '""',
        "é",
        "$'x\\ty'",
        'a"b c"d',
        "\\$y",
    ),
    *(".e", "x=y", '"a\\"b"', "'\\'", "a/b", "@", '"[a]"', "\\~", '"$x"', "~", "*"),
)
USES = (
    *("$x", '"$x"', "${x}", '"${x}"', "pre$x", '"pre$x"', "$x.py", '"*.$x"', '"$x$x"', "$x$y", '"$x $y"', "${x}y"),
    *(
        '"${x}y"',
        '"$xy"',
        "$x[0]",
        '"$x[0]"',
        "\\$x",
        '"\\$x"',
        '"\\\\$x"',
        "'$x'",
        "{$x,b}",
        '"$x"/*',
        'a="$x"',
        "--o=$x",
    ),
    *('"$"$x', '$x"q r"$x', '"$x\'"', 'é"$x"é', '"$x\\n"', '"a\nb$x"', '"  $x  "', '"$x"$y"$x"', '$"$x"', '"\\`$x"'),
    *('"$x\\\\"', "$x~", '"!$x"', '"#$x"', "#$x", "$x#z", '"$x$"', "$x$", '"${x%a}"', "~$x", '"\\\n$x"'),
)


def a_loop(chance, depth, around=()):
    """A loop over words that are written out, whose variable stands in all sorts of words."""
    name = chance.choice("xy")
    words = [chance.choice(USES).replace("$y", f"${chance.choice((*around, name))}") for _ in range(2)]
    parts = [f"p0 {words[0]}", f"p1 {words[1]} | p2 {words[0]}", f"if p0; then p1 {words[1]}; fi", f"(p2 {words[0]})"]
    body = chance.choice(parts) if depth == 0 or chance.random() < 0.6 else a_loop(chance, depth - 1, (*around, name))
    values = " ".join(chance.choice(VALUES) for _ in range(chance.randint(1, 4)))
    return f"for {name} in {values}; do {body}; done"


def test_what_bash_runs_was_said_before_for_words_with_the_variable_of_a_loop_in_them(machine):
    chance = random.Random(7)
    loops = [a_loop(chance, 2) for _ in range(200)]
    assert assert_nothing_else_runs(machine, loops, **FUNCTIONS) > 100
    known = [analyze(loop) for loop in loops]
    assert sum(all(word.is_known for one in found.everything() for word in one.words) for found in known) > 30


def test_the_body_of_a_loop_is_read_for_each_value_within_bounds():
    assert names('for x in a b; do p "$x.py"; done') == [("p", "a.py"), ("p", "b.py")]
    assert names('for x in a b; do for y in $x c; do p "$x/$y"; done; done') == [
        *(("p", "a/a"), ("p", "a/c"), ("p", "b/b"), ("p", "b/c")),
    ]
    body = "; ".join(f'p{n} "$x.py"' for n in range(2_000))
    assert len(names(f"for x in {{1..60}}; do {body}; done")) == 2_000
    nested = "".join(f"for v{n} in 1 2 3 4; do " for n in range(12)) + 'p "$v0.py"' + "; done" * 12
    assert len(names(nested)) < 100


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=80))
def test_no_text_makes_the_analysis_fail(text):
    analyze(text)


@given(st.lists(st.sampled_from(SOUP), max_size=25).map("".join))
def test_no_soup_of_tokens_makes_the_analysis_fail(text):
    analyze(text)


def test_letters_of_every_script_are_read_without_harm():
    chance = random.Random(3)
    for _ in range(3_000):
        characters = [chance.choice((chr(chance.randint(0x80, 0x10FFFF)), *"$(){}'\"\n;&|<>#[]=* ")) for _ in range(40)]
        analyze("".join(characters))
    assert names("git commit -m 'Grüße 🎉' ключ") == [("git", "commit", "-m", "Grüße 🎉", "ключ")]


def names(command):
    return [tuple(word.text for word in found.words) for found in analyze(command).everything()]


@pytest.mark.parametrize(
    "command",
    [
        "a; X",
        "a && X",
        "a || X",
        "a | X",
        "a |& X",
        "a & X",
        "a\nX",
        "(X)",
        "{ X; }",
        "! X",
        "X > f",
        "> f X",
        "if X; then a; fi",
        "if a; then X; fi",
        "if a; then b; elif X; then c; fi",
        "if a; then b; else X; fi",
        "while X; do a; done",
        "until a; do X; done",
        "for i in a; do X; done",
        "for ((;;)); do X; done",
        "case a in a) X;; esac",
        "case $(X) in a) b;; esac",
        "f() { X; }",
        "function f { X; }",
        "[[ $(X) ]]",
        "[ $(X) ]",
        "(( $(X) ))",
        "a $(X)",
        "a `X`",
        'a "$(X)"',
        "a <(X)",
        "a >(X)",
        "a ${b:-$(X)}",
        "a $(( $(X) ))",
        "b=$(X)",
        "b[$(X)]=1",
        "b=($(X))",
        "export b=$(X)",
        "a <<E\n$(X)\nE",
        "a <<E\n`X`\nE",
        'a <<< "$(X)"',
        "a > $(X)",
        "a <<E | X\nE",
        "a <<E && X\nE",
        "select i in a; do X; done",
        "{ a; X; } | b",
        "a $(b $(X))",
    ],
)
def test_a_command_is_found_wherever_the_grammar_can_hide_it(command):
    assert ("rm", "-r", "x") in names(command.replace("X", "rm -r x"))


@pytest.mark.parametrize(
    "command",
    [
        "sudo X",
        "sudo -u me X",
        "env -i A=b X",
        "nohup X",
        "timeout -k 1 5 X",
        "nice -n 3 X",
        "time -p X",
        "command X",
        "builtin X",
        "exec X",
        "busybox X",
        "doas X",
        "stdbuf -oL X",
        "setsid X",
        "sudo env timeout 5 X",
        "sh -c 'X'",
        "bash -lc 'a; X'",
        "eval 'X'",
        "eval X",
        "find . -exec X \\;",
        "find . -exec X +",
        "flock f X",
        "uv run X",
        "npx X",
        "poetry run X",
        "xargs -0 -n1 X",
        'sudo sh -c "env X"',
        "time A=b X",
        "env -- !=b X",
        "sudo a.b=c X",
        "time -p ! X",
        "! time -- ! time X",
        "bash X",
        "sh -x - X",
        "npm x X",
        "yarn dlx X",
        "conda run X",
    ],
)
def test_wrappers_are_looked_through(command):
    found = names(command.replace("X", "rm -r x"))
    assert any(words[:3] == ("rm", "-r", "x") for words in found)


@pytest.mark.parametrize(
    "command",
    [
        "sudo --unknown rm x",
        "env -S 'rm x'",
        "watch rm x",
        "ssh host rm x",
        "eval $x",
        "sh",
        "a | sh",
        "sh -s",
        "su -c x",
        "parallel rm ::: x",
        "source f",
        ". f",
        "$x",
        "trap 'rm x' EXIT",
        "nice -n $x ls",
        "sudo -u * ls",
        "timeout $x ls",
        "timeout [1-9] ls",
        "xargs -n $x echo",
        "git -c core.pager=x log",
        "tar --to-command=x f",
        "git submodule foreach x",
        "xargs $x",
        "bash <<E\nrm x\nE",
        "a | bash -",
        "alias ls=rm; ls x",
        "hash -p /bin/rm ls; ls x",
        "enable -f ./x.so ls",
        "mapfile -C rm lines",
        "PATH=. ls",
        "BASH_ENV=x sh -c ls",
        "PS4='$(rm x)' bash -xc ls",
        "env PAGER=rm git -p log",
        "env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls",
        "EDITOR=rm git commit",
        "MAKEFLAGS=x make",
        "ccache rm x",
        "xvfb-run rm x",
    ],
)
def test_what_cannot_be_seen_through_is_said_to_be_hidden(command):
    assert analyze(command).is_hidden


@pytest.mark.parametrize("command", ["DEBUG=1 make", "CFLAGS=-O2 make", "A=1 npm test", "set -e; make", "export A=1"])
def test_a_doubt_that_hides_no_command_is_told_apart(command):
    assert analyze(command).is_opaque
    assert not analyze(command).is_hidden


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("r''m", "rm"),
        ('r""m', "rm"),
        ("\\rm", "rm"),
        ("'rm'", "rm"),
        ("$'rm'", "rm"),
        ("$'\\x72\\155'", "rm"),
        ("a\\ b", "a b"),
        ("'a b'", "a b"),
        ('"a\\"b"', 'a"b'),
        ('"a\\$b"', "a$b"),
        ("'a\\b'", "a\\b"),
        ('"\\a"', "\\a"),
        ("$'\\u00e9'", "é"),
        ("$'a\\'b'", "a'b"),
        ('"$"', "$"),
        ("a'b'\"c\"d", "abcd"),
    ],
)
def test_words_are_unquoted_as_bash_does(written, meant):
    assert names(f"{written}") == [(meant,)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("{a,b}", ("a", "b")),
        ("x{1,2}y", ("x1y", "x2y")),
        ("{a,b}{c,d}", ("ac", "ad", "bc", "bd")),
        ("{a}", ("{a}",)),
        ("{1..3}", ("1", "2", "3")),
        ("{c..a}", ("c", "b", "a")),
        ("'{a,b}'", ("{a,b}",)),
        ("{a,{b,c}}", ("a", "b", "c")),
        ("{a,'b,c'}", ("a", "b,c")),
        ("x{,y}", ("x", "xy")),
        ("\\{a,b}", ("{a,b}",)),
        ("{a", ("{a",)),
        ("{,a}", ("a",)),
        ("{,''}", ("",)),
        ("a{0}..{1}", ("a{0}..{1}",)),
    ],
)
def test_braces_are_expanded_as_bash_does(written, meant):
    assert names(f"p {written}") == [("p", *meant)]
    bash = subprocess.run(["bash", "-c", f"printf '%s\\n' {written}"], capture_output=True, text=True, check=True)
    assert bash.stdout == "".join(f"{word}\n" for word in meant)


@pytest.mark.parametrize("written", ["{,}", "{a/}b,}", "0{},b~b}", "{0}:,}{a,b}", "{{a,b}"])
def test_braces_that_bash_pairs_in_its_own_way_are_not_known(written):
    assert [word.is_known for word in analyze(f"p {written}").commands[0].words] == [True, False]


@pytest.mark.parametrize(
    ("written", "is_opaque"),
    [
        ("{1..999999999}", True),
        ("{00..99999}", True),
        ("{1..99999999999..7}", True),
        ("{a..z}{a..z}{a..z}{a..z}", True),
        ("{a,{1..99999}}", True),
        ("$x{1..99999}", True),
        ("$(p {1..99999})", True),
        ("{a,b}" * 13, True),
        ("{1..1000}", False),
        ("{1..100000..100}", False),
        ("{a..z}{a..z}", False),
        ("'{1..999999999}'", False),
        ("{1..99999'9'}", False),
    ],
)
def test_words_too_many_to_be_held_are_doubted(written, is_opaque):
    assert analyze(f"echo {written}").is_opaque is is_opaque
    assert analyze(f"for i in {written}; do p; done").is_opaque is is_opaque


def looked_at_anew(command):
    analyze.cache_clear()
    return analyze(command)


def test_five_thousand_parts_are_analyzed_at_once():
    for command in ("git log -n 1; " * 5000, "a && " * 4999 + "b", "a; b | " * 1250 + "c;" * 2499 + "d"):
        assert_takes_less(0.4, lambda command=command: looked_at_anew(command))
        analysis = analyze(command)
        assert len(analysis.commands) == 5000
        assert not analysis.is_opaque


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "$(",
        "{",
        "[[ ",
        "<<a ",
        "`",
        "${a:-",
        "$((",
        "if a; then ",
        "a=(",
        "case x in ",
        '"$(',
        "<",
        "! ",
        "f() ",
        "for x in ",
        "<<< ",
        "a[ ",
        "eval ",
        "sudo ",
        "{a,",
        "\\\n",
    ],
)
def test_hostile_text_is_opaque_within_bounds(piece):
    text = piece * (100_000 // len(piece))
    assert_takes_less(4, lambda: looked_at_anew(text))
    analysis = analyze(text)
    assert analysis.is_opaque or not analysis.commands


def test_a_text_that_nobody_can_read_is_opaque():
    assert analyze("a " * LONGEST).is_hidden


@pytest.mark.parametrize("text", ["a$$", "a$$b", "-$$", "$$", "a$?", "a$!", '"a$$"'])
def test_the_number_of_a_process_is_only_known_when_it_runs(text):
    (command,) = analyze(f"cat {text}").commands
    assert not command.words[1].is_known
