"""From a reading to answers: verdicts speak of turns and names, labels of items and questions."""

from __future__ import annotations

from annotation.recording import Answer
from judges.protocols.base import Reading
from judges.work.jobs import Job


def answers_of(job: Job, reading: Reading) -> tuple[Answer, ...]:
    """Return the answers to record for a call."""
    questions, items = job.call.run.questions, job.material.items
    return tuple(
        Answer(
            item=items[verdict.turn],
            question=questions[verdict.question],
            value=verdict.value,
            missing=verdict.missing,
            sample=job.call.sample,
            explanation=verdict.explanation.replace("\x00", "").encode("utf-8", "replace").decode(),
        )
        for verdict in reading.verdicts
    )
