"""What is seldom needed and costs the start something: made when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial


def seldom(expression: str, flags: re.RegexFlag = re.NOFLAG) -> Callable[[], re.Pattern[str]]:
    """A regular expression that is compiled with its first use; call it for the pattern."""
    return cache(partial(re.compile, expression, flags))
