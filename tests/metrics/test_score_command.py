"""manage.py score: files in, one line per value out, and a one-line message for each error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, load_command_class

PAIR = {
    "dialogue_id": "d1#t2",
    "context": [{"speaker": "Ana", "utterance": "@Bo tea?"}, {"speaker": "Bo", "utterance": "yes"}],
    "next_speaker": "Bo",
    "next_message": "with milk",
}
WHOLE = {
    "conversation_id": "c1",
    "context": [{"speaker": "Ana", "utterance": "tea?"}],
    "prediction": [{"speaker": "bo ", "utterance": "yes"}, {"speaker": "Bo", "utterance": "with milk"}],
}
NATIVE = {
    "id": "n1",
    "turns": [{"speaker": "A", "text": "tea?"}, {"speaker": "B", "text": "yes please"}],
    "continuations": [
        {"system": "x", "mode": "static", "turns": [{"speaker": "B", "text": "yes thanks", "at": 1}]},
        {"id": "y-1", "system": "y", "turns": [{"speaker": "A", "text": "here"}]},
    ],
}


@pytest.fixture
def write(tmp_path: Path):
    def make(*records: Any, name: str = "in.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
        return path

    return make


def run(path: Path, *options: str) -> list[dict[str, Any]]:
    output = path.with_name("out.jsonl")
    call_command("score", str(path), "--output", str(output), "--metrics", *options)
    return [json.loads(line) for line in output.read_text().splitlines()]


def test_a_predicted_turn_in_mpceval_form_is_scored(write) -> None:
    assert run(write(PAIR), "dnr,pf@reference") == [
        {
            "dialogue": "d1#t2",
            "continuation": "prediction",
            "system": "prediction",
            "turn": 0,
            "metric": metric,
            "variant": variant,
            "value": value,
            "reason": None,
        }
        for metric, variant, value in (("dnr", "paper", 1.0), ("pf", "reference", 0.5))
    ]


def test_a_value_is_null_exactly_when_there_is_a_reason(write) -> None:
    lines = run(write({**PAIR, "context": []}), "dnr", "pf", "nse")
    assert [(line["value"], line["reason"]) for line in lines] == [
        (None, "there is no context"),
        (None, "there is no context"),
        (None, "turns at fixed points are not one conversation"),
    ]


def test_a_whole_conversation_counts_its_history_unless_told_otherwise(write) -> None:
    path = write(WHOLE)
    assert run(path, "nse")[0]["value"] == pytest.approx(0.9182958340544896)
    assert run(path, "nse", "--no-history")[0]["reason"] == "only one speaker takes part"


def test_the_window_limits_the_context(write) -> None:
    path = write(PAIR)
    assert run(path, "pf", "--window", "1")[0]["value"] == 1.0
    assert run(path, "pf", "--window", "4")[0]["value"] == 0.25
    assert run(path, "pf:window=1", "--window", "4")[0]["value"] == 1.0


def test_native_dialogues_keep_their_ids_and_systems(write) -> None:
    lines = run(write(NATIVE), "word_f1", "nse")
    found = [(one["continuation"], one["system"], one["turn"], one["metric"], one["value"]) for one in lines]
    assert found == [
        ("x", "x", 0, "word_f1", 0.5),
        ("x", "x", None, "nse", None),
        ("y-1", "y", 0, "word_f1", None),
        ("y-1", "y", None, "nse", pytest.approx(0.9182958340544896)),
    ]


def test_own_turns_are_scored_where_there_are_no_others_or_when_chosen(write) -> None:
    alone = {"id": "n2", "turns": NATIVE["turns"]}
    assert [one["continuation"] for one in run(write(alone), "nse")] == ["self"]
    assert [one["continuation"] for one in run(write(NATIVE), "nse", "--own")] == ["self", "x", "y-1"]


def test_another_continuation_can_be_the_reference(write) -> None:
    lines = run(write(NATIVE), "word_f1", "--against", "y-1")
    assert [(one["value"], one["reason"]) for one in lines] == [
        (0.0, None),
        (None, "it is the reference itself"),
    ]


def test_a_folder_is_read_in_the_order_of_names(write, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("b", "a"):
        (folder / f"{name}.json").write_text(
            json.dumps({key: WHOLE[key] for key in ("context", "prediction")})
        )
    assert [one["dialogue"] for one in run(folder, "nse")] == ["a", "b"]


def test_averages_by_continuation_and_system_are_added(write) -> None:
    said = {**WHOLE, "conversation_id": "c2", "prediction": [*WHOLE["prediction"], *WHOLE["prediction"]]}
    lines = run(write(WHOLE, said), "pf", "--averages")
    means = [(one["dialogue"], one["value"]) for one in lines if one["turn"] is None]
    values = {"c1": [0.0, 0.5], "c2": [0.0, 0.5, 2 / 3, 3 / 4]}
    both = values["c1"] + values["c2"]
    assert means == [
        ("c1", pytest.approx(sum(values["c1"]) / 2)),
        (None, pytest.approx(sum(both) / 6)),
        ("c2", pytest.approx(sum(values["c2"]) / 4)),
    ]


def test_a_fitted_metric_learns_from_the_file_or_from_another(write) -> None:
    path, other = write(PAIR), write({**PAIR, "dialogue_id": "d2"}, name="other.jsonl")
    reason = "no other dialogue of the corpus has turns to learn from"
    assert run(path, "daf")[0]["reason"] == reason
    assert run(path, "daf", "--fit-on", str(other))[0]["value"] is not None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "in.jsonl, line 1: is not valid JSON"),
        ("[]", "in.jsonl, line 1: must be an object, not a list"),
        ('{"context": [], "next_message": 3}', "in.jsonl, line 1, field next_message: must be a text"),
        (
            '{"context": [3], "next_message": "a"}',
            "line 1, field context[0]: must be an object, not a number",
        ),
        ('{"context": [{"speaker": "A"}], "next_message": "a"}', "field context[0].utterance: is missing"),
        ('{"context": [], "prediction": []}', "field prediction: has no turns"),
        ('{"context": {}, "prediction": 3}', "field prediction: must be a list, not a number"),
        ('{"id": "a"}', "has neither turns nor continuations"),
        ("", "in.jsonl: the file is empty"),
        ('{"id": NaN}', "NaN and infinite numbers are not JSON"),
    ],
)
def test_bad_input_is_refused_by_file_line_and_field(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(content)
    with pytest.raises(CommandError) as caught:
        run(path, "nse")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("nsee",), "there is no metric 'nsee'"),
        (("",), "--metrics names no metric"),
        (
            ("pf:window=1,pf:window=2",),
            "pf@paper:window=1 and pf@paper:window=2 differ in parameters alone, which lines do not show",
        ),
        (("pf", "--window", "0"), "--window must be at least 1, not 0"),
        (("m_sns_avg", "--embedding-model", "nowhere/none"), "the embedding model 'nowhere/none' is not on"),
        (("nse", "--target", "none"), "has neither next_message nor none"),
    ],
)
def test_bad_options_are_refused_in_one_line(write, options: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        run(write(WHOLE), *options)
    assert message in str(caught.value)


def test_a_metric_named_twice_is_scored_once(write) -> None:
    assert len(run(write(WHOLE), "nse,nse@paper", "global")) == len(run(write(WHOLE), "global"))


def test_a_folder_cannot_be_the_output(write, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is a folder; --output names a file"):
        call_command("score", str(write(WHOLE)), "--output", str(tmp_path), "--metrics", "nse")


def test_the_help_says_which_metrics_need_a_language_model() -> None:
    parser = load_command_class("judges", "score").create_parser("manage.py", "score")
    help_text = " ".join(parser.format_help().split())
    assert (
        "on this machine: ll, bert_score, bleurt, bart_score, fed_engaging, fed_relevant, unieval."
        in help_text
    )


def test_a_missing_file_and_a_missing_folder_are_named(write, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no such file"):
        run(tmp_path / "none.jsonl", "nse")
    with pytest.raises(CommandError, match=r"there is no folder .*nowhere"):
        call_command(
            "score", str(write(WHOLE)), "--output", str(tmp_path / "nowhere" / "o"), "--metrics", "nse"
        )
