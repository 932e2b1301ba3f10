"""Source corpora and a fake model for tests that create benchmarks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from annotation.records import Dialogue
from demo.fake_model.errors import ErrorModel, RoleErrors
from demo.fake_model.running import MARKED, LocalServer
from demo.fake_model.serving import FakeModel, Response, failure
from jobs.models import Endpoint
from suites.continuation.benchmarks.instances import line
from suites.continuation.models import Benchmark
from suites.continuation.productions import benchmark_actions
from suites.continuation.productions.benchmark_steps import Order
from tests.judges.helpers import finish
from tests.suites.continuation.talk import conversation


class Served:
    """The fake model over HTTP; `rates` per role may change while it runs.

    `asked` counts chat requests and `prompts` has their texts, `embedded` counts embedded texts. `alias` is
    another name for `fake-1`, under which it passes for a real model. `refuses(number, text)` decides whether
    a chat request is refused permanently.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.rates: dict[str, dict[str, float]] = {}
        self.asked = self.embedded = 0
        self.prompts: list[str] = []
        self.alias = ""
        self.refuses: Callable[[int, str], bool] = lambda number, text: False
        self._lock = threading.Lock()
        self._server = LocalServer(self._respond)
        self.url = self._server.url

    def _respond(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Response:
        with self._lock:
            number = self._counted(method, path, body)
        if number is not None and self.refuses(number, self.prompts[number - 1]):
            return failure(400, "no")
        if self.alias and body and body.get("model") == self.alias:
            body = {**body, "model": "fake-1"}
        roles = {role: RoleErrors(own=rates) for role, rates in self.rates.items()}
        return FakeModel(ErrorModel(roles), seed=self.seed).respond(method, path, body)

    def _counted(self, method: str, path: str, body: Any) -> int | None:
        """Count a request; return the number of a chat request."""
        if method == "POST" and path.endswith("/embeddings"):
            self.embedded += len(body["input"])
            return None
        if method != "POST":
            return None
        self.asked += 1
        self.prompts.append("\n".join(str(one["content"]) for one in body.get("messages", ())))
        return self.asked

    def says_that_it_is_fake(self) -> None:
        """Mark every further response as that of a fake model."""
        self._server.headers.update(MARKED)

    def endpoint(self, **fields: Any) -> Endpoint:
        """Create an endpoint for this server."""
        usual = {"name": "fake", "model": "fake-1", "price_in": 1, "price_out": 10, "allow_private": True}
        return Endpoint.objects.create(base_url=self.url, **(usual | fields))


@contextmanager
def served(seed: int = 0) -> Iterator[Served]:
    """Run a fake model."""
    model = Served(seed)
    with model._server:
        yield model


def source(folder: Path, name: str, dialogues: list[Dialogue]) -> Corpus:
    """Create a corpus of conversations through an ordinary import."""
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{line(one)}\n" for one in dialogues), encoding="utf-8")
    import_path(path=path, format="jsonl", corpus=name, into=False, by=None)
    return Corpus.objects.get(name=name)


def talks(prefix: str, number: int = 4, turns: int = 100, filler: bool = True) -> list[Dialogue]:
    """Return some conversations of a source."""
    return [conversation(f"{prefix}{n}", turns, filler) for n in range(number)]


def make(
    name: str, sources: list[Corpus], endpoint: Endpoint | None, rounds: int = 12, **order: Any
) -> Benchmark:
    """Start a benchmark and advance it as workers do, until it is done or stuck."""
    told = {"leave_out_failed": order.pop("leave_out_failed", False)}
    wanted = Order(**({"per_source": 2} | order))
    named = [(corpus, corpus.name) for corpus in sources]
    found = benchmark_actions.start(
        by=None, name=name, sources=named, order=wanted, endpoint=endpoint, **told
    )
    return brought_on(found, rounds)


def brought_on(found: Benchmark, rounds: int = 12) -> Benchmark:
    """Advance a benchmark until it is done or stuck."""
    for _ in range(rounds):
        found = benchmark_actions.advance(found.pk)
        if found.state != Benchmark.State.MAKING:
            break
        finish()
    return found
