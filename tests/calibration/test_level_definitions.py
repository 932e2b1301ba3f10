"""A study's definition by level: valid content, one-line error messages, and its presets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from calibration.errors import DefinitionError
from calibration.models import Study
from calibration.ratings.definitions import parse
from calibration.studies import study_actions as studies
from tests.calibration.levels_world import Static, asked, static
from tests.factories import user

TURN, WHOLE = "comperdial_turn@1/overall", "comperdial_dialogue@1/overall"
ACROSS = {"question": WHOLE, "answered_by": [{"question": TURN, "aggregate": "mean", "missing": "skip"}]}
WRITTEN = {
    "questions": [ACROSS],
    "level": ["dialogue", "system"],
    "unit": "continuation",
    "reference": "mean(kind:human)",
}
"""As the specification of studies at levels writes it."""


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ({"level": "word"}, "level is one or more of turn, dialogue, system, not 'word'"),
        ({"level": ["turn", 3]}, "level is one or more of turn, dialogue, system, not 3"),
        ({"level": {"turn": 1}}, "level is one or more of"),
        ({"unit": "continuation"}, "unit belongs to a study at levels: name level"),
        ({"samples": ["first", "mean"]}, "several samples policies are rows of a study at levels"),
        ({"level": "turn", "samples": ["first", "separate"]}, "a list of samples holds first and mean"),
        ({"level": "turn", "unit": "corpus"}, "unit is continuation or dialogue_system, not 'corpus'"),
        ({"level": "turn", "p": 0.05}, "p is clustered or item, not 0.05"),
        ({"level": "turn", "system_score": "best"}, "system_score is all_turns or mean_of_dialogues"),
        ({"level": "turn", "by": [1]}, "by is a list of condition keys"),
        ({"level": "turn", "by": [str(n) for n in range(11)]}, "by names 11 condition keys; at most 10"),
        ({"level": "turn", "shared_dialogues": "yes"}, "shared_dialogues is true or false, not 'yes'"),
        ({"level": "turn", "heading": "colour"}, "heading is source or kind or model or protocol"),
        ({"level": "turn", "reference": 3}, r"reference is mean\(kind:human\) or a rater's name"),
        ({"questions": [{"question": TURN, "missing": "guess"}]}, "question 1: missing is skip or whole"),
        (
            {"questions": [{"question": WHOLE, "answered_by": [{"question": TURN, "aggregate": "max"}]}]},
            "question 1: aggregate is mean, not 'max'",
        ),
        (
            {
                "questions": [
                    {
                        "question": WHOLE,
                        "missing": "skip",
                        "answered_by": [{"question": TURN, "missing": "whole"}],
                    }
                ]
            },
            "one table has one missing policy",
        ),
    ],
)
def test_what_a_study_at_levels_cannot_mean_is_refused_in_one_line(
    definition: dict[str, Any], message: str
) -> None:
    with pytest.raises(DefinitionError, match=message) as refused:
        parse(definition)
    assert "\n" not in str(refused.value)


def test_a_definition_at_levels_written_out_reads_back_the_same() -> None:
    full = WRITTEN | {
        "samples": ["first", "mean"],
        "system_score": "mean_of_dialogues",
        "by": ["prompting"],
        "p": "item",
        "shared_dialogues": True,
        "best_per": "model",
        "confidence": 0.9,
    }
    read = parse(full)
    assert parse(read.as_dict()) == read
    assert read.levels is not None
    assert read.levels.levels == ("dialogue", "system")
    assert (read.samples, read.plan.level) == ("first", 0.9)


def test_levels_come_in_their_order_and_one_may_stand_alone() -> None:
    assert parse({"level": ["system", "turn"]}).levels == parse({"level": ["turn", "system"]}).levels
    alone = parse({"level": "system"}).levels
    assert alone is not None
    assert alone.levels == ("system",)


def test_a_number_as_level_is_the_confidence_of_older_definitions() -> None:
    older = parse({"level": 0.9})
    assert (older.levels, older.plan.level) == (None, 0.9)


@pytest.fixture(scope="module")
def rated(module_database: None) -> Static:
    built = static()
    for number, name in enumerate(("ann", "ben")):
        built.say(name, asked(built, "comperdial_turn"), lambda d, s, t, n=number: 1 + (len(d) + t + n) % 5)
        built.say(
            name, asked(built, "comperdial_dialogue"), lambda d, s, t, n=number: 1 + ("abc".index(s) + n)
        )
    return built


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (
            {"questions": [ACROSS], "level": ["turn", "system"]},
            f"{TURN} is about turn items, {WHOLE} is not: they cannot meet at turn level, only at level "
            "dialogue and system",
        ),
        ({"questions": [ACROSS]}, "they meet in a study with level dialogue or system"),
        ({"questions": [WHOLE], "level": "turn"}, "is about whole dialogues, which have no turn level"),
        (
            {"level": "turn", "by": ["prompting"]},
            "no continuation has the condition 'prompting'; there are none",
        ),
        ({"level": "turn", "reference": "zoe"}, "reference: no rater 'zoe' has labels here"),
    ],
)
def test_what_the_labels_cannot_answer_is_refused_when_a_study_is_made(
    rated: Static, definition: dict[str, Any], message: str
) -> None:
    with pytest.raises(DefinitionError, match=message.replace("(", r"\(").replace(")", r"\)")):
        studies.create(name="s", corpus=rated.corpus, definition=definition, by=None)
    assert not Study.objects.exists()


@pytest.mark.django_db
def test_the_form_writes_a_definition_at_levels(researcher: Client, rated: Static) -> None:
    given = {
        "name": "table 5",
        "questions": [WHOLE],
        "answering": TURN,
        "answered": WHOLE,
        "map": "identity",
        "levels": ["dialogue", "system"],
        "missing": "whole",
        "row_samples": ["first", "mean"],
        "best_per": "model",
        "p": "item",
        "shared_dialogues": "on",
        "interval": "percentile",
        "resamples": 20,
        "seed": 0,
        "confidence": 0.95,
    }
    address = f"{reverse('new-study')}?corpus={rated.corpus.pk}"
    assert researcher.post(address, given).status_code == 302
    definition = Study.objects.get(name="table 5").definition
    read = parse(definition)
    assert read.levels is not None
    assert (read.levels.levels, read.levels.p) == (("dialogue", "system"), "item")
    assert (read.levels.samples, read.levels.best_per) == (("first", "mean"), "model")
    assert (read.levels.shared_dialogues, read.questions[0].missing) == (True, "whole")


@pytest.mark.django_db
def test_the_form_refuses_turns_beside_dialogues_at_turn_level(researcher: Client, rated: Static) -> None:
    given = {
        "name": "wrong",
        "answering": TURN,
        "answered": WHOLE,
        "map": "rank",
        "levels": ["turn"],
        "interval": "percentile",
        "resamples": 20,
        "seed": 0,
        "confidence": 0.95,
    }
    refused = researcher.post(f"{reverse('new-study')}?corpus={rated.corpus.pk}", given)
    assert refused.status_code == 422
    assert "whole dialogues, which have no turn level" in refused.content.decode()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_api_takes_the_definition_and_refuses_it_in_one_line(rated: Static) -> None:
    client = APIClient()
    client.force_login(user(researcher=True))
    address = reverse("api-studies")
    body = {"name": "table 5", "corpus": rated.corpus.pk, "definition": WRITTEN}
    made = client.post(address, body, format="json")
    assert made.status_code == 201
    assert made.json()["definition"] == WRITTEN
    wrong = body | {"name": "other", "definition": WRITTEN | {"level": "turn"}}
    refused = client.post(address, wrong, format="json")
    assert refused.status_code == 400
    assert "no turn level" in refused.json()["fields"]["definition"][0]


@pytest.mark.django_db
def test_the_command_makes_a_study_of_a_file(rated: Static, tmp_path: Path) -> None:
    file = tmp_path / "table5.json"
    file.write_text(json.dumps(WRITTEN | {"resamples": 20}))
    given = {"corpus": "comper", "definition": str(file), "output": str(tmp_path / "out.md")}
    call_command("study", "table 5", **given)
    assert parse(Study.objects.get(name="table 5").definition).levels is not None
    assert "Dialogue level r" in (tmp_path / "out.md").read_text()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "message"), [("[]", "a definition is a JSON object"), ("{", "the file is not valid JSON")]
)
def test_a_file_that_defines_nothing_is_refused(
    rated: Static, tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "d.json"
    file.write_text(content)
    with pytest.raises(CommandError, match=message):
        call_command("study", "x", corpus="comper", definition=str(file))
    with pytest.raises(CommandError, match="give it a name"):
        call_command("study", corpus="comper", definition=str(file))
    with pytest.raises(CommandError, match="No such file"):
        call_command("study", "x", corpus="comper", definition=str(tmp_path / "none.json"))
