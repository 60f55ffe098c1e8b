from __future__ import annotations

import shlex
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.approvals import Access, Decision, Scope
from codeagent.core.errors import ConfigError
from codeagent.core.text import has_invisible
from codeagent.policy.commands import analyze
from codeagent.policy.rules import Match, Rule, RuleSet, path_pattern, quoted_word
from codeagent.policy.shell_words import Word
from tests.effort import assert_takes_less


def match(pattern, command, *, strictly=True):
    words = analyze(command).commands[0].words
    return Rule.parse(f"bash({pattern})").match_command(words, strictly=strictly)


@pytest.mark.parametrize(
    ("pattern", "command", "matches"),
    [
        ("git status", "git status", True),
        ("git status", "git status -s", False),
        ("git status *", "git status", True),
        ("git status *", "git status -s -b", True),
        ("git status *", "git stat", False),
        ("npm run test:*", "npm run test:unit", True),
        ("npm run test:*", "npm run test", False),
        ("npm run test:*", "npm run test:a b", False),
        ("npm run test:*", "npm run 'test:a b'", True),
        ("git * --stat", "git log --stat", True),
        ("git * --stat", "git log -p --stat", False),
        ("*", "anything at all", True),
        ("pytest", "pytestx", False),
        ("a.b", "axb", False),
        ("git commit -m 'a b'", 'git commit -m "a b"', True),
        ("git commit -m 'a b'", "git commit -m a b", False),
        ("echo '*'", "echo '*'", True),
        ("echo '*'", "echo x", False),
        ("echo \\*", "echo x", False),
        ("rm *", "/bin/rm x", False),
    ],
)
def test_a_pattern_is_words(pattern, command, matches):
    assert (match(pattern, command) is Match.YES) == matches


@pytest.mark.parametrize(
    ("pattern", "command", "found"),
    [
        ("rm *", "/bin/rm x", Match.YES),
        ("rm *", "RM x", Match.YES),
        ("git push *", "git -C x --no-pager push", Match.YES),
        ("git push *", "git $x", Match.MAYBE),
        ("git push *", 'git "$x"', Match.MAYBE),
        ("git push", "git push $x", Match.MAYBE),
        ("git push", 'git push "$x"', Match.NO),
        ("git push *", "git pull $x", Match.NO),
        ("rm -r *", "rm *", Match.MAYBE),
    ],
)
def test_rules_that_forbid_see_other_ways_to_write_a_command(pattern, command, found):
    assert match(pattern, command, strictly=False) is found


@given(st.lists(st.text(min_size=1).filter(lambda text: not has_invisible(text)), min_size=1, max_size=4))
def test_a_quoted_word_matches_itself_and_nothing_else(texts):
    rule = Rule.parse(f"bash({' '.join(map(quoted_word, texts))})")
    words = [Word(text) for text in texts]
    assert rule.is_exact
    assert rule.match_command(words, strictly=True) is Match.YES
    assert rule.match_command([*words[:-1], Word(texts[-1] + "x")], strictly=True) is Match.NO
    assert rule.match_command([*words, Word("x")], strictly=True) is Match.NO


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ("edit(src/**)", "src/a.py", True),
        ("edit(src/**)", "src/deep/a.py", True),
        ("edit(src/**)", "src", True),
        ("edit(src/**)", "lib/src/a.py", False),
        ("edit(*.py)", "deep/a.py", True),
        ("edit(./a.py)", "a.py", True),
        ("edit(./a.py)", "deep/a.py", False),
        ("edit", "any/thing", True),
        ("edit(docs)", "docs/x.md", True),
        ("edit(src/*.py)", "src/deep/a.py", False),
    ],
)
def test_a_path_pattern_is_relative_to_the_workspace(rule, path, matches):
    root = Path("/src/space")
    assert Rule.parse(rule).match_path(root / path, root, strictly=True) == matches


@pytest.mark.parametrize("name", ["a b.txt", "a[1].py", "*", "!x", "#x", "a\\b", "ä.txt", "-x", "a?b", " a", "x "])
def test_a_path_as_a_pattern_matches_exactly_it(name):
    root = Path("/src/space")
    for path in (name, f"deep/{name}"):
        rule = Rule.parse(f"edit({path_pattern(path)})")
        assert rule.match_path(root / path, root, strictly=True)
        assert not rule.match_path(root / "other" / path, root, strictly=True)
        assert not rule.match_path(root / "abc", root, strictly=True)


def test_a_pattern_may_name_a_place_outside():
    root, home = Path("/src/space"), Path.home()
    assert Rule.parse("read(/etc/**)").match_path(Path("/etc/hosts"), root, strictly=True)
    assert Rule.parse("read(~/notes/**)").match_path(home / "notes/a", root, strictly=True)
    assert not Rule.parse("read(**)").match_path(Path("/etc/hosts"), root, strictly=True)
    assert not Rule.parse("read(etc/**)").match_path(Path("/etc/hosts"), root, strictly=True)


def test_rules_that_forbid_do_not_mind_upper_and_lower_case():
    root = Path("/w")
    assert Rule.parse("read(secrets/**)").match_path(root / "SECRETS/a", root, strictly=False)
    assert not Rule.parse("read(secrets/**)").match_path(root / "SECRETS/a", root, strictly=True)


@pytest.mark.parametrize(
    "text", ["", "bash(", "bash()", "bash( )", "Bash(x)", "bash x", "bash('x)", "(x)", "bash(x) y"]
)
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(ConfigError):
        Rule.parse(text)


