"""Campaigns with questions about turns and the whole: studies, gold, adjudication rounds, exports."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation import scheme_actions
from annotation.corpora.import_file import import_path
from annotation.models import Campaign, Corpus, Item, Label, Occasion, Question, Rater
from annotation.schemes import files
from annotation.work.labels import Answer, record
from calibration.adjudication import decisions, rounds
from calibration.adjudication.rounds import Plan
from calibration.campaign_progress import agreement
from calibration.exports import labels as exports
from calibration.exports.writing import write
from calibration.gold.derivation import make
from calibration.models import Report
from calibration.ratings.scope import census, of_campaign, of_corpus
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests import factories
from tests.annotation.test_turns_and_whole import SCHEME
from tests.calibration.test_label_studio import content
from tests.calibration.test_label_studio import files as label_studio

pytestmark = pytest.mark.django_db
CLEAR = [[1, 2, 3, 1, 2, 3, 1, 2], [1, 2, 3, 1, 2, 3, 2, 2], [1, 2, 3, 1, 2, 1, 1, 2]]
OVERALL = [[1, 3, 4, 2], [1, 3, 4, 3], [1, 4, 4, 4]]


@pytest.fixture(scope="module")
def campaign(module_database: None) -> Campaign:
    """Four dialogues of two turns, whose turns and wholes three people rated."""
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    corpus = factories.corpus("talks")
    for number in range(4):
        factories.dialogue(corpus, f"d{number}", turns=2)
    made = factories.campaign(corpus, "talk", annotators=[factories.user("ana")], raters=3)
    asked = {question.key: question for question in Question.objects.all()}
    items = Item.objects.filter(corpus=corpus).order_by("continuation__dialogue__key", "turn__position")
    turns, wholes = (list(items.filter(kind=kind)) for kind in ("turn", "dialogue"))
    for name, clear, overall in zip(("ann", "ben", "cem"), CLEAR, OVERALL, strict=True):
        answers = [Answer(item, asked["clear"], value) for item, value in zip(turns, clear, strict=True)]
        answers += [
            Answer(item, asked["overall"], value) for item, value in zip(wholes, overall, strict=True)
        ]
        rater = Rater.objects.create(corpus=corpus, kind="human", name=name)
        record(rater=rater, answers=answers, occasion=Occasion.MAIN, campaign=made)
    return made


def report(campaign: Campaign, **definition: Any) -> Report:
    plan = {"resamples": 30, "baselines": False}
    study = studies.create(
        name="both", corpus=campaign.corpus, campaign=campaign, definition=plan | definition, by=None
    )
    return studies.compute(study=study, part="all", by=None)


def test_a_study_reads_each_question_on_its_own_items(campaign: Campaign) -> None:
    infos = census(of_campaign(campaign)).questions.values()
    assert {info.key: info.item_kind for info in infos} == {"clear": "turn", "overall": "dialogue"}
    made = report(campaign, questions=["talk@1/clear", "talk@1/overall"], statistics=["krippendorff_alpha"])
    told = {q.ref: (q.item_kind, q.n_items) for q in snapshot_of(made).questions}
    assert told == {"talk@1/clear": ("turn", 8), "talk@1/overall": ("dialogue", 4)}


def test_answers_about_turns_meet_those_about_the_whole_at_the_level_of_dialogues(campaign: Campaign) -> None:
    links = [{"question": "talk@1/clear", "map": "rank"}]
    asked = {"question": "talk@1/overall", "answered_by": links}
    made = report(campaign, questions=[asked], level=["dialogue"], statistics=["spearman"])
    (table,) = snapshot_of(made).levels
    assert "People (turn labels)" in [row.name for row in table.rows]


def test_agreement_is_watched_for_both(campaign: Campaign) -> None:
    found = agreement(of_campaign(campaign), campaign)
    assert [(one.question.key, bool(one.results)) for one in found.agreed] == [
        ("clear", True),
        ("overall", True),
    ]


def test_gold_is_chosen_for_turns_and_wholes(campaign: Campaign) -> None:
    gold = make(
        corpus=campaign.corpus,
        rule="majority",
        campaign=campaign,
        scheme_version=campaign.scheme_version,
        by=None,
    )
    chosen = gold.labels.exclude(number=None)
    assert {(label.question.key, label.item.kind) for label in chosen} == {
        ("clear", "turn"),
        ("overall", "dialogue"),
    }
    assert chosen.filter(item__kind="dialogue").count() == 3


def test_adjudicators_get_cases_of_both_beside_the_transcript(campaign: Campaign) -> None:
    plan = Plan(campaign.corpus, campaign, campaign.scheme_version, {"no_majority": True}, seed=1)
    adjudicator = factories.user("rosa", researcher=True)
    found = rounds.begin(by=adjudicator, name="r", plan=plan)
    case = decisions.next_case(by=adjudicator, adjudication_round=found)
    assert case is not None
    assert (case.case.item.kind, case.case.question.key) == ("dialogue", "overall")
    client = Client()
    client.force_login(adjudicator)
    page = client.get(f"/adjudicate/{found.pk}/")
    assert page.status_code == 200
    assert "How good is the talk?" in page.content.decode()


@pytest.mark.exhaustive
def test_disagreements_list_wholes_beside_turns(campaign: Campaign) -> None:
    made = report(campaign, questions=["talk@1/clear", "talk@1/overall"], statistics=["krippendorff_alpha"])
    client = Client()
    client.force_login(factories.user(researcher=True))
    found = {}
    for key in ("clear", "overall"):
        page = client.get(f"/studies/{made.study_id}/items/?question=talk@1/{key}&a=ann&b=cem")
        found[key] = {row.item.kind for row in page.context["items"]}
    assert found == {"clear": {"turn"}, "overall": {"dialogue"}}


def test_what_is_exported_is_imported_as_the_same_labels(campaign: Campaign, tmp_path: Path) -> None:
    file = io.BytesIO()
    write(exports.labels(of_corpus(campaign.corpus)), "csv", file)
    path = tmp_path / "labels.csv"
    path.write_bytes(file.getvalue())
    copy = factories.corpus("copy")
    for number in range(4):
        factories.dialogue(copy, f"d{number}", turns=2)
    import_path(path=path, format="ratings-csv", corpus="copy", into=True, by=None)
    told = [[(row[0], row[1], row[2], row[8]) for row in content(one)] for one in (copy, campaign.corpus)]
    assert told[0] == told[1]


def test_a_file_may_answer_both_under_the_schemes_name(campaign: Campaign, tmp_path: Path) -> None:
    turns = [{"speaker": "A", "text": "x"}]
    told = [
        {"rater": "r", "kind": "human", "turn": 0, "question": "clear", "value": 2, "scheme": "talk"},
        {"rater": "r", "kind": "human", "turn": None, "question": "overall", "value": 4, "scheme": "talk"},
    ]
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"id": "x", "turns": turns, "labels": told}))
    import_path(path=path, format="jsonl", corpus="new", into=False, by=None)
    found = Label.objects.filter(item__corpus__name="new").order_by("pk")
    assert {(label.question.key, label.item.kind, label.question.version.ref) for label in found} == {
        ("clear", "turn", "talk@1"),
        ("overall", "dialogue", "talk@1"),
    }


def test_label_studio_takes_both_and_gives_the_same_back(campaign: Campaign, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.json"
    tasks.write_bytes(label_studio(campaign.corpus)["tasks.json"])
    import_path(path=tasks, format="label-studio", corpus="copy", into=False, by=None)
    both = [content(Corpus.objects.get(name=name)) for name in ("copy", "talks")]
    kinds = [[(row[0], row[2], row[8]) for row in rows] for rows in both]
    assert kinds[0] == kinds[1]
