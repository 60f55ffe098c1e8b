"""Fixtures for every room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.scripted_server import ScriptedServer


@pytest.fixture
def model_server() -> Iterator[ScriptedServer]:
    """A strict model server on 127.0.0.1; give it replies with ``model_server.reply(...)``."""
    with ScriptedServer() as server:
        yield server
