"""Exclusion of dialogues by people's answers: one answer excludes, and an unfinished review does not pass.

An exclusion is written `objection>=1`: the key of a question, a comparison and a value. A dialogue is
`objected` where any person's current answer, imported or given as main work, meets it; `not_checked` where
none does but a person is still to answer; otherwise `passed`. Only dialogues that passed are selected.

As many people are to answer as the tasks of the dialogue have raters, in opened campaigns with that question;
a campaign that itself leaves dialogues out by the question follows a review and is none.
A dialogue without such a task needs the most raters per item of these campaigns; where no campaign asks the
question, one answer.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import Q

from annotation.corpora import splits
from annotation.errors import ExclusionRefused
from annotation.models import Corpus, Label, LabelCount, Question
from annotation.models.campaigns import Campaign

OBJECTED, NOT_CHECKED, PASSED = "objected", "not_checked", "passed"
STATES = {OBJECTED: "objected", NOT_CHECKED: "not checked", PASSED: "passed"}
"""States of a dialogue, with their names on pages; those before the last are left out."""
COMPARISONS = {
    ">=": "at least",
    "<=": "at most",
    "!=": "not",
    ">": "more than",
    "<": "less than",
    "=": "",
}
"""Comparisons with their wording; longer ones first, as they are read."""
LONGEST = 400
"""Maximum characters of an exclusion."""
LABEL, HELP = (
    "Leave out dialogues by an answer",
    "A question's key, a comparison and a value, such as objection>=1: one such answer of a person leaves "
    "the dialogue out, and so does an unfinished review. Empty: leaves out none.",
)
"""Label and help of the field in forms."""
PATTERN = re.compile(r"\s*([^\s<>=!]+)\s*(>=|<=|!=|>|<|=)\s*(\S(?:.*\S)?)\s*")
NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A condition on answers: a question's key, a comparison (`COMPARISONS`) and a value."""

    question: str
    comparison: str
    value: str

    def __str__(self) -> str:
        return f"{self.question}{self.comparison}{self.value}"

    @property
    def number(self) -> float | None:
        """The value as a number, None where it is a text."""
        return float(self.value) if NUMBER.fullmatch(self.value) else None

    def in_words(self) -> str:
        """Return `objection is at least 1`."""
        return " ".join(
            filter(None, (self.question, "is", COMPARISONS[self.comparison], self.value.replace("\n", " ")))
        )


def parse(text: str) -> Exclusion | None:
    """Read an exclusion; None for an empty text. Raises ExclusionRefused."""
    if not text.strip():
        return None
    match = PATTERN.fullmatch(text) if len(text) <= LONGEST else None
    if match is None or "\0" in text:
        raise ExclusionRefused(
            f"{text[:40]!r} is not an exclusion: write a question's key, a comparison and a value, such as "
            "objection>=1"
        )
    exclusion = Exclusion(*match.groups())
    if exclusion.number is None and exclusion.comparison not in ("=", "!="):
        raise ExclusionRefused(f"{exclusion.value[:40]!r} is not a number: a text is compared by = or !=")
    return exclusion


def is_possible(corpus: Corpus) -> bool:
    """Whether a corpus has questions by whose answers dialogues can be left out."""
    return corpus.campaigns.exists() or LabelCount.objects.filter(corpus=corpus).exists()


def check(corpus: Corpus, text: str) -> str:
    """Return an exclusion without spaces, '' for none; raise ExclusionRefused for an unknown question."""
    exclusion = parse(text)
    if exclusion is None:
        return ""
    questions = Question.objects.filter(key=exclusion.question)
    is_asked = Campaign.objects.filter(corpus=corpus, scheme_version__in=questions.values("version")).exists()
    if not is_asked and not Label.objects.filter(question__in=questions, item__corpus=corpus).exists():
        raise ExclusionRefused(
            f"no question of a campaign or label of {corpus.name} has the key {exclusion.question[:60]!r}"
        )
    return str(exclusion)


