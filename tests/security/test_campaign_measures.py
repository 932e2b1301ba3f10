"""Managers of a campaign read only its own results: report, gold and exports."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Campaign, Corpus
from annotation.people import accounts
from annotation.work import task_actions as labelling
from calibration.exports import downloads
from calibration.exports.downloads import Order
from calibration.exports.parts import ExportPart
from calibration.exports.writing import FORMATS
from calibration.gold import derivation
from calibration.models import Export, Gold, Study
from calibration.studies import study_actions as studies
from tests import factories

pytestmark = pytest.mark.django_db
STUDY_PAGES = ("study", "report", "plan", "api-study", "api-report", "api-plan")
GOLD_PAGES = ("gold", "gold-provenance", "api-gold")
PLACE_PAGES = ("golds", "new-gold", "exports", "transcripts", "api-golds", "api-exports")


@dataclass
class Measured:
    """A campaign with its labels, and what was made of them."""

    campaign: Campaign
    study: Study
    gold: Gold

    @property
    def query(self) -> str:
        """The parameter that names the campaign."""
        return f"?campaign={self.campaign.pk}"


def measured(corpus: Corpus, researcher: User) -> Measured:
    people = [factories.user(), factories.user()]
    made = factories.campaign(corpus, annotators=people, raters=2, by=researcher)
    for person in people:
        for value in (3, 4):
            _, hold = labelling.start(by=person, campaign=made.pk)
            assert hold is not None
            item = made.tasks.get(pk=hold.task).item
            answers = {str(item.pk): {"overall": value}}
            labelling.submit(by=person, campaign=made.pk, assignment=hold.assignment, answers=answers)
    study = studies.automatic(corpus=corpus, campaign=made, by=researcher)
    gold = derivation.make(
        corpus=corpus, campaign=made, scheme_version=made.scheme_version, rule="majority", by=researcher
    )
    return Measured(made, study, gold)


@pytest.fixture(scope="module")
def researcher(module_database: None) -> User:
    return factories.user(researcher=True)


@pytest.fixture(scope="module")
def corpus(module_database: None) -> Corpus:
    made = factories.corpus()
    for key in ("one", "two"):
        talk = factories.dialogue(made, key, turns=2)
        factories.continuation(talk, "x", system="model-x", turns=[{"text": "a reply"}])
    return made


@pytest.fixture(scope="module")
def own(corpus: Corpus, researcher: User) -> Measured:
    return measured(corpus, researcher)


@pytest.fixture(scope="module")
def other(corpus: Corpus, researcher: User) -> Measured:
    return measured(corpus, researcher)


@pytest.fixture(scope="module")
def client(own: Measured, researcher: User) -> Client:
    keeper = factories.user("keeper")
    accounts.give_campaign_role(by=researcher, campaign=own.campaign, person=keeper, role="researcher")
    browser = Client()
    browser.force_login(keeper)
    return browser


def statuses(client: Client, of: Measured) -> dict[str, int]:
    """Return what each address that tells something measured of a campaign answers."""
    asked = {name: reverse(name, args=[of.study.pk]) for name in STUDY_PAGES}
    asked |= {name: reverse(name, args=[of.gold.pk]) for name in GOLD_PAGES}
    asked |= {name: reverse(name) + of.query for name in PLACE_PAGES if not name.startswith("api-")}
    asked["items"] = reverse("report-items", args=[of.study.pk]) + "?question=comperdial_turn@1/overall"
    for form in FORMATS:
        asked[f"gold as {form}"] = reverse("gold-file", args=[of.gold.pk, form])
        asked[f"labels as {form}"] = reverse("export-labels", args=[form]) + of.query
        asked[f"labels as {form} over HTTP"] = reverse("api-export-labels", args=[form]) + of.query
        asked[f"gold as {form} over HTTP"] = reverse("api-gold-labels", args=[of.gold.pk, form])
    asked["package"] = reverse("export-package", args=["hugging-face"]) + of.query
    asked["package over HTTP"] = reverse("api-export-package", args=["hugging-face"]) + of.query
    some = f"{of.query}&continuation={of.campaign.tasks.values_list('continuation', flat=True)[0]}"
    asked["transcripts as a file"] = reverse("export-transcripts", args=["csv"]) + some
    return {name: client.get(address).status_code for name, address in asked.items()}


def test_who_looks_after_a_campaign_reads_its_report_gold_and_exports(client: Client, own: Measured) -> None:
    assert {name: code for name, code in statuses(client, own).items() if code != 200} == {}


def test_of_another_campaign_on_the_same_corpus_nothing_is_read(client: Client, other: Measured) -> None:
    assert {name: code for name, code in statuses(client, other).items() if code != 403} == {}


def test_lists_name_nothing_of_another_campaign(client: Client, own: Measured, other: Measured) -> None:
    for one in (own, other):
        order = Order("labels", one.campaign.corpus, one.campaign, ExportPart(None, ""), "csv")
        found = downloads.send(order=order, by=one.campaign.created_by)
        b"".join(found.response("labels").streaming_content)  # type: ignore[arg-type]
    golds = client.get(reverse("api-golds")).json()["results"]
    assert [row["id"] for row in golds] == [own.gold.pk]
    kept = client.get(reverse("api-exports")).json()["results"]
    assert {row["campaign"] for row in kept} == {own.campaign.pk}
    hidden = Export.objects.get(campaign=other.campaign)
    assert client.get(reverse("export-manifest", args=[hidden.pk])).status_code == 403
    assert f"gold {other.gold.pk}" not in client.get(reverse("gold", args=[own.gold.pk])).content.decode()


def test_golds_of_two_campaigns_are_not_compared(client: Client, own: Measured, other: Measured) -> None:
    page = reverse("gold-difference", args=[own.gold.pk])
    assert client.get(page, {"with": other.gold.pk}).status_code == 403
    route = reverse("api-gold-difference", args=[own.gold.pk, other.gold.pk])
    assert client.get(route).status_code == 403


def test_a_campaign_does_not_open_its_corpus(client: Client, own: Measured, other: Measured) -> None:
    corpus = own.campaign.corpus
    assert client.get(reverse("exports"), {"corpus": corpus.pk}).status_code == 403
    assert client.get(reverse("api-export-labels", args=["csv"]), {"corpus": corpus.pk}).status_code == 403
    assert client.post(reverse("api-golds"), {"corpus": corpus.pk}).status_code in (400, 403)
    assert client.post(f"{reverse('export-names')}?corpus={corpus.pk}").status_code == 403
    elsewhere = factories.dialogue(corpus, turns=2).continuations.get()
    asked = {"campaign": own.campaign.pk, "continuation": elsewhere.pk}
    for address in ("export-transcripts", "api-export-transcripts"):
        assert client.get(reverse(address, args=["csv"]), asked).status_code == 403


def test_who_looks_after_a_campaign_makes_its_gold(client: Client, own: Measured) -> None:
    chosen = {"scheme": "comperdial_turn@1", "rule": "mean"}
    answer = client.post(reverse("new-gold") + own.query, chosen)
    assert answer.status_code == 302
    assert Gold.objects.filter(campaign=own.campaign, rule="mean").count() == 1
    asked = chosen | {"campaign": own.campaign.pk, "rule": "median"}
    assert client.post(reverse("api-golds"), asked, content_type="application/json").status_code == 201


def test_test_stays_with_researchers(client: Client, own: Measured, researcher: User) -> None:
    splits.draw(corpus=own.campaign.corpus, by=researcher)
    assert client.post(reverse("open-test", args=[own.study.pk]), {"purpose": "why"}).status_code == 403
    assert client.post(reverse("api-open-test", args=[own.study.pk]), {"purpose": "why"}).status_code == 403
    asked = {"campaign": own.campaign.pk, "part": "test", "purpose": "why"}
    answer = client.post(reverse("api-export-labels", args=["csv"]), asked, content_type="application/json")
    assert answer.status_code == 400
    assert "by its researchers alone" in str(answer.json())


def test_keys_come_from_the_campaign_s_own_gold(client: Client, own: Measured, other: Measured) -> None:
    page = client.get(reverse("campaign-checks", args=[own.campaign.pk])).content.decode()
    assert f'"gold:{own.gold.pk}"' in page
    assert f'"gold:{other.gold.pk}"' not in page
    assert "rater:" not in page
    route = reverse("api-check-keys-from", args=[own.campaign.pk])
    asked = {"source": f"gold:{other.gold.pk}", "occasion": "check"}
    answer = client.post(route, asked, content_type="application/json")
    assert answer.status_code == 422
    assert "are for researchers" in str(answer.json())


def test_pages_of_a_campaign_s_measures_lead_nowhere_that_is_closed(client: Client, own: Measured) -> None:
    pages = [reverse("campaign", args=[own.campaign.pk]), reverse("campaign-watch", args=[own.campaign.pk])]
    pages += [reverse(name, args=[own.study.pk]) for name in ("study", "report", "plan")]
    pages += [reverse("gold", args=[own.gold.pk]), reverse("campaign-checks", args=[own.campaign.pk])]
    pages += [reverse(name) + own.query for name in ("golds", "new-gold", "exports", "transcripts")]
    found = {}
    for page in pages:
        for link in re.findall(r'<a [^>]*href="(/[^"#]*)', client.get(page).content.decode()):
            found.setdefault(link.replace("&amp;", "&"), page)
    closed = {link: page for link, page in found.items() if client.get(link).status_code == 403}
    assert closed == {}
