import pytest

from codeagent.config.notices import notice, one_line


@pytest.mark.parametrize(
    ("environ", "codes"),
    [
        ({"TERM": "xterm-256color"}, "\a"),
        ({"TERM_PROGRAM": "WezTerm"}, "\a\x1b]9;done\a"),
        ({"TERM": "xterm-kitty"}, "\a\x1b]9;done\a"),
        ({"TERM": "foot"}, "\a\x1b]777;notify;codeagent;done\a"),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x", "TERM_PROGRAM": "tmux"}, "\a"),
        ({"TMUX": "/tmp/x", "KITTY_WINDOW_ID": "1"}, "\a\x1bPtmux;\x1b\x1b]9;done\a\x1b\\"),
        ({"STY": "1.x", "LC_TERMINAL": "iTerm2"}, "\a\x1bP\x1b]9;done\a\x1b\\"),
    ],
)
def test_a_notice_has_the_form_that_the_terminal_knows(environ, codes):
    assert notice("auto", environ, "done") == codes


def test_the_setting_decides():
    assert notice("off", {"TERM_PROGRAM": "WezTerm"}, "done") == ""
    assert notice("bell", {"TERM_PROGRAM": "WezTerm"}, "done") == "\a"
    assert notice("osc777", {}, "a;b") == "\a\x1b]777;notify;codeagent;a,b\a"


def test_nothing_in_the_text_can_end_the_notice():
    assert notice("osc9", {}, "a\x07b\x1b\\c\nd\u202e")[1:] == "\x1b]9;abc d<U+202E>\a"
    assert len(one_line("x" * 500, 20)) == 20
