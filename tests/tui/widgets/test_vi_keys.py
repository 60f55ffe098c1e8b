import pytest

from codeagent.tui.widgets.vi_keys import ViKeys, ViMode, Wish
from codeagent.tui.widgets.vi_states import Typed

ESC = "\x1b"
LINES = "one two\n  three\n\nfour"


def typed(text: str, keys: str, at: int = 0) -> Typed:
    """What keys make of a text, starting from normal mode; what is inserted ends with escape."""
    vi = ViKeys()
    vi.mode = ViMode.NORMAL
    now = Typed(text=text, at=at)
    for key in keys:
        if vi.mode is not ViMode.INSERT:
            after = vi.press("escape" if key == ESC else key, now)
            assert isinstance(after, Typed)
            now = after
        elif key == ESC:
            now = vi.leave_insert(now)
        else:
            now = Typed(text=now.text[: now.at] + key + now.text[now.at :], at=now.at + 1)
    return now


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        ("l", 1), ("5l", 5), ("99l", 6), ("lh", 0), ("w", 4), ("2w", 10), ("3w", 16), ("e", 2), ("2e", 6),
        ("$", 6), ("$b", 4), ("$0", 0), ("j", 8), ("j^", 10), ("G", 17), ("Ggg", 0), ("2G", 10), ("G$", 20),
        ("fo", 6), ("fw", 5), ("tw", 4), ("fo;", 6), ("$Fo", 0), ("$To", 1), ("fo,", 0), ("fz", 0), ("jjj", 17),
    ],
)  # fmt: skip
def test_motions_lead_where_vim_leads(keys, at):
    assert typed(LINES, keys).at == at


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("x", "ne two\n  three\n\nfour"),
        ("dw", "two\n  three\n\nfour"),
        ("wdw", "one \n  three\n\nfour"),
        ("d2w", "\n  three\n\nfour"),
        ("de", " two\n  three\n\nfour"),
        ("wdb", "two\n  three\n\nfour"),
        ("wD", "one \n  three\n\nfour"),
        ("dd", "  three\n\nfour"),
        ("2dd", "\nfour"),
        ("dG", ""),
        ("Gdd", "one two\n  three\n"),
        ("cwthe" + ESC, "the two\n  three\n\nfour"),
        ("ccall" + ESC, "all\n  three\n\nfour"),
        ("wCtoo" + ESC, "one too\n  three\n\nfour"),
        ("ciwthe" + ESC, "the two\n  three\n\nfour"),
        ("daw", "two\n  three\n\nfour"),
        ("oso" + ESC, "one two\nso\n  three\n\nfour"),
        ("Oso" + ESC, "so\none two\n  three\n\nfour"),
        ("A!" + ESC, "one two!\n  three\n\nfour"),
        ("jI-" + ESC, "one two\n  -three\n\nfour"),
        ("yyp", "one two\none two\n  three\n\nfour"),
        ("yw$p", "one twoone \n  three\n\nfour"),
        ("ddp", "  three\none two\n\nfour"),
        ("xp", "noe two\n  three\n\nfour"),
        ("rO", "One two\n  three\n\nfour"),
        ("3~", "ONE two\n  three\n\nfour"),
        ("J", "one two three\n\nfour"),
        ("dtw", "wo\n  three\n\nfour"),
        ("x..", " two\n  three\n\nfour"),
        ("cwa" + ESC + "w.", "a a\n  three\n\nfour"),
        ("d" + ESC + "w", LINES),
        ("dz", LINES),
    ],
)
def test_changes_are_those_of_vim(keys, text):
    assert typed(LINES, keys).text == text


WORDS = "one two (three, four) five\n  six.seven eight\n\nnine"
REST = "\n  six.seven eight\n\nnine"