REVIEWS = """
WITH question AS (SELECT q.id, q.version_id FROM annotation_question q WHERE q.key = %(question)s),
campaign AS (
  SELECT g.id, g.raters_per_item, g.side_by_side FROM annotation_campaign g
   WHERE g.corpus_id = %(corpus)s AND g.state <> 'draft' AND g.occasion IN ('main', 'imported')
     AND g.id <> ALL(%(following)s::bigint[])
     AND g.scheme_version_id IN (SELECT version_id FROM question)),
answer AS MATERIALIZED (
  SELECT c.dialogue_id, c.id AS continuation_id, i.id AS item_id, l.rater_id, {meets} AS meets
    FROM annotation_label l
    JOIN annotation_item i ON i.id = l.item_id AND i.corpus_id = %(corpus)s
    JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_rater r ON r.id = l.rater_id AND r.kind = 'human'
   WHERE l.question_id IN (SELECT id FROM question) AND l.superseded_at IS NULL AND l.missing = ''
     AND l.occasion IN ('main', 'imported')),
review AS (
  SELECT c.dialogue_id, t.raters AS needed, count(DISTINCT a.rater_id) FILTER (
           WHERE a.item_id = t.item_id OR g.side_by_side
              OR t.item_id IS NULL AND a.continuation_id = t.continuation_id) AS reviews
    FROM annotation_task t
    JOIN campaign g ON g.id = t.campaign_id
    JOIN annotation_continuation c ON c.id = t.continuation_id
    LEFT JOIN answer a ON a.dialogue_id = c.dialogue_id
   WHERE t.position >= 0
   GROUP BY t.id, c.dialogue_id),
least AS (
  SELECT DISTINCT ON (dialogue_id) dialogue_id, needed, reviews FROM review
   ORDER BY dialogue_id, reviews - needed, needed DESC)
SELECT d.id, d.key, d.part, coalesce(n.objections, 0), coalesce(least.reviews, n.reviews, 0),
       coalesce(least.needed, (SELECT max(raters_per_item) FROM campaign), 1),
       d.cluster = ANY(%(closed)s::text[]) OR d.script IS NOT NULL AND EXISTS (
         SELECT 1 FROM unnest(%(closed)s::text[]) AS hidden WHERE starts_with(hidden, d.key || '/'))
  FROM annotation_dialogue d
  LEFT JOIN (SELECT dialogue_id, count(DISTINCT rater_id) AS reviews,
                    count(DISTINCT rater_id) FILTER (WHERE meets) AS objections
               FROM answer GROUP BY 1) AS n ON n.dialogue_id = d.id
  LEFT JOIN least ON least.dialogue_id = d.id
 WHERE d.corpus_id = %(corpus)s
 ORDER BY d.key COLLATE "C"
"""


@dataclass(frozen=True, slots=True)
class Review:
    """The state of a dialogue (`STATES`): the people who object, those who answered, and those needed.

    Of several tasks, `reviews` and `needed` are those of the task that lacks most answers. `is_hidden`: in
    the test part that nobody has opened, so that no page shows its answers.
    """

    id: int
    dialogue: str
    part: str
    objections: int
    reviews: int
    needed: int
    is_hidden: bool

    @property
    def state(self) -> str:
        """Key of the state."""
        if self.objections:
            return OBJECTED
        return NOT_CHECKED if self.reviews < self.needed else PASSED

    @property
    def title(self) -> str:
        """Name of the state."""
        return STATES[self.state]

    @property
    def reason(self) -> str:
        """Why the dialogue is left out, '' where it passed."""
        answered = f"{self.reviews} of {self.needed} have answered"
        if self.objections:
            return f"{self.objections} {'person objects' if self.objections == 1 else 'people object'}"
        return answered if self.state == NOT_CHECKED else ""


