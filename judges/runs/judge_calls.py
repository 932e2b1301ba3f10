"""Calls of judges: from a case to the prompt, from the reply to labels."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet

from annotation.kinds import COMPARING
from annotation.models import Label, Occasion, Question, Rater
from annotation.text.references import stored
from annotation.work import labels as recording
from annotation.work.labels import Answer
from config.planner import WORTH_TELLING, analyse_tables
from config.request_json import storable
from jobs import errors, runs
from jobs.calls.outcomes import DEFECTS, Outcome
from jobs.calls.prepared import PreparedCall, Read, is_reasked
from jobs.endpoints.parameters import of_sample
from jobs.models.run import MOST_SAMPLES, Call, Run
from jobs.prompt import OutOfScale, Tokens, Unparseable
from judges.errors import JudgeError
from judges.models import CallLabel
from judges.prompts.examples import refuse_test_items
from judges.protocols import Asking, Case, Prompt, Reading
from judges.protocols.protocol import UNMET, Computing, NeedAnswers
from judges.protocols.quoting import TooLong
from judges.runs.material import Material, answers_for_needs, case_of, load, with_compared
from judges.runs.plans import Asker, asker_of

# Recording of answers as labels, each linked to its call: a whole batch in one statement.
#
# All constraints and triggers apply.

_RECORD = """
WITH given AS (
  SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::int[], %s::float8[], %s::text[],
                       %s::text[], %s::text[], %s::text[], %s::text[])
    AS g(call, item, question, sample, number, text, missing, explanation, shown, evidence)),
fresh AS (
  INSERT INTO annotation_label
         (item_id, question_id, rater_id, occasion, sample, number, text, missing, explanation, shown,
          evidence, created_at)
  SELECT item, question, %s, %s, sample, number, text, missing, explanation, shown::int2[], evidence::jsonb,
         now() FROM given
      ON CONFLICT DO NOTHING RETURNING id, item_id, question_id, sample),
linked AS (
  INSERT INTO judges_calllabel (call_id, label_id)
  SELECT g.call, f.id FROM fresh f
    JOIN given g ON (g.item, g.question, g.sample) = (f.item_id, f.question_id, f.sample))
SELECT item_id, question_id, sample FROM fresh
"""

GivenAnswer = tuple[int, Answer]
"""Id of a call, and one of its answers."""


def record_all(
    answered_calls: Sequence[tuple[Call, Sequence[Answer]]], occasion: Occasion = Occasion.MAIN
) -> int:
    """Record the answers of calls, rater by rater; return the number of new labels."""
    by_rater: dict[int, list[GivenAnswer]] = defaultdict(list)
    raters = {call.run.answerer.pk: call.run.answerer for call, _ in answered_calls}
    for call, answers in answered_calls:
        by_rater[call.run.answerer.pk] += [(call.pk, answer) for answer in answers]
    return sum(record(raters[rater], answers, occasion) for rater, answers in by_rater.items() if answers)


def record(rater: Rater, linked_answers: Sequence[GivenAnswer], occasion: Occasion = Occasion.MAIN) -> int:
    """Record a rater's answers, numbers or texts, each linked to its call; return the number of new labels.

    If there is already a live label, `annotation.work.labels` decides whether it is replaced.
    """
    columns = [
        [call for call, _ in linked_answers],
        *zip(*(answer.place for _, answer in linked_answers), strict=True),
        [None if isinstance(answer.value, str) else answer.value for _, answer in linked_answers],
        [answer.value if isinstance(answer.value, str) else None for _, answer in linked_answers],
        [answer.missing for _, answer in linked_answers],
        [answer.explanation for _, answer in linked_answers],
        [_array(answer.shown) for _, answer in linked_answers],
        [json.dumps(stored(answer.evidence)) if answer.evidence else None for _, answer in linked_answers],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, [*(list(column) for column in columns), rater.pk, occasion.value])
        fresh = set(cursor.fetchall())
    rest = [(call, answer) for call, answer in linked_answers if answer.place not in fresh]
    return len(fresh) + (_record_over(rater, rest, occasion) if rest else 0)


def _array(numbers: tuple[int, ...] | None) -> str | None:
    """Format numbers as a PostgreSQL array literal, since arrays of different lengths cannot be nested."""
    return None if numbers is None else f"{{{','.join(map(str, numbers))}}}"


def _record_over(rater: Rater, linked_answers: Sequence[GivenAnswer], occasion: Occasion) -> int:
    origin = {answer.place: call for call, answer in linked_answers}
    answers = [answer for _, answer in linked_answers]
    labels = recording.record(rater=rater, answers=answers, occasion=occasion)
    CallLabel.objects.bulk_create(
        CallLabel(call_id=origin[label.item_id, label.question_id, label.sample], label=label)
        for label in labels
    )
    return len(labels)


def count_values(run: Run) -> None:
    """Count a run's values and missing answers, with the most frequent reason, in its columns."""
    if runs.of_run(run)["n"] >= WORTH_TELLING:
        analyse_tables("jobs_call", "annotation_label", "judges_calllabel")
    tell_values(run, Label.objects.filter(made_by__call__run=run, superseded_at=None))


