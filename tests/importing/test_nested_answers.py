"""Answers in lists and dictionaries of JSON records: by position, by their raters, by questions."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.formats import FORMATS
from annotation.formats.corpus_format import Dialogue, Rating, guess, read_start
from annotation.formats.mapped import rating_rows, read_mapped
from annotation.formats.mapping import read_mapping
from annotation.formats.profile import Profile, describe
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_reader import open_table
from annotation.models import Label

Records = list[dict[str, Any]]
SCORES = [[4, 5, 4], [1, 2, 1], [3, 3, 5], [2, 2, 1], [5, 5, 4]]
SUMMARIES: Records = [
    {
        "id": f"text-{n // 2}",
        "model_id": f"M{n % 2}",
        "expert_annotations": [{"coherence": score, "fluency": 5 - n % 2} for score in scores],
        "turker_annotations": [{"coherence": score} for score in reversed(scores)],
    }
    for n, scores in enumerate(SCORES)
]
RESPONSES: Records = [
    {
        "context": f"User: Hello {n}\nSystem: Hi there\nUser: How is it?",
        "response": f"System: It is {n}.",
        "system": "bot",
        "annotations": {"Interesting": scores, "Overall": scores[::-1]},
    }
    for n, scores in enumerate(SCORES)
]
JUDGED: Records = [
    {
        "id": f"p{n}",
        "prompt": f"Why is number {n} so?",
        "response": f"Because of number {n}.",
        "judgments": [
            {"judge": judge, "scores": {"helpfulness": scores[place]}, "reasoning": f"It helps {n}."}
            for place, judge in enumerate(("gpt-4", "claude-3-opus"))
        ],
    }
    for n, scores in enumerate(SCORES)
]


def write(folder: Path, records: Records, name: str = "answers.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def profile(path: Path) -> Profile:
    return describe(open_table(Source(path)))


def answers(path: Path) -> list[tuple[str, ...]]:
    """Return item, rater, kind, question, value and identified of a file's certain reading of ratings."""
    reading = profile(path).of_ratings
    assert reading is not None, [(entry.key, entry.doubts, entry.missing) for entry in profile(path).readings]
    source = Source(path)
    table = open_table(source)
    rows = rating_rows(source, table, read_mapping(reading.mapping.entries(), table.columns))
    names = ("item", "rater", "kind", "question", "value")
    return [(*(row.get(name, "") for name in names), row.get("identified", "true")) for _, row in rows]


def dialogues(path: Path) -> list[Dialogue]:
    reading = profile(path).certain
    assert reading is not None
    source = Source(path, mapping=reading.mapping.entries())
    return [entry.record for entry in read_mapped(source) if isinstance(entry.record, Dialogue)]


def agree(path: Path, *options: str) -> Any:
    out = io.StringIO()
    call_command("agree", str(path), "--resamples", "20", "--full", "--json", *options, stdout=out)
    return json.loads(out.getvalue())


def alpha(report: Any) -> float:
    statistics = report["statistics"]
    return round(next(entry["value"] for entry in statistics if entry["name"] == "krippendorff_alpha"), 4)


def test_answers_in_a_list_are_of_raters_by_position_who_are_not_identified(tmp_path: Path) -> None:
    path = write(tmp_path, [{"id": n, "ratings": scores} for n, scores in enumerate(SCORES)])
    rows = answers(path)
    assert rows[:3] == [
        ("0", "slot 1", "human", "ratings", "4", "false"),
        ("0", "slot 2", "human", "ratings", "5", "false"),
        ("0", "slot 3", "human", "ratings", "4", "false"),
    ]
    assert len(rows) == 15


def test_agreement_of_a_list_is_that_of_the_same_answers_in_columns(tmp_path: Path) -> None:
    nested = write(tmp_path, [{"id": n, "ratings": scores} for n, scores in enumerate(SCORES)])
    wide = tmp_path / "wide.csv"
    lines = [f"{n},{','.join(map(str, scores))}\n" for n, scores in enumerate(SCORES)]
    wide.write_text("id,ann1,ann2,ann3\n" + "".join(lines))
    assert alpha(agree(nested)) == alpha(agree(wide))


