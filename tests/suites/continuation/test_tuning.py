"""Examples for fine-tuning by command, page and API: complete, hashed, only from the right part."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.corpora import splits
from annotation.corpora.splits import part_in
from annotation.models import Corpus, Split
from calibration.exports import downloads
from calibration.models import Export
from jobs.models import Job
from suites.continuation.generators import GENERATORS, Reply
from tests import factories
from tests.jobs.work import work_off

pytestmark = pytest.mark.django_db


def lines(count: int, what: str) -> list[dict[str, Any]]:
    return [{"text": f"{what} {n}"} for n in range(count)]


def corpus_of(parts: dict[str, str], **fields: Any) -> Corpus:
    """Dialogues whose metadata name a part ('' for none), each continued by people for 30 turns."""
    corpus = factories.corpus("bench")
    for key, part in parts.items():
        metadata = {"first_turn": 50} | ({"part": part} if part else {})
        made = factories.dialogue(corpus, key, turns=30, metadata=metadata, part=part_in(metadata), **fields)
        factories.continuation(made, f"{key}-h", system="human", turns=lines(30, f"{key} people"))
        factories.continuation(made, f"{key}-m", system="model", turns=lines(30, f"{key} model"))
    return corpus


@pytest.fixture
def benchmark() -> Corpus:
    return corpus_of({"e0": "evaluation", "t0": "train", "t1": "train"})


def exported(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[dict[str, Any], bytes]:
    call_command("export_sft", "--corpus", "bench", *options, "--output", str(path))
    return json.loads(capsys.readouterr().out.splitlines()[-1]), path.read_bytes()


def test_six_examples_a_continuation_at_five_turns_a_call_and_a_hash_that_is_reproducible(
    benchmark: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--part", "training", "--turns-per-call", "5", "--prompting", "vanilla")
    told, content = exported(tmp_path / "sft.jsonl", capsys, *options)
    assert (told["rows"], told["dialogues"], told["left_out"], told["part"]) == (12, 2, {}, "training")
    assert told["sha256"] == hashlib.sha256(content).hexdigest()
    assert exported(tmp_path / "again.jsonl", capsys, *options) == (told, content)
    examples = [json.loads(line) for line in content.splitlines()]
    assert [len(example["messages"]) for example in examples] == [3] * 12
    assert b"e0" not in content
    assert b" model " not in content


def test_every_line_is_what_the_generator_sends_and_reads(
    benchmark: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each reply is read by a production that stands where the example stands."""
    from suites.continuation.productions.dialogues import Dialogues

    generator = GENERATORS["cocoeval_continuation"]
    settings = generator.resolved({"turns_per_call": 10, "prompting": "taxonomy"})
    _, content = exported(tmp_path / "sft.jsonl", capsys, "--turns-per-call", "10", "--prompting", "taxonomy")
    examples = [json.loads(line)["messages"] for line in content.splitlines()]
    records = [record for _, record in Dialogues(benchmark, part="training").read()]
    states = [generator.begin(record, settings) for record in sorted(records, key=lambda one: one.id)]
    for place, messages in enumerate(examples):
        state = states[place // 3]
        prompt = generator.request(state)[0]  # type: ignore[index]
        assert messages[:2] == prompt.messages()
        states[place // 3] = generator.receive(state, [Reply(messages[2]["content"])])
    assert all(len(state["written"]) == 30 and not state["flags"] for state in states)


def test_what_cannot_be_taught_is_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = corpus_of({"a": "", "b": "", "c": "", "d": ""})
    by_people = corpus.dialogues.get(key="b").continuations.get(key="b-h")
    by_people.turns.get(position=29).delete()
    corpus.dialogues.get(key="c").continuations.get(key="c-h").delete()
    corpus.dialogues.get(key="d").continuations.get(key="d-h").turns.update(speaker="Zoe")
    told, _ = exported(tmp_path / "sft.jsonl", capsys)
    assert (told["rows"], told["dialogues"], told["part"]) == (1, 1, "all")
    assert told["left_out"] == {
        "people did not continue it": 1,
        "people's continuation has 29 turns, not 30": 1,
        "the reader refuses people's own turns: turn 80: 'Zoe' is none, or not one alone, of the people "
        "listed": 1,
    }
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--part", "dev"], "bench is a benchmark: its parts are training and evaluation, not dev"),
        (["--turns-per-call", "7"], "turns_per_call: 7 does not divide 30 turns"),
        (["--turns-per-call", "x"], "turns_per_call: 'x' is not a whole number"),
        (["--prompting", "rude"], "prompting: 'rude' is not one of vanilla, taxonomy"),
        (["--turns", "60"], "none can be taught, most often because people's continuation has 30 turns"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(
    benchmark: Corpus, options: list[str], why: str, tmp_path: Path
) -> None:
    path = tmp_path / "sft.jsonl"
    with pytest.raises(CommandError) as refusal:
        call_command("export_sft", "--corpus", "bench", *options, "--output", str(path))
    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert not list(tmp_path.iterdir())


def test_without_named_parts_those_of_the_split_are_taken_and_test_is_a_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = corpus_of({"a": "", "b": "", "c": "", "d": ""})
    with pytest.raises(CommandError, match="is in the part training: its dialogues name none"):
        call_command("export_sft", "--corpus", "bench", "--part", "training")
    splits.draw(corpus=corpus, by=None, test_share=0.25)
    told, _ = exported(tmp_path / "dev.jsonl", capsys, "--turns-per-call", "30")
    assert (told["rows"], told["part"]) == (3, "dev")
    assert Split.objects.get().fixed_at is not None
    with pytest.raises(CommandError, match="test is locked"):
        call_command("export_sft", "--corpus", "bench", "--part", "test")
    told, _ = exported(tmp_path / "all.jsonl", capsys, "--part", "all", "--purpose", "a trial")
    assert (told["rows"], Split.objects.get().looks.count()) == (4, 1)


def test_of_a_benchmark_that_is_split_the_locked_part_stays_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = corpus_of(dict.fromkeys("abcd", "evaluation") | {"t": "train"})
    splits.draw(corpus=corpus, by=None, test_share=0.5)
    told, _ = exported(tmp_path / "sft.jsonl", capsys, "--part", "evaluation")
    assert (told["rows"], told["part"]) == (2, "evaluation")
    told, _ = exported(tmp_path / "training.jsonl", capsys)
    assert (told["rows"], told["part"]) == (1, "training")


def test_the_page_offers_the_parts_and_the_file_is_recorded(benchmark: Corpus, client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    page = client.get(f"/exports/?corpus={benchmark.pk}").content.decode()
    assert "For fine-tuning" in page
    assert '<option value="training">training</option>' in page
    answer = client.post(
        f"/exports/sft.jsonl?corpus={benchmark.pk}",
        {"part": "training", "prompting": "taxonomy", "turns_per_call": "5"},
    )
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert answer["Concord-Rows"] == "12"
    assert len(content.splitlines()) == 12
    record = Export.objects.get()
    assert (record.what, record.part, record.format, record.rows) == ("sft", "training", "jsonl", 12)
    assert record.sha256 == hashlib.sha256(content).hexdigest()
    assert "sft, train" in " ".join(client.get(f"/exports/?corpus={benchmark.pk}").content.decode().split())
    refused = client.post(f"/exports/sft.jsonl?corpus={benchmark.pk}", {"part": "dev"}, follow=True)
    assert "Not downloaded: bench is a benchmark" in refused.content.decode()


def test_a_corpus_that_people_did_not_continue_offers_nothing(client: Client) -> None:
    corpus = factories.corpus()
    factories.dialogue(corpus)
    client.force_login(factories.user(researcher=True))
    assert "For fine-tuning" not in client.get(f"/exports/?corpus={corpus.pk}").content.decode()


def test_the_same_over_http(benchmark: Corpus, client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    address = "/api/v1/exports/sft.jsonl"
    found = client.get(f"{address}?corpus={benchmark.pk}&part=evaluation&turns_per_call=1")
    assert (found.status_code, found["Concord-Rows"]) == (200, "30")
    assert len(b"".join(found.streaming_content).splitlines()) == 30  # type: ignore[attr-defined]
    posted = client.post(address, {"corpus": benchmark.pk}, content_type="application/json")
    assert (posted.status_code, posted["Concord-Rows"]) == (200, "2")
    assert len(b"".join(posted.streaming_content).splitlines()) == 2  # type: ignore[attr-defined]
    for wrong, why in (
        ({"corpus": benchmark.pk, "turns_per_call": 7}, "does not divide"),
        ({"corpus": benchmark.pk, "part": "dev"}, "is a benchmark"),
        ({"corpus": benchmark.pk, "turns": 0}, "greater than or equal to 1"),
    ):
        refused = client.post(address, wrong, content_type="application/json")
        assert refused.status_code == 400
        assert why in refused.content.decode()
    client.force_login(factories.user())
    assert client.get(f"{address}?corpus={benchmark.pk}").status_code == 403


@pytest.mark.django_db(transaction=True)
def test_many_examples_are_written_by_a_job(
    benchmark: Corpus, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "AT_ONCE", 100)
    client.force_login(factories.user(researcher=True))
    found = client.get(f"/api/v1/exports/sft.jsonl?corpus={benchmark.pk}&turns_per_call=1")
    assert found.status_code == 202
    work_off()
    job = Job.objects.get(pk=found.json()["job"])
    assert (job.state, job.result["rows"]) == ("done", 60)
    sent = client.get(f"/api/v1/exports/files/{job.pk}/")
    assert sent["Concord-Rows"] == "60"
    assert len(b"".join(sent.streaming_content).splitlines()) == 60  # type: ignore[attr-defined]
    assert Export.objects.get().part == "training"
