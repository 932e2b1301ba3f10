"""Material of an agent of a long dialogue, from the database: script, questions, uses, summaries."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import openai
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Func, Max, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from annotation import records
from annotation.models import Corpus, RelationRows
from annotation.models.corpora import Dialogue
from annotation.models.records import QuestionSet, Record
from annotation.script_records import FACT, QUESTION, Fact, Question, fact_record, question_record
from jobs.endpoints.client import TROUBLE, CallError, FakeModelAnswers, openai_client, transport_error
from jobs.endpoints.costs import counter
from jobs.endpoints.endpoint_actions import remember
from jobs.fake_models import EMBEDDING_MODEL, has_mark, is_fake
from jobs.models.endpoint import Endpoint
from jobs.prompt import about_tokens
from judges.metrics import ModelMissing
from judges.metrics.kit.models import text_hash
from judges.runs.material import DatabaseStore, tools
from suites.continuation.errors import SystemsError
from suites.continuation.generators.generator import Failed, MadeRecord, Settings
from suites.continuation.models import Production
from suites.continuation.productions.dialogues import of_rows
from suites.long_dialogue.agent.memory import Embeds, Material, Vectors
from suites.long_dialogue.agent.trial_settings import EMBEDDER, SET
from suites.long_dialogue.agent.walking import NoMaterial
from suites.long_dialogue.editing import question_sets
from suites.long_dialogue.editing.import_records import uses_of
from suites.long_dialogue.editing.question_records import find_question_set, is_kept, versioned_name
from suites.long_dialogue.scripts.graph import DEFAULT, RelationTable

# Vectors by an endpoint's embedding model: requested once, saved in the store, and looked up there.
#
# A lookup never sends a request: a worker that calls one model would wait for another meanwhile.

AT_ONCE = 32
"""Number of texts per request: their vectors stay well below the longest response that is read."""
MOST_REQUESTS = 8
RETRIES = 3
MAX_VECTORS = 100_000


class Stored:
    """Looks up the vectors of an endpoint's model; raises NoMaterial for a text without a vector."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._vectors: dict[str, Vectors] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, in order."""
        missing = self.missing(texts)
        if missing:
            raise NoMaterial(
                f"{len(missing):,} texts have no vector of {name_of(self.endpoint)}: a simulation makes them"
            )
        rows = [self._vectors[text] for text in texts]
        if len(self._vectors) > MAX_VECTORS:
            self._vectors.clear()
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the distinct texts without a vector."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        hashes = {text: text_hash(text) for text in unknown}
        stored = DatabaseStore().load(name_of(self.endpoint), list(hashes.values()))
        for text, key in hashes.items():
            if key in stored:
                self._vectors[text] = np.frombuffer(stored[key], dtype="<f4")
        return [text for text in unknown if text not in self._vectors]


def embedder_of(name: str) -> Embeds:
    """Return an embedder: Concord's own model for '', else a lookup of an endpoint's vectors.

    Raises Failed for an unknown endpoint.
    """
    if not name:
        return tools().embed
    return Stored(_endpoint(name))


def prepare(name: str, texts: Iterable[str]) -> None:
    """Embed and save texts without a vector. Raises SystemsError if the model does not answer."""
    if name:
        endpoint = _endpoint(name)
        missing = Stored(endpoint).missing(texts)
        for part in _parts(missing, AT_ONCE * MOST_REQUESTS):
            try:
                rows = asyncio.run(_embed(endpoint, part))
            except FakeModelAnswers as refused:
                remember({}, [endpoint.pk])
                raise SystemsError(f"embedder: {refused}") from None
            _keep(endpoint, part, rows)
        return
    try:
        tools().embed.prepare(texts)
    except ModelMissing as error:
        raise SystemsError(str(error)) from None


def model_of(name: str) -> str:
    """Return the model of an embedder's endpoint; '' for Concord's own, or if the endpoint is gone."""
    endpoint = Endpoint.objects.filter(name=name).first() if name else None
    return endpoint.answering_model if endpoint else ""


def name_of(endpoint: Endpoint) -> str:
    """Return the name under which an endpoint's vectors are stored: its own, its model's and its server's."""
    server = " ".join(endpoint.server.values())
    full_name = f"{endpoint.name}: {endpoint.answering_model} at {server}"
    return full_name if len(full_name) <= 200 else f"{full_name[:167]} {text_hash(full_name)[:32]}"


def _endpoint(name: str) -> Endpoint:
    endpoint = Endpoint.objects.filter(name=name, active=True).first()
    if endpoint is None:
        raise Failed(f"embedder: there is no endpoint {name[:100]!r}")
    return endpoint


async def _embed(endpoint: Endpoint, texts: Sequence[str]) -> list[list[float]]:
    """Return the vectors of texts, in order, from several concurrent requests."""
    try:
        client = openai_client(endpoint).with_options(max_retries=RETRIES)
    except CallError as error:
        raise SystemsError(f"embedder: {error}") from None
    async with client:
        answers = await asyncio.gather(
            *(_request(client, endpoint, part) for part in _parts(texts, AT_ONCE)), return_exceptions=True
        )
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [row for answer in answers if isinstance(answer, list) for row in answer]


