"""Signed-in people and a small corpus. (Modules that need Django are imported once it is set up.)"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from annotation.models import Corpus


@pytest.fixture(autouse=True)
def no_stored_files() -> None:
    """Remove files that earlier tests sent and did not import: the ids of their uploads come again."""
    from annotation.corpora import uploads

    for path in uploads.folder().iterdir():
        uploads._remove(path)


@pytest.fixture
def corpus(tmp_path: Path, db: None) -> Corpus:
    """Create a corpus `c` of three dialogues, the first with a continuation and labels."""
    from annotation.models import Corpus
    from tests.importing.helpers import continuation, imported, label, line, written

    first = line(
        "d/1",
        summary="They greet.",
        metadata={"goal": "<b>greet</b>"},
        participants=[{"id": "A", "name": "<script>alert(1)</script>"}, {"id": "B"}],
        continuations=[continuation("model-x", "An <i>unusual</i> {laugh} answer")],
        labels=[label(4), label(None, 1, missing="unclear"), label(2, continuation="model-x", kind="judge")],
    )
    imported(written(tmp_path, first, line("d2"), line("d3")))
    return Corpus.objects.get(name="c")


@pytest.fixture
def researcher(client: Client, db: None) -> Client:
    """Return a client signed in as a researcher."""
    from tests import factories

    client.force_login(factories.user("rea", researcher=True))
    return client


@pytest.fixture
def administrator(client: Client, db: None) -> Client:
    """Return a client signed in as an administrator."""
    from tests import factories

    client.force_login(factories.user("ada", administrator=True))
    return client


def work_off() -> None:
    """Run the queued jobs as a worker does."""
    from jobs.queue import jobs
    from jobs.queue.worker import Heartbeat

    with Heartbeat("jobs") as heartbeat:
        jobs.work("jobs", seconds=20, heartbeat=heartbeat)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> None:
    """Import each upload before its page is shown, as if by a fast worker."""
    from annotation.corpora import uploads

    start = uploads.start

    def started(**fields: Any) -> None:
        start(**fields)
        work_off()

    monkeypatch.setattr(uploads, "start", started)


def with_broker(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Send this process's wake-ups to a broker, as a web process in production does."""
    from celery import Celery

    from config import celery
    from jobs.queue import waking

    app = Celery("tests", broker=address, amqp=celery.Amqp, set_as_current=False)
    policy = celery.app.conf.task_publish_retry_policy
    app.conf.update(
        broker_transport_options=celery.transport_options(address), task_publish_retry_policy=policy
    )
    monkeypatch.setattr(waking, "current_app", app)
    monkeypatch.setattr("django.conf.settings.CELERY_BROKER_URL", address)
