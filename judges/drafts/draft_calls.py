"""The calls of drafts: asked as those of judges are, but what they answer is no label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.labels.recording import Answer
from jobs.models import Call, Run
from judges.drafts import steps
from judges.models import Draft, DraftAnswer
from judges.rating import recording
from judges.rating.judge_calls import JudgeRun


class DraftRun(JudgeRun):
    """Runs of drafts: made ready and asked as those of judges, recorded in a table of their own."""

    def record(self, given: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the answers as the draft's; return how many are new."""
        drafts = dict(
            Draft.objects.filter(rater__in={call.rater_id for call, _ in given}).values_list("rater", "pk")
        )
        rows = [
            _row(drafts[call.run.answerer.pk], call, answer) for call, answers in given for answer in answers
        ]
        before = DraftAnswer.objects.filter(call__in=[call.pk for call, _ in given]).count()
        DraftAnswer.objects.bulk_create(rows, ignore_conflicts=True)
        return DraftAnswer.objects.filter(call__in=[call.pk for call, _ in given]).count() - before

    def settled(self, run: Run) -> None:
        """Count the values and the missing answers."""
        recording.tell_values(run, DraftAnswer.objects.filter(call__run=run))
        steps.settled(run)


def _row(draft: int, call: Call, answer: Answer) -> DraftAnswer:
    item, question, sample = answer.place
    return DraftAnswer(
        draft_id=draft,
        call=call,
        item_id=item,
        question_id=question,
        sample=sample,
        number=None if answer.value is None or isinstance(answer.value, str) else float(answer.value),
        text=answer.value if isinstance(answer.value, str) else None,
        missing=answer.missing,
        explanation=answer.explanation,
    )


RUN = DraftRun()