def tell_values(run: Run, answers: QuerySet[Any]) -> None:
    """Store in a run's columns the number of answers with values, and the main reason of the others."""
    counted = answers.aggregate(
        values=Count("pk", filter=Q(missing="")), missing=Count("pk", filter=~Q(missing=""))
    )
    run.values, run.missing = counted["values"], counted["missing"]
    reasons = answers.exclude(missing="").values("missing").annotate(n=Count("pk"))
    commonest = reasons.order_by("-n", "missing").first()
    run.missing_reason = commonest["missing"] if commonest else ""


# Calls of judges: from a case to the prompt, from the reply to answers.

logger = logging.getLogger(__name__)

LONGEST_REPEATED = 4_000
"""Maximum characters of an unreadable reply that its repair shows to the model."""
Questions = Mapping[str, Question]
"""Questions that a run answers, by the protocol's names."""


class JudgeRun:
    """Runs of judges, whose protocol builds the request or computes the answer from the text."""

    def preparer(self) -> JudgePreparer:
        """Return a preparer of calls for one slice of work."""
        return JudgePreparer()

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Refuse: judges are asked, not computed."""
        raise AssertionError(f"{len(calls)} calls of judges on the queue of metrics")

    def record(self, answered_calls: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the answers as labels; return the number of new ones."""
        return record_all(answered_calls)

    def reopened(self, run: Run) -> None:
        """Do nothing: the calls alone determine what is asked again."""

    def awaits_calls(self, run: Run) -> bool:
        """Return False: its calls are all there, or come with the results of others."""
        return False

    def settled(self, run: Run) -> None:
        """Count the values and the missing answers."""
        count_values(run)


class JudgePreparer:
    """Prepares calls; caches the material of continuations with consecutive calls, and the questions of runs.
    Answers of other raters are read anew for every batch."""

    CACHE_SIZE = 256

    def __init__(self) -> None:
        self._material: dict[int, Material] = {}
        self._questions: dict[int, Questions] = {}

    def make(self, calls: Sequence[Call]) -> list[PreparedCall]:
        """Return the prepared calls, in order; calls that need no request carry their outcome."""
        self._remember({call.rated for call in calls})
        if compared := [call.item_id for call in calls if call.item_id and _compares(call.run.answerer.spec)]:
            self._material = with_compared(self._material, compared)
        need_answers = self._answers_for_needs(calls)
        refusals = _refused_examples(calls)
        return [
            self._prepare_call(
                call, need_answers.get(call.run.answerer.pk, {}), refusals.get(call.run.answerer.pk, "")
            )
            for call in calls
        ]

    def _prepare_call(
        self, call: Call, need_answers: Mapping[int, NeedAnswers], refusal: str
    ) -> PreparedCall:
        spec = call.run.answerer.spec
        asker = asker_of(spec)
        protocol = asker.protocol
        if refusal:
            refused = Outcome(call.pk, "failed", error=refusal, error_kind=errors.TEST_EXAMPLES)
            return PreparedCall(call, protocol.key, ready_outcome=refused)
        material = self._material[call.rated]
        sample = (
            call.sample % MOST_SAMPLES
        )  # asked again (`calibration.drift`): as the sample of the first run
        case = case_of(material, call.item_id, spec, need_answers.get(call.rated), call.part, sample)
        questions = self._questions_of(call.run)
        try:
            prompt, flags, reading = _prepared(asker, case)
            if reading is not None:
                answers = answers_of(call, material, questions, reading, case.shown)
                done = Outcome(call.pk, "done", answers, reading.flags)
                return PreparedCall(call, protocol.key, ready_outcome=done)
        except TooLong as error:
            too_long = Outcome(call.pk, "failed", error=str(error), error_kind=errors.OVER_BUDGET)
            return PreparedCall(call, protocol.key, ready_outcome=too_long)
        except JudgeError as error:
            stuck = Outcome(call.pk, "failed", error=str(error), error_kind=errors.DEFECT)
            return PreparedCall(call, protocol.key, ready_outcome=stuck)
        except DEFECTS as error:
            logger.exception("%s failed on call %s", protocol.key, call.pk)
            trouble = f"defect in the protocol: {type(error).__name__}: {error}"
            broken = Outcome(call.pk, "failed", error=trouble, error_kind=errors.DEFECT)
            return PreparedCall(call, protocol.key, ready_outcome=broken)
        sent = of_sample(spec.get("parameters", {}), sample)
        read = partial(_read, call, sent, asker, case, material, questions, flags)
        # Probabilities of tokens depend on all of a request: where they are the answer, it stays the same.
        if prompt is not None and call.reasked and protocol.repairs and not sent.get("logprobs"):
            prompt = _repairing(prompt, call)
        reply_tokens = protocol.reply_tokens if isinstance(protocol, Asking) else 0
        return PreparedCall(call, protocol.key, prompt, None, spec["model"], sent, read, reply_tokens)

    def _remember(self, ids: set[int]) -> None:
        missing = ids - self._material.keys()
        if len(self._material) + len(missing) > self.CACHE_SIZE:
            self._material = {pk: self._material[pk] for pk in ids & self._material.keys()}
        if missing:
            self._material |= load(missing)

    def _answers_for_needs(self, calls: Sequence[Call]) -> dict[int, dict[int, NeedAnswers]]:
        """Return the answers for the raters' needs, by rater and continuation."""
        continuations: dict[int, set[int]] = defaultdict(set)
        raters = {call.run.answerer.pk: call.run.answerer for call in calls}
        specs = {pk: rater.spec for pk, rater in raters.items() if "needs" in rater.spec}
        for call in calls:
            if call.run.answerer.pk in specs:
                continuations[call.run.answerer.pk].add(call.rated)
        return {
            rater: answers_for_needs(
                asker_of(specs[rater]).protocol,
                specs[rater]["needs"],
                {pk: self._material[pk] for pk in sorted(ids)},
            )
            for rater, ids in continuations.items()
        }

    def _questions_of(self, run: Run) -> Questions:
        if run.pk not in self._questions:
            rows = Question.objects.in_bulk(run.questions.values())
            self._questions[run.pk] = {name: rows[pk] for name, pk in run.questions.items()}
        return self._questions[run.pk]


