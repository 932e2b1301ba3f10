"""Signed-in people and a small corpus. (What needs Django is imported once it is set up.)"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from annotation.models import Corpus


@pytest.fixture
def corpus(tmp_path: Path, db: None) -> Corpus:
    """A corpus `c` of three dialogues, the first with a continuation and labels."""
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
    """A browser in which a researcher is signed in."""
    from tests import factories

    client.force_login(factories.user("rea", researcher=True))
    return client


@pytest.fixture
def administrator(client: Client, db: None) -> Client:
    """A browser in which an administrator is signed in."""
    from tests import factories

    client.force_login(factories.user("ada", administrator=True))
    return client


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads are imported in the request instead of in a thread."""
    from annotation.importing import uploads

    monkeypatch.setattr(uploads, "start", lambda *, upload: uploads.work(upload.pk))