async def _request(client: openai.AsyncOpenAI, endpoint: Endpoint, texts: Sequence[str]) -> list[list[float]]:
    try:
        raw = await client.embeddings.with_raw_response.create(
            model=endpoint.model, input=list(texts), encoding_format="float"
        )
        answer = raw.parse()
    except openai.APIStatusError as error:
        raise SystemsError(
            f"embedder: {endpoint.name} refused to embed: HTTP {error.status_code}. Choose an endpoint whose "
            "model embeds texts."
        ) from None
    except TROUBLE as error:
        reason = transport_error(error, endpoint, client.api_key)
        raise SystemsError(f"embedder: {endpoint.name}: {reason}") from None
    if has_mark(raw.headers) and not is_fake(endpoint.answering_model):
        raise FakeModelAnswers(endpoint, endpoint.model)
    rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
    if len(rows) != len(texts) or len({len(row) for row in rows}) != 1:
        raise SystemsError(f"embedder: {endpoint.name} gave {len(rows)} vectors for {len(texts)} texts.")
    return rows


def _keep(endpoint: Endpoint, texts: Sequence[str], rows: Sequence[Sequence[float]]) -> None:
    vectors = {
        text_hash(text): np.asarray(row, dtype="<f4").tobytes() for text, row in zip(texts, rows, strict=True)
    }
    DatabaseStore().save(name_of(endpoint), vectors)


