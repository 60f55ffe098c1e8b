"""What an installation brings along: few distributions, few megabytes."""

from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MOST_DISTRIBUTIONS = 40
MOST_BYTES = 100_000_000


def installed_with(name: str, extras: frozenset[str], found: dict[str, Distribution]) -> dict[str, Distribution]:
    """The distribution and all that it needs on this system, by name."""
    found[canonicalize_name(name)] = distribution(name)
    for line in found[canonicalize_name(name)].requires or ():
        needed = Requirement(line)
        is_wanted = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in {"", *extras})
        if is_wanted and (needed.extras or canonicalize_name(needed.name) not in found):
            installed_with(needed.name, frozenset(needed.extras), found)
    return found


def test_an_installation_is_small():
    found = installed_with("codeagent", frozenset(), {})
    paths = [file.locate() for each in found.values() for file in each.files or ()]
    sizes = [path.stat().st_size for path in paths if path.suffix != ".pyc" and path.is_file()]
    assert {"textual", "openai", "anthropic", "pydantic", "linkify-it-py"} <= set(found)
    assert len(found) <= MOST_DISTRIBUTIONS
    assert sum(sizes) <= MOST_BYTES
