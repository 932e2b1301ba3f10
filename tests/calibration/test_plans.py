"""The plan of a study: by page, API and job, on dev only; and reasons for no plan."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from calibration.errors import PlanRefused
from calibration.models import Study
from calibration.statistics import Ratings
from calibration.studies import plans as jobs
from calibration.studies import study_actions as studies
from calibration.studies.plans import PlanAnswer, PlanQuery, answer_of, read
from config.models import Event
from jobs.models import Job
from tests.calibration.world import World, world
from tests.factories import user
from tests.jobs.work import work_off

DIALOGUES, TURNS = 24, 4
FAST = {"resamples": 200}


def rated_world(dialogues: int = DIALOGUES, *, people: int = 3, hit: float = 0.85) -> World:
    """People and a judge mark turns; a metric scores them."""
    built = world(dialogues=dialogues, turns=TURNS)
    rng = np.random.default_rng(0)
    n = dialogues * TURNS
    truth = rng.integers(0, 2, n).astype(bool)
    built.ask("polite", "binary", [0, 1], positive=1, wording="Polite")
    built.ask("length", "ratio", wording="Length")
    for name, kind in [(f"p{k}", "human") for k in range(people)] + [("judge", "judge")]:
        built.say(name, "polite", (truth ^ (rng.random(n) > hit)).astype(float).tolist(), kind=kind)
    built.say("gauge", "length", (truth + rng.random(n)).tolist(), kind="metric")
    return built


def _study(built: World, **definition: object) -> Study:
    return studies.create(name="polite", corpus=built.corpus, definition=FAST | definition, by=None)


@pytest.fixture
def rated() -> World:
    """The corpus that most tests read."""
    return rated_world()


@pytest.fixture
def study(rated: World) -> Study:
    """A study of all that was answered."""
    return _study(rated)


def _plan(study: Study, **given: object) -> PlanAnswer:
    found = jobs.plan_or_job(study=study, query=read(given, study), by=None)
    assert isinstance(found, PlanAnswer)
    return found


@pytest.mark.django_db
def test_left_to_itself_a_plan_halves_the_interval_of_the_headline_figure(study: Study) -> None:
    report = studies.compute(study=study, part="all", by=None)
    pair = next(
        figure
        for question in report.result["questions"]
        for figure in question["gaps"]
        if figure["name"] == "judge_cohen_kappa" and figure["raters"][0] == "judge"
    )
    found = _plan(study)
    assert (found.rater, found.statistic, found.question) == ("judge", "cohen_kappa", "polite@1/polite")
    assert found.value == pytest.approx(pair["value"], abs=1e-12)
    assert found.width == pytest.approx(pair["high"] - pair["low"], rel=0.25)
    assert found.target == pytest.approx(found.width / 2, rel=0.05)
    assert found.more == found.needed - DIALOGUES
    assert 2.5 * DIALOGUES < found.needed < 6 * DIALOGUES
    assert found.needed_low < found.needed < found.needed_high


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "statistic"),
    [
        ({"rater": "people"}, "krippendorff_alpha"),
        ({"rater": "gauge"}, "spearman"),
        ({"rater": "judge", "statistic": "gap_cohen_kappa"}, "gap_cohen_kappa"),
        ({"rater": "people", "statistic": "mcc"}, "mcc"),
    ],
)
def test_people_metrics_and_gaps_have_plans(study: Study, given: dict[str, str], statistic: str) -> None:
    found = _plan(study, half_width="0.1", **given)
    assert (found.statistic, found.target, found.reason) == (statistic, 0.2, "")
    assert found.n_pilot == DIALOGUES
    assert [row.n_clusters for row in found.rows] == sorted({row.n_clusters for row in found.rows})


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_power_is_planned_for_a_judge_with_its_range(study: Study) -> None:
    found = _plan(study, goal="power")
    assert (found.rater, found.target, found.epsilon) == ("judge", 0.8, 0.15)
    assert found.rows[-1].expected > 0.9
    assert all(row.low <= row.high for row in found.rows)
    assert found.needed in [row.n_clusters for row in found.rows]


@pytest.mark.django_db
def test_what_has_no_plan_says_why() -> None:
    assert "pilot of 3 dialogues" in _plan(_study(rated_world(3))).reason


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_two_people_have_no_test_to_plan(client: Client) -> None:
    study = _study(rated_world(people=2))
    assert "three identified people, not 2" in _plan(study, goal="power").reason
    client.force_login(user(researcher=True))
    page = client.get(reverse("plan", args=[study.pk]), {"goal": "power"})
    assert page.status_code == 200
    assert "No plan from these labels" in page.content.decode()


@pytest.mark.django_db
def test_an_undefined_figure_has_no_plan() -> None:
    built = world(dialogues=8, turns=2)
    built.ask("polite", "binary", [0, 1], positive=1)
    for name in ("ann", "ben"):
        built.say(name, "polite", [1.0] * 16)
    found = _plan(_study(built), statistic="cohen_kappa", rater="people")
    assert "no variation" in found.reason
    assert found.rows == ()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_narrow_enough_and_never_narrow_enough(study: Study, client: Client) -> None:
    assert _plan(study, width="1.5").more == 0
    never = _plan(study, width="0.0001")
    assert (never.needed, never.more) == (None, None)
    client.force_login(user(researcher=True))
    address = reverse("plan", args=[study.pk])
    assert "Enough dialogues already" in client.get(address, {"width": "1.5"}).content.decode()
    assert "Not within 5,000 dialogues" in client.get(address, {"width": "0.0001"}).content.decode()


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"goal": "luck"}, "width or for power"),
        ({"statistic": "nonsense"}, "no statistic"),
        ({"width": "-1"}, "above 0"),
        ({"width": "nan"}, "above 0"),
        ({"width": "1", "half_width": "1"}, "not both"),
        ({"power": "1"}, "between 0 and 1"),
        ({"part": "dev"}, "has no split"),
        ({"part": "everything"}, "dev, test or all"),
    ],
)
def test_a_question_that_means_nothing_is_refused(study: Study, given: dict[str, str], reason: str) -> None:
    with pytest.raises(PlanRefused, match=reason):
        read(given, study)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_question_or_rater_that_is_not_there_is_told(study: Study) -> None:
    with pytest.raises(PlanRefused, match="no question 'rude@1/rude'"):
        _plan(study, question="rude@1/rude")
    assert "no rater 'nobody'" in _plan(study, rater="nobody").reason
    assert "p0 is one of the people" in _plan(study, rater="p0").reason


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_plan_reads_dev_and_test_only_once_it_was_opened(rated: World, study: Study) -> None:
    split = splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.5)
    found = _plan(study)
    assert found.part == "dev"
    assert found.n_pilot == len(splits.clusters(split=split, part="dev"))
    split.refresh_from_db()
    assert Event.objects.filter(verb="fix split").exists()
    with pytest.raises(PlanRefused, match="test was not opened"):
        read({"part": "test"}, study)
    studies.open_test(study=study, by=None, purpose="the paper")
    studies.compute(study=study, part="test", by=None)
    test = _plan(study, part="test")
    assert (test.part, test.n_pilot) == ("test", len(splits.clusters(split=split, part="test")))


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_tags_are_planned_together_first() -> None:
    built = world(dialogues=10, turns=4)
    rng = np.random.default_rng(1)
    for key in ("rude", "vague"):
        built.ask(key, "binary", [0, 1], scheme="tags", wording=key.title(), group="Tags", positive=1)
    for key in ("rude", "vague"):
        marks = rng.random(40) < 0.4
        for name in ("ann", "ben"):
            built.say(name, key, (marks ^ (rng.random(40) < 0.1)).astype(float).tolist())
    study = _study(built)
    found = _plan(study)
    report = studies.compute(study=study, part="all", by=None)
    assert (found.question, found.pooled, found.n_items) == ("tags@1/all", True, 80)
    (pooled,) = [q for q in report.result["questions"] if q["pooled"]]
    (alpha,) = [f for f in pooled["panel"] if f["name"] == "krippendorff_alpha"]
    assert found.value == pytest.approx(alpha["value"], abs=1e-9)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_plan_is_downloaded_in_every_form(study: Study, client: Client) -> None:
    client.force_login(user(researcher=True))

    def file(form: str, **query: str) -> str:
        return client.get(reverse("plan-file", args=[study.pk, form]), query).content.decode()

    said = file("text", half_width="0.05")
    assert "more double-rated dialogues" in said
    assert "over pilots like this one" in said
    found = json.loads(file("json", width="0.1"))
    assert found["needed"] > DIALOGUES
    assert found["answer"]
    rows = list(csv.DictReader(io.StringIO(file("csv", rater="people"))))
    assert {row["statistic"] for row in rows} == {"krippendorff_alpha"}
    assert file("md").startswith("# About")


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_route_gives_what_the_file_holds(study: Study, client: Client) -> None:
    client.force_login(user(researcher=True))
    address, query = reverse("api-plan", args=[study.pk]), {"half_width": "0.05"}
    found = client.get(address, query).json()
    assert found.pop("computing") is None
    assert found == client.get(reverse("plan-file", args=[study.pk, "json"]), query).json()
    for refused in ({"width": "wide"}, {"width": "0"}, {"part": "test"}):
        assert client.get(address, refused).status_code == 400
    assert client.get(reverse("api-plan", args=[study.pk + 1])).status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "field", "goal"),
    [({"goal": "power", "width": "0.1"}, "width", "width"), ({"power": "0.9"}, "power", "power")],
)
def test_a_parameter_of_the_other_goal_is_refused(
    study: Study, client: Client, query: dict[str, str], field: str, goal: str
) -> None:
    client.force_login(user(researcher=True))
    refused = client.get(reverse("api-plan", args=[study.pk]), query)
    assert (refused.status_code, refused.json()["fields"]) == (400, {field: [f"It goes with goal={goal}."]})


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_corpus_is_planned_by_the_study_of_its_own_report(rated: World, client: Client) -> None:
    client.force_login(user(researcher=True))
    own = client.get(reverse("api-corpus-report", args=[rated.corpus.pk])).json()["study"]
    found = client.get(reverse("api-plan", args=[own]), {"width": "0.1"}).json()
    assert (found["corpus"], found["needed"] > DIALOGUES) == (rated.corpus.name, True)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_page_leads_from_the_report_and_its_files_are_the_plan(study: Study, client: Client) -> None:
    client.force_login(user(researcher=True))
    address = reverse("plan", args=[study.pk])
    assert f'href="{address}"' in client.get(reverse("report", args=[study.pk])).content.decode()
    page = client.get(address, {"half_width": "0.05"}).content.decode()
    assert "more double-rated dialogues" in page
    assert "Expected width by number of dialogues" in page
    for form in ("text", "json", "csv", "md"):
        answer = client.get(reverse("plan-file", args=[study.pk, form]), {"half_width": "0.05"})
        assert (answer.status_code, "attachment" in answer["Content-Disposition"]) == (200, True)
    drawn = client.get(reverse("plan-file", args=[study.pk, "svg"])).content
    assert drawn.startswith(b"<svg")
    data = client.get(reverse("plan-file", args=[study.pk, "data"])).content.decode()
    assert data.splitlines()[0].startswith("question,series,x,value,low,high")
    assert client.get(reverse("plan-file", args=[study.pk, "exe"])).status_code == 404
    refused = client.get(address, {"width": "wide"})
    assert (refused.status_code, "must be a number above 0" in refused.content.decode()) == (422, True)


@pytest.mark.django_db
def test_a_study_without_labels_says_what_to_do_first(client: Client) -> None:
    study = studies.automatic(corpus=world(dialogues=2).corpus)
    client.force_login(user(researcher=True))
    page = client.get(reverse("plan", args=[study.pk]))
    assert (page.status_code, "Nothing to plan from yet" in page.content.decode()) == (200, True)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_large_plan_is_computed_beside_the_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "FEW_LABELS", 0)
    study = _study(rated_world())
    client.force_login(user(researcher=True))
    address = reverse("plan", args=[study.pk])
    assert "Computing the plan" in client.get(address, {"half_width": "0.1"}).content.decode()
    job = Job.objects.get()
    assert "Computing the plan" in client.get(address, {"half_width": "0.1"}).content.decode()
    assert client.get(reverse("api-plan", args=[study.pk]), {"half_width": "0.1"}).status_code == 202
    assert Job.objects.count() == 1
    work_off()
    job.refresh_from_db()
    assert (job.state, job.done == job.total > 0) == ("done", True)
    progress = reverse("plan-progress", args=[study.pk, job.pk])
    assert client.get(progress, {"half_width": "0.1"})["HX-Redirect"] == f"{address}?half_width=0.1"
    assert "more double-rated dialogues" in client.get(address, {"half_width": "0.1"}).content.decode()
    monkeypatch.setattr(jobs, "FEW_LABELS", 10**6)
    Job.objects.all().delete()
    assert answer_of(job.result["plan"]) == _plan(study, half_width="0.1")


def test_what_takes_long_is_no_work_for_a_page() -> None:
    def made(n: int, digits: int) -> Ratings:
        scores = np.random.default_rng(0).random((n, 3)).round(digits)
        kinds, clusters = ("human", "human", "metric"), np.arange(n) % 100
        return Ratings.from_matrix(scores, level="interval", kinds=kinds, clusters=clusters)

    ranked, tabled = PlanQuery("all", rater="r3"), PlanQuery("all", rater="r3", statistic="pearson")
    assert not jobs.is_quick(ranked, made(400, 3))
    assert jobs.is_quick(ranked, made(400, 1))
    assert jobs.is_quick(ranked, made(120, 3))
    assert jobs.is_quick(tabled, made(400, 3))


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_large_plan_stays_while_labels_arrive_and_a_new_one_is_computed_on_request(
    client: Client, rated: World, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "FEW_LABELS", 0)
    client.force_login(user(researcher=True))
    page, api, query = reverse("plan", args=[study.pk]), reverse("api-plan", args=[study.pk]), {"pay": "10"}
    assert client.get(api, query).status_code == 202
    rated.say("p8", "polite", [1.0, 0.0])  # overtakes the plan while it waits
    work_off()
    first = client.get(api, query).json()
    assert (first["labels_since"], first["computing"], first["pay"]) == (False, None, 10)
    assert "Labels have been added or withdrawn since" not in client.get(page, query).content.decode()

    for number in range(2):
        rated.say(f"q{number}", "polite", [1.0, 0.0])
        stale = client.get(api, query)
        assert (stale.status_code, stale.json()["labels_since"], stale.json()["computing"]) == (
            200,
            True,
            None,
        )
        assert stale.json()["computed_at"] == first["computed_at"]
        assert "labels have come since" in stale.json()["cautions"][0]
    shown = client.get(page, query).content.decode()
    assert "more double-rated dialogues" in shown
    assert "Labels have been added or withdrawn since." in shown
    assert "pay=10&amp;again=1" in shown
    assert (
        "labels have come since" in client.get(reverse("plan-file", args=[study.pk, "text"])).content.decode()
    )
    assert Job.objects.count() == 1, "looking starts nothing"

    assert client.get(page, query | {"again": "1"})["Location"] == f"{page}?pay=10"
    newer = client.get(api, query).json()
    assert (newer["computed_at"], newer["computing"]["state"]) == (first["computed_at"], "queued")
    assert "New figures are being computed" in client.get(page, query).content.decode()
    work_off()
    second = client.get(api, query).json()
    assert (second["labels_since"], second["computing"]) == (False, None)
    assert second["computed_at"] > first["computed_at"]
    assert client.get(api, query | {"again": "true"}).json()["computing"]["state"] == "queued"


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_plan_that_failed_says_why_and_is_computed_on_request(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "FEW_LABELS", 0)
    client.force_login(user(researcher=True))
    page, api = reverse("plan", args=[study.pk]), reverse("api-plan", args=[study.pk])
    client.get(api)
    Job.objects.update(state="failed", error="no room")
    assert "no room" in str(client.get(api).json())
    shown = client.get(page).content.decode()
    assert "The plan was not computed: no room." in shown
    assert f'href="{page}?again=1"' in shown
    assert client.get(api, {"again": "true"}).status_code == 202
    work_off()
    assert client.get(api).status_code == 200


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_hostile_names_stay_text(client: Client) -> None:
    built = rated_world()
    name = "<script>alert(1)</script>"
    built.say(name, "polite", [float(n % 2) for n in range(DIALOGUES * TURNS)], kind="judge")
    study = _study(built)
    client.force_login(user(researcher=True))
    page = client.get(reverse("plan", args=[study.pk]), {"rater": name, "half_width": "0.1"}).content.decode()
    assert name not in page
    assert "&lt;script&gt;" in page


@pytest.mark.exhaustive
def test_agree_plans_from_a_file(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    lines = ["item,rater,value,cluster,kind"]
    for n in range(80):
        truth = rng.random() < 0.5
        lines += [f"i{n},p{k},{int(truth ^ (rng.random() < 0.1))},d{n // 4},human" for k in range(3)]
        lines += [f"i{n},judge,{int(truth ^ (rng.random() < 0.1))},d{n // 4},judge"]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n")
    asked = ("agree", path, "--scale", "binary", "--resamples", "100", "--plan-width", "0.1")
    call_command(*asked, "--plan-power", "0.8", "--json")
    plans = json.loads(capsys.readouterr().out)["plans"]
    assert [(p["goal"], p["rater"]) for p in plans] == [
        ("width", "people"),
        ("width", "judge"),
        ("power", "judge"),
    ]
    assert all(p["needed"] or p["reason"] for p in plans)
    call_command(*asked, "--plan-statistic", "gap_cohen_kappa")
    said = capsys.readouterr().out
    assert "the gap in Cohen’s kappa of judge" in " ".join(said.split())
    assert "a gap is that of a judge" in said
    with pytest.raises(CommandError, match="goes with --plan-width"):
        call_command("agree", path, "--scale", "binary", "--plan-statistic", "cohen_kappa")