def test_annotations_of_experts_and_crowd_are_two_groups_about_each_systems_text(tmp_path: Path) -> None:
    rows = answers(write(tmp_path, SUMMARIES))
    assert {rater for _, rater, *_ in rows} == {
        *("expert 1", "expert 2", "expert 3"),
        *("turker 1", "turker 2", "turker 3"),
    }
    assert rows[0][1:5] == ("expert 1", "human", "coherence", "4")
    entries = profile(write(tmp_path, SUMMARIES)).readings[0].mapping.entries()
    assert (entries["dialogue"], entries["continuation"]) == ("id", "model_id")


def test_lists_beside_a_context_and_a_response_are_labels_of_the_response(tmp_path: Path) -> None:
    path = write(tmp_path, RESPONSES)
    first = dialogues(path)[0]
    assert [(turn.speaker, turn.text) for turn in first.turns][-2:] == [
        ("User", "How is it?"),
        ("System", "It is 0."),
    ]
    labels = [(label.rater, label.identified, label.value, label.turn) for label in first.labels]
    assert labels[:3] == [("slot 1", False, 4.0, 3), ("slot 2", False, 5.0, 3), ("slot 3", False, 4.0, 3)]
    assert {label.question for label in first.labels} == {"Interesting", "Overall"}


def test_a_list_of_rated_responses_without_conversations_is_not_the_fed_file(tmp_path: Path) -> None:
    path = tmp_path / "responses.json"
    path.write_text(json.dumps(RESPONSES))
    assert guess(FORMATS, read_start(path)) == "table"


def test_judgments_in_a_list_have_judges_and_their_reasons(tmp_path: Path) -> None:
    path = write(tmp_path, JUDGED)
    first = dialogues(path)[0]
    assert [(turn.speaker, turn.text) for turn in first.turns] == [
        ("user", "Why is number 0 so?"),
        ("assistant", "Because of number 0."),
    ]
    assert [(label.rater, label.question, label.value, label.explanation) for label in first.labels] == [
        ("gpt-4", "helpfulness", 4.0, "It helps 0."),
        ("claude-3-opus", "helpfulness", 5.0, "It helps 0."),
    ]
    assert profile(path).judges == ("gpt-4", "claude-3-opus")


@pytest.mark.parametrize(
    "record",
    [
        {"annotators": [{"annotator_id": "w1", "label": "hate"}, {"annotator_id": "w2", "label": "normal"}]},
        {"annotators": ["w1", "w2"], "labels": ["hate", "normal"]},
        {"annotations": {"annotator_id": ["w1", "w2"], "label": ["hate", "normal"]}},
        {"annotations": {"A3QX21ZRP": "hate", "A9KK12ZZB": "normal"}},
    ],
    ids=["objects", "lists side by side", "lists in an object", "keyed by worker"],
)
def test_named_raters_in_a_record_are_read_in_every_form(tmp_path: Path, record: dict[str, Any]) -> None:
    path = write(tmp_path, [{"id": f"i{n}", **record} for n in range(4)])
    rows = answers(path)
    assert [value for *_, value, _ in rows] == ["hate", "normal"] * 4
    assert len({rater for _, rater, *_ in rows}) == 2
    assert {identified for *_, identified in rows} == {"true"}


def test_questions_in_a_list_are_read_with_the_rater_of_the_row(tmp_path: Path) -> None:
    records: Records = [
        {
            "id": n,
            "annotator": annotator,
            "scores": [{"criterion": "clear", "score": n % 5 + 1}, {"criterion": "calm", "score": n % 4 + 1}],
        }
        for n in range(6)
        for annotator in ("ann", "bob")
    ]
    rows = answers(write(tmp_path, records))
    assert rows[:2] == [("0", "ann", "", "clear", "1", "true"), ("0", "ann", "", "calm", "1", "true")]
    assert len(rows) == 24


def test_people_by_position_and_judges_by_name_stand_side_by_side(tmp_path: Path) -> None:
    records: Records = [
        {
            "id": n,
            "human_ratings": {"clear": scores},
            "judges": {"gpt-4": {"clear": 3}, "claude-3": {"clear": 4}},
        }
        for n, scores in enumerate(SCORES)
    ]
    raters = {(rater, kind, question) for _, rater, kind, question, *_ in answers(write(tmp_path, records))}
    assert raters == {
        *((f"human {n}", "human", "clear") for n in (1, 2, 3)),
        *(("gpt-4", "judge", "clear"), ("claude-3", "judge", "clear")),
    }


