"""`manage.py load_demo` creates a demo that a visitor can use at once, and may be repeated."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest
import pytest_django
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import Count

from annotation.campaigns import sampling
from annotation.corpora import splits
from annotation.models import Campaign, Continuation, Corpus, Import, Item, Label, Rater, Slot, Thread
from annotation.work import check_stages
from calibration.models import AdjudicationRound, Report
from calibration.reports.sentences import caveats
from calibration.reports.snapshot import snapshot_of
from config.permissions import is_researcher
from demo import continued, group_chats, loading, raters, reviewing, scenarios, study
from demo.fake_model import running
from demo.fake_model.role import planted_number as truth_of
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from jobs.models import Call, Endpoint, Run
from jobs.progress import progress

pytestmark = pytest.mark.django_db


def load(**options: str) -> str:
    out = StringIO()
    call_command("load_demo", stdout=out, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def first_load(django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker) -> Iterator[str]:
    """What loading into an empty place printed. It is committed: the worker has its own connection."""
    model = FakeModel(running.load("ordinary"))
    with (
        django_db_blocker.unblock(),
        LocalServer(lambda method, path, body, _: model.respond(method, path, body)) as server,
    ):
        yield load(fake_model=server.url)
        call_command("flush", verbosity=0, interactive=False)


def counted() -> list[int]:
    tables = (User, Corpus, Import, Continuation, Item, Label, Rater, Campaign, Slot, Run, Report)
    return [table.objects.count() for table in tables]


@pytest.mark.exhaustive
def test_loading_twice_changes_nothing_and_says_the_same_passwords(first_load: str) -> None:
    before = counted()
    second = load()
    assert counted() == before
    assert first_load.partition("Demo accounts:")[2] == second.partition("Demo accounts:")[2]
    assert "there already" in second
    assert "there already" not in first_load


@pytest.mark.exhaustive
def test_loading_again_leaves_test_alone_where_a_visitor_has_drawn_a_split(first_load: str) -> None:
    meetings = Corpus.objects.get(name=loading.CORPORA[0].name)
    splits.draw(corpus=meetings, by=User.objects.get(username="researcher"))
    *before, reports = counted()
    assert "there already" in load()
    assert counted() == [*before, reports + 1], "a report of dev is new, and nothing else"
    Run.objects.filter(corpus=meetings).update(state=Run.State.CANCELLED)
    run = loading.judge(by=User.objects.get(username="researcher"))
    assert (run.scope["part"], run.state) == ("dev", Run.State.DONE)


@pytest.mark.exhaustive
def test_scenarios_are_split_by_family_as_their_sources_say(first_load: str) -> None:
    assert "Demo group chat: 2 scenarios" in first_load
    corpus = Corpus.objects.get(name=group_chats.SET.name)
    lock = splits.lock_of(corpus)
    assert lock is not None
    assert dict(lock.clusters.values_list("cluster", "part")) == scenarios.parts()
    assert lock.fixed_at is None, "a visitor may draw it anew"


@pytest.mark.exhaustive
def test_the_printed_accounts_sign_in_and_have_their_roles(first_load: str) -> None:
    users = {
        role: authenticate(username=role, password=loading.derived_password(role)) for role in loading.ROLES
    }
    assert all(loading.derived_password(role) in first_load for role in loading.ROLES)
    assert not is_researcher(users["annotator"])
    assert is_researcher(users["researcher"])
    assert [role for role, user in users.items() if user.is_superuser] == ["administrator"]
    assert not any(user.is_staff for user in users.values())


def test_passwords_differ_from_one_installation_to_the_next(settings) -> None:
    here = loading.derived_password("annotator")
    settings.SECRET_KEY = "another installation's key"
    assert loading.derived_password("annotator") != here


@pytest.mark.exhaustive
def test_a_changed_password_is_left_alone(first_load: str) -> None:
    user = User.objects.get(username="annotator")
    user.set_password("my very own words")
    user.save()
    assert "as you have set it" in load()
    assert authenticate(username="annotator", password="my very own words")


@pytest.mark.exhaustive
def test_everything_is_left_for_the_visitor_to_rate(first_load: str) -> None:
    meetings = Continuation.objects.filter(dialogue__corpus__name="Demo meetings").exclude(key="self")
    untouched = Campaign.objects.filter(name__in=[demo.name for demo in loading.CAMPAIGNS])
    assert untouched.filter(state="open").count() == 4
    for campaign in untouched:
        assert set(campaign.members.values_list("user__username", flat=True)) == set(loading.ROLES)
        assert not campaign.assignments.exists()
        assert not campaign.slots.filter(taken=True).exists()
    assert Campaign.objects.get(name="Demo: behaviours in meetings").tasks.count() == meetings.count() == 18


@pytest.mark.exhaustive
def test_every_rating_is_by_a_simulated_rater_and_says_so(first_load: str) -> None:
    people = Rater.objects.filter(kind="human")
    assert all(rater.name.startswith("simulated") and rater.spec == {"simulated": True} for rater in people)
    imported, working = people.filter(user=None), people.exclude(user=None)
    assert (imported.count(), working.count()) == (12, 5)
    assert not any(rater.user and rater.user.has_usable_password() for rater in working)
    labels = Label.objects.filter(rater__in=imported)
    assert set(labels.values_list("occasion", "campaign")) == {("imported", None)}


@pytest.mark.exhaustive
def test_a_study_is_under_way_with_a_place_for_the_visitor_everywhere(first_load: str) -> None:
    begun = Campaign.objects.get(name=study.STUDY)
    assert (begun.tasks.count(), begun.raters_per_item) == (17, 4)
    done = begun.assignments.filter(state="submitted", slot__isnull=False)
    assert done.count() == 3 * 17
    assert set(begun.assignments.values_list("occasion", flat=True)) == {
        "training", "qualification", "check", "main",
    }  # fmt: skip
    (failed,) = check_stages.failed(begun)
    assert User.objects.get(pk=failed).get_username() == study.CARELESS
    pairs = Campaign.objects.get(name=study.PAIRS)
    assert pairs.assignments.filter(state="submitted").count() == 2 * pairs.tasks.count() == 24
    found = AdjudicationRound.objects.get(name=study.ROUND)
    assert found.cases.filter(settled_at=None).count() == study.WAITING_CASES
    assert found.decisions.filter(state="decided").count() == found.cases.count() - study.WAITING_CASES > 2
    visitor = User.objects.get(username="annotator")
    assert Thread.objects.filter(campaign=begun, annotator=visitor).count() == 1
    assert begun.participants.count() == 2


@pytest.mark.exhaustive
def test_the_labels_are_what_the_simulated_raters_said(first_load: str) -> None:
    planted = raters.load()
    for corpus in loading.CORPORA:
        wanted = sum(1 for answers in corpus.answers.values() for _ in answers(planted))
        found = Label.objects.filter(item__corpus__name=corpus.name, rater__kind="human")
        assert found.count() == wanted


@pytest.mark.exhaustive
def test_the_judge_without_a_model_has_answered_from_the_start(first_load: str) -> None:
    run = Run.objects.get(endpoint=None)
    assert run.state == Run.State.DONE
    assert run.rater.name == "rules-baseline"
    turns = Item.objects.filter(
        kind="turn", continuation__in=[call.continuation_id for call in run.calls.all()]
    )
    assert Label.objects.filter(rater=run.rater).count() == turns.count() * len(raters.BEHAVIOURS)


@pytest.mark.exhaustive
def test_two_prompts_have_been_run_on_the_fake_model_and_everything_says_that_it_is_one(
    first_load: str,
) -> None:
    endpoint = Endpoint.objects.get()
    assert (endpoint.name, endpoint.active) == ("fake model (for trying out)", True)
    assert f"A FAKE MODEL at {endpoint.base_url}" in first_load
    runs = list(Run.objects.filter(endpoint=endpoint, corpus__name=loading.CORPUS).order_by("pk"))
    assert [run.state for run in runs] == [Run.State.DONE] * 2
    assert {part for run in runs for part in [run.scope["part"]]} == {"dev"}
    assert all("(fake model)" in run.rater.name for run in runs)
    assert all(progress(run).fake_model for run in runs)
    assert not Call.objects.filter(run__in=runs).exclude(flags=[]).exists()
    report = Report.objects.get(study__corpus__name=loading.CORPUS)
    told = " ".join(caveats(snapshot_of(report)))
    assert "are fake models" in told
    assert "only for trying out" in told


@pytest.mark.exhaustive
def test_the_better_of_the_two_prompts_is_closer_to_the_simulated_people(first_load: str) -> None:
    off = []
    for run in Run.objects.filter(corpus__name=loading.CORPUS).order_by("pk"):
        rows = Label.objects.filter(rater=run.rater, question__key="overall").values_list(
            "number", "item__turn__text"
        )
        off.append(sum(abs(number - (truth_of(text, "quality") or 0)) for number, text in rows) / len(rows))
    assert off[1] < off[0]


@pytest.mark.exhaustive
def test_continuations_are_written_rated_and_counted_from_the_start(first_load: str) -> None:
    corpus = Corpus.objects.get(name=continued.NAME)
    runs = {run.name: run.state for run in Run.objects.filter(corpus=corpus)}
    assert runs == dict.fromkeys(
        (
            "fake-1 vanilla 30/call",
            "fake-1 taxonomy 5/call",
            "fake-1 (fake model) cocoeval_behaviours",
            "fake-1 (fake model) cocoeval_overall",
        ),
        "done",
    )
    written = Continuation.objects.filter(dialogue__corpus=corpus, production__isnull=False)
    lengths = written.annotate(n=Count("turns")).values_list("n", flat=True)
    assert list(lengths) == [continued.LENGTH] * 2 * continued.DIALOGUES
    rated = Label.objects.filter(item__corpus=corpus, rater__kind="human", question__key="repetition")
    assert rated.count() == 3 * continued.RATED * continued.LENGTH * len(continued.PEOPLE)
    report = Report.objects.get(study__corpus=corpus)
    assert "fake model" in " ".join(caveats(snapshot_of(report)))


@pytest.mark.exhaustive
def test_a_report_of_each_corpus_is_there_from_the_start(first_load: str) -> None:
    for corpus in loading.CORPORA:
        report = Report.objects.get(study__corpus__name=corpus.name)
        people = {rater["name"] for question in report.result["questions"] for rater in question["raters"]}
        assert {"simulated annotator 1", "simulated annotator 2", "simulated annotator 3"} <= people


@pytest.mark.exhaustive
def test_a_demo_loaded_by_an_earlier_release_is_kept_as_it_is(first_load: str) -> None:
    Import.objects.filter(format="jsonl", file_name="meetings.jsonl").update(content_hash="0" * 64)
    before = counted()
    assert "Demo meetings: kept as an earlier release of Concord loaded it" in load()
    assert counted() == before


@pytest.mark.exhaustive
def test_the_review_of_judged_replies_recovers_what_was_planted(first_load: str) -> None:
    corpus = Corpus.objects.get(name=reviewing.NAME)
    chances = sampling.inclusion(Campaign.objects.get(name=reviewing.CAMPAIGN))
    assert chances is not None
    assert (
        len(chances),
        Continuation.objects.filter(dialogue__corpus=corpus).exclude(key="self").count(),
    ) == (
        101,
        300,
    )
    answers = Label.objects.filter(item__corpus=corpus, question__key=reviewing.QUESTION)
    rows = list(
        answers.values_list("rater__kind", "item__continuation__system__name", "item", "number").order_by(
            "pk"
        )
    )
    planted = reviewing.planted_means()
    for system, plain, weighted, judged in (
        (reviewing.BRIEF, 2.56, 3.00, 3.19),
        (reviewing.TALKATIVE, 2.44, 2.75, 3.94),
    ):
        people = [
            (number, chances[item][0])
            for kind, name, item, number in rows
            if (kind, name) == ("human", system)
        ]
        judge = [number for kind, name, _, number in rows if (kind, name) == ("judge", system)]
        total = sum(1 / chance for _, chance in people)
        assert round(sum(number for number, _ in people) / len(people), 2) == plain
        assert round(sum(number / chance for number, chance in people) / total, 2) == weighted
        assert round(sum(judge) / len(judge), 2) == judged
        assert abs(weighted - planted[system]) < abs(judged - planted[system])
    assert {name: round(mean, 2) for name, mean in planted.items()} == {
        "toy-brief": 2.95,
        "toy-talkative": 2.99,
    }
    (own,) = snapshot_of(Report.objects.get(study__corpus=corpus)).systems
    assert (own.judge, own.n_items, own.n_rated) == (Run.objects.get(corpus=corpus).name, 300, 101)
    for row in own.rows:
        by_name = {figure.name: figure for figure in row.figures}
        corrected, alone = by_name["system_prediction_powered"], by_name["system_judge"]
        assert corrected.low is not None
        assert corrected.high is not None
        assert corrected.low <= planted[row.system] <= corrected.high
        assert alone.low is not None
        assert alone.low > planted[row.system], "the judge alone is too kind"
    (pair,) = own.pairs
    assert pair.judge_alone.low is not None
    assert pair.judge_alone.high is not None
    assert pair.judge_alone.high < planted["toy-brief"] - planted["toy-talkative"], "a difference of its own"
    assert pair.corrected.low is not None
    assert pair.corrected.high is not None
    assert pair.corrected.low <= planted["toy-brief"] - planted["toy-talkative"] <= pair.corrected.high
    assert [round(figure.point, 2) for row in own.rows for figure in row.figures[:2]] == [
        3.19,
        2.97,
        3.94,
        2.86,
    ]
