"""Lists on pages: sorted, filtered and paged by their address, one way for all."""

from __future__ import annotations

import pytest
from django.test import Client

from jobs.models import Job
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(factories.user("rosa", researcher=True))
    return client


def names(response) -> list[str]:
    return [str(row) for row in response.context["page"]]


def test_a_heading_is_a_link_that_sorts_and_says_how(page: Client) -> None:
    for name in ("Talk 10", "Talk 9", "talk 1"):
        factories.corpus(name)
    first = page.get("/corpora/")
    assert 'href="?sort=corpus"' in first.content.decode()
    response = page.get("/corpora/?sort=corpus")
    assert [corpus.name for corpus in response.context["page"]] == ["talk 1", "Talk 9", "Talk 10"]
    text = response.content.decode()
    assert 'aria-sort="ascending"' in text
    assert 'href="?sort=-corpus"' in text
    response = page.get("/corpora/?sort=-corpus")
    assert [corpus.name for corpus in response.context["page"]] == ["Talk 10", "Talk 9", "talk 1"]
    assert 'aria-sort="descending"' in response.content.decode()


@pytest.mark.parametrize(
    "sort",
    [
        "password",
        "created_by__password",
        "-created_by__password",
        "-",
        "?",
        "--corpus",
        "corpus;drop",
        "ratings-of-campaigns",
    ],
)
def test_a_list_sorts_by_its_own_columns_only(page: Client, sort: str) -> None:
    for name in ("b", "a"):
        factories.corpus(name)
    response = page.get("/corpora/", {"sort": sort})
    assert response.status_code == 200
    assert [corpus.name for corpus in response.context["page"]] == ["a", "b"]
    assert "This list does not sort by" in response.content.decode()
    assert "aria-sort" not in response.content.decode()


def test_a_filter_is_plain_text_and_keeps_the_order(page: Client) -> None:
    for number in range(9):
        factories.corpus(f"Talk {number} 100%")
    hostile = factories.corpus("<b>&")
    response = page.get("/corpora/?sort=-corpus&text=TALK")
    assert len(response.context["page"]) == 9
    text = response.content.decode()
    assert '<input type="hidden" name="sort" value="-corpus" form="filter">' in text
    assert [corpus.name for corpus in page.get("/corpora/", {"text": "0%"}).context["page"]] == [
        f"Talk {number} 100%" for number in range(9)
    ]
    assert [corpus.pk for corpus in page.get("/corpora/", {"text": "<b>"}).context["page"]] == [hostile.pk]
    nothing = page.get("/corpora/", {"text": "<i>\0", "sort": "corpus"}).content.decode()
    assert "Nothing matches “<bdi>&lt;i&gt;</bdi>”" in nothing
    assert 'href="?sort=corpus">Show all' in nothing


def test_pages_of_a_list_keep_its_order_and_filter(page: Client) -> None:
    for number in range(60):
        Job.objects.create(kind="export", subject=f"file {number}")
    text = page.get("/jobs/?sort=asked-for&text=file").content.decode()
    assert 'href="?sort=asked-for&amp;text=file&amp;page=2"' in text
    assert "Page 1 of 3" in text
    second = page.get("/jobs/?sort=asked-for&text=file&page=2")
    assert second.context["page"][0].subject == "file 25"
    assert 'href="?sort=-asked-for&amp;text=file"' in second.content.decode(), "a new order begins anew"


SORTED = [
    ("/corpora/", ("corpus", "dialogues", "turns", "items-to-rate", "since")),
    ("/campaigns/", ("campaign", "state", "corpus", "asks", "annotators", "submitted")),
    ("/jobs/", ("job", "state", "by", "asked-for")),
    ("/corpora/talks/annotation/", ("campaign", "state", "asks", "annotators")),
    ("/corpora/talks/judges/", ("run", "state", "begun")),
    ("/corpora/talks/results/", ("study", "labels-of", "reports", "last-computed", "by")),
    ("/corpora/talks/gold/", ("made", "labels-of", "questions-of", "rule", "labels", "without-value", "by")),
    ("/corpora/talks/dialogues/", ("dialogue", "about")),
    ("/people/", ("name", "role", "tasks-submitted", "last-signed-in")),
    ("/people/log/", ("when", "by", "act", "about")),
    ("/raters/", ("name", "kind", "from", "short-name")),
    ("/runs/costs/", ("calls-made", "from-the-cache", "tokens-read", "tokens-written", "cost")),
    ("/runs/costs/?by=campaign", ("runs", "saved-by-the-cache")),
    ("/runs/productions/", ("dialogue", "system", "state", "steps-answered", "what-to-know")),
    ("/benchmarks/", ("benchmark", "by", "asked-for")),
]


@pytest.mark.parametrize(("address", "keys"), SORTED)
def test_every_heading_with_a_link_sorts(address: str, keys: tuple[str, ...]) -> None:
    boss = factories.user("boss", administrator=True)
    corpus = factories.corpus("talks")
    factories.dialogue(corpus, "d")
    campaign = factories.campaign(corpus, by=boss)
    client = Client()
    client.force_login(boss)
    for key in keys:
        for sort in (key, f"-{key}"):
            response = client.get(
                address,
                {
                    **dict(part.split("=") for part in address.partition("?")[2].split("&") if part),
                    "sort": sort,
                },
            )
            assert response.status_code == 200, sort
            assert "does not sort" not in response.content.decode(), sort
    for part, columns in (
        ("submissions", ("about", "submitted", "seconds-held", "answers")),
        ("held", ("about", "since", "held-until")),
        ("notes", ("turn", "note", "when")),
    ):
        for key in columns:
            response = client.get(f"/campaigns/{campaign.pk}/{part}/?sort=-{key}")
            assert response.status_code == 200
            assert "does not sort" not in response.content.decode(), key