def reviews(corpus: Corpus, exclusion: Exclusion) -> list[Review]:
    """Return the state of every dialogue of a corpus, by key."""
    number = exclusion.number
    comparison = "<>" if exclusion.comparison == "!=" else exclusion.comparison
    conditions = [f"l.number {comparison} %(number)s"] if number is not None else []
    if exclusion.comparison in ("=", "!="):
        conditions.append(f"l.text {comparison} %(text)s")
    parameters: dict[str, Any] = {
        "corpus": corpus.pk,
        "question": exclusion.question,
        "number": number,
        "text": exclusion.value,
        "following": _following(corpus, exclusion.question),
        "closed": list(splits.unopened(corpus).values_list("cluster", flat=True)),
    }
    with connection.cursor() as cursor:
        meets = f"coalesce({' OR '.join(conditions)}, false)"
        cursor.execute(REVIEWS.format(meets=meets), parameters)
        return [Review(*row) for row in cursor.fetchall()]


def _following(corpus: Corpus, question: str) -> list[int]:
    """Return the campaigns that leave dialogues out by a question."""
    rows = corpus.campaigns.exclude(exclude="").values_list("pk", "exclude")
    return [pk for pk, text in rows if (own := parse(text)) is not None and own.question == question]


@dataclass(frozen=True)
class LeftOutDialogues:
    """The dialogues that an exclusion leaves out of a corpus (outside training, or of training alone)."""

    exclusion: Exclusion
    rows: Sequence[Review]

    @cached_property
    def ids(self) -> list[int]:
        """Ids of the dialogues."""
        return [row.id for row in self.rows if row.state != PASSED]

    @property
    def visible(self) -> list[Review]:
        """Dialogues left out, without those of a test part that nobody has opened."""
        return [row for row in self.rows if row.state != PASSED and not row.is_hidden]

    def as_json(self) -> dict[str, Any]:
        """Return condition, counts, a sentence, and the dialogues left out with their reasons, as plain data.

        Dialogues in a test part that nobody has opened are counted as `hidden` and in nothing else.
        """
        counted = Counter(row.state for row in self.rows if not row.is_hidden)
        n = sum(counted.values())
        hidden = len(self.rows) - n
        rest = f" The test part is not counted: nobody has opened it ({hidden:,})." if hidden else ""
        return {
            "exclude": str(self.exclusion),
            "dialogues": n,
            OBJECTED: counted[OBJECTED],
            NOT_CHECKED: counted[NOT_CHECKED],
            "hidden": hidden,
            "sentence": (
                f"Left out where {self.exclusion.in_words()} for any person, or where people are still to "
                f"answer: {counted[OBJECTED]:,} objected and {counted[NOT_CHECKED]:,} not checked of {n:,} "
                f"dialogues.{rest}"
            ),
            "left_out": [
                {"dialogue": row.dialogue, "state": row.state, "reason": row.reason} for row in self.visible
            ],
        }

    def digest(self) -> str:
        """Return the SHA-256 of condition and dialogues left out: equal hashes leave out the same."""
        keys = [row.dialogue for row in self.rows if row.state != PASSED]
        return hashlib.sha256(json.dumps([str(self.exclusion), keys]).encode()).hexdigest()


def left_out(corpus: Corpus, text: str, *, training: bool = False) -> LeftOutDialogues | None:
    """Return what an exclusion leaves out of a corpus as of now; None without an exclusion.

    Raises ExclusionRefused for a text that is no exclusion.
    """
    exclusion = parse(text)
    if exclusion is None:
        return None
    rows = [row for row in reviews(corpus, exclusion) if (row.part == splits.TRAINING) == training]
    return LeftOutDialogues(exclusion, rows)


def described(corpus: Corpus, text: str, *, training: bool = False) -> dict[str, Any] | None:
    """Return what an exclusion leaves out as of now, as plain data; None without an exclusion."""
    result = left_out(corpus, text, training=training)
    return result.as_json() if result else None


def excluded_ids(corpus: Corpus, text: str) -> list[int]:
    """Return the ids of all dialogues that an exclusion leaves out, training included; none without one."""
    exclusion = parse(text)
    return [row.id for row in reviews(corpus, exclusion) if row.state != PASSED] if exclusion else []


def without(ids: Sequence[int], prefix: str = "") -> Q:
    """Return the condition that rows are about other dialogues; `prefix` leads to these (`dialogue__`)."""
    return ~Q(**{f"{prefix}pk__in": list(ids)}) if ids else Q()
