"""Vectors by an endpoint's embedding model: asked for once, kept in the store, and looked up from there.

Who looks vectors up never asks: a worker that puts questions to a model would wait for another one meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import openai

from jobs.endpoints.actions import remember
from jobs.endpoints.client import TROUBLE, CallError, FakeModelAnswers, openai_client, transport_error
from jobs.fake_models import has_mark, is_fake
from jobs.models import Endpoint
from judges.metrics import ModelMissing
from judges.metrics.kit.models import text_hash
from judges.runs.material import DatabaseStore, tools
from systems.errors import SystemsError
from systems.generators import Failed
from systems.long_dialogue.material import Embeds, Vectors
from systems.long_dialogue.world import NoMaterial

AT_ONCE = 32
"""So many texts go into a request: their vectors stay well below the longest response that is read."""
MOST_REQUESTS = 8
RETRIES = 3
KEPT = 100_000


class Stored:
    """Looks up the vectors of an endpoint's model, and raises NoMaterial for a text that has none."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._known: dict[str, Vectors] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, in their order."""
        missing = self.missing(texts)
        if missing:
            raise NoMaterial(
                f"{len(missing):,} texts have no vector of {name_of(self.endpoint)}: a simulation makes them"
            )
        rows = [self._known[text] for text in texts]
        if len(self._known) > KEPT:
            self._known.clear()
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the texts without a vector, each once."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        hashes = {text: text_hash(text) for text in unknown}
        held = DatabaseStore().load(name_of(self.endpoint), list(hashes.values()))
        for text, key in hashes.items():
            if key in held:
                self._known[text] = np.frombuffer(held[key], dtype="<f4")
        return [text for text in unknown if text not in self._known]


def of(name: str) -> Embeds:
    """Return what embeds: Concord's own model for '', else what looks up the vectors of an endpoint's.

    Raises Failed where there is no such endpoint.
    """
    if not name:
        return tools().embed
    return Stored(_endpoint(name))


def prepare(name: str, texts: Iterable[str]) -> None:
    """Embed what has no vector yet, and keep it. Raises SystemsError where the model does not answer."""
    if name:
        endpoint = _endpoint(name)
        missing = Stored(endpoint).missing(texts)
        for part in _parts(missing, AT_ONCE * MOST_REQUESTS):
            try:
                rows = asyncio.run(_asked(endpoint, part))
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
    """Return the model of an embedder's endpoint; '' for Concord's own, or where the endpoint is gone."""
    endpoint = Endpoint.objects.filter(name=name).first() if name else None
    return endpoint.answering_model if endpoint else ""


def name_of(endpoint: Endpoint) -> str:
    """Return under what name an endpoint's vectors are kept: its own, its model's and its server's."""
    server = " ".join(endpoint.server.values())
    whole = f"{endpoint.name}: {endpoint.answering_model} at {server}"
    return whole if len(whole) <= 200 else f"{whole[:167]} {text_hash(whole)[:32]}"


def _endpoint(name: str) -> Endpoint:
    endpoint = Endpoint.objects.filter(name=name, active=True).first()
    if endpoint is None:
        raise Failed(f"embedder: there is no endpoint {name[:100]!r}")
    return endpoint


async def _asked(endpoint: Endpoint, texts: Sequence[str]) -> list[list[float]]:
    """Return the vectors of texts, in their order, asked for in several requests side by side."""
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
        named = transport_error(error, endpoint, client.api_key)
        raise SystemsError(f"embedder: {endpoint.name}: {named}") from None
    if has_mark(raw.headers) and not is_fake(endpoint.answering_model):
        raise FakeModelAnswers(endpoint, endpoint.model)
    rows = [one.embedding for one in sorted(answer.data, key=lambda one: one.index)]
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
