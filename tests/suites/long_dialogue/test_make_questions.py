"""The command that creates questions, and export and import of records' labels."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Label, QuestionSet, Record
from tests import factories
from tests.suites.long_dialogue.reviews import answer, brought, opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return brought(tmp_path)


def last_line(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("make_questions", *arguments, stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return told


def test_the_last_line_has_the_counts_and_the_same_again_changes_nothing(corpus: Corpus) -> None:
    asked = ("--corpus", "loaf", "--set", "mine", "--seed", "4", "--policy", "appendix", "--no-presence")
    told = last_line(*asked)
    assert (told["set"], told["version"], told["created"]) == ("mine", 1, True)
    assert (told["seed"], told["policy"], told["presence"]) == (4, "appendix", False)
    assert told["uses"] == QuestionSet.objects.get(name="mine").uses.count() > 0
    assert last_line(*asked) == told | {"created": False}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--corpus", "none", "--set", "x"), "no corpus"),
        (("--corpus", "loaf"), "Say what to do"),
        (("--corpus", "loaf", "--facts"), "Say which endpoint"),
        (("--corpus", "loaf", "--set", "a/b"), "without @"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    corpus: Corpus, arguments: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        call_command("make_questions", *arguments)


def test_reviews_are_taken_over_by_the_command(corpus: Corpus) -> None:
    people = factories.user("ana"), factories.user("ben")
    campaign = opened(corpus, "fact_review", *people)
    for person in people:
        answer(campaign, person, f2={"right": 1})
    told = last_line("--corpus", "loaf", "--apply")
    assert told["applied"][0]["accepted"] == 1
    assert Record.objects.get(key="f2").status == "accepted"


@pytest.mark.exhaustive
def test_labels_of_records_go_out_and_come_back_by_their_keys(corpus: Corpus, tmp_path: Path) -> None:
    people = factories.user("ana"), factories.user("ben")
    campaign = opened(corpus, "fact_review", *people, record_status="all")
    answer(campaign, people[0], f1={"right": 1}, f2={"right": 0, "tail": "Ana"})
    answer(campaign, people[1], f1={"right": 1}, f2={"right": 1})
    rows = exported("export_labels", tmp_path, campaign=campaign.name)
    assert {row["item"] for row in rows} == {"loaf//fact/f1", "loaf//fact/f2"}
    assert {row["cluster"] for row in rows} == {"loaf/s1", "loaf/s4"}
    again = brought(tmp_path, name="again")
    path = tmp_path / "ratings.csv"
    told = [row for row in rows if row["question"] == "right"]
    lines = [f"{row['item']},{row['rater']},{row['value']},right" for row in told]
    path.write_text("\n".join(["item,rater,value,question", *lines]) + "\n")
    told_of = {"format": "ratings-csv", "corpus": "again", "into": True, "scheme": "fact_review"}
    import_path(path=path, name=path.name, by=None, **told_of)  # type: ignore[arg-type]
    assert Label.objects.filter(item__corpus=again, item__kind="fact").count() == len(told) == 4


@pytest.mark.exhaustive
def test_gold_agreement_and_reports_take_records_like_other_items(corpus: Corpus, tmp_path: Path) -> None:
    people = factories.user("ana"), factories.user("ben"), factories.user("cara")
    campaign = opened(corpus, "fact_review", *people, record_status="all")
    for number, person in enumerate(people):
        answer(campaign, person, f1={"right": 1}, f2={"right": int(number > 0)})
    gold = exported("export_gold", tmp_path, campaign=campaign.name, scheme="fact_review", rule="majority")
    told = {row["item"]: row["value"] for row in gold if row["question"] == "right"}
    assert told == {"loaf//fact/f1": 1, "loaf//fact/f2": 1}
    rows = [
        row
        for row in exported("export_labels", tmp_path, campaign=campaign.name)
        if row["question"] == "right"
    ]
    path = tmp_path / "agree.csv"
    lines = [f"{row['item']},{row['rater']},{row['value']},{row['cluster']}" for row in rows]
    path.write_text("\n".join(["item,rater,value,cluster", *lines]) + "\n")
    out = StringIO()
    call_command("agree", str(path), "--scale", "binary", "--json", "--resamples", "50", stdout=out)
    alpha = next(
        one for one in json.loads(out.getvalue())["statistics"] if one["name"] == "percent_agreement"
    )
    assert (alpha["n_items"], alpha["n_clusters"], alpha["n_raters"]) == (2, 2, 3)


def exported(command: str, folder: Path, **options: Any) -> list[dict[str, Any]]:
    path = folder / f"{command}.jsonl"
    call_command(command, output=str(path), format="jsonl", **options)
    return [json.loads(line) for line in path.read_text().splitlines()]
