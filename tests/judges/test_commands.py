"""`run_judge` and `run_metrics`: their output and exit status."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.corpora import splits
from annotation.models import Label
from jobs.models import Endpoint, Run
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _signals() -> Any:
    """The commands set signal handlers; give pytest its own back."""
    import signal

    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def command(*arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command(*arguments, "--quiet", stdout=out)
    last: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return last


def test_run_judge_ends_with_its_counts_and_resumes(fake: FakeLLM) -> None:
    corpus = small_corpus()
    endpoint_of(fake)
    arguments = ("run_judge", "--protocol", "cpdscore_simple", "--endpoint", "fake", "--corpus", corpus.name)
    first = command(*arguments)
    assert (first["state"], first["total"], first["done"], first["labels"]) == ("done", 12, 12, 72)
    again = command(*arguments)
    assert (again["run"], again["labels"], fake.requests.total()) == (first["run"], 72, 12)


@pytest.mark.exhaustive
def test_run_judge_keeps_to_a_part_of_the_split() -> None:
    corpus = small_corpus(dialogues=4)
    splits.draw(corpus=corpus, by=None)
    only = ("run_judge", "--protocol", "rules_baseline", "--corpus", corpus.name, "--part")
    assert command(*only, "dev")["total"] == 2
    assert command(*only, "test", "--open-test", "the figures of the paper")["total"] == 2


@pytest.mark.exhaustive
def test_a_failed_call_is_a_failed_command_with_its_counts(fake: FakeLLM) -> None:
    fake.mode = "400"
    corpus = small_corpus(dialogues=1)
    endpoint_of(fake)
    arguments = ("run_judge", "--protocol", "cpdscore_detail", "--endpoint", "fake", "--corpus", corpus.name)
    with pytest.raises(CommandError, match="6 of 6 calls failed"):
        command(*arguments)
    fake.mode = "good"
    with pytest.raises(CommandError, match="6 of 6 calls failed"):
        command(*arguments)
    assert command(*arguments, "--retry-failed")["labels"] == 6


def test_run_metrics_prints_one_entry_per_metric() -> None:
    found = command("run_metrics", "--metrics", "dnr,pf", "--corpus", small_corpus().name)
    assert [(run["rater"], run["state"], run["labels"]) for run in found["runs"]] == [
        ("dnr@paper", "done", 12),
        ("pf@paper", "done", 12),
    ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--protocol", "cpdscore_simple", "--corpus", "c"), "choose an endpoint"),
        (("--protocol", "cpdscore_simple", "--endpoint", "no", "--corpus", "c"), "no endpoint 'no'"),
        (("--protocol", "rules_baseline", "--corpus", "none"), "no corpus 'none'"),
        (("--protocol", "rules_baseline", "--campaign", "none"), "no campaign 'none'"),
        (("--protocol", "rules_baseline", "--corpus", "c", "--systems", "no"), "no system no"),
        (("--protocol", "rules_baseline", "--corpus", "c"), "nothing to judge"),
        (("--protocol", "rules_baseline", "--corpus", "c", "--samples", "0"), "between 1 and 50"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments: tuple[str, ...], why: str) -> None:
    factories.corpus("c")
    with pytest.raises(CommandError, match=why) as refused:
        command("run_judge", *arguments)
    assert "\n" not in str(refused.value)


@pytest.mark.exhaustive
def test_a_campaign_s_run_covers_its_items_and_answers_its_questions(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=3)
    factories.dialogue(corpus, "alone")
    campaign = factories.campaign(corpus, "comperdial_turn", include_self=False)
    endpoint_of(fake)
    arguments = ("--protocol", "cpdscore_detail", "--endpoint", "fake", "--campaign", campaign.name)
    found = command("run_judge", *arguments)
    assert found["total"] == campaign.tasks.count()
    labels = Label.objects.all()
    assert set(labels.values_list("item", flat=True)) == set(campaign.tasks.values_list("item", flat=True))
    assert set(labels.values_list("question__version", flat=True)) == {campaign.scheme_version_id}


def test_an_endpoint_of_the_environment_can_be_named(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_ENDPOINT_FROM_ENV", f"{fake.url}|fake-2||1.5|2")
    corpus = small_corpus(dialogues=1)
    found = command(
        *("run_judge", "--protocol", "cpdscore_detail", "--endpoint", "from-env", "--corpus", corpus.name)
    )
    assert found["cost"] == pytest.approx(6 * (100 * 1.5 + 20 * 2) / 1e6)
    monkeypatch.delenv("CONCORD_ENDPOINT_FROM_ENV")
    with pytest.raises(CommandError, match="no endpoint 'from-env'"):
        command(
            *("run_judge", "--protocol", "cpdscore_detail", "--endpoint", "from-env", "--corpus", corpus.name)
        )
    assert not Endpoint.objects.get().active


def test_the_demo_s_judge_is_called_rules_baseline() -> None:
    corpus = small_corpus(dialogues=1)
    assert (
        command("run_judge", "--protocol", "rules_baseline", "--corpus", corpus.name)["rater"]
        == "rules-baseline"
    )
    assert Run.objects.get().endpoint is None


@pytest.mark.exhaustive
def test_it_says_that_nothing_failed_and_that_no_test_was_closed(fake: FakeLLM) -> None:
    endpoint_of(fake)
    line = ["run_judge", "--protocol", "cpdscore_detail", "--endpoint", "fake"]
    line += ["--corpus", small_corpus().name]
    command(*line)
    notes = io.StringIO()
    call_command(
        *line, "--quiet", "--retry-failed", "--open-test", "paper", stdout=io.StringIO(), stderr=notes
    )
    assert "--retry-failed: nothing has failed or was cancelled" in notes.getvalue()
    assert "--open-test: this run opens no test that is closed to the judge" in notes.getvalue()
