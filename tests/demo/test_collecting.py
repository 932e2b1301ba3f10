"""From nothing to ComperDial: every step of the chain is there, and the study recovers what was planted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import pytest_django
from django.core.management import call_command

from annotation.models import Corpus, Label, Turn
from calibration.models import Report
from calibration.reports.snapshot import snapshot_of
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
        import tests.demo._chain_times
        yield collecting.load(by=accounts["researcher"], endpoint=endpoint, finish=loading.finish)
        call_command("flush", verbosity=0, interactive=False)


def test_it(corpus: Corpus) -> None:
    print(corpus.dialogues.count(), Turn.objects.filter(continuation__dialogue__corpus=corpus).count())
    from django.db.models import Count, Avg
    print(list(Label.objects.filter(item__corpus=corpus).values_list("rater__kind","question__version__scheme__key").annotate(n=Count("pk"))))
    print(list(Label.objects.filter(item__corpus=corpus,rater__kind="human", question__key="overall").values_list("item__kind","item__continuation__system__name").annotate(n=Count("pk"), a=Avg("number"))))
    for name in set(corpus.system_set.values_list("name", flat=True)) if hasattr(corpus,"system_set") else ():
        texts=list(Turn.objects.filter(continuation__dialogue__corpus=corpus, continuation__system__name=name, given=False).exclude(continuation__key="self").values_list("text",flat=True))
        if texts: print(name, len(texts), collecting.planted(texts), texts[:2])
    for report in Report.objects.all():
        print("=====", report.study.name)
        snap = snapshot_of(report)
        for table in snap.levels:
            print(table.about, table.levels, table.reference)
            for row in table.rows:
                print("  ", row)
    from suites.collecting.models import Persona
    for p in Persona.objects.all(): print(p.status, p.reason, p.sentences, p.flags)
    for t in Turn.objects.filter(continuation__dialogue__corpus=corpus, continuation__key="self")[:16]: print(t.speaker, t.text)