def _parts(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for at in range(0, len(texts), size):
        yield texts[at : at + size]


# Model-written wordings become part of the questions: the latest wordings of every script of a corpus.

GENERATOR = "dialsim_style"


@transaction.atomic
def take(*, corpus: Corpus, by: User | None) -> dict[str, int]:
    """Store the latest wordings in a corpus's questions, script by script; return the counts."""
    counts: Counter[str] = Counter(worded=0, superseded=0, used=0)
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
        counts.update(question_sets.take_wordings(dialogue=dialogue, styles=styles, by=by))
    return dict(counts)


def keep_wordings(production: Production, made_records: Sequence[MadeRecord], text: Any) -> Any:
    """Store a production's wordings in a script's questions; return its result."""
    styles: dict[str, question_sets.Styles] = (text or {}).get("styles") or {}
    question_sets.take_wordings(dialogue=production.dialogue, styles=styles, by=production.run.created_by)
    return text


def _styles(production: Production) -> dict[str, question_sets.Styles]:
    return (production.result or {}).get("styles") or {}


SUMMARIES = "dialsim_session_summary"
"""Generator of session summaries; its condition contains the `text_digest` as `text`."""


class Scripts:
    """Reads scripts for agents, and for code that needs no question set.

    `key` and `load` raise Failed for a set that the corpus does not have, `load` also for an unknown
    embedder.
    """

    def key(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Hashable:
        """Return a key of the material: script, question set, tokenizer, embedder, and summaries."""
        selected_set = _selected_set(dialogue, settings)
        text = Func(Cast("script", TextField()), function="md5")
        script = Dialogue.objects.filter(pk=dialogue).values_list(text, flat=True).first()
        summary_stats = _summaries(dialogue, endpoint).aggregate(n=Count("pk"), last=Max("pk"))
        tokenizer = endpoint.tokenizer if endpoint else ""
        of = selected_set.pk if selected_set else None
        return (
            dialogue,
            script,
            of,
            tokenizer,
            settings.get(EMBEDDER, ""),
            summary_stats["n"],
            summary_stats["last"],
        )

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Material:
        """Return a script with the questions of a set and their uses."""
        selected_set = _selected_set(dialogue, settings)
        row = Dialogue.objects.get(pk=dialogue)
        uses = tuple(uses_of(selected_set, dialogue)) if selected_set else ()
        used_ids = {use.question for use in uses}
        return Material(
            dialogue=replace(_script(row), facts=_facts(dialogue)),
            questions=tuple(question for question in _questions(dialogue) if question.id in used_ids),
            uses=uses,
            summaries=_summary_texts(dialogue, endpoint),
            vectors=embedder_of(str(settings.get(EMBEDDER, ""))),
            count_tokens=counter(endpoint)[0] if endpoint else about_tokens,
        )

    def mark_used(self, dialogue: int, settings: Settings) -> None:
        """Mark a question set as used: from here on it never changes."""
        if (selected_set := _selected_set(dialogue, settings)) is not None:
            QuestionSet.objects.filter(pk=selected_set.pk, used_at=None).update(used_at=timezone.now())

    def facts(self, condition: Mapping[str, Any]) -> dict[str, str]:
        """Return the model of the endpoint whose vectors were looked up."""
        model = model_of(str(condition.get(EMBEDDER, "")))
        return {EMBEDDING_MODEL: model} if model else {}


def question_set(dialogue: int, setting: str) -> QuestionSet:
    """Return the question set of a setting, NAME:VERSION or NAME for its last version; '' for the only set.

    Raises Failed if the corpus of the dialogue has none, or more than one to choose from.
    """
    corpus = Dialogue.objects.filter(pk=dialogue).values_list("corpus", flat=True).first() or 0
    names = sorted(set(QuestionSet.objects.filter(corpus=corpus).values_list("name", flat=True)))
    if not setting and len(names) > 1:
        raise Failed(f"name a question set: {', '.join(names)}")
    matching_set = find_question_set(corpus, setting or "".join(names))
    if matching_set is None:
        available = f"; it has {', '.join(names)}" if names else ""
        raise Failed(f"the corpus has no question set {setting!r}".removesuffix(" ''") + available)
    return matching_set


def _selected_set(dialogue: int, settings: Settings) -> QuestionSet | None:
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
    """Return the summaries of a script's sessions by the endpoint's model, at its server."""
    rows = Production.objects.filter(
        dialogue=dialogue, generator=SUMMARIES, status=Production.Status.DONE, result__isnull=False
    )
    if endpoint is None:
        return rows
    return rows.filter(condition__model=endpoint.answering_model, writer__spec__contains=endpoint.server)


def _summary_texts(dialogue: int, endpoint: Endpoint | None) -> Mapping[str, str]:
    """Return summaries by the digest of the summarised text, the latest of several."""
    rows = _summaries(dialogue, endpoint).order_by("pk").values_list(F("condition__text"), "result")
    return {digest: text for digest, text in rows if isinstance(text, str)}


LOADER = Scripts()


# Material of generators of facts and questions: a script with all its records.


class WithRecords:
    """Reads scripts with their records.

    `load` raises Failed for a deleted dialogue; `key` and `load` raise it for an unknown question set, or one
    whose questions no longer change.
    """

    def key(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Hashable:
        """Return a key of the material: script, counts of records by status, last record, relations."""
        text = Func(Cast("script", TextField()), function="md5")
        script = Dialogue.objects.filter(pk=dialogue).values_list(text, flat=True).first()
        record_stats = Record.objects.filter(dialogue=dialogue).aggregate(
            last=Max("pk"),
            left=Count("pk", filter=Q(superseded_by=None)),
            drafts=Count("pk", filter=Q(superseded_by=None, status="draft")),
            accepted=Count("pk", filter=Q(superseded_by=None, status="accepted")),
        )
        table = RelationRows.objects.filter(corpus__dialogues=dialogue).aggregate(last=Max("pk"))
        target_set = _to_word(dialogue, settings)
        return (
            dialogue,
            script,
            *record_stats.values(),
            table["last"],
            target_set.pk if target_set else None,
            SET in settings,
        )

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Material:
        """Return a script with its current facts and questions, of any status.

        Where `settings` name a question set, the material's questions are those created by the set; where the
        setting exists but is empty, those of no set.
        """
        row = Dialogue.objects.filter(pk=dialogue).first()
        if row is None:
            raise Failed("the script is gone")
        rows = Record.objects.filter(dialogue=dialogue, superseded_by=None).order_by("pk")
        facts, questions = _facts_of_bound(rows), _questions_of_bound(rows)
        target_set = _to_word(dialogue, settings)
        target_questions = _questions_of_bound(rows.filter(set=target_set)) if SET in settings else questions
        script = replace(of_rows([row])[row.pk], facts=facts, questions=questions)
        return Material(script, target_questions, (), relations=relations_of(row.corpus_id))

    def mark_used(self, dialogue: int, settings: Settings) -> None:
        """Do nothing: generators of records leave question sets unchanged."""

    def facts(self, condition: Mapping[str, Any]) -> dict[str, str]:
        """Return nothing: records create no continuation."""
        return {}


def _facts_of_bound(rows: QuerySet[Record]) -> tuple[Fact, ...]:
    values = rows.filter(kind=FACT).values_list("key", "content", "status")
    return tuple(fact_record(*record) for record in values)


def _questions_of_bound(rows: QuerySet[Record]) -> tuple[Question, ...]:
    values = rows.filter(kind=QUESTION).values_list("key", "content", "status")
    return tuple(question_record(*record) for record in values)


def _to_word(dialogue: int, settings: Settings) -> QuestionSet | None:
    """Return the question set whose questions are to be worded, None for those of no set.

    Raises Failed for an unknown set, and for one that no longer changes.
    """
    if not (setting := str(settings.get(SET) or "")):
        return None
    target_set = question_set(dialogue, setting)
    if is_kept(target_set):
        why = "a simulation used it" if target_set.used_at else "people answered about its questions"
        raise Failed(
            f"the questions of the set {versioned_name(target_set)} keep their texts, since {why}: make "
            "a set under another name, and word that one"
        )
    return target_set


def relations_of(corpus: int) -> RelationTable:
    """Return a corpus's own table of relations, or else the default table of Concord."""
    own = RelationRows.objects.filter(corpus=corpus).order_by("-version").first()
    return DEFAULT if own is None else RelationTable.parse(own.rows)


RECORDS_LOADER = WithRecords()


LOADERS = {"script": LOADER, "records": RECORDS_LOADER}


RESULTS = {GENERATOR: keep_wordings}
