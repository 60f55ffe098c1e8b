"""The words of the first picture, and the folder in it."""

import pytest

from codeagent.core.first_words import end_of_path


@pytest.mark.parametrize(
    ("path", "most", "shown"),
    [
        ("~/src/shop", 10, "~/src/shop"),
        ("~/src/shop", 9, "…/shop"),
        ("/home/someone/src/shop", 10, "…/src/shop"),
        ("/home/someone/src/shop", 13, "…/src/shop"),
        ("/a-folder-with-a-long-name", 8, "…ng-name"),
        ("/src/shop/", 4, "…op/"),
    ],
)
def test_a_path_is_cut_at_a_folder_where_that_leaves_something(path, most, shown):
    assert end_of_path(path, most) == shown
