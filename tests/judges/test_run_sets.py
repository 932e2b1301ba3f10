"""Run sets: several judges, endpoints and metrics over one selection, followed and changed together."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, Label, Rater
from calibration.models import Study
from jobs.errors import JobError
from jobs.models import Call, Endpoint, Job, Run
from judges.errors import JudgeError
from judges.models import RunSet
from judges.runs import run_actions
from judges.runs.estimates import estimate, estimate_set
from judges.runs.plans import Judge
from judges.runs.run_sets import change_run_set, progress_of, sets_of, start_run_set
from judges.runs.selection import PlannedJudge, Selection, title_of
from tests import factories
from tests.fake_llm import FakeLLM
from tests.jobs.work import work_off
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
PROTOCOLS = ("cpdscore_simple", "cpdscore_detail")


@pytest.fixture
def other() -> Iterator[FakeLLM]:
    """A second server, which can fail while the first one answers."""
    with FakeLLM() as server:
        yield server


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user("rea", researcher=True))
    return client


def planned(corpus: Corpus, *endpoints: Endpoint) -> list[PlannedJudge]:
    judges = [judge for key in PROTOCOLS for judge in Judge(key).at(endpoints)]
    return [PlannedJudge(title_of(judge), judge, Selection(corpus)) for judge in judges]


def start(corpus: Corpus, *endpoints: Endpoint, **options: Any) -> RunSet:
    judges = planned(corpus, *endpoints)
    return start_run_set(by=None, planned=judges, selection=Selection(corpus), **options)


def state_of(run_set: RunSet) -> str:
    return progress_of([run_set])[run_set.pk].state


def test_each_judge_asks_each_endpoint_and_the_same_set_again_is_resumed(fake: FakeLLM) -> None:
    corpus, endpoints = small_corpus(), [endpoint_of(fake), endpoint_of(fake, name="b", model="fake-2")]
    first = start(corpus, *endpoints)
    assert first.name == "cpdscore_simple, cpdscore_detail at fake, b"
    pairs = {(run.identity["protocol"], run.endpoint) for run in first.runs}
    assert pairs == {(key, endpoint) for key in PROTOCOLS for endpoint in endpoints}
    assert state_of(first) == "running"
    finish()
    progress = progress_of([first])[first.pk]
    assert (progress.state, progress.sum("done"), progress.sum("total")) == ("done", 48, 48)
    requests = fake.requests.total()
    again = start(corpus, *reversed(endpoints), name="another name")
    assert (again.pk, set(again.runs), state_of(again)) == (first.pk, set(first.runs), "done")
    assert (RunSet.objects.count(), Run.objects.count(), fake.requests.total()) == (1, 4, requests)
    assert Label.objects.count() == 2 * 12 * 6 + 2 * 12


def test_other_judges_endpoints_samples_or_metrics_are_another_set(fake: FakeLLM) -> None:
    corpus, endpoint = small_corpus(dialogues=1), endpoint_of(fake)
    start(corpus, endpoint)
    start(corpus, endpoint, metrics=["dnr"])
    start(corpus, endpoint, endpoint_of(fake, name="b", model="fake-2"))
    more = [
        PlannedJudge(row.title, row.judge, Selection(corpus, samples=2)) for row in planned(corpus, endpoint)
    ]
    several = start_run_set(by=None, planned=more, selection=Selection(corpus))
    names = [run_set.name for run_set in RunSet.objects.order_by("pk")]
    assert len(set(names)) == 4
    assert several.name == f"{names[0]} (2)"
    with pytest.raises(JudgeError, match="another run set called"):
        start(corpus, endpoint, metrics=["pf"], name=names[0])


def test_a_judge_twice_in_a_set_runs_once(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    twice = planned(corpus, endpoint_of(fake)) * 2
    assert start_run_set(by=None, planned=twice, selection=Selection(corpus)).runs.count() == 2


def test_no_run_starts_where_one_has_wrong_settings(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    with pytest.raises(JobError):
        start(corpus, endpoint_of(fake), metrics=["wisdom"])
    needy = PlannedJudge("needy", Judge("cpdscore_dialogue"), Selection(corpus))
    with pytest.raises(JobError):
        start_run_set(by=None, planned=[needy], metrics=["dnr"], selection=Selection(corpus))
    with pytest.raises(JobError, match="at least one"):
        start_run_set(by=None, selection=Selection(corpus))
    assert not RunSet.objects.exists()
    assert not Run.objects.exists()


def test_a_run_that_fails_leaves_the_others_and_is_retried_alone(fake: FakeLLM, other: FakeLLM) -> None:
    corpus, by = small_corpus(dialogues=1), factories.user(researcher=True)
    other.mode = "400"
    run_set = start(corpus, endpoint_of(fake), endpoint_of(other, name="b", model="fake-2"))
    finish()
    progress = progress_of([run_set])[run_set.pk]
    states = {(row.run.endpoint.name, row.state, row.failed, row.done) for row in progress.rows}  # type: ignore[union-attr]
    assert states == {("fake", "done", 0, 6), ("b", "failed", 6, 0)}
    assert (progress.state, list(progress.acts)) == ("failed", ["retry"])
    requests, other.mode = fake.requests.total(), "good"
    assert len(change_run_set(by=by, run_set=run_set, verb="retry").done) == 2
    finish()
    assert (state_of(run_set), fake.requests.total()) == ("done", requests)


def test_all_runs_are_paused_resumed_and_cancelled_together(fake: FakeLLM) -> None:
    by = factories.user(researcher=True)
    run_set = start(small_corpus(dialogues=1), endpoint_of(fake))
    change_run_set(by=by, run_set=run_set, verb="pause")
    assert {run.state for run in run_set.runs} == {"paused"}
    assert state_of(run_set) == "paused"
    with pytest.raises(JobError, match="no run to pause"):
        change_run_set(by=by, run_set=run_set, verb="pause")
    change_run_set(by=by, run_set=run_set, verb="resume")
    assert state_of(run_set) == "running"
    change_run_set(by=by, run_set=run_set, verb="cancel")
    assert {run.state for run in run_set.runs} == {"cancelled"}
    assert Call.objects.filter(state="cancelled").count() == 12
    change_run_set(by=by, run_set=run_set, verb="retry")
    finish()
    assert state_of(run_set) == "done"


def test_over_a_large_corpus_the_jobs_that_start_runs_belong_to_the_set(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_actions, "AT_ONCE", -1)
    by, corpus = factories.user(researcher=True), small_corpus(dialogues=1)
    run_set = start(corpus, endpoint_of(fake), metrics=["dnr"])
    progress = progress_of([run_set])[run_set.pk]
    assert [(row.state, row.job is not None) for row in progress.rows] == [("starting", True)] * 3
    change_run_set(by=by, run_set=run_set, verb="cancel")
    assert state_of(run_set) == "cancelled"
    change_run_set(by=by, run_set=run_set, verb="retry")
    for _ in range(3):
        work_off()
    progress = progress_of([run_set])[run_set.pk]
    assert [row.state for row in progress.rows] == ["queued"] * 3
    assert set(run_set.runs) == set(Run.objects.all())
    assert list(sets_of(Run.objects.order_by("pk")[0])) == [run_set]
    assert Job.objects.count() == 3


def test_the_progress_of_many_sets_takes_no_more_queries(
    fake: FakeLLM, django_assert_max_num_queries: Any
) -> None:
    corpus = small_corpus(dialogues=1)
    sets = [start(corpus, endpoint_of(fake, name=f"e{n}", model=f"fake-{n}")) for n in range(4)]
    with django_assert_max_num_queries(4):
        assert {state.state for state in progress_of(sets).values()} == {"running"}


def test_the_estimate_of_a_set_is_the_sum_over_its_runs_and_saves_nothing(fake: FakeLLM) -> None:
    corpus = small_corpus()
    rows = planned(corpus, endpoint_of(fake), endpoint_of(fake, name="b", model="fake-2", price_in=None))
    together = estimate_set(rows)
    single = [estimate(row.judge, row.selection) for row in rows]
    assert together.calls == sum(row.calls for row in single if row) == 48
    assert together.tokens_in == sum(row.tokens_in for row in single if row)
    assert together.costs["USD"] == sum((row.cost or Decimal(0) for row in single if row), Decimal(0))
    assert (together.unpriced, together.seconds) == (2, None)
    assert not Rater.objects.exists()


def test_the_time_of_a_set_follows_from_earlier_replies_and_the_limits_of_endpoints(fake: FakeLLM) -> None:
    corpus, endpoint = small_corpus(), endpoint_of(fake, concurrency=2)
    start(small_corpus(dialogues=1), endpoint)
    finish()
    Call.objects.update(latency_ms=3000)
    together = estimate_set(planned(corpus, endpoint))
    assert (together.seconds, together.timed) == (24 * 3 / 2, 12)
    endpoint.requests_per_minute = 10
    endpoint.save()
    assert estimate_set(planned(corpus, endpoint)).seconds == 24 * 6
    endpoint.requests_per_minute = None
    endpoint.save()
    start(corpus, endpoint)
    finish()
    nothing = estimate_set(planned(corpus, endpoint))
    assert (nothing.calls, nothing.seconds, nothing.time) == (0, 0, "none: nothing is sent")


def test_the_api_estimates_starts_follows_and_changes_a_set(researcher: Client, fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    endpoint_of(fake)
    endpoint_of(fake, name="b", model="fake-2")
    body = {
        "name": "two by two",
        "corpus": corpus.name,
        "judges": [{"protocol": key, "samples": 2} for key in PROTOCOLS] + [{"protocol": "rules_baseline"}],
        "endpoints": ["fake", "b"],
        "metrics": ["dnr"],
    }
    estimated = post(researcher, "api-estimate-run-set", body).json()
    assert (estimated["calls"], len(estimated["runs"]), RunSet.objects.count()) == (48, 5, 0)
    assert [row["estimate"] is None for row in estimated["runs"]] == [False] * 4 + [True]
    made = post(researcher, "api-run-sets", body)
    assert made.status_code == 201
    row = made.json()
    assert (row["name"], row["state"], len(row["runs"])) == ("two by two", "running", 6)
    assert sorted(run["endpoint"] or "" for run in row["runs"]) == ["", "", "b", "b", "fake", "fake"]
    address = reverse("api-run-set", args=[row["id"]])
    change = reverse("api-change-run-set", args=[row["id"]])
    paused = researcher.post(change, {"verb": "pause"}, content_type="application/json").json()
    assert {run["state"] for run in paused["runs"]} == {"paused"}
    assert researcher.post(change, {"verb": "pause"}, content_type="application/json").status_code == 400
    researcher.post(change, {"verb": "resume"}, content_type="application/json")
    finish()
    finish("metrics")
    done = researcher.get(address).json()
    assert (done["state"], done["failed"], done["done"]) == ("done", 0, done["total"])
    listed = researcher.get(reverse("api-run-sets"), {"corpus": corpus.name}).json()["results"]
    assert listed == [done]


def test_several_metrics_in_one_request_are_a_set(researcher: Client) -> None:
    corpus = small_corpus(dialogues=1)
    made = post(researcher, "api-runs", {"corpus": corpus.name, "metrics": ["dnr", "pf"]})
    assert (made.status_code, [run["title"] for run in made.json()["runs"]]) == (201, ["dnr", "pf"])
    single = post(researcher, "api-runs", {"corpus": corpus.name, "metrics": ["dnr"]}).json()
    assert single["kind"] == "metric"
    wrong = post(researcher, "api-runs", {"corpus": corpus.name, "metrics": ["dnr", "wisdom"]})
    assert wrong.status_code == 400


def test_wrong_judges_of_a_request_are_refused_one_line_each(researcher: Client) -> None:
    corpus = small_corpus(dialogues=1)
    body = {"corpus": corpus.name, "judges": [{"protocol": "cpdscore_simple"}]}
    assert "choose an endpoint" in post(researcher, "api-run-sets", body).content.decode()
    unusable: list[list[dict[str, str]]] = [[{}], [{"protocol": "wisdom"}]]
    for judges in unusable:
        assert post(researcher, "api-run-sets", body | {"judges": judges}).status_code == 400
    assert post(researcher, "api-run-sets", body | {"judges": []}).status_code == 400


def test_the_pages_review_all_runs_follow_them_and_end_in_one_report(
    researcher: Client, fake: FakeLLM
) -> None:
    corpus = small_corpus(dialogues=2)
    first, second = endpoint_of(fake), endpoint_of(fake, name="b", model="fake-2")
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    form: dict[str, Any] = {"judge-judge": [f"{key}:without_reference" for key in PROTOCOLS]}
    form |= {"judge-endpoint": [first.pk, second.pk], "judge-set_name": "<b>two</b> by two"}
    review = " ".join(researcher.post(address, form).content.decode().split())
    assert "Review 4 runs" in review
    assert '<th scope="row">Together</th>' in review
    assert "48" in review
    started = researcher.post(address, form | {"confirmed": "1"})
    run_set = RunSet.objects.get()
    page = researcher.get(started.headers["Location"]).content.decode()
    assert "&lt;b&gt;two&lt;/b&gt; by two" in page
    assert "<b>two" not in page
    assert ("every 5s" in page, "Pause" in page, ">Report<" in page) == (True, True, False)
    refused = researcher.post(reverse("run-set-report", args=[run_set.pk]), follow=True)
    assert "has a label yet" in refused.content.decode()
    researcher.post(reverse("change-run-set", args=[run_set.pk]), {"verb": "pause"})
    assert state_of(run_set) == "paused"
    researcher.post(reverse("change-run-set", args=[run_set.pk]), {"verb": "resume"})
    odd = researcher.post(reverse("change-run-set", args=[run_set.pk]), {"verb": "delete"}, follow=True)
    assert "There is no change" in odd.content.decode()
    finish()
    page = researcher.get(reverse("run-set", args=[run_set.pk])).content.decode()
    assert ("every 5s" in page, "48 of 48" in page, ">Report<" in page) == (False, True, True)
    report = reverse("run-set-report", args=[run_set.pk])
    answer = researcher.post(report)
    study = Study.objects.get()
    assert answer.headers["Location"] == reverse("report", args=[study.pk])
    assert set(study.definition["raters"]) == {run.name for run in run_set.runs}
    researcher.post(report)
    assert Study.objects.count() == 1
    run_page = researcher.get(reverse("run", args=[run_set.runs[0].pk])).content.decode()
    assert reverse("run-set", args=[run_set.pk]) in run_page
    assert (
        reverse("run-set", args=[run_set.pk])
        in researcher.get(reverse("corpus-judges", args=[corpus.name])).content.decode()
    )


def test_judges_with_their_own_samples_and_metrics_are_one_set_from_one_form(
    researcher: Client, fake: FakeLLM
) -> None:
    corpus, endpoint = small_corpus(dialogues=1), endpoint_of(fake)
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    form: dict[str, Any] = {"judge-judge": [f"{key}:without_reference" for key in PROTOCOLS]}
    form |= {"judge-endpoint": endpoint.pk, "judge-samples": "2", "judge-metrics": "dnr"}
    form |= {"judge-samples:cpdscore_detail:without_reference": "3", "judge-metric_keys": "pf, dnr"}
    wrong = researcher.post(address, form | {"judge-samples:cpdscore_detail:without_reference": "0"})
    assert (wrong.status_code, "greater than or equal to 1" in wrong.content.decode()) == (422, True)
    review = " ".join(researcher.post(address, form).content.decode().split())
    assert "Review 4 runs" in review
    assert '<th scope="row">pf</th>' in review
    assert not RunSet.objects.exists()
    back = researcher.post(address, form | {"change": "1"}).content.decode()
    assert re.search(r'name="judge-samples:cpdscore_detail:without_reference" value="3"', back)
    researcher.post(address, form | {"confirmed": "1"})
    run_set = RunSet.objects.get()
    assert [run.samples for run in run_set.runs] == [2, 3, 1, 1]
    body = {
        "corpus": corpus.name,
        "endpoints": [endpoint.name],
        "judges": [
            {"protocol": "cpdscore_simple", "samples": 2},
            {"protocol": "cpdscore_detail", "samples": 3},
        ],
        "metrics": ["pf", "dnr"],
    }
    assert post(researcher, "api-run-sets", body).json()["id"] == run_set.pk, "the same content"
    finish()
    finish("metrics")
    assert (state_of(run_set), fake.requests.total()) == ("done", 6 * 2 + 6 * 3)


def test_metrics_alone_start_without_a_review_and_nothing_is_refused(researcher: Client) -> None:
    corpus = small_corpus(dialogues=1)
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    nothing = researcher.post(address, {})
    assert (nothing.status_code, "at least one judge or metric" in nothing.content.decode()) == (422, True)
    started = researcher.post(address, {"judge-metrics": "dnr"})
    assert started.headers["Location"] == reverse("run", args=[Run.objects.get().pk])
    assert "wisdom" in researcher.post(address, {"judge-metric_keys": "wisdom"}).content.decode()


def test_the_report_compares_the_judges_of_the_set_with_people_and_no_other_judge(
    researcher: Client, fake: FakeLLM
) -> None:
    corpus, endpoint = small_corpus(dialogues=1), endpoint_of(fake)
    begin(corpus, Judge("cpdscore_simple", endpoint=endpoint_of(fake, name="c", model="fake-3")))
    person = Rater.objects.create(kind="human", name="ana", corpus=corpus)
    run_set = start(corpus, endpoint)
    finish()
    for label in Label.objects.filter(rater=run_set.runs[0].rater):
        Label.objects.create(
            rater=person, item=label.item, question=label.question, number=label.number, occasion="imported"
        )
    made = researcher.post(reverse("api-run-set-report", args=[run_set.pk]))
    assert made.status_code == 200
    names = {"ana", *(run.name for run in run_set.runs)}
    assert set(made.json()["definition"]["raters"]) == names
    report = researcher.get(reverse("api-report", args=[made.json()["id"]])).json()
    assert "fake-3" not in json.dumps(report)


def command(*arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command(*arguments, "--quiet", stdout=out)
    last: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return last


@pytest.fixture
def signals() -> Iterator[None]:
    """The commands set signal handlers; give pytest its own back."""
    import signal

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
def test_the_command_runs_a_set_resumes_it_and_fails_where_a_run_failed(
    fake: FakeLLM, other: FakeLLM, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = small_corpus(dialogues=1)
    endpoint_of(fake)
    endpoint_of(other, name="b", model="fake-2")
    judges = ("--judge", "cpdscore_simple", "--judge", "cpdscore_detail:without_reference")
    arguments = ("run_judge", *judges, "--endpoint", "fake", "--endpoint", "b", "--corpus", corpus.name)
    assert command(*arguments, "--estimate")["calls"] == 24
    assert not RunSet.objects.exists()
    other.mode = "400"
    with pytest.raises(CommandError) as failed:
        command(*arguments, "--set", "nightly")
    assert str(failed.value).count("6 of 6 calls failed") == 2
    assert "Together 24 calls" in capsys.readouterr().err
    assert Label.objects.count() == 6 * 6 + 6
    requests, other.mode = fake.requests.total(), "good"
    again = command(*arguments, "--set", "nightly", "--retry-failed")
    assert (again["name"], [run["state"] for run in again["runs"]]) == ("nightly", ["done"] * 4)
    assert (RunSet.objects.count(), fake.requests.total()) == (1, requests)


@pytest.mark.usefixtures("signals")
def test_a_command_takes_metrics_and_the_samples_of_each_judge(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    endpoint_of(fake)
    judges = ("--judge", "cpdscore_simple:3", "--judge", "cpdscore_detail:without_reference:2")
    arguments = ("run_judge", *judges, "--judge", "rules_baseline", "--endpoint", "fake", "--samples", "1")
    over = ("--corpus", corpus.name, "--metrics", "dnr,pf")
    estimated = command(*arguments, *over, "--estimate")
    assert [row["samples"] for row in estimated["runs"]] == [3, 2, 1]
    assert not Rater.objects.exists()
    ended = command(*arguments, *over)
    assert [run["state"] for run in ended["runs"]] == ["done"] * 5
    assert [run.samples for run in RunSet.objects.get().runs] == [3, 2, 1, 1, 1]
    assert fake.requests.total() == 6 * 3 + 6 * 2
    for wrong in ("cpdscore_simple:0", "cpdscore_simple:51", "cpdscore_simple:wise:2"):
        with pytest.raises(CommandError):
            command("run_judge", "--judge", wrong, "--endpoint", "fake", "--corpus", corpus.name)


@pytest.mark.usefixtures("signals")
def test_several_metrics_of_a_command_are_a_set() -> None:
    corpus = small_corpus(dialogues=1)
    ended = command("run_metrics", "--metrics", "dnr,pf", "--corpus", corpus.name, "--set", "turns")
    assert (ended["name"], len(ended["runs"]), state_of(RunSet.objects.get())) == ("turns", 2, "done")


def test_a_variant_beside_several_judges_is_refused(fake: FakeLLM) -> None:
    arguments = ("run_judge", "--judge", "cpdscore_simple", "--variant", "x", "--corpus", small_corpus().name)
    with pytest.raises(CommandError, match="PROTOCOL:VARIANT"):
        command(*arguments)


def post(client: Client, route: str, body: dict[str, Any]) -> Any:
    return client.post(reverse(route), json.dumps(body), content_type="application/json")
