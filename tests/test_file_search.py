"""Which of the workspace's paths are offered for what is typed after an at sign."""

import pytest

from codeagent.workbench import best_paths

NAMES = ("shop/cart.py", "cart/other.py", "tests/test_cart.py", "src/c/a/r/t.py", "README.md")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("cart", ("shop/cart.py", "tests/test_cart.py", "cart/other.py", "src/c/a/r/t.py")),
        ("CART.P", ("shop/cart.py", "tests/test_cart.py")),
        ("rdm", ("README.md",)),
        ("zz", ()),
        ("", NAMES),
    ],
)
def test_whole_before_scattered_and_names_before_folders(query, found):
    assert best_paths(NAMES, query, 10)[: len(found)] == found


def test_accents_and_the_way_they_are_written_make_no_difference():
    names = ("sub/bär 日本.txt", "sub/ba\u0308r.txt", "bar.txt")
    assert set(best_paths(names, "bar", 10)) == set(names)
    assert set(best_paths(names, "bär", 10)) == set(names)
    assert best_paths(names, "日", 10) == names[:1]


def test_no_more_than_asked_for():
    assert best_paths(NAMES, "cart", 2) == ("shop/cart.py", "tests/test_cart.py")
