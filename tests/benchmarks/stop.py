"""Esc: from the wish to the end of the turn with each protocol, and from the key to the word on the screen."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from tests.agent.services import PROTOCOLS, Scene
from tests.agent.test_faults import MOMENTS, moment_of, stop
from tests.benchmarks.driver import Screen, place_with_server
from tests.benchmarks.row import Row, row
from tests.benchmarks.transcript import TEXT
from tests.server.replies import Answer, Call, Refuse, Reply, Say, Stall, say
from tests.server.scripted_server import ScriptedServer

RUNS = 5
CLEANS_UP = "trap 'sleep 9' TERM\necho up\nwhile :; do sleep 0.05; done\n"
TABLE = ("| a | b |\n|---|---|\n", "| cell **one** | cell `two` of it |\n")
SEEN: dict[str, Answer] = {
    "before the headers": Reply(parts=(Say("Too late."),), delay=20),
    "in the text": Reply(parts=(Say("Let me see what it is."),), fault=Stall(after=1)),
    "while text streams": Reply(parts=(Say(TEXT * 4, size=16),), pace=0.005),
    "before another try": Refuse(status=503, retry_after="200"),
    "while a command runs": say("", Call("bash", {"command": "echo go; sleep 30"})),
    "while a command cleans up": say("", Call("bash", {"command": "bash clean_up.sh"})),
    "while 200 calls begin": say("", *(Call("bash", {"command": f"echo {number}"}) for number in range(200))),
    "while megabytes come at once": say(TEXT * (5_000_000 // len(TEXT))),
    "while megabytes come in one line": Reply(parts=(Say("and so on, " * 454_545, size=5_000_000),)),
    "while megabytes come for long": Reply(parts=(Say(TEXT * (5_000_000 // len(TEXT)), size=16_000),), pace=0.03),
    "while a table grows": Reply(parts=(Say(f"{TABLE[0]}{TABLE[1] * 5_000}", size=500),), pace=0.03),
    "while a line grows": Reply(parts=(Say("weiter – “ja” … 好的，" * 10_000, size=500),), pace=0.03),
    "while a question is open": say("", Call("write", {"path": "new", "content": "x"})),
}
SOON = {"while 200 calls begin": 0.15, "while megabytes come at once": 0.3, "while megabytes come in one line": 0.3}
"""Seconds from the message to the key where a moment is over soon."""
LATER = (0.3, 1.0, 2.5, 4.0, 5.5)
LONG = {"while megabytes come for long", "while a table grows", "while a line grows"}
"""Where the key comes after so many seconds, as what is drawn grows."""


def run() -> list[Row]:
    """A row for each moment, first without a screen."""
    rows = [row(moment, asyncio.run(_stops(moment)), "ms", bar="≤ 200", at_most=200) for moment in MOMENTS]
    return rows + _on_the_screen()


def _on_the_screen() -> list[Row]:
    """From the key to "stopping" or "Stopped", whichever is drawn first; the echo of a letter in turn with it."""
    echoes: list[float] = []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, place_with_server(Path(folder)) as (root, environ, server):
        (root / "clean_up.sh").write_text(CLEANS_UP)
        words = ["--mode", "ask", "--sandbox", "off", "--allow", "bash(*)"]
        with Screen(*words, cwd=root, environ=environ) as screen:
            screen.wait("sandbox")
            screen.rest(3)
            for moment, answer in SEEN.items():
                took: list[float] = []
                for number in range(RUNS):
                    server.reply(answer)
                    letter = chr(0x2D30 + number)
                    screen.send(letter)
                    echoes.append(screen.wait(letter) * 1000)
                    screen.send("\x15go\r")
                    screen.rest(LATER[number] if moment in LONG else SOON.get(moment, 1))
                    screen.send("\x1b")
                    took.append(screen.wait("topp") * 1000)
                    screen.send("\x1b")
                    screen.rest(0.7)
                rows.append(row(f"on the screen: {moment}", took, "ms", bar="≤ 200", at_most=200))
    return [*rows, row("on the screen: echo of a letter", echoes, "ms")]


async def _stops(moment: str) -> list[float]:
    took: list[float] = []
    for name, make in PROTOCOLS.items():
        with tempfile.TemporaryDirectory() as folder, ScriptedServer() as server:
            provider = make("test", "key", server.url if name == "messages" else server.openai_url)
            scene = Scene(name, server, provider)
            for _ in range(RUNS):
                stage = moment_of(scene, moment, Path(folder))
                took.append(await stop(scene, stage, moment) * 1000)
            await provider.aclose()
    return took