def _refused_examples(calls: Sequence[Call]) -> dict[int, str]:
    """Return, by rater, the reason why its worked examples may not be sent: some belong to test by now.

    Starting a run refuses them too, but a split may be drawn while its calls wait.
    """
    specs = {call.run.answerer.pk: call.run.answerer.spec for call in calls}
    refusals = {}
    for pk, spec in specs.items():
        wording = asker_of(spec).wording
        if wording is None or not wording.examples:
            continue
        try:
            refuse_test_items(wording)
        except JudgeError as error:
            refusals[pk] = str(error)
    return refusals


def _prepared(asker: Asker, case: Case) -> tuple[Prompt | None, tuple[str, ...], Reading | None]:
    """Return the prompt and its flags, or the answers that need no request. Raises TooLong."""
    protocol = asker.protocol
    if refusal := protocol.unavailable_reason(case, asker.variant):
        return None, (), protocol.unanswered(case, refusal)
    if unmet := protocol.unmet(case):
        return None, (), replace(protocol.unanswered(case, unmet), flags=(UNMET,))
    if isinstance(protocol, Computing):
        return None, (), protocol.judge(case, asker.variant)
    prompt, flags = asker.prompt(case)
    return prompt, flags, None


def _read(
    call: Call,
    sent: Mapping[str, Any],
    asker: Asker,
    case: Case,
    material: Material,
    questions: Questions,
    flags: tuple[str, ...],
    reply: str,
    tokens: Tokens,
) -> Read:
    try:
        reading = asker.read(reply, tokens, case)
    except Unparseable as error:
        given_up = None if is_reasked(call, sent) else asker.given_up(error, case)
        if given_up is None:
            raise
        reading = given_up
    return Read(answers_of(call, material, questions, reading, case.shown), (*flags, *reading.flags))


def _repairing(prompt: Prompt, call: Call) -> Prompt:
    """Return the prompt of a repeated request, which names the fault of the reply before it."""
    if call.error_kind not in (errors.UNPARSEABLE, errors.OUT_OF_SCALE):
        return prompt
    reason = call.error.removeprefix("unparseable: ")
    return replace(prompt, fault=(call.reply[:LONGEST_REPEATED], reason))


def _compares(spec: Mapping[str, Any]) -> bool:
    return asker_of(spec).protocol.covers in COMPARING


def answers_of(
    call: Call, material: Material, questions: Questions, reading: Reading, shown_order: tuple[int, ...] = ()
) -> tuple[Answer, ...]:
    """Convert a reading to answers: from the turns and names of verdicts to items and questions of labels.

    Answers about a comparison belong to the call's own item, whose members were shown in `shown_order`.
    Raises OutOfScale for a value off its question's scale, which no person could give either.
    """
    return tuple(
        Answer(
            item=(call.item_id or 0) if shown_order else material.items[verdict.turn],
            question=questions[verdict.question].pk,
            value=_on_scale(questions[verdict.question], verdict.value),
            missing=verdict.missing,
            sample=call.sample,
            explanation=storable(verdict.explanation),
            shown=shown_order or None,
            evidence=verdict.evidence,
        )
        for verdict in reading.verdicts
    )


def _on_scale(question: Question, value: float | str | None) -> float | str | None:
    text = storable(value) if isinstance(value, str) else value
    if text is None or question.accepts(text):
        return text
    scale = ", ".join(f"{option}" for option in question.values) or f"a {question.level} answer"
    raise OutOfScale(f"{question.key}: {str(text)[:40]!r} is not on the scale ({scale})")


RUN = JudgeRun()