def test_people_and_a_judge_in_dictionaries_answer_the_same_questions(tmp_path: Path) -> None:
    records: Records = [
        {
            "id": n,
            "human_ratings": {"clear": scores[0], "calm": scores[1]},
            "judge_scores": {"clear": scores[1], "calm": scores[2]},
            "judge_reason": f"It is clear and calm {n}.",
        }
        for n, scores in enumerate(SCORES)
    ]
    rows = answers(write(tmp_path, records))
    assert {(rater, kind, question) for _, rater, kind, question, *_ in rows} == {
        (rater, kind, question)
        for rater, kind in (("human", "human"), ("judge", "judge"))
        for question in ("clear", "calm")
    }


@pytest.mark.parametrize(
    "document",
    [
        {"id": [f"i{n}" for n in range(5)], "ann1": [s[0] for s in SCORES], "ann2": [s[1] for s in SCORES]},
        {
            "id": {str(n): f"i{n}" for n in range(5)},
            "ann1": {str(n): scores[0] for n, scores in enumerate(SCORES)},
            "ann2": {str(n): scores[1] for n, scores in enumerate(SCORES)},
        },
        {
            "ann1": {f"i{n}": scores[0] for n, scores in enumerate(SCORES)},
            "ann2": {f"i{n}": scores[1] for n, scores in enumerate(SCORES)},
        },
        {f"i{n}": {"ann1": scores[0], "ann2": scores[1]} for n, scores in enumerate(SCORES)},
    ],
    ids=["lists", "as pandas writes it", "by rater", "by item"],
)
def test_documents_by_column_and_by_row_have_the_same_answers(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(document))
    assert guess(FORMATS, read_start(path)) == "table"
    rows = {(item, rater, value) for item, rater, _, _, value, _ in answers(path)}
    expected = {
        (f"i{n}", rater, str(scores[place]))
        for n, scores in enumerate(SCORES)
        for place, rater in enumerate(("ann1", "ann2"))
    }
    assert rows == expected


def test_responses_in_a_list_are_continuations_with_their_own_labels(tmp_path: Path) -> None:
    records: Records = [
        {
            "id": f"p{n}",
            "prompt": f"Why is number {n} so?",
            "responses": [
                {"model": "gpt-4", "text": f"Because of {n}.", "ratings": scores},
                {"model": "llama-2", "text": f"Nobody knows {n}.", "ratings": scores[::-1]},
            ],
        }
        for n, scores in enumerate(SCORES)
    ]
    path = write(tmp_path, records)
    first, *others = dialogues(path)
    assert len(others) == 4
    assert [turn.text for turn in first.turns] == ["Why is number 0 so?"]
    texts = {part.system: [turn.text for turn in part.turns] for part in first.continuations}
    assert texts == {"gpt-4": ["Because of 0."], "llama-2": ["Nobody knows 0."]}
    labels = [(label.continuation, label.rater, label.value) for label in first.labels]
    assert labels[:3] == [("gpt-4", "slot 1", 4.0), ("gpt-4", "slot 2", 5.0), ("gpt-4", "slot 3", 4.0)]
    assert len(labels) == 6
    assert len(answers(path)) == 30


@pytest.mark.parametrize(
    ("ratings", "raters"),
    [
        ([4, 4, 5], ["slot 1", "slot 2", "slot 3"]),
        ([{"annotator": "ann", "helpful": 4}, {"annotator": "bob", "helpful": 5}], ["ann", "bob"]),
    ],
    ids=["by position", "by name"],
)
def test_ratings_beside_the_messages_of_a_chat_are_about_the_dialogue(
    tmp_path: Path, ratings: list[Any], raters: list[str]
) -> None:
    messages = [
        {"role": "user", "content": "Hello there, my friend."},
        {"role": "assistant", "content": "Hi, how are you?"},
    ]
    records: Records = [
        {"id": f"c{n}", "messages": messages * (1 + n % 2), "ratings": ratings} for n in range(6)
    ]
    first = dialogues(write(tmp_path, records))[0]
    assert [(label.rater, label.turn) for label in first.labels] == [(rater, None) for rater in raters]


