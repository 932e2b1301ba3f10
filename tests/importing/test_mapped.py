"""A table with columns of its own becomes dialogues with labels, or ratings, by its mapping."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import mapped
from annotation.formats.mapping import (
    Column,
    entries_of_options,
    entries_of_yaml,
    read_mapping,
    yaml_of_entries,
)
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.source import ImportProblem, Source
from annotation.models import Label, Turn
from annotation.models.schemes import Question
from annotation.records import Dialogue, LabelRecord
from tests.importing.helpers import imported


def dialogues(tmp_path: Path, text: str, *options: str, name: str = "support.csv") -> list[Dialogue]:
    path = tmp_path / name
    path.write_text(text)
    source = Source(path, mapping=entries_of_options(options))
    return [entry.record for entry in mapped.read_mapped(source)]  # type: ignore[misc]


def rows(tmp_path: Path, text: str, *options: str, name: str = "ratings.csv") -> list[dict[str, str]]:
    path = tmp_path / name
    path.write_text(text)
    source = Source(path)
    table = mapped.open_nested(source)
    mapping = read_mapping(entries_of_options(options), table.columns)
    return [row for _, row in mapped.rating_rows(source, table, mapping)]


def answers(labels: Any) -> list[tuple[Any, ...]]:
    return [(label.rater, label.kind, label.question, label.turn, label.value) for label in labels]


TURNS = """conv_id,author,utterance,ts,anna_quality,gpt_quality,row
4711,customer,"Hi, my order 88 has not arrived.",10:14,,,1
4711,bot,I am sorry.,10:15,4,4,2
4711,customer,Can I cancel?,10:16,,,3
4711,bot,Of course.,10:17,5,-,4
4712,customer,Hello,11:00,,,5
4712,bot,Hello!,11:01,3,2,6
"""
TURN_OPTIONS = (
    "dialogue=conv_id",
    "speaker=author",
    "text=utterance",
    "time=ts",
    "label:quality@anna=anna_quality",
    "judge:quality@gpt=gpt_quality",
    "codes:quality=-:",
)


def test_rows_of_turns_with_columns_of_labels_become_dialogues_with_labels(tmp_path: Path) -> None:
    first, second = dialogues(tmp_path, TURNS, *TURN_OPTIONS)
    assert [turn.speaker for turn in first.turns] == ["customer", "bot", "customer", "bot"]
    assert first.turns[0].time == "10:14"
    assert answers(first.labels) == [
        ("anna", "human", "quality", 1, 4.0),
        ("gpt", "judge", "quality", 1, 4.0),
        ("anna", "human", "quality", 3, 5.0),
    ]
    assert answers(second.labels) == [
        ("anna", "human", "quality", 1, 3.0),
        ("gpt", "judge", "quality", 1, 2.0),
    ]


def test_the_rows_of_a_dialogue_may_stand_apart(tmp_path: Path) -> None:
    head, *lines = TURNS.splitlines()
    mixed = "\n".join([head, lines[0], lines[4], lines[1], lines[5], lines[2], lines[3]])
    assert dialogues(tmp_path, mixed, *TURN_OPTIONS) == dialogues(tmp_path, TURNS, *TURN_OPTIONS)


def test_a_row_for_each_annotator_gives_each_turn_once_and_every_label(tmp_path: Path) -> None:
    text = (
        "transcript_id,utterance_id,who,utterance_text,annotator,topic\n"
        "1,0,T,Hello,a,open\n1,0,T,Hello,b,close\n1,1,C,Hi,a,open\n1,1,C,Hi,b,open\n"
    )
    options = ("dialogue=transcript_id", "turn=utterance_id", "speaker=who", "text=utterance_text")
    (dialogue,) = dialogues(tmp_path, text, *options, "rater=annotator", "label:topic=topic")
    assert [turn.text for turn in dialogue.turns] == ["Hello", "Hi"]
    assert answers(dialogue.labels) == [
        ("a", "human", "topic", 0, "open"),
        ("b", "human", "topic", 0, "close"),
        ("a", "human", "topic", 1, "open"),
        ("b", "human", "topic", 1, "open"),
    ]


def test_sentences_of_one_turn_are_joined_by_the_turns_number_or_an_empty_speaker(tmp_path: Path) -> None:
    options = ("dialogue=d", "turn=n", "speaker=s", "text=t")
    (numbered,) = dialogues(tmp_path, "d,n,s,t\nx,1,A,Hello.\nx,1,A,How are you?\nx,2,B,Well.\n", *options)
    assert [turn.text for turn in numbered.turns] == ["Hello. How are you?", "Well."]
    (named,) = dialogues(
        tmp_path, "d,s,t\nx,A,Hello.\nx,,How are you?\nx,B,Well.\n", *options[:1], *options[2:]
    )
    assert named.turns == numbered.turns


def test_prompt_and_response_are_turns_and_their_labels_are_about_the_response(tmp_path: Path) -> None:
    text = "prompt,response,rater,helpful\nWhy?,Because.,r1,yes\nWhy?,Because.,r2,no\nWho?,I.,r1,no\n"
    options = (
        "utterance:user=prompt",
        "utterance:assistant=response",
        "rater=rater",
        "label:helpful=helpful",
    )
    first, second = dialogues(tmp_path, text, *options, "codes:helpful=yes:1,no:0", "level:helpful=binary")
    assert [turn.text for turn in first.turns] == ["Why?", "Because."]
    assert answers(first.labels) == [
        ("r1", "human", "helpful", 1, 1.0),
        ("r2", "human", "helpful", 1, 0.0),
    ]
    assert [label.level for label in first.labels] == ["binary", "binary"]
    assert answers(second.labels) == [("r1", "human", "helpful", 1, 0.0)]


def test_responses_of_several_systems_are_continuations_with_their_own_labels(tmp_path: Path) -> None:
    text = "id,question,gpt,llama,gpt_score,llama_score\nq1,Why?,Because.,So.,4,2\n"
    options = ("dialogue=id", "utterance:user=question", "response:gpt=gpt", "response:llama=llama")
    (dialogue,) = dialogues(
        tmp_path, text, *options, "label[gpt]:score@ann=gpt_score", "label[llama]:score@ann=llama_score"
    )
    assert [(part.id, part.system, part.mode, part.turns[0].at) for part in dialogue.continuations] == [
        ("gpt", "gpt", "static", 1),
        ("llama", "llama", "static", 1),
    ]
    assert [(label.continuation, label.turn, label.value) for label in dialogue.labels] == [
        ("gpt", 0, 4.0),
        ("llama", 0, 2.0),
    ]


def test_a_cell_with_all_turns_is_read_by_its_speakers(tmp_path: Path) -> None:
    text = 'id,chat,score\n1,"Ana: Hello\nhow are you?\nBen: Fine",3\n'
    (dialogue,) = dialogues(tmp_path, text, "dialogue=id", "transcript=chat", "label:score@x=score")
    assert [(turn.speaker, turn.text) for turn in dialogue.turns] == [
        ("Ana", "Hello\nhow are you?"),
        ("Ben", "Fine"),
    ]
    assert answers(dialogue.labels) == [("x", "human", "score", None, 3.0)]


def test_a_label_of_the_dialogue_stands_on_any_of_its_rows_and_must_not_contradict_itself(
    tmp_path: Path,
) -> None:
    options = ("dialogue=d", "speaker=s", "text=t", "label[dialogue]:overall@ann=o")
    (dialogue,) = dialogues(tmp_path, "d,s,t,o\nx,A,Hello,4\nx,B,Hi,\nx,A,Bye,4\n", *options)
    assert answers(dialogue.labels) == [("ann", "human", "overall", None, 4.0)]
    with pytest.raises(
        ImportProblem, match=r"'ann' answers 'overall' about this dialogue with 4\.0 and with 5\.0"
    ):
        dialogues(tmp_path, "d,s,t,o\nx,A,Hello,4\nx,B,Hi,5\n", *options)


@pytest.mark.parametrize(
    ("coding", "empty"),
    [
        ((), {0: ("9", "5"), 1: ("5",), 3: ("6",)}),
        (("codes:topic=:[]",), {0: ("9", "5"), 1: ("5",), 2: (), 3: ("6",)}),
    ],
    ids=["an empty cell is no answer", "an empty cell says that no value applies"],
)
def test_a_set_becomes_yes_and_no_for_every_value_of_the_column(
    tmp_path: Path, coding: tuple[str, ...], empty: dict[int, tuple[str, ...]]
) -> None:
    text = "d,s,t,tags\nx,A,One,9;5\nx,B,Two,5\nx,A,Three,\nx,B,Four,6\n"
    (dialogue,) = dialogues(
        tmp_path,
        text,
        "dialogue=d",
        "speaker=s",
        "text=t",
        "label:topic@a=tags",
        "separator:topic=;",
        *coding,
    )
    values = {(label.turn, label.question): label.value for label in dialogue.labels}
    assert {label.group for label in dialogue.labels} == {"topic"}
    assert values == {
        (turn, f"topic:{value}"): float(value in chosen)
        for turn, chosen in ({0: ("9", "5"), 1: ("5",), 3: ("6",)} | empty).items()
        for value in ("5", "6", "9")
    }


def test_wide_ratings_become_long_ones(tmp_path: Path) -> None:
    long = rows(
        tmp_path,
        "id,human_label,judge_label\n1,yes,no\n2,no,\n",
        "item=id",
        "label@human=human_label",
        "judge@judge=judge_label",
        "codes:=yes:1,no:0",
    )
    assert [(row["item"], row["rater"], row["kind"], row["question"], row["value"]) for row in long] == [
        ("1", "human", "human", "overall", "1"),
        ("1", "judge", "judge", "overall", "0"),
        ("2", "human", "human", "overall", "0"),
    ]


def test_people_in_rows_and_items_in_columns_become_long_ratings(tmp_path: Path) -> None:
    long = rows(
        tmp_path, "Name,Q1,Q2\nana,4,5\nben,,2\n", "rater=Name", "label[Q1]:clear=Q1", "label[Q2]:clear=Q2"
    )
    assert [(row["item"], row["rater"], row["question"], row["value"]) for row in long] == [
        ("Q1", "ana", "clear", "4"),
        ("Q2", "ana", "clear", "5"),
        ("Q2", "ben", "clear", "2"),
    ]


def test_long_ratings_with_other_names_name_the_question_by_their_column(tmp_path: Path) -> None:
    long = rows(
        tmp_path, "turn_id,who,fluency\nd1/self/0,ana,4\n", "item=turn_id", "rater=who", "value=fluency"
    )
    assert [(row["item"], row["rater"], row["question"], row["value"]) for row in long] == [
        ("d1/self/0", "ana", "fluency", "4")
    ]


def test_the_labels_of_a_table_with_turns_are_ratings_with_the_dialogue_as_cluster(tmp_path: Path) -> None:
    long = rows(tmp_path, TURNS, *TURN_OPTIONS)
    assert [(row["item"], row["rater"], row["value"], row["cluster"]) for row in long[:2]] == [
        ("4711/self/1", "anna", "4", "4711"),
        ("4711/self/1", "gpt", "4", "4711"),
    ]


def test_decimal_commas_and_words_of_a_scale_are_read_as_the_mapping_says(tmp_path: Path) -> None:
    long = rows(
        tmp_path,
        'id,a,b\n1,"3,5",2 - Strongly present\n',
        "item=id",
        "label:score@x=a",
        "decimal:score=,",
        "label:presence@x=b",
        "codes:presence=2 - Strongly present:2",
    )
    assert [row["value"] for row in long] == ["3.5", "2"]


def test_a_mapping_is_the_same_in_options_yaml_and_dictionary() -> None:
    entries = entries_of_options(TURN_OPTIONS)
    header = next(csv.reader(io.StringIO(TURNS)))
    mapping = read_mapping(entries, header)
    assert read_mapping(entries_of_yaml(yaml_of_entries(mapping.entries()).encode()), header) == mapping


def test_columns_that_share_a_key_are_raters_named_by_the_rest() -> None:
    mapping = read_mapping(
        entries_of_options(["label:Helpful=ann1_helpful,Helpful (ann2)"]), ["ann1_helpful", "Helpful (ann2)"]
    )
    assert [column.rater for column in mapping.columns] == ["ann1", "ann2"]


def test_turns_in_columns_are_by_speakers_called_like_the_columns() -> None:
    mapping = read_mapping(entries_of_options(["utterance=client,coach"]), ["client", "coach"])
    assert [column.speaker for column in mapping.columns] == ["client", "coach"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["dialogue"], "'dialogue' is not like dialogue=conv_id"),
        (["dialog=a"], "'dialog' is not a role; use dialogue, speaker, text"),
        (["dialogue=b"], "there is no column 'b'; the columns are a"),
        (["dialogue=a", "text=a"], "the column 'a' is mapped twice"),
        (["dialogue:x=a"], "'dialogue:x': the role dialogue has no name behind it"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_refused_in_a_line(options: list[str], reason: str) -> None:
    with pytest.raises(ImportProblem) as refusal:
        read_mapping(entries_of_options(options), ["a"])
    assert str(refusal.value).startswith(f"field map: {reason}")


def test_labels_keep_their_fields() -> None:
    assert LabelRecord("r", "human", "self", None, "q", 1.0).group == ""


@pytest.mark.django_db
def test_only_the_turns_of_rated_speakers_are_rated_and_others_become_context(tmp_path: Path) -> None:
    path = tmp_path / "support.csv"
    path.write_text(TURNS)
    mapping = entries_of_options(TURN_OPTIONS)
    result = imported(path, format="table", mapping=mapping, settings={"rated": "Bot"})
    assert (result.dialogues, result.turns, result.labels) == (2, 6, 5)
    assert set(Turn.objects.values_list("speaker", "given")) == {("customer", True), ("bot", False)}
    assert set(Question.objects.values_list("key", "level")) == {("quality", "interval")}


@pytest.mark.django_db
def test_questions_of_a_foreign_table_are_never_those_of_a_built_in_scheme(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("d,s,t,overall\nx,A,Hello,77\n")
    options = ("dialogue=d", "speaker=s", "text=t", "label:overall@ann=overall")
    imported(path, format="table", mapping=entries_of_options(options))
    assert Question.objects.get().version.scheme.key == "corpus:c:turn"


@pytest.mark.django_db
def test_the_wordings_of_numbers_become_the_anchors_of_the_question(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("d,s,t,clear\nx,A,Hello,0 - not at all\nx,B,Hi,2 - very\n")
    mapping = {
        **{"dialogue": "d", "speaker": "s", "text": "t", "label:clear@ann": "clear"},
        **{"level:clear": "ordinal", "scale:clear": ["0", "1", "2"]},
        "codes:clear": {"0 - not at all": "0", "2 - very": "2"},
        "anchors:clear": {"0": "not at all", "2": "very"},
    }
    imported(path, format="table", mapping=mapping)
    question = Question.objects.get()
    assert (question.level, question.values, question.anchors) == (
        "ordinal",
        [0, 1, 2],
        {"0": "not at all", "2": "very"},
    )
    assert list(Label.objects.order_by("pk").values_list("number", flat=True)) == [0, 2]


def test_responses_of_several_systems_in_rows_are_continuations_of_one_dialogue(tmp_path: Path) -> None:
    text = (
        "prompt,answer,model,rater,score\nWhy?,Because.,gpt,r1,4\nWhy?,Because.,gpt,r2,5\n"
        "Why?,So.,llama,r1,2\nWho?,I.,gpt,r1,1\nWhy?,Therefore.,gpt,r1,3\n"
    )
    options = ("utterance:user=prompt", "response=answer", "system=model", "rater=rater", "label:score=score")
    first, second = dialogues(tmp_path, text, *options)
    assert [turn.text for turn in first.turns] == ["Why?"]
    assert [(part.id, part.system, part.trial, part.turns[0].text) for part in first.continuations] == [
        ("gpt", "gpt", 0, "Because."),
        ("llama", "llama", 0, "So."),
        ("gpt-2", "gpt", 1, "Therefore."),
    ]
    assert [(label.continuation, label.turn, label.rater, label.value) for label in first.labels] == [
        ("gpt", 0, "r1", 4.0),
        ("gpt", 0, "r2", 5.0),
        ("llama", 0, "r1", 2.0),
        ("gpt-2", 0, "r1", 3.0),
    ]
    assert [part.turns[0].text for part in second.continuations] == ["I."]


def test_a_rater_may_be_an_address_of_mail() -> None:
    column = Column("a", "label", question="Helpful", rater="ann@example.org")
    assert read_mapping(ColumnMapping((column,)).entries(), ["a"]).columns == (column,)


def test_values_of_a_set_that_would_become_one_question_are_refused(tmp_path: Path) -> None:
    text = f"item,tags\n1,{'a' * 130}1;b\n2,{'a' * 130}2\n"
    with pytest.raises(ImportProblem, match="differ only after 120 characters"):
        rows(tmp_path, text, "item=item", "label:Tags=tags", "separator:Tags=;")


@pytest.mark.django_db
def test_categories_may_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "topics.csv"
    path.write_text("conv,who,said,anna\nd,user,Hi,\nd,bot,Hello,4\nd,bot,Bye,5\n")
    options = ("dialogue=conv", "speaker=who", "text=said", "label:topic@anna=anna")
    options += ("scale:topic=4,5", "level:topic=nominal")
    imported(path, format="table", mapping=entries_of_options(options))
    assert Question.objects.get(key="topic").values == ["4", "5"]
    assert {label.value for label in Label.objects.all()} == {"4", "5"}
