"""What ``/init`` asks for."""

import pytest

from codeagent.core.commands import NotReady
from codeagent.tui.init_request import init_request


def test_it_is_short_and_keeps_what_is_there():
    request = init_request("anthropic/claude-test")
    assert len(request) < 2_000
    assert "If AGENTS.md is there already, keep what is right" in request


def test_a_model_that_plays_a_script_is_not_asked():
    with pytest.raises(NotReady, match="plays a script"):
        init_request("scripted/demo")
