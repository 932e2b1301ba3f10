"""From nothing to ComperDial: every step of the chain is there, and the study recovers what was planted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import pytest_django
from django.core.management import call_command

from annotation.models import Corpus, Label, Turn
import tests.demo._chain_times  # noqa
from demo import collecting, loading
from demo.fake_model import running
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]


@pytest.fixture(scope="module")
def corpus(django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker) -> Iterator[Corpus]:
    """The fixed dialogues after the chain. They are committed: runs have connections of their own."""
    model = FakeModel(running.load("ordinary"))
    with (
        django_db_blocker.unblock(),
        LocalServer(lambda method, path, body, _: model.respond(method, path, body)) as server,
    ):
        accounts = {role: loading.ensure(role).user for role in loading.ROLES}
        endpoint = loading.endpoint(server.url, by=accounts["administrator"])
        yield collecting.load(
            by=accounts["researcher"], endpoint=endpoint, finish=loading.finish, exchanges=4, people=8
        )
        call_command("flush", verbosity=0, interactive=False)


def test_it(corpus: Corpus) -> None:
    print(corpus.dialogues.count(), Turn.objects.filter(continuation__dialogue__corpus=corpus).count())
    print(Label.objects.filter(item__corpus=corpus).count())
