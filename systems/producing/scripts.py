"""The material of an agent of a long dialogue, from the database: script, questions, uses, summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import replace

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Func, Max, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from annotation import records
from annotation.models import Corpus, QuestionSet, Record
from annotation.models.corpora import Dialogue
from annotation.script_editing import question_sets
from annotation.script_editing.import_records import uses_of
from annotation.script_editing.question_records import found
from annotation.scripts.records import FACT, QUESTION, Fact, Question, fact_record, question_record
from jobs.endpoints.costs import counter
from jobs.models import Endpoint
from jobs.prompt import about_tokens
from systems.generators import Failed, Settings
from systems.long_dialogue.material import Material
from systems.long_dialogue.trial_settings import EMBEDDER, SET
from systems.models.production import Production
from systems.producing import embedders
from systems.producing.dialogues import of_rows

# What models worded becomes part of the questions: the last wordings of every script of a corpus.

GENERATOR = "dialsim_style"


@transaction.atomic
def take(*, corpus: Corpus, by: User | None) -> dict[str, int]:
    """Give a corpus's questions the wordings that were made last, script by script; return what was done."""
    told: Counter[str] = Counter(worded=0, superseded=0, used=0)
    last: dict[Dialogue, dict[str, question_sets.Styles]] = {}
    done = Production.objects.filter(
        generator=GENERATOR,
        status=Production.Status.DONE,
        dialogue__corpus=corpus,
        dialogue__script__isnull=False,
    )
    for production in done.select_related("dialogue__corpus").order_by("dialogue__key", "pk"):
        last.setdefault(production.dialogue, {}).update(_styles(production))
    for dialogue, styles in last.items():
        told.update(question_sets.take_wordings(dialogue=dialogue, styles=styles, by=by))
    return dict(told)


def take_one(production: Production, by: User | None) -> dict[str, int]:
    """Give a script's questions the wordings that one production came to; return what was done."""
    return question_sets.take_wordings(dialogue=production.dialogue, styles=_styles(production), by=by)


def _styles(production: Production) -> dict[str, question_sets.Styles]:
    return (production.result or {}).get("styles") or {}


SUMMARIES = "dialsim_session_summary"
"""The generator whose texts are summaries of sessions; its condition has the `text_digest` as `text`."""


class Scripts:
    """Reads scripts for agents, and for what needs no question set. Both raise Failed for a set that the
    corpus does not have, and for an embedder that there is not."""

    def key(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Hashable:
        """Return the script, its question set, who counts and embeds, and which summaries there are."""
        chosen = _chosen(dialogue, settings)
        text = Func(Cast("script", TextField()), function="md5")
        script = Dialogue.objects.filter(pk=dialogue).values_list(text, flat=True).first()
        made = _summaries(dialogue, endpoint).aggregate(n=Count("pk"), last=Max("pk"))
        tokenizer = endpoint.tokenizer if endpoint else ""
        of = chosen.pk if chosen else None
        return dialogue, script, of, tokenizer, settings.get(EMBEDDER, ""), made["n"], made["last"]

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Material:
        """Return a script with the questions of a set and where they are asked."""
        chosen = _chosen(dialogue, settings)
        row = Dialogue.objects.get(pk=dialogue)
        uses = tuple(uses_of(chosen, dialogue)) if chosen else ()
        asked = {use.question for use in uses}
        return Material(
            dialogue=replace(_script(row), facts=_facts(dialogue)),
            questions=tuple(one for one in _questions(dialogue) if one.id in asked),
            uses=uses,
            summaries=_told(dialogue, endpoint),
            vectors=embedders.of(str(settings.get(EMBEDDER, ""))),
            count_tokens=counter(endpoint)[0] if endpoint else about_tokens,
        )


def question_set(dialogue: int, setting: str) -> QuestionSet:
    """Return the question set that a setting names, NAME:VERSION or the last of its name; '' is the only one.

    Raises Failed where the corpus of the dialogue has none, or more than one to choose from.
    """
    corpus = Dialogue.objects.filter(pk=dialogue).values_list("corpus", flat=True).first() or 0
    names = sorted(set(QuestionSet.objects.filter(corpus=corpus).values_list("name", flat=True)))
    if not setting and len(names) > 1:
        raise Failed(f"name a question set: {', '.join(names)}")
    held = found(corpus, setting or "".join(names))
    if held is None:
        there = f"; it has {', '.join(names)}" if names else ""
        raise Failed(f"the corpus has no question set {setting!r}".removesuffix(" ''") + there)
    return held


def mark_used(dialogue: int, settings: Settings) -> None:
    """Note that the questions of a set are asked now: from here on it never changes."""
    if (chosen := _chosen(dialogue, settings)) is not None:
        QuestionSet.objects.filter(pk=chosen.pk, used_at=None).update(used_at=timezone.now())


def _chosen(dialogue: int, settings: Settings) -> QuestionSet | None:
    return question_set(dialogue, str(settings[SET])) if SET in settings else None


def _script(row: Dialogue) -> records.Dialogue:
    return of_rows([row])[row.pk]


def _questions(dialogue: int) -> list[Question]:
    rows = Record.objects.filter(dialogue=dialogue, kind=QUESTION).order_by("pk")
    return [question_record(*row) for row in rows.values_list("key", "content", "status")]


def _facts(dialogue: int) -> tuple[Fact, ...]:
    rows = Record.objects.filter(dialogue=dialogue, kind=FACT, status="accepted").order_by("pk")
    return tuple(fact_record(*row) for row in rows.values_list("key", "content", "status"))


def _summaries(dialogue: int, endpoint: Endpoint | None) -> QuerySet[Production]:
    """Return the summaries of a script's sessions that the endpoint's model made, at its server."""
    rows = Production.objects.filter(
        dialogue=dialogue, generator=SUMMARIES, status=Production.Status.DONE, result__isnull=False
    )
    if endpoint is None:
        return rows
    return rows.filter(condition__model=endpoint.answering_model, writer__spec__contains=endpoint.server)


def _told(dialogue: int, endpoint: Endpoint | None) -> Mapping[str, str]:
    """Return summaries by the digest of what they sum up, the last that was made where there are several."""
    rows = _summaries(dialogue, endpoint).order_by("pk").values_list(F("condition__text"), "result")
    return {digest: text for digest, text in rows if isinstance(text, str)}


LOADER = Scripts()
