"""Models' drafts for scripts become records, once, with items to review; so do summaries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Item, QuestionSet, Record, RelationRows, System
from config.models import Event
from demo.fake_model.errors import ErrorModel
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from jobs.models import Call, Endpoint
from suites.continuation.models import Production
from suites.continuation.productions.dialogues import of_rows
from suites.long_dialogue.agent.memory import Heard, text_digest
from suites.long_dialogue.editing import question_editing, question_sets
from suites.long_dialogue.scripts.graph import DEFAULT
from tests.suites.long_dialogue.examples import script

pytestmark = pytest.mark.django_db(transaction=True)
PLANTED = {1: "{fact Ana | boss | Ben}", 4: "{fact Cara | roommate | Ben}", 2: "{evidence q2}"}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A script with a fact, a question and a quiz question whose evidence nobody knows."""
    told = deepcopy(script())
    for place, mark in PLANTED.items():
        told["turns"][place]["text"] += f" {mark}"
    told["questions"].append(
        {"id": "q2", "source": "quiz", "text": "Which boots? {answer q2 red}", "answer": "red",
         "choices": ["red", "blue", "green", "grey"]}
    )  # fmt: skip
    path = tmp_path / "loaf.jsonl"
    path.write_text(json.dumps(told), encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Loaf", into=False, by=None)
    return Corpus.objects.get(name="Loaf")


@contextmanager
def fake(**models: str) -> Iterator[None]:
    """Run a fake model without errors under the names of some endpoints."""
    model = FakeModel(ErrorModel())
    with LocalServer(lambda method, path, body, headers: model.respond(method, path, body)) as server:
        for name, told in models.items():
            Endpoint.objects.create(
                name=name, model=told, base_url=server.url, allow_private=True, timeout_s=5, active=True
            )
        yield


def generate(generator: str, endpoint: str = "one", *arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command(
        *("generate", "--generator", generator, "--corpus", "Loaf", "--endpoint", endpoint, "--quiet"),
        *arguments,
        stdout=out,
        stderr=StringIO(),
    )
    told: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return told


def drafted(kind: str) -> dict[str, Mapping[str, Any]]:
    return {row.key: row.content for row in Record.objects.filter(kind=kind, provenance__by="production")}


def test_facts_become_drafts_with_items_and_what_is_there_is_not_drafted_again(corpus: Corpus) -> None:
    before = set(Record.objects.filter(kind="fact").values_list("key", flat=True))
    with fake(one="fake-1", two="fake-2"):
        told = generate("dialsim_facts", "one", "--set", "sessions=2")
        assert (told["done"], told["failed"], told["calls"]) == (1, 0, 5)
        made = drafted("fact")
        assert made == {
            "fs3-1": {"head": "Cara", "relation": "roommate", "tail": "Ben", "session": "s3", "turns": [4]}
        }
        record = Record.objects.get(key="fs3-1")
        item = Item.objects.get(record=record)
        assert (record.status, record.corpus, item.kind, item.cluster) == ("draft", corpus, "fact", "loaf/s3")
        production = Production.objects.get()
        assert production.result == {"made": 1, "keys": ["fs3-1"], "there": 1, "decided": 0}
        assert record.provenance == {"by": "production", "production": production.pk}
        assert (production.memory, production.continuation) == ({}, None)
        assert generate("dialsim_facts", "one", "--set", "sessions=2")["calls"] == 5
        generate("dialsim_facts", "two")
    assert set(Record.objects.filter(kind="fact").values_list("key", flat=True)) == before | {"fs3-1"}
    assert not System.objects.filter(name__startswith="fake").exists()


@pytest.mark.exhaustive
def test_a_key_that_another_fact_has_gets_a_number(corpus: Corpus) -> None:
    row = Record.objects.get(kind="fact", key="f2")
    row.key, row.content = "fs3-1", row.content | {"tail": "Ana"}
    row.save()
    with fake(one="fake-1"):
        generate("dialsim_facts")
    assert list(drafted("fact")) == ["fs3-1.2"]


@pytest.mark.exhaustive
def test_evidence_is_proposed_in_a_draft_that_supersedes_the_open_question(corpus: Corpus) -> None:
    with fake(one="fake-1", two="fake-2"):
        assert generate("dialsim_quiz")["calls"] == 5
        made = drafted("question")
        assert {key: content["evidence"] for key, content in made.items()} == {"q2.2": ["s2"]}
        old, new = Record.objects.get(key="q2"), Record.objects.get(key="q2.2")
        assert (old.superseded_by, new.status) == (new, "draft")
        assert Item.objects.get(record=new).cluster == "loaf/s2"
        assert Record.objects.get(key="q1").superseded_by is None
        with pytest.raises(CommandError, match="no quiz questions without evidence"):
            generate("dialsim_quiz", "two")


@pytest.mark.exhaustive
def test_a_question_that_was_decided_meanwhile_keeps_its_evidence(corpus: Corpus) -> None:
    with fake(one="fake-1"):
        generate("dialsim_quiz", "one", "--estimate")
        with_answers = FakeModel.respond

        def decided(self: FakeModel, *told: Any) -> Any:
            Record.objects.filter(key="q2").update(status="accepted")
            return with_answers(self, *told)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FakeModel, "respond", decided)
            generate("dialsim_quiz")
    assert drafted("question") == {}
    assert Production.objects.get().result == {"made": 0, "keys": [], "there": 0, "decided": 1}


@pytest.mark.exhaustive
def test_facts_are_drawn_by_the_corpus_s_own_relations(corpus: Corpus) -> None:
    rows = [row for row in DEFAULT.as_rows() if row["key"] in ("boss", "subordinate", "job")]
    RelationRows.objects.create(corpus=corpus, version=1, rows=rows)
    with fake(one="fake-1"):
        told = generate("dialsim_facts")
    assert told["flags"] == {"unknown_relation": 1}
    assert drafted("fact") == {}


@pytest.mark.exhaustive
def test_a_session_is_summed_up_once_whoever_asks(corpus: Corpus) -> None:
    dialogue = corpus.dialogues.get()
    digest = text_digest(Heard(of_rows([dialogue])[dialogue.pk]).text(2))
    with fake(one="fake-1"):
        for _ in range(2):
            generate("dialsim_session_summary", "one", "--set", f"text={digest}")
    assert Call.objects.count() == 1
    assert Production.objects.get().result == "Cara: Ana, I bought red boots. {evidence q2}"


@pytest.mark.exhaustive
def test_questions_have_the_wordings_of_their_askers_as_soon_as_a_model_is_done(corpus: Corpus) -> None:
    before = Record.objects.get(key="q1").content
    with fake(one="fake-1"):
        told = generate("dialsim_style", "one", "--set", "sessions=1")
    assert (told["done"], told["failed"]) == (1, 0)
    after = Record.objects.get(key="q1").content
    assert {**after, "styles": {}} == {**before, "styles": {}}
    assert "default" in after["styles"]
    assert after["styles"].keys() & {"ben", "cara"}
    assert all("?" in text for text in after["styles"].values())
    assert Event.objects.filter(verb="word questions").count() == 1


@pytest.fixture
def boat(corpus: Corpus) -> Corpus:
    """The corpus with two versions of the question set `boat`, of which a simulation used the first."""
    Record.objects.filter(kind="fact").update(status="accepted")
    facts = [("Cara", "Dora"), ("Ben", "Emil"), ("Dora", "Fritz"), ("Emil", "Cara")]
    dialogue = corpus.dialogues.get()
    for head, tail in facts:
        told = {"head": head, "relation": "boss", "tail": tail, "session": "s1", "turns": [1]}
        question_editing.add(dialogue=dialogue, kind="fact", content=told, accepted=True, by=None)
    first = question_sets.make(corpus=corpus, name="boat", by=None).set
    QuestionSet.objects.filter(pk=first.pk).update(used_at=timezone.now())
    assert question_sets.make(corpus=corpus, name="boat", seed=1, by=None).set.version == 2
    return corpus


def worded(corpus: Corpus) -> set[str]:
    """Return the versions of the set whose own questions have wordings."""
    rows = Record.objects.filter(corpus=corpus, set__isnull=False, content__styles__has_key="default")
    return {key.partition(":")[0] for key in rows.values_list("key", flat=True)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("told", ["boat:1", "boat@1"])
def test_wording_a_used_set_is_refused_before_the_first_call(boat: Corpus, told: str) -> None:
    with fake(one="fake-1"):
        why = "questions of the set boat:1 keep their texts, since a simulation used it"
        assert why in str(generate("dialsim_style", "one", "--set", f"set={told}", "--estimate")["left_out"])
        with pytest.raises(CommandError, match=why):
            generate("dialsim_style", "one", "--set", f"set={told}")
    assert (Call.objects.count(), Production.objects.count(), worded(boat)) == (0, 0, set())


def test_wording_a_set_that_is_not_there_is_refused_with_those_that_are(boat: Corpus) -> None:
    with fake(one="fake-1"), pytest.raises(CommandError, match="no question set 'ship'; it has boat, first"):
        generate("dialsim_style", "one", "--set", "set=ship")
    assert not Call.objects.exists()


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(("boat", "boat"), marks=pytest.mark.exhaustive),
        ("boat:2", "boat@2"),
        pytest.param(("boat@2", "boat:2"), marks=pytest.mark.exhaustive),
    ],
)
def test_a_version_of_a_set_is_worded_once_however_it_is_told(boat: Corpus, told: tuple[str, str]) -> None:
    with fake(one="fake-1"):
        for each in told:
            done = generate("dialsim_style", "one", "--set", f"set={each}", "sessions=1")
            assert (done["done"], done["failed"]) == (1, 0)
        made = Record.objects.filter(set__version=2, set__name="boat").count()
        assert Call.objects.count() == made
    assert (Production.objects.count(), worded(boat)) == (1, {"boat@2"})


@pytest.mark.exhaustive
def test_a_set_that_an_agent_was_generated_with_counts_as_used(boat: Corpus) -> None:
    with fake(one="fake-1"):
        generate("dialsim_agent", "one", "--set", "set=boat@2")
    assert Production.objects.get().condition["set"] == "boat:2"
    assert boat.question_sets.get(name="boat", version=2).used_at is not None
