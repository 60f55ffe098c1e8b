"""A command that runs in the background while the conversation goes on."""

from __future__ import annotations

from enum import StrEnum

from codeagent.core.values import value


class JobState(StrEnum):
    """How far a job has come."""

    RUNNING = "running"
    STOPPED = "stopped"
    ENDED = "ended"


@value
class Job:
    """A background command as it stands now.

    ``number`` counts from 1 in each session. ``seconds`` is how long it has run.
    ``ended`` says in words how it ended and is empty while it runs; ``tail`` is the
    end of its output, ``log`` the file with all of it, ``left`` what it started and
    left running, ``changed`` the files that changed by then, in words.
    """

    number: int
    command: str
    state: JobState
    seconds: float
    ended: str = ""
    tail: str = ""
    log: str = ""
    left: tuple[str, ...] = ()
    changed: str = ""

    @property
    def name(self) -> str:
        """What the person and the model call it."""
        return f"job {self.number}"

    @property
    def is_running(self) -> bool:
        """Whether it still runs."""
        return self.state is JobState.RUNNING
