"""No report or file names a person: they have pseudonyms, and a key only on explicit request."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, Rater
from annotation.work import labels
from calibration.errors import GoldRuleError
from calibration.exports.packages import PACKAGES
from calibration.gold import derivation
from calibration.ratings.scope import census, scope_of
from calibration.reports.renderings import RENDERINGS
from calibration.studies import study_actions as studies
from config.models import Event
from tests import factories
from tests.calibration.world import world

pytestmark = pytest.mark.django_db
NAMES = ("zoe-secret", "abe-secret", "mia-secret")
SHAPE = re.compile(r"person-[0-9a-f]{8}")


@pytest.fixture(scope="module")
def answered(module_database: None) -> Any:
    """A corpus in which three people with accounts answered, in the order of their names."""
    built = world("talks", dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.ask("off_topic", "binary", [0, 1], positive=1)
    for number, name in enumerate(NAMES):
        rater = labels.rater_of_person(user=factories.user(name))
        built.say(rater, "quality", [1 + (item + number) % 3 for item in range(8)], occasion="main")
        built.say(rater, "off_topic", [float((item * number) % 2) for item in range(8)], occasion="main")
    return built


@pytest.fixture
def researcher() -> Client:
    client = Client()
    client.force_login(factories.user("rei", researcher=True))
    return client


def texts(answer: Any) -> list[str]:
    """Return what an answer says, of a zip what its files say."""
    content = b"".join(answer) if answer.streaming else answer.content
    if not content.startswith(b"PK"):
        return [content.decode(errors="replace")]
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        return [name + files.read(name).decode(errors="replace") for name in files.namelist()]


@pytest.mark.exhaustive
def test_no_report_export_package_or_gold_names_a_person(answered: Any, researcher: Client) -> None:
    corpus = answered.corpus
    study = studies.automatic(corpus=corpus)
    by = factories.user(researcher=True)
    version = answered.questions["quality"].version
    chosen = derivation.make(corpus=corpus, campaign=None, scheme_version=version, rule="majority", by=by)
    place = f"?corpus={corpus.pk}"
    addresses = [reverse("report", args=[study.pk]), reverse("gold", args=[chosen.pk])]
    addresses += [reverse("report-file", args=[study.pk, form]) for form in RENDERINGS]
    addresses += [reverse("export-labels", args=[form]) + place for form in ("csv", "jsonl")]
    addresses += [reverse("export-package", args=[kind]) + place for kind in PACKAGES]
    addresses += [reverse("gold-file", args=[chosen.pk, "csv"]), reverse("counts", args=[corpus.pk])]
    addresses += [reverse("dialogue", args=[dialogue.pk]) for dialogue in corpus.dialogues.all()[:2]]
    known = 0
    for address in addresses:
        answer = researcher.get(address, follow=True)
        assert answer.status_code == 200, address
        for text in texts(answer):
            assert not [name for name in NAMES if name in text], address
            known += bool(SHAPE.search(text))
    assert known > 5


def test_a_pseudonym_stays_differs_by_corpus_and_tells_no_order(answered: Any) -> None:
    people = [Rater.objects.get(name=name) for name in NAMES]
    mine = [labels.pseudonym(rater, answered.corpus.pk) for rater in people]
    assert mine == [labels.pseudonym(Rater.objects.get(pk=one.pk), answered.corpus.pk) for one in people]
    other = Corpus.objects.create(name="other")
    assert not set(mine) & {labels.pseudonym(rater, other.pk) for rater in people}
    told = [info.name for info in census(scope_of(answered.corpus, None)).raters.values()]
    assert told == sorted(mine)


def test_the_key_is_for_who_asks_and_that_is_logged(answered: Any, researcher: Client) -> None:
    address = f"{reverse('export-names')}?corpus={answered.corpus.pk}"
    assert researcher.get(address).status_code == 405
    lines = researcher.post(address).content.decode().splitlines()
    assert lines[0] == "pseudonym,username"
    assert {line.split(",")[1] for line in lines[1:]} == set(NAMES)
    told = researcher.post("/api/v1/exports/names/", {"corpus": answered.corpus.pk}, "application/json")
    assert {row["username"] for row in told.json()} == set(NAMES)
    assert Event.objects.filter(verb="reveal pseudonyms", by__username="rei").count() == 2


def test_gold_chooses_people_by_pseudonym_and_knows_no_user_name(answered: Any) -> None:
    mine = labels.pseudonym(Rater.objects.get(name=NAMES[0]), answered.corpus.pk)
    made = {"corpus": answered.corpus, "campaign": None, "by": factories.user(researcher=True)}
    made |= {"scheme_version": answered.questions["quality"].version, "rule": "majority"}
    assert derivation.make(**made, raters=[mine]).labels.exists()
    with pytest.raises(GoldRuleError, match="no rater 'zoe-secret' answered these questions"):
        derivation.make(**made, raters=[NAMES[0]])
