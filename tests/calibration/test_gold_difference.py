"""Two golds side by side: equal and different items, and size of differences, checked with pandas."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from calibration.errors import GoldDifferenceRefused
from calibration.exports import downloads
from calibration.exports.parts import ExportPart
from calibration.gold.derivation import make
from calibration.gold.difference import difference
from calibration.models import Export, Gold
from jobs.models import Job
from tests import factories
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Twenty-four turns with a rating and a category by three people, with ties and gaps."""
    built = world(dialogues=6, turns=4)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], scheme="both")
    built.ask("act", "nominal", ["=ask", "tell"], scheme="both")
    rng = np.random.default_rng(6)
    for name in ("ann", "ben", "cem"):
        numbers = rng.integers(1, 6, 24).astype(float).tolist()
        acts = rng.choice(["=ask", "tell"], 24).tolist()
        kept = 20 if name == "cem" else 24
        built.say(name, "quality", dict(zip(built.turns[:kept], numbers, strict=False)))
        built.say(name, "act", dict(zip(built.turns[:kept], acts, strict=False)))
    return built


@pytest.fixture(scope="module")
def pair(rated: World) -> tuple[Gold, Gold]:
    """Gold of all people by majority, and of two of them."""
    return rated.gold("majority"), rated.gold("majority", raters=["ann", "ben"])


def _frame(pair: tuple[Gold, Gold], key: str) -> pd.DataFrame:
    """Return both golds' values of a question by item, outside the database."""
    field = "text" if key == "act" else "number"
    sides = [dict(gold.labels.filter(question__key=key).values_list("item_id", field)) for gold in pair]
    return pd.DataFrame({"first": sides[0], "second": sides[1]})


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user(researcher=True))
    return client


@pytest.mark.parametrize("place", [0, 1])
def test_items_are_counted_as_pandas_counts_them(pair: tuple[Gold, Gold], place: int) -> None:
    one = difference(*pair).questions[place]
    frame = _frame(pair, one.question.key)
    both = frame.dropna()
    assert one.counts == {
        "equal": (both["first"] == both["second"]).sum(),
        "different": (both["first"] != both["second"]).sum(),
        "only_first": (frame["first"].notna() & frame["second"].isna()).sum(),
        "only_second": (frame["first"].isna() & frame["second"].notna()).sum(),
        "neither": frame.isna().all(axis=1).sum(),
    }
    assert one.share == pytest.approx((both["first"] != both["second"]).mean(), abs=1e-12)
    values = one.question.values
    table = pd.crosstab(both["first"], both["second"]).reindex(index=values, columns=values, fill_value=0)
    assert [list(row) for row in one.table] == table.to_numpy().tolist()


def test_numbers_are_apart_as_pandas_says(rated: World) -> None:
    pair = rated.gold("mean"), rated.gold("median")
    (one,) = difference(*pair).questions
    frame = _frame(pair, "quality")
    away = frame["second"] - frame["first"]
    assert one.mean == pytest.approx(away.mean(), abs=1e-12)
    assert one.mean_absolute == pytest.approx(away.abs().mean(), abs=1e-12)
    assert one.largest == pytest.approx(away.abs().max(), abs=1e-12)
    assert one.table == ()  # means fall between the values of the scale
    assert difference(*pair).only_in == {"first": (), "second": ()}


def test_a_gold_is_equal_to_itself(pair: tuple[Gold, Gold]) -> None:
    for one in difference(pair[0], pair[0]).questions:
        assert one.counts["equal"] + one.counts["neither"] == 24
        assert one.share == 0


def test_where_no_item_has_a_value_in_both_there_is_a_reason_and_no_share(rated: World) -> None:
    rated.say("dee", "quality", {rated.turns[23]: 1.0})
    rated.say("eva", "quality", {rated.turns[22]: 1.0})
    one = difference(rated.gold("mean", raters=["dee"]), rated.gold("mean", raters=["eva"])).questions[0]
    assert (one.share, one.reason) == (None, "no item has a value in both")
    assert (one.counts["only_first"], one.counts["only_second"]) == (1, 1)


@pytest.mark.exhaustive
def test_golds_of_two_corpora_are_not_compared(
    rated: World, pair: tuple[Gold, Gold], researcher: Client
) -> None:
    other = world("others", dialogues=1, turns=1)
    other.questions = rated.questions
    other.say("ann", "act", ["tell"])
    stranger = other.gold("majority")
    with pytest.raises(GoldDifferenceRefused, match="of two corpora, talks and others"):
        difference(pair[0], stranger)
    address = reverse("gold-difference", args=[pair[0].pk])
    page = researcher.get(f"{address}?with={stranger.pk}", follow=True).content.decode()
    assert "Not compared: gold" in page
    told = researcher.get(reverse("api-gold-difference", args=[pair[0].pk, stranger.pk]))
    assert told.status_code == 400
    assert "choose two of the same corpus" in told.json()["fields"]["other"][0]


def test_golds_without_a_question_in_common_are_not_compared(rated: World) -> None:
    rated.ask("tone", "ordinal", [1, 2, 3], scheme="tone")
    rated.say("ann", "tone", [1.0] * 24)
    lone = make(
        corpus=rated.corpus,
        campaign=None,
        scheme_version=rated.questions["tone"].version,
        rule="mean",
        by=None,
    )
    with pytest.raises(GoldDifferenceRefused, match="no question in common"):
        difference(rated.gold("mean"), lone)


