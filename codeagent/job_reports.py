"""What the person and the model are told of background jobs."""

from __future__ import annotations

from codeagent.core.events import Emit, JobChanged, Level, NoticeGiven
from codeagent.core.jobs import Job
from codeagent.workspace.jobs import Jobs

_LONGEST_COMMAND = 80


def tell_person(job: Job, emit: Emit) -> None:
    """A job was started or is over; its end is a notice as well."""
    emit(JobChanged(job=job))
    if not job.is_running:
        went_well = job.ended in {"stopped", "exit code 0"}
        emit(NoticeGiven(text=f"{_end_of(job)}.", level=Level.INFO if went_well else Level.WARNING))


def news_for_model(jobs: Jobs) -> str:
    """The ends of jobs that the model has not heard of; empty when there are none."""
    return "\n".join(
        f'[{_end_of(job)}; its output: job with "id": {job.number}, "action": "output"]' for job in jobs.news()
    )


def _end_of(job: Job) -> str:
    command = " ".join(job.command.split())
    short = command if len(command) <= _LONGEST_COMMAND else f"{command[:_LONGEST_COMMAND]}…"
    changed = f"; changed files: {job.changed}" if job.changed else ""
    return f"{job.name} ({short}) is over after {job.seconds:,.0f} s: {job.ended}{changed}"