def test_reading_tools_share_their_rules_and_so_do_changing_ones():
    rules = RuleSet.parse(deny=["grep(secret/**)"], allow=["write(docs/**)"])
    root = Path("/w")
    assert rules.find_path(Decision.DENY, Access.READ, [root / "secret/a"], root)
    assert rules.find_path(Decision.ALLOW, Access.WRITE, [root / "docs/a"], root)
    assert not rules.find_path(Decision.ALLOW, Access.READ, [root / "docs/a"], root)


def test_every_rule_in_force_is_listed_with_its_source():
    rules = RuleSet.parse(deny=["bash(rm *)"], allow=["bash(ls)"])
    rules.grant("bash(npm test)", Scope.SESSION)
    rules.grant("bash(npm test)", Scope.SESSION)
    listed = [(rule.decision, rule.rule, rule.source) for rule in rules.stored()]
    assert listed == [
        ("deny", "bash(rm *)", "settings"),
        ("allow", "bash(npm test)", "you"),
        ("allow", "bash(ls)", "settings"),
    ]


def test_a_quoted_word_is_one_that_a_shell_reads_as_well():
    for text in ("a b", "it's", "$x", "*", "a\\b", ""):
        assert shlex.split(quoted_word(text)) == [text]


@pytest.mark.parametrize("pattern", ["*a" * 25 + "b", "**/a/" * 9 + "b"])
def test_a_rule_that_would_be_matched_for_ever_is_none(pattern):
    with pytest.raises(ConfigError, match="never ends"):
        Rule.parse(f"read({pattern})")
    assert Rule.parse("edit(packages/*/src/**/*_test.*)")


@pytest.mark.parametrize("pattern", ["*a" * 40 + "b", "a*a*a*a*a*a*b *", "*" * 500 + "b", "'a'*" * 30 + "b"])
def test_no_command_rule_takes_long(pattern):
    rule = Rule.parse(f"bash({pattern})")
    assert_takes_less(0.2, lambda: rule.match_command([Word("a" * 150_000)], strictly=True))


@given(st.text("ab*'", max_size=8).filter(lambda text: text.count("'") % 2 == 0 and text), st.text("ab*", max_size=8))
def test_a_word_of_a_command_rule_fits_as_a_shell_pattern_does(pattern, text):
    literal, shell = False, ""
    for character in pattern:
        if character == "'":
            literal = not literal
        else:
            shell += "[*]" if literal and character == "*" else character
    fits = Rule("bash", f"x {pattern}y").match_command([Word("x"), Word(text + "y")], strictly=True)
    assert (fits is Match.YES) == fnmatchcase(text + "y", shell + "y")


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "\\",
            "a\\",
            "[z-a]",
            "[Z-a]",
            "[",
            "src/[a",
            "!src/**",
            "#notes",
            "/",
            ".",
            "..",
            "../x",
            "src/../x",
            "./",
            "//",
        ),
    ],
)
@pytest.mark.parametrize("tool", ["read", "edit", "*"])
def test_a_rule_that_fits_no_file_is_refused(tool, pattern):
    with pytest.raises(ConfigError, match="fits no file"):
        Rule.parse(f"{tool}({pattern})")


@pytest.mark.parametrize("pattern", ["[a~~]", "[a&&b]", "[a||b]", "[[a]"])
def test_a_set_that_python_warns_of_is_read_in_silence(pattern):
    assert Rule.parse(f"read(src/{pattern})").match_path(Path("/w/src/a"), Path("/w"), strictly=True)


@given(st.text(alphabet="ab*?[]!#-/.\\ ~Z^", min_size=1, max_size=12))
def test_a_rule_on_files_that_is_taken_can_be_asked_about_any_file(pattern):
    try:
        rule = Rule.parse(f"read({pattern})")
    except ConfigError:
        return
    for strictly in (True, False):
        rule.match_path(Path("/w/src/a"), Path("/w"), strictly=strictly)


@pytest.mark.parametrize(
    "pattern",
    ["curl * | sh", "ls;rm", "a && b", "a & b", "a > b", "a 2>&1", "cat < a", "(ls)", "echo $(date)", "a `b`"],
)
def test_a_rule_that_fits_no_simple_command_is_refused(pattern):
    with pytest.raises(ConfigError, match="one simple command"):
        Rule.parse(f"bash({pattern})")


@pytest.mark.parametrize("pattern", ["\u202els", "ls\u200b", "l\u00ads"])
def test_a_rule_on_commands_with_unseen_characters_is_refused(pattern):
    with pytest.raises(ConfigError, match="cannot be seen"):
        Rule.parse(f"bash({pattern})")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "bash(grep 'a|b' *)",
            'bash(curl "http://x/?a=1&b=2")',
            r"bash(find . \( -name x \))",
            "bash(cat 'отчёт.txt')",
        ),
        *(
            r"read(\#x)",
            r"read(\!x)",
            "read(docs/[ab].md)",
            "read(./x)",
            "read(/**)",
            "read(~)",
            "read(**)",
            "read(.env)",
        ),
        *("read(...)", "read(a..b/*)", "*(git status)", "bash(echo {a,b})", "bash(npm run test:*)"),
    ],
)
def test_signs_that_are_quoted_and_ordinary_patterns_are_taken(text):
    assert str(Rule.parse(text)) == text