@pytest.mark.parametrize(
    ("keys", "text", "at"),
    [
        ("wved", "one  (three, four) five" + REST, 4),
        ("wvex", "one  (three, four) five" + REST, 4),
        ("eved", "on (three, four) five" + REST, 2),
        ("wvbd", "wo (three, four) five" + REST, 0),
        ("v$d", "  six.seven eight\n\nnine", 0),
        ("vjd", " six.seven eight\n\nnine", 0),
        ("Vd", "  six.seven eight\n\nnine", 2),
        ("Vjd", "\nnine", 0),
        ("vjD", "\nnine", 0),
        ("vX", "  six.seven eight\n\nnine", 2),
        ("VcX" + ESC, "X" + REST, 0),
        ("wviwcX" + ESC, "one X (three, four) five" + REST, 4),
        ("vi(d", "one two () five" + REST, 9),
        ("va(d", "one two  five" + REST, 8),
        ("vipd", "\nnine", 0),
        ("vapd", "nine", 0),
        ("viwiwiwd", " (three, four) five" + REST, 0),
        ("wveyP", "one twotwo (three, four) five" + REST, 6),
        ("VyP", "one two (three, four) five\none two (three, four) five" + REST, 0),
        ("yiwwvep", "one one (three, four) five" + REST, 6),
        ("yiwVp", "one" + REST, 0),
        ("yywvep", "one \none two (three, four) five\n (three, four) five" + REST, 5),
        ("veU", "ONE two (three, four) five" + REST, 0),
        ("veUviwu", "one two (three, four) five" + REST, 0),
        ("v~", "One two (three, four) five" + REST, 0),
        ("verX", "XXX two (three, four) five" + REST, 0),
        ("V>", "    one two (three, four) five" + REST, 4),
        ("Vj>.", "        one two (three, four) five\n          six.seven eight\n\nnine", 8),
        ("V>V<", "one two (three, four) five" + REST, 0),
        ("VjJ", "one two (three, four) five six.seven eight\n\nnine", 26),
        ("wveohd", "one (three, four) five" + REST, 3),
        ("vwod", "wo (three, four) five" + REST, 0),
        ("v" + ESC + "x", "ne two (three, four) five" + REST, 0),
        ("vvx", "ne two (three, four) five" + REST, 0),
        ("vVd", "  six.seven eight\n\nnine", 2),
        ("Vvd", "ne two (three, four) five" + REST, 0),
        ("ve" + ESC + "gvd", " two (three, four) five" + REST, 0),
        ("v2ld.", "o (three, four) five" + REST, 0),
        ("vecX" + ESC + "w.", "X X (three, four) five" + REST, 2),
        ("v%d", " five" + REST, 0),
        ("vf)d", " five" + REST, 0),
    ],
)
def test_what_is_selected_is_changed_as_by_vim(keys, text, at):
    after = typed(WORDS, keys)
    assert (after.text, after.at) == (text, at)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (">>", "    one two (three, four) five" + REST),
        (">j<<", "one two (three, four) five\n      six.seven eight\n\nnine"),
        ("2>>.", "        one two (three, four) five\n          six.seven eight\n\nnine"),
        ("gUiw", "ONE two (three, four) five" + REST),
        ("gUU", "ONE TWO (THREE, FOUR) FIVE" + REST),
        ("g~w", "ONE two (three, four) five" + REST),
        ("gUUguw", "one TWO (THREE, FOUR) FIVE" + REST),
        ("d%", " five" + REST),
        ("wd%", "one  five" + REST),
        ("dip", "\nnine"),
        ("dap", "nine"),
        ("d}", "\nnine"),
        ("Gdge", "one two (three, four) five\n  six.seven eight\nine"),
    ],
)
def test_more_operators_and_motions_are_those_of_vim(keys, text):
    assert typed(WORDS, keys).text == text


def test_a_command_works_on_characters_as_people_see_them():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert typed(f"{family}e\u0301x", "x").text == "e\u0301x"
    assert typed(f"{family}e\u0301x", "lx").text == f"{family}x"
    assert typed(f"{family}{family}x", "vld").text == "x"
    assert typed(f"x{family}", "$x").text == "x"


def test_brackets_and_quotes_are_taken_from_inside():
    assert typed('f(a, "b c")', 'fbdi"').text == 'f(a, "")'
    assert typed('f(a, "b c")', "ci(x" + ESC).text == "f(x)"


def test_at_the_edges_up_and_down_are_for_the_history():
    vi = ViKeys()
    vi.mode = ViMode.NORMAL
    assert vi.press("k", Typed(text="one", at=0)) is Wish.OLDER
    assert vi.press("j", Typed(text="one", at=0)) is Wish.NEWER


@pytest.mark.parametrize(
    "keys", ["dd", "cwx" + ESC, "x", "w", "b", "e", "G", "p", "J", "~", "rx", "D", "di(", "a" + ESC]
)
def test_an_empty_text_breaks_nothing(keys):
    assert typed("", keys).text in {"", "x"}


@pytest.mark.parametrize(
    ("keys", "at"), [("0d2wu", 0), ("$xu", 12), ("0wxu", 4), ("0wivery " + ESC + "0u", 4), ("0xwxuu", 0)]
)
def test_undo_goes_back_to_where_the_change_was(keys, at):
    undone = typed("one two three", keys)
    assert (undone.text, undone.at) == ("one two three", at)


def test_undo_takes_back_one_change_at_a_time_and_redo_brings_it_back():
    assert typed("one two", "xcwtwo" + ESC + "u").text == "ne two"
    assert typed("one two", "xcwtwo" + ESC + "uu").text == "one two"
    vi = ViKeys()
    vi.mode = ViMode.NORMAL
    now = vi.press("x", Typed(text="ab", at=0))
    now = vi.press("u", now)
    assert now.text == "ab"
    assert vi.press("ctrl+r", now).text == "b"