def test_a_list_of_a_judges_answers_is_asked_about_and_read_as_repetitions(tmp_path: Path) -> None:
    path = write(tmp_path, [{"id": n, "gpt4_scores": scores, "human": 3} for n, scores in enumerate(SCORES)])
    assert any("may be repeated answers of gpt4" in doubt for doubt in profile(path).readings[0].doubts)
    source = Source(path)
    table = open_table(source)
    mapping = read_mapping({"item": "id", "judge:score@gpt4 *": "gpt4_scores[]"}, table.columns)
    rows = [
        (row["rater"], row["value"], row.get("sample", "0")) for _, row in rating_rows(source, table, mapping)
    ]
    assert rows[:3] == [("gpt4", "4", "0"), ("gpt4", "5", "1"), ("gpt4", "4", "2")]


@pytest.mark.parametrize(
    "record",
    [
        {"tokens": ["the", "the", "cat"], "labels": [0, 0, 1]},
        {"turns": ["Hello there, how are you?", "I am fine, and you?"], "scores": [2, 2]},
        {"tags": ["red", "blue"]},
        {"input_ids": [101, 7, 7, 102]},
        {"responses": [{"text": "I am fine.", "score": 3}, {"text": "I am not fine.", "score": 3}]},
    ],
    ids=["labels of tokens", "scores of turns", "a set", "numbers of a program", "scores of responses"],
)
def test_lists_of_something_else_are_no_raters(tmp_path: Path, record: dict[str, Any]) -> None:
    path = write(tmp_path, [{"id": f"i{n}", **record} for n in range(6)])
    columns = [column for reading in profile(path).readings for column in reading.mapping.answers]
    assert not any(column.rater.endswith("*") for column in columns)


def test_lists_that_do_not_fit_together_are_a_problem_in_their_line(tmp_path: Path) -> None:
    records: Records = [
        {"id": 1, "annotators": ["a", "b"], "labels": [1, 0]},
        {"id": 2, "annotators": ["a", "b"], "labels": [1]},
    ]
    mapping = {"item": "id", "rater": "annotators[]", "label:ok": "labels[]"}
    with pytest.raises(ImportProblem, match="has 1 entries, and a list beside it 2") as caught:
        list(read_mapped(Source(write(tmp_path, records), mapping=mapping)))
    assert caught.value.line == 2


def test_a_second_list_of_raters_is_asked_about(tmp_path: Path) -> None:
    records: Records = [
        {
            "id": n,
            "human_annotations": [
                {"annotator": "ann", "clear": scores[0]},
                {"annotator": "bob", "clear": scores[1]},
            ],
            "judge_annotations": [{"judge": "gpt-4", "clear": scores[2]}, {"judge": "claude-3", "clear": 3}],
        }
        for n, scores in enumerate(SCORES)
    ]
    readings = profile(write(tmp_path, records)).readings
    assert not any(reading.certain for reading in readings)
    doubt = "judge_annotations[].clear is in another list than the raters, and would be left out"
    assert doubt in readings[0].doubts


def test_an_answer_outside_the_list_of_raters_needs_a_rater_of_its_own(tmp_path: Path) -> None:
    records: Records = [{"id": n, "annotators": ["a", "b"], "labels": [1, 0], "final": 1} for n in range(3)]
    path = write(tmp_path, records)
    mapping = {"item": "id", "rater": "annotators[]", "label:ok": "labels[]", "label:ok2": "final"}
    with pytest.raises(ImportProblem, match="nothing says who answered final: name its rater"):
        list(read_mapped(Source(path, mapping=mapping)))
    named = {**mapping, "label:ok@boss": "final"}
    del named["label:ok2"]
    ratings = [entry.record for entry in read_mapped(Source(path, mapping=named))]
    boss = [r for r in ratings if isinstance(r, Rating) and r.label.rater == "boss"]
    assert len(boss) == 3
    assert len(ratings) == 9


def test_mt_bench_judgments_name_their_judge_in_a_list(tmp_path: Path) -> None:
    records: Records = [
        {
            "question_id": n,
            "model": model,
            "judge": ["gpt-4", "single-v1"],
            "judgment": f"The answer {n} of {model} is good in part {turn}. Rating: [[7]]",
            "score": (n + turn) % 10 + 1,
            "turn": turn,
        }
        for n in range(6)
        for model in ("vicuna-13b", "alpaca-13b")
        for turn in (1, 2)
    ]
    path = write(tmp_path, records)
    rows = answers(path)
    assert {rater for _, rater, *_ in rows} == {"gpt-4 single-v1"}
    entries = profile(path).readings[0].mapping.entries()
    assert [entries[role] for role in ("dialogue", "continuation", "turn")] == [
        "question_id",
        "model",
        "turn",
    ]


