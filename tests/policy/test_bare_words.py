"""Commands with next to no words: none of those that read one behind another falls over them."""

import itertools

import pytest

from codeagent.policy import replaced
from codeagent.policy.replaced import replaced_files
from codeagent.policy.shell_words import Word

PROGRAMS = sorted({"sort", "sed -i", "perl -i", "ln -f"} | replaced._DELETING | replaced._COPYING | replaced._PACKING)
FEW = ("", "-", "--", "-o", "-t", "-S", "--output", "--output=", "--target-directory", "x")


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_would_be_replaced_is_told_of_any_few_words(tmp_path, program):
    (tmp_path / "x").touch()
    for count in range(3):
        for words in itertools.product(FEW, repeat=count):
            given = [Word(text) for text in (*program.split(), *words)]
            assert set(replaced_files(given, tmp_path) or ()) <= {tmp_path / "x"}


def test_the_file_that_sort_writes_is_told(tmp_path):
    (tmp_path / "x").touch()
    for words in ("sort -o x", "sort -ox", "sort --output x", "sort --out=x y"):
        assert replaced_files([Word(text) for text in words.split()], tmp_path) == (tmp_path / "x",)
