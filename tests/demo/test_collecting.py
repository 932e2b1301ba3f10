"""From nothing to ComperDial: every step of the chain is there, and the study recovers what was planted."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_django
from django.core.management import call_command
from django.db.models import Avg, Count

from annotation.models import ContinuationAuthor, Corpus, Item, Label, Rater, Turn
from calibration.models import Report
from calibration.reports.results import LevelRow, LevelTable
from calibration.reports.snapshot import snapshot_of
from demo import collecting, loading
from demo.fake_model import running
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from suites.collecting.models import Chat, Persona

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]
SYSTEMS = ("fake-able", "fake-clumsy", "fake-plain", "human", "human 1", "human 2")
RESPONSES = 6 * 7


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
        yield collecting.load(by=accounts["researcher"], endpoint=endpoint)
        call_command("flush", verbosity=0, interactive=False)


def planted(corpus: Corpus) -> dict[str, float]:
    """Return the mean planted quality of each system's responses."""
    rows = Turn.objects.filter(continuation__dialogue__corpus=corpus, given=False)
    pairs = list(rows.exclude(continuation__key="self").values_list("continuation__system__name", "text"))
    return {name: collecting.planted([text for system, text in pairs if system == name]) for name in SYSTEMS}


def table(name: str) -> LevelTable:
    (only,) = snapshot_of(Report.objects.get(study__name__endswith=name)).levels
    return only


def value(row: LevelRow, level: str, coefficient: str = "pearson") -> float:
    (cell,) = (cell for cell in row.cells if (cell.level, cell.coefficient) == (level, coefficient))
    assert cell.result.value is not None
    return cell.result.value


def row_of(levels: LevelTable, name: str, samples: str = "") -> LevelRow:
    (row,) = (row for row in levels.rows if name in row.name and row.samples.startswith(samples))
    return row


def test_personas_are_reviewed_and_a_contradiction_is_mended(corpus: Corpus) -> None:
    personas = Persona.objects.filter(set__inventory__isnull=False)
    assert personas.count() == collecting.PEOPLE
    assert set(personas.values_list("status", flat=True)) <= {"accepted", "corrected"}
    flagged = [persona for persona in personas if persona.flags]
    assert flagged
    assert {persona.status for persona in flagged} == {"corrected"}
    assert all(len(persona.sentences) < len(persona.original) for persona in flagged)


def test_pairs_hold_every_dialogue_and_both_people_answer_about_it(corpus: Corpus) -> None:
    chats = Chat.objects.annotate(turns=Count("messages"))
    assert set(chats.values_list("state", "turns")) == {("finished", 14)}
    assert chats.count() == corpus.dialogues.count() == collecting.PEOPLE // 2
    own = Label.objects.filter(item__corpus__name=collecting.NAME, question__key="overall")
    assert own.count() == collecting.PEOPLE
    authors = ContinuationAuthor.objects.filter(continuation__dialogue__corpus=corpus)
    assert authors.filter(continuation__key="self").count() == collecting.PEOPLE


def test_three_systems_and_two_people_respond_beside_the_real_replies(corpus: Corpus) -> None:
    responses = Item.objects.filter(corpus=corpus, kind="turn").exclude(continuation__key="self")
    counts = Counter(responses.values_list("continuation__system__name", flat=True))
    assert counts == dict.fromkeys(SYSTEMS, RESPONSES)


def test_six_people_rate_everything_and_see_the_planted_qualities(corpus: Corpus) -> None:
    people = Label.objects.filter(item__corpus=corpus, question__key="overall", rater__kind="human")
    assert people.filter(item__kind="turn").count() == 6 * len(SYSTEMS) * RESPONSES
    assert people.filter(item__kind="dialogue").count() == 6 * len(SYSTEMS) * 6
    truth = planted(corpus)
    means = dict(
        people.filter(item__kind="turn")
        .values_list("item__continuation__system__name")
        .annotate(mean=Avg("number"))
    )
    assert all(abs(means[name] - truth[name]) < 0.25 for name in SYSTEMS)
    assert sorted(means, key=means.__getitem__)[:2] == ["fake-clumsy", "fake-plain"]
    assert all(
        rater.spec == {"simulated": True} for rater in Rater.objects.filter(kind="human", labels__in=people)
    )


def test_judges_do_better_the_higher_the_level_and_three_calls_better_than_one(corpus: Corpus) -> None:
    levels = table("turn labels")
    assert levels.levels == ("turn", "dialogue", "system")
    assert (levels.n_turns, levels.n_dialogues, levels.n_systems) == (
        len(SYSTEMS) * RESPONSES,
        6,
        len(SYSTEMS),
    )
    for protocol in ("cpdscore_simple", "cpdscore_detail"):
        mean = row_of(levels, protocol, "mean")
        assert 0.75 < value(mean, "turn") < value(mean, "dialogue") < value(mean, "system")
        assert value(mean, "turn") > value(row_of(levels, protocol, "first"), "turn")
        for baseline in ("word_f1", "rouge_l", "meteor", "length in words"):
            assert value(row_of(levels, baseline), "turn") < value(mean, "turn") - 0.1


def test_people_s_turn_labels_stand_beside_their_dialogue_labels(corpus: Corpus) -> None:
    levels = table("dialogue labels")
    people = row_of(levels, "Simulated raters (turn labels)")
    assert 0.9 < value(people, "dialogue") < value(people, "system")
    judges = [row for row in levels.rows if row.kind == "judge"]
    assert {row.scores for row in judges} == {"turn", "dialogue"}
    assert all(value(row, "dialogue") < value(people, "dialogue") for row in judges)


def test_one_objection_of_four_leaves_a_dialogue_out_of_exports(corpus: Corpus, tmp_path: Path) -> None:
    reviews = Label.objects.filter(item__corpus=corpus, question__key="objection")
    assert (reviews.count(), reviews.filter(number=1).count()) == (4 * 6, 1)
    file = tmp_path / "passed.csv"
    call_command("export_labels", corpus=corpus.name, exclude=collecting.EXCLUDE, output=str(file))
    with file.open(encoding="utf-8") as lines:
        exported = {row["dialogue"] for row in csv.DictReader(lines)}
    everything = set(corpus.dialogues.values_list("key", flat=True))
    assert everything - exported == {collecting.OBJECTED}


def test_loading_it_again_changes_nothing(corpus: Corpus) -> None:
    call_command("load_demo", collecting=True, verbosity=0)
    assert Corpus.objects.filter(name__in=[collecting.NAME, collecting.FIXED]).count() == 2
    assert Report.objects.filter(study__name__in=collecting.STUDIES).count() == 2