# Items that several columns name together.


def test_a_dialogue_a_turn_and_a_system_are_the_item_together(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_text(
        "dialog_id,turn,system,annotator,helpful\n"
        + "".join(
            f"d{d},{turn},{system},{annotator},{(d + turn) % 5 + 1}\n"
            for d in range(4)
            for turn in (1, 2)
            for system in ("a", "b")
            for annotator in ("ann", "bob")
        )
    )
    entries = profile(path).readings[0].mapping.entries()
    assert [entries[role] for role in ("dialogue", "turn", "continuation")] == ["dialog_id", "turn", "system"]
    report = agree(path)
    assert alpha(report) == 1.0
    assert alpha(agree(path, "--item", "dialog_id,turn,system", "--cluster", "dialog_id")) == 1.0


def test_several_columns_of_the_item_are_joined_and_slashes_do_not_mix_them(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("doc,version,ann1,ann2\na/b,c,1,2\na,b/c,2,2\n")
    source = Source(path)
    table = open_table(source)
    entries = {"item": ["doc", "version"], "label:ok": ["ann1", "ann2"]}
    rows = rating_rows(source, table, read_mapping(entries, table.columns))
    assert list(dict.fromkeys(row["item"] for _, row in rows)) == ["a%2Fb/c", "a/b%2Fc"]
    with pytest.raises(ImportProblem, match="say which is the dialogue, the continuation and the turn"):
        list(read_mapped(Source(path, mapping=entries)))


def test_ids_of_prompts_and_responses_are_the_item_and_the_prompt_is_its_cluster(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(
        "response_id,prompt_id,ann1,ann2\n"
        + "".join(f"r{r},p{p},{(p + r) % 5 + 1},{p % 5 + 1}\n" for p in range(6) for r in range(3))
    )
    entries = profile(path).readings[0].mapping.entries()
    assert (entries["dialogue"], entries["continuation"]) == ("prompt_id", "response_id")


# Headers that name several judges of one question.


@pytest.mark.parametrize(
    ("header", "judges"),
    [
        ("judge_command-r-plus,judge_phi-4,human", {"judge_command-r-plus", "judge_phi-4"}),
        ("judge_gpt-4o-mini,judge_tulu,human", {"judge_gpt-4o-mini", "judge_tulu"}),
        ("gpt-4_score,claude-3-opus_score,human_score", {"gpt-4", "claude-3-opus"}),
        ("score_llama3,score_qwen2.5-72b,human", {"llama3", "qwen2.5-72b"}),
    ],
)
def test_names_of_models_are_judges_of_one_question(tmp_path: Path, header: str, judges: set[str]) -> None:
    path = tmp_path / "judges.csv"
    lines = [f"{n},{n % 5 + 1},{(n + 1) % 5 + 1},{n % 4 + 1}\n" for n in range(12)]
    path.write_text(f"id,{header}\n" + "".join(lines))
    rows = answers(path)
    assert {rater for _, rater, kind, *_ in rows if kind == "judge"} == judges
    assert len({question for _, _, _, question, *_ in rows}) == 1


def test_qualities_behind_the_judge_are_questions_of_one_judge(tmp_path: Path) -> None:
    path = tmp_path / "judge.csv"
    header = "judge_helpfulness,judge_safety,human_helpfulness,human_safety"
    lines = [f"{n},{n % 5 + 1},{(n + 1) % 5 + 1},{n % 4 + 1},{n % 3 + 1}\n" for n in range(12)]
    path.write_text(f"id,{header}\n" + "".join(lines))
    assert {(rater, question) for _, rater, _, question, *_ in answers(path)} == {
        (rater, question) for rater in ("judge", "human") for question in ("helpfulness", "safety")
    }


@pytest.mark.django_db
def test_numbered_people_and_named_judges_are_stored_by_the_command(tmp_path: Path) -> None:
    records: Records = [{**record, "ratings": scores} for record, scores in zip(JUDGED, SCORES, strict=True)]
    call_command("import_corpus", str(write(tmp_path, records)), "--name", "talks", stdout=io.StringIO())
    labels = Label.objects.all()
    counts = Counter(labels.values_list("rater__name", "rater__kind", "rater__identified"))
    assert counts == {
        **{(f"slot {n}", "human", False): 5 for n in (1, 2, 3)},
        **{(name, "judge", True): 5 for name in ("gpt-4", "claude-3-opus")},
    }