def test_the_page_shows_both_values_and_leads_to_the_item(
    pair: tuple[Gold, Gold], researcher: Client, django_assert_max_num_queries
) -> None:
    gold = researcher.get(reverse("gold", args=[pair[0].pk])).content.decode()
    assert f'<option value="{pair[1].pk}">' in gold
    address = reverse("gold-difference", args=[pair[0].pk])
    with django_assert_max_num_queries(30):
        page = researcher.get(f"{address}?with={pair[1].pk}&show=only_first").content.decode()
    frame = _frame(pair, "quality")
    item = frame.index[frame["first"].notna() & frame["second"].isna()][0]
    label = pair[0].labels.get(item=item, question__key="quality")
    assert f"?continuation=self&amp;turn={label.item.turn.number}" in page
    assert "tie: " in page
    assert "Which value became which: Act" in page
    assert researcher.get(address).status_code == 302
    assert researcher.get(f"{address}?with=x").status_code == 302
    assert researcher.get(f"{address}?with=99999999").status_code == 404


def test_the_api_pages_through_the_items_of_a_status(pair: tuple[Gold, Gold], researcher: Client) -> None:
    address = reverse("api-gold-difference", args=[gold.pk for gold in pair])
    told = researcher.get(address, {"status": "equal", "question": "act", "limit": 3, "offset": 2}).json()
    counts = next(one["counts"] for one in told["questions"] if one["question"] == "act")
    assert told["count"] == counts["equal"]
    assert len(told["results"]) == min(3, max(0, counts["equal"] - 2))
    assert {row["question"] for row in told["results"]} <= {"act"}
    assert all(row["first"] == row["second"] for row in told["results"])
    assert researcher.get(address, {"status": "odd"}).status_code == 400
    assert researcher.get(address, {"question": "odd"}).status_code == 400


def test_the_file_holds_every_item_once_with_cells_guarded(
    pair: tuple[Gold, Gold], researcher: Client
) -> None:
    address = reverse("gold-difference-file", args=[pair[0].pk, "csv"])
    answer = researcher.get(f"{address}?with={pair[1].pk}")
    text = b"".join(answer.streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 48
    assert {row["first"] for row in rows if row["question"] == "act"} <= {"'=ask", "tell", ""}
    assert {row["first"] for row in rows if row["question"] == "quality"} <= {"1", "2", "3", "4", "5", ""}
    assert Export.objects.get().gold == pair[0]
    sent = researcher.get(reverse("api-gold-difference-file", args=[pair[0].pk, pair[1].pk, "csv"]))
    assert b"".join(sent.streaming_content).decode() == text
    told = researcher.get(reverse("api-gold-difference", args=[gold.pk for gold in pair])).json()
    counted = {one["question"]: one["counts"] for one in told["questions"]}
    for key, counts in counted.items():
        assert counts == {
            status: sum(row["status"] == status for row in rows if row["question"] == key)
            for status in counts
        }
    api = reverse("api-gold-difference-file", args=[pair[0].pk, pair[1].pk, "jsonl"])
    lines = b"".join(researcher.get(api).streaming_content).splitlines()
    assert {json.loads(line)["first"] for line in lines} <= {"=ask", "tell", None, 1, 2, 3, 4, 5}


def test_a_gold_that_is_not_there_is_not_compared(pair: tuple[Gold, Gold], researcher: Client) -> None:
    for name, more in (("api-gold-difference", []), ("api-gold-difference-file", ["csv"])):
        assert researcher.get(reverse(name, args=[pair[0].pk, 99999, *more])).status_code == 404


def test_large_golds_are_written_by_a_job(pair: tuple[Gold, Gold], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "AT_ONCE", 10)
    by = factories.user(researcher=True)
    how = {"first": pair[0], "second": pair[1], "export_part": ExportPart(None, ""), "form": "csv", "by": by}
    job = downloads.difference_or_job(**how)
    assert isinstance(job, Job)
    assert downloads.run(job, lambda done, total: None)["rows"] == 48
    assert downloads.name_of(job) == f"gold-{pair[0].pk}-and-{pair[1].pk}"


def test_a_test_part_that_nobody_opened_is_neither_compared_nor_downloaded(
    rated: World, pair: tuple[Gold, Gold], researcher: Client
) -> None:
    split = splits.draw(corpus=rated.corpus, by=None)
    found = difference(*pair)
    assert found.locked == 24
    assert sum(sum(one.counts.values()) for one in found.questions) == 24
    address = reverse("gold-difference", args=[pair[0].pk])
    page = researcher.get(f"{address}?with={pair[1].pk}").content.decode()
    assert "Locked: 24 labels" in page
    file = reverse("gold-difference-file", args=[pair[0].pk, "csv"])
    text = b"".join(researcher.get(f"{file}?with={pair[1].pk}").streaming_content).decode()
    assert {row["part"] for row in csv.DictReader(io.StringIO(text))} == {"dev"}
    asked = {"part": "all", "purpose": ""}
    assert researcher.post(f"{file}?with={pair[1].pk}", asked).status_code == 302
    assert not split.looks.exists()
    taken = researcher.post(f"{file}?with={pair[1].pk}", asked | {"purpose": "the paper"})
    assert len(list(csv.DictReader(io.StringIO(b"".join(taken.streaming_content).decode())))) == 48
    assert split.looks.count() == 1
    assert difference(*pair).locked == 0
