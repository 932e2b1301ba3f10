"""An annotator's agreement with others: shown if the campaign allows it, without any single answer."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.work import screens
from annotation.work import task_actions as labelling
from calibration.own_agreement import Pair, own_agreement, share
from tests import factories


def pairs(n: int, same: int) -> list[Pair]:
    return [Pair(f"d{number // 2}", number, 7, number < same) for number in range(n)]


def test_the_share_has_its_interval_and_counts() -> None:
    found = share(pairs(40, 30))
    assert (found.value, found.n_items, found.n_clusters, found.n_raters) == (0.75, 40, 20, 1)
    assert found.low < 0.75 < found.high


def test_too_few_items_tell_nothing_but_why() -> None:
    found = share(pairs(19, 19))
    assert (found.status, found.value) == ("insufficient", None)
    assert "19 answers" in found.reason


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_it_moves_in_steps_and_a_revision_does_not_move_it() -> None:
    ana, ben, cem = (factories.user(name) for name in ("ana", "ben", "cem"))
    corpus = factories.corpus()
    for _ in range(12):
        dialogue = factories.dialogue(corpus, turns=1)
        factories.continuation(dialogue, "x", system="x", turns=[{"text": "a"}, {"text": "b"}])
    campaign = factories.campaign(corpus, annotators=[ana, ben, cem], raters=2, shows_agreement=True)
    (question,) = campaign.scheme_version.questions.filter(required=True, level="ordinal")

    def rate(person, value, number=1):
        for _ in range(number):
            _, hold = labelling.start(by=person, campaign=campaign.pk)
            (item,) = screens.load(hold.task, assignment=hold.assignment).items
            place = {"campaign": campaign.pk, "assignment": hold.assignment}
            answers = {str(item): {question.key: value}}
            labelling.submit(by=person, **place, answers=answers)
        return place, item

    place, item = rate(ana, 4, 24)
    rate(ben, 4, 12)
    assert own_agreement(ana, campaign).rows == ()
    rate(ben, 2, 12)
    found = own_agreement(ana, campaign)
    assert (found.finished, found.tasks) == (24, 20)
    (row,) = found.rows
    before = row.result.value
    assert row.result.n_items == 20
    revised = {str(item): {question.key: 2}}
    labelling.submit(by=ana, **place, answers=revised, revising=True)
    assert own_agreement(ana, campaign).rows[0].result.value == before
    client = Client()
    client.force_login(ana)
    page = client.get(f"/work/{campaign.pk}/agreement/").content.decode()
    assert "20 tasks count" in page
    told = client.get(f"/api/v1/work/{campaign.pk}/agreement/").json()
    assert told["rows"][0]["value"] == before
    client.force_login(cem)
    assert "Not enough yet" in client.get(f"/work/{campaign.pk}/agreement/").content.decode()
    campaign.shows_agreement = False
    campaign.save()
    assert client.get(f"/work/{campaign.pk}/agreement/").status_code == 404
