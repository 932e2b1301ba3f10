"""Limits of an endpoint apply to all workers together: concurrent requests, requests and tokens a minute."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from jobs.endpoints import limits
from jobs.endpoints.limits import Wish, allotted, take
from jobs.models import Endpoint, Pace, Run, Share
from judges.runs.plans import Judge
from tests.fake_llm import TOKENS_IN, TOKENS_OUT, FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def endpoint(**fields: object) -> Endpoint:
    told = {"name": "e", "base_url": "http://127.0.0.1:9/v1", "model": "m", "concurrency": 8} | fields
    return Endpoint.objects.create(**told)


def most_in_a_minute(times: Sequence[float], weights: Sequence[float], minute: float) -> float:
    """Return the greatest weight of begins within any minute."""
    pairs = list(zip(times, weights, strict=True))
    return max(sum(weight for at, weight in pairs if start <= at < start + minute) for start in times)


def schedule(turns: Sequence[int], **fields: int) -> list[float]:
    """Return when requests begin that ask again and again, in seconds from the first."""
    pace, asked, now, begun = Pace(), list(turns), NOW, []
    paced = Endpoint(concurrency=8, **fields)
    while asked:
        given = limits._begins(pace, paced, Wish(turns=asked[:16]), now)
        begun += [(now - NOW).total_seconds() + begin for begin in given]
        asked, now = asked[len(given) :], now + timedelta(seconds=0.25)
    return begun


@pytest.mark.parametrize("limit", [1, 7, 60, 1000])
def test_no_minute_holds_more_begins_than_the_limit_and_most_of_it_is_used(limit: int) -> None:
    n = min(limit * 3, 400)
    begun = schedule([10] * n, requests_per_minute=limit)
    late = [at + random.Random(n).uniform(0, limits.SLACK) for at in begun]
    assert most_in_a_minute(sorted(late), [1] * n, 60) <= limit
    assert begun[-1] <= (n - 1) * 61 / limit + 1


@pytest.mark.parametrize("each", [30, 100, 600, 1500])
def test_no_minute_holds_more_tokens_than_the_limit(each: int) -> None:
    begun = schedule([each] * 40, tokens_per_minute=1000)
    assert most_in_a_minute(begun, [each] * 40, 60) <= max(1000, each)


def test_what_a_reply_took_less_than_thought_comes_back() -> None:
    pace, paced = Pace(), Endpoint(concurrency=8, tokens_per_minute=6100)
    limits._begins(pace, paced, Wish(turns=[3000]), NOW)
    assert limits._begins(pace, paced, Wish(turns=[10]), NOW) == []
    assert limits._begins(pace, paced, Wish(turns=[10], settled=-6100), NOW) == [0.0]


def test_shares_are_even_whole_and_never_more_than_the_limit() -> None:
    assert allotted(16, {"a": 99, "b": 99, "c": 99}) == {"a": 6, "b": 5, "c": 5}
    assert allotted(16, {"a": 2, "b": 99}) == {"a": 2, "b": 14}
    assert allotted(2, {"a": 9, "b": 9, "c": 9}) == {"a": 1, "b": 1, "c": 0}
    rng = random.Random(1)
    for _ in range(300):
        wanted = {str(n): rng.randint(0, 20) for n in range(rng.randint(1, 6))}
        limit = rng.randint(0, 40)
        given = allotted(limit, wanted)
        assert sum(given.values()) == min(limit, sum(wanted.values()))
        assert all(given[name] <= wanted[name] for name in wanted)


@pytest.mark.django_db
def test_a_newcomer_waits_until_another_has_given_up_a_part_of_its_share() -> None:
    shared = endpoint(concurrency=8)
    assert take(endpoint=shared, worker="a", wish=Wish(wanted=8)).slots == 8
    assert take(endpoint=shared, worker="b", wish=Wish(wanted=8)).slots == 0
    first = take(endpoint=shared, worker="a", wish=Wish(slots=8, under_way=8, wanted=8)).slots
    assert first == 4
    assert take(endpoint=shared, worker="b", wish=Wish(wanted=8)).slots == 0, "eight are still under way"
    take(endpoint=shared, worker="a", wish=Wish(slots=4, under_way=4, wanted=8))
    assert take(endpoint=shared, worker="b", wish=Wish(wanted=8)).slots == 4


@pytest.mark.django_db
def test_whatever_workers_do_their_shares_are_within_the_limit() -> None:
    shared, rng = endpoint(concurrency=5), random.Random(7)
    held = dict.fromkeys("abcd", 0)
    under_way = dict.fromkeys("abcd", 0)
    for _ in range(150):
        worker = rng.choice("abcd")
        under_way[worker] = rng.randint(0, max(held[worker], 0))
        wish = Wish(slots=held[worker], under_way=under_way[worker], wanted=rng.randint(0, 9))
        held[worker] = take(endpoint=shared, worker=worker, wish=wish).slots
        noted = dict(Share.objects.values_list("worker", "slots"))
        assert sum(noted.values()) <= 5
        assert all(max(held[name], under_way[name]) <= noted[name] for name in noted)


@pytest.mark.django_db
def test_the_share_of_a_lost_worker_is_free_when_its_lease_ends() -> None:
    shared = endpoint(concurrency=4)
    take(endpoint=shared, worker="lost", wish=Wish(wanted=4))
    Share.objects.update(expires=NOW)
    assert take(endpoint=shared, worker="b", wish=Wish(wanted=4)).slots == 4


@pytest.mark.django_db
def test_refusals_halve_what_is_asked_at_once_and_answers_bring_it_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = endpoint(concurrency=16)

    def width(**told: int) -> int:
        take(endpoint=shared, worker="a", wish=Wish(wanted=16, **told))
        return limits.width_of(shared, Pace.objects.get())

    assert width(refused=3) == 8
    assert width(refused=3) == 8, "refusals of requests from before the cut count once"
    monkeypatch.setattr(limits, "COOL", 0.0)
    assert [width(refused=1), width(refused=1), width(refused=1), width(refused=1)] == [4, 2, 1, 1]
    grown = [width(answered=limits.width_of(shared, Pace.objects.get())) for _ in range(15)]
    assert grown == list(range(2, 17))
    assert Pace.objects.get().width is None


def workers(n: int) -> None:
    """Work on the queue with so many workers at once until nothing is ready."""
    trouble: list[BaseException] = []

    def one() -> None:
        try:
            finish()
        except BaseException as error:  # noqa: BLE001  (raised below, in the test's own thread)
            trouble.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trouble == []


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_three_workers_never_make_more_requests_at_once_than_the_endpoint_allows(fake: FakeLLM) -> None:
    fake.delay = 0.03
    run = begin(
        small_corpus(dialogues=12), Judge("cpdscore_detail", endpoint=endpoint_of(fake, concurrency=4))
    )
    workers(3)
    run.refresh_from_db()
    assert (run.state, fake.requests.total()) == (Run.State.DONE, 72)
    assert fake.most_at_once <= 4
    assert not Share.objects.exists()


@pytest.mark.parametrize(
    ("requests", "replies"), [(7, 1000), pytest.param(1000, 7, marks=pytest.mark.exhaustive)]
)
@pytest.mark.django_db(transaction=True)
def test_three_workers_never_pass_the_limits_of_a_minute(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch, requests: int, replies: int
) -> None:
    """`replies` is how many of them the tokens of a minute are enough for."""
    minute, each = 1.0, TOKENS_IN + TOKENS_OUT
    monkeypatch.setattr(limits, "MINUTE", minute)
    monkeypatch.setattr(limits, "SLACK", 0.5)
    monkeypatch.setattr(limits, "HORIZON", 0.2)
    paced = endpoint_of(fake, concurrency=8, requests_per_minute=requests, tokens_per_minute=replies * each)
    run = begin(small_corpus(dialogues=2), Judge("cpdscore_detail", endpoint=paced))
    workers(3)
    run.refresh_from_db()
    assert (run.state, len(fake.arrivals)) == (Run.State.DONE, 12)
    assert most_in_a_minute(fake.arrivals, [1] * 12, minute) <= min(requests, replies)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_server_that_refuses_for_the_number_is_asked_less_at_once(fake: FakeLLM) -> None:
    answer, fake.delay = fake.answer, 0.02

    def crowded(body: dict[str, object]) -> tuple[int, str]:
        return (429, "{}") if fake.at_once > 3 else answer(body)

    fake.answer = crowded  # type: ignore[method-assign]
    shared = endpoint_of(fake, concurrency=12)
    run = begin(small_corpus(dialogues=10), Judge("cpdscore_detail", endpoint=shared))
    while Run.objects.get(pk=run.pk).state in ("queued", "running"):
        run.calls.update(not_before=None)
        finish()
    assert Run.objects.get(pk=run.pk).state == Run.State.DONE
    assert Pace.objects.get().shrunk_at is not None
