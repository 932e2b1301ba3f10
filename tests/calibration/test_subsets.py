"""A study narrowed to systems, conditions and dates reads the labels of these alone."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Continuation, Corpus, Item, Label
from calibration.errors import DefinitionError
from calibration.models import Study
from calibration.ratings.definitions import parse
from calibration.ratings.scope import of_study
from calibration.ratings.subsets import Subset, condition_values, parse_subset
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import Snapshot, snapshot_of, to_json
from calibration.studies import inputs, plans
from calibration.studies import study_actions as studies
from calibration.studies.disagreements import listing
from tests.calibration.levels_world import Static, asked, static
from tests.factories import user

pytestmark = pytest.mark.django_db
PROMPTING = {"a": "vanilla", "b": "taxonomy", "c": "taxonomy"}
TODAY = datetime.now(UTC).date()
EARLIER = TODAY - timedelta(days=40)
ANSWERS = {"ann": 2, "ben": 3, "gpt": 5}
DEFINITION = {"resamples": 50, "statistics": ["cohen_kappa_quadratic", "krippendorff_alpha"]}


def labels_for(built: Static, systems: str) -> None:
    """Give the answers of two people and a judge to the turns of some systems."""
    question = asked(built, "comperdial_turn")
    for number, (name, step) in enumerate(ANSWERS.items()):

        def score(dialogue: str, system: str, turn: int, step: int = step, number: int = number) -> Any:
            place = int(dialogue[1:]) * 7 + turn * 3 + ord(system)
            return float(1 + (place + number * (place % step)) % 5) if system in systems else None

        built.say(name, question, score, kind="judge" if name == "gpt" else "human")


def corpus_of(name: str, systems: str = "abc") -> Static:
    """Three systems, of two kinds of prompting and with up to five turns a call; labels for some of them."""
    built = static(name, dialogues=5, systems=tuple("abc"))
    for number, (system, prompting) in enumerate(PROMPTING.items()):
        condition = {"prompting": prompting, "turns_per_call": 1 + 2 * number, "tools": ["x"]}
        Continuation.objects.filter(dialogue__corpus=built.corpus, system__name=system).update(
            condition=condition
        )
    labels_for(built, systems)
    return built


@pytest.fixture
def rated() -> Static:
    return corpus_of("talks")


def narrowed(built: Static, subset: Any, name: str = "narrowed", **more: Any) -> Study:
    definition = DEFINITION | {"subset": subset} | more
    return studies.create(name=name, corpus=built.corpus, definition=definition, by=None)


def result_of(study: Study) -> Snapshot:
    return snapshot_of(studies.compute(study=study, part=studies.default_part(study), by=None))


def questions_of(study: Study) -> Any:
    return to_json(result_of(study))["questions"]


def by_hand(systems: str) -> Any:
    """Questions of a report on a corpus that holds the labels of these systems alone."""
    built = corpus_of(f"only {systems}", systems)
    return questions_of(studies.create(name=systems, corpus=built.corpus, definition=DEFINITION, by=None))


def backdate(labels: Any, day: date) -> None:
    """Move labels to a day, which the application cannot do."""
    ids = list(labels.values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE annotation_label DISABLE TRIGGER USER")
        cursor.execute("UPDATE annotation_label SET created_at = %s WHERE id = ANY(%s)", [day, ids])
        cursor.execute("ALTER TABLE annotation_label ENABLE TRIGGER USER")


@pytest.mark.parametrize(
    ("subset", "systems"),
    [
        ({"systems": ["a", "c"]}, "ac"),
        ({"conditions": {"prompting": "taxonomy"}}, "bc"),
        ({"conditions": {"turns_per_call": [1, 5]}}, "ac"),
        ({"conditions": {"prompting": "taxonomy", "turns_per_call": [1, 5]}}, "c"),
        ({"systems": ["a", "b"], "conditions": {"prompting": "taxonomy"}}, "b"),
    ],
)
def test_its_figures_are_those_of_the_labels_filtered_by_hand(
    rated: Static, subset: Any, systems: str
) -> None:
    assert questions_of(narrowed(rated, subset)) == by_hand(systems)


def test_dates_are_inclusive_and_read_the_labels_given_on_these_days(rated: Static) -> None:
    backdate(Label.objects.filter(item__continuation__system__name="b"), EARLIER)
    earlier, today = EARLIER.isoformat(), TODAY.isoformat()
    on_the_day = {"from": earlier, "to": earlier}
    assert questions_of(narrowed(rated, on_the_day, "on")) == by_hand("b")
    assert result_of(narrowed(rated, {"to": earlier}, "before")).counts.items == 15
    after = (EARLIER + timedelta(days=1)).isoformat()
    until = (TODAY + timedelta(days=1)).isoformat()
    assert questions_of(narrowed(rated, {"from": after, "to": until}, "after")) == by_hand("ac")
    assert result_of(narrowed(rated, {"from": earlier, "to": until}, "all")).counts.items == 45
    assert result_of(narrowed(rated, {"to": today, "systems": ["b"]}, "both")).counts.items == 15


def test_plans_and_disagreements_read_the_same_labels(rated: Static) -> None:
    study = narrowed(rated, {"systems": ["a"]})
    choices = plans.Choices(study)
    ratings = choices.ratings(choices.question(""), "all")
    assert ratings.n_items == 15
    items = listing(study, "all", {"question": "comperdial_turn@1/overall"})
    assert items.both == 15
    systems = Item.objects.filter(pk__in=items.question.items).values_list(
        "continuation__system__name", flat=True
    )
    assert set(systems) == {"a"}


def test_another_subset_is_another_hash(rated: Static) -> None:
    subsets = [{"systems": ["a"]}, {"systems": ["a", "b", "c"]}, {"from": EARLIER.isoformat()}, None]
    hashes = [inputs.read(narrowed(rated, subset, str(n)), "all").hash for n, subset in enumerate(subsets)]
    assert len(set(hashes)) == len(subsets)


def test_only_labels_of_the_subset_make_its_report_stale(rated: Static) -> None:
    study = narrowed(rated, {"systems": ["a"]})
    report = studies.compute(study=study, part="all", by=None)
    question = asked(rated, "comperdial_turn")
    rated.say("cem", question, lambda d, s, t: 3.0 if s == "b" else None)
    assert not studies.is_stale(report)
    rated.say("dan", question, lambda d, s, t: 3.0 if s == "a" else None)
    assert studies.is_stale(report)
    assert of_study(study).labels().count() == 4 * 15


def test_a_subset_of_a_split_part_is_of_that_part(rated: Static) -> None:
    splits.draw(corpus=rated.corpus, by=None)
    study = narrowed(rated, {"systems": ["a"]})
    dev = result_of(study)
    assert dev.part == "dev"
    assert dev.counts.items < 15


def test_every_form_of_the_report_says_to_what_it_is_narrowed(rated: Static) -> None:
    study = narrowed(rated, {"systems": ["a", "b"], "conditions": {"prompting": "vanilla"}})
    report = studies.compute(study=study, part="all", by=None)
    for form in ("md", "latex"):
        assert "Narrowed to systems a and b, prompting vanilla." in RENDERINGS[form].write(report)
    assert "narrowed to systems a and b, prompting vanilla" in RENDERINGS["html"].write(report)
    assert json.loads(RENDERINGS["json"].write(report))["definition"]["subset"]["systems"] == ["a", "b"]


def test_a_subset_without_labels_says_so(rated: Static, researcher: Client) -> None:
    study = narrowed(rated, {"systems": ["a"], "to": EARLIER.isoformat()})
    report = studies.compute(study=study, part="all", by=None)
    assert "No label fits" in researcher.get(reverse("report", args=[study.pk])).content.decode()
    assert f"labels to {EARLIER.day} {EARLIER:%b %Y}: no label fits." in RENDERINGS["md"].write(report)


@pytest.mark.parametrize(
    ("subset", "reason"),
    [
        ({"systems": ["a", "<b>"]}, "no system is called '<b>' here; there are a, b, c, human"),
        ({"conditions": {"prompt": "x"}}, "no continuation has the condition 'prompt'; there are prompting"),
        (
            {"conditions": {"prompting": "x"}},
            "no continuation has prompting 'x'; there are taxonomy, vanilla",
        ),
        (
            {"conditions": {"prompting": {"x": 1}}},
            "the condition 'prompting' has a text, a number, or a list",
        ),
        ({"conditions": ["x"]}, "conditions is an object such as"),
        ({"from": "yesterday"}, "from is a date such as 2026-03-31, not 'yesterday'"),
        ({"from": "2026-03-02", "to": "2026-03-01"}, "from, 2026-03-02, is after to, 2026-03-01"),
        ({"system": ["a"]}, "subset is an object with systems, conditions, from, to, exclude, not 'system'"),
        (["a"], "subset is an object with systems, conditions, from, to, exclude"),
        ({"exclude": "overall"}, "subset: 'overall' is not an exclusion"),
        ({"exclude": "rudeness>=1"}, "no question of a campaign or label of talks has the key 'rudeness'"),
        ({"systems": "a"}, "systems is a list of systems' names"),
    ],
)
def test_a_wrong_subset_is_one_clear_line(rated: Static, subset: Any, reason: str) -> None:
    with pytest.raises(DefinitionError) as refusal:
        narrowed(rated, subset)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_subset_is_written_as_it_is_read() -> None:
    raw = {"systems": ["a", "a"], "conditions": {"k": ["x", 1, None]}, "from": "2026-03-01"}
    subset = parse({"subset": raw}).subset
    assert parse_subset(subset.as_dict()) == subset
    assert subset.in_words() == "system a, k x, 1 or null, labels from 1 Mar 2026"
    assert "subset" not in parse({"subset": {}}).as_dict()
    many = Subset(systems=tuple("abcdefghij"))
    assert many.in_words() == "systems a, b, c, d, e, f, g, h and 2 more"


def test_lists_in_a_condition_are_not_offered(rated: Static) -> None:
    assert condition_values(rated.corpus) == {
        "prompting": ["taxonomy", "vanilla"],
        "turns_per_call": [1, 3, 5],
    }


def test_the_page_narrows_a_study(rated: Static, researcher: Client) -> None:
    address = f"{reverse('new-study')}?corpus={rated.corpus.pk}"
    page = researcher.get(address).content.decode()
    assert "Only some systems, conditions or dates" in page
    assert "turns_per_call = 5" in page
    form: dict[str, Any] = {"name": "narrow", "map": "rank", "interval": "percentile", "resamples": 50}
    form |= {"seed": 0, "confidence": 0.95, "systems": ["a", "b"], "first_day": EARLIER.isoformat()}
    form |= {"conditions": ['["prompting", "vanilla"]', '["turns_per_call", 1]']}
    refused = researcher.post(address, form | {"last_day": "2020-01-01"})
    assert refused.status_code == 422
    assert "Choose the same day as the first, or a later one." in refused.content.decode()
    report = researcher.post(address, form, follow=True).content.decode()
    assert Study.objects.get().definition["subset"] == {
        "systems": ["a", "b"],
        "conditions": {"prompting": ["vanilla"], "turns_per_call": [1]},
        "from": EARLIER.isoformat(),
    }
    assert "narrowed to systems a and b, prompting vanilla, turns_per_call 1, labels from" in report


def test_the_page_offers_the_split_where_there_are_several(rated: Static, researcher: Client) -> None:
    address = f"{reverse('new-study')}?corpus={rated.corpus.pk}"
    splits.draw(corpus=rated.corpus, by=None)
    assert 'name="split"' not in researcher.get(address).content.decode()
    splits.draw(corpus=rated.corpus, by=None, name="second", seed=3, purpose="another seed")
    form: dict[str, Any] = {"name": "x", "map": "rank", "interval": "percentile", "resamples": 50}
    researcher.post(address, form | {"seed": 0, "confidence": 0.95, "split": "second"})
    assert Study.objects.get().definition["split"] == "second"


def test_the_api_and_the_command_narrow_a_study(rated: Static, tmp_path: Path, rea: Client) -> None:
    body = {"name": "api", "corpus": "talks", "definition": {"subset": {"systems": ["nobody"]}}}
    body["corpus"] = rated.corpus.pk  # type: ignore[assignment]
    refused = rea.post(reverse("api-studies"), body, content_type="application/json")
    assert refused.status_code == 400
    assert "no system is called 'nobody' here" in str(refused.json())
    body["definition"] = {"subset": {"systems": ["a"]}}
    made = rea.post(reverse("api-studies"), body, content_type="application/json")
    assert made.status_code == 201, made.content
    file = tmp_path / "study.json"
    file.write_text(json.dumps({"subset": {"systems": ["b"]}, "resamples": 50}))
    call_command("study", "command", corpus="talks", definition=str(file), output=str(tmp_path / "r.md"))
    assert "Narrowed to system b." in (tmp_path / "r.md").read_text()
    file.write_text(json.dumps({"subset": {"to": "soon"}}))
    with pytest.raises(CommandError, match="to is a date"):
        call_command("study", "other", corpus="talks", definition=str(file))


def test_only_researchers_narrow_a_study(rated: Static, client: Client) -> None:
    client.force_login(user("ann"))
    address = f"{reverse('new-study')}?corpus={rated.corpus.pk}"
    assert client.get(address).status_code in (302, 403, 404)
    assert not Study.objects.exists()
    assert Corpus.objects.count() == 1
