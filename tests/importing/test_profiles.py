"""Tables of other people are described: what each column looks like, and what the rows are."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import Dialogue, guess, read_start
from annotation.formats.mapped import rating_rows, read_mapped
from annotation.formats.mapping import Scale, read_mapping
from annotation.formats.profile import Profile, Reading, describe, profile_lines, scan
from annotation.formats.scales import guess_scale
from annotation.formats.source import Source
from annotation.formats.table_file import Cell, TableFile
from annotation.formats.table_reader import open_table
from tests.importing.table_shapes import SHAPES, Shape, csv_text, jsonl

CASES = Path(__file__).parents[3] / "shared" / "cases"


def table_of(tmp_path: Path, text: str, suffix: str = ".csv") -> TableFile:
    path = tmp_path / f"table{suffix}"
    path.write_text(text)
    return open_table(Source(path))


def profile_of(tmp_path: Path, text: str, suffix: str = ".csv") -> Profile:
    return describe(table_of(tmp_path, text, suffix))


def mapped(reading: Reading) -> set[str]:
    return {f"{column.key}={column.name}" for column in reading.mapping.columns}


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_a_table_has_its_right_reading(shape: Shape, tmp_path: Path) -> None:
    table = table_of(tmp_path, shape.text, shape.suffix)
    profile = describe(table)
    reading = profile.readings[0]
    assert (reading.key, mapped(reading)) == (shape.key, set(shape.columns)), reading
    assert reading.certain == (not shape.unclear), reading.doubts
    assert shape.unclear in " ".join(reading.doubts)
    assert read_mapping(reading.mapping.entries(), table.columns) == reading.mapping


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_the_mapping_of_a_reading_is_read_without_a_problem(shape: Shape, tmp_path: Path) -> None:
    table = table_of(tmp_path, shape.text, shape.suffix)
    reading = describe(table).readings[0]
    source = Source(tmp_path / f"table{shape.suffix}", mapping=reading.mapping.entries())
    if reading.mapping.has_dialogues:
        assert list(read_mapped(source))
    if reading.mapping.answers or reading.mapping.of("value"):
        rows = [row for _, row in rating_rows(source, table, reading.mapping)]
        assert rows
        assert all((row["item"] or row["dialogue"]) and row["rater"] for row in rows)


# Columns and scales.


def looks(profile: Profile) -> dict[str, str]:
    return {column.name: column.looks_like for column in profile.columns}


def test_columns_look_like_what_they_hold(tmp_path: Path) -> None:
    rows = [
        [
            "id",
            "when",
            "who said",
            "words",
            "flag",
            "mood",
            "topic",
            "points",
            "tags",
            "raw",
            "nothing",
            "same",
        ],
        [
            "a",
            "2024-01-01 10:00",
            "bot",
            "How can I help you?",
            "yes",
            "Agree",
            "pay",
            "0.25",
            "x;y",
            '{"a": 1}',
            "",
            "v",
        ],
        [
            "b",
            "2024-01-01 10:01",
            "user",
            "My parcel is still lost.",
            "no",
            "Neutral",
            "post",
            "0.5",
            "y",
            '{"a": 2}',
            "",
            "v",
        ],
        [
            "c",
            "2024-01-01 10:02",
            "bot",
            "I am so sorry for it.",
            "yes",
            "Disagree",
            "pay",
            "0.75",
            "x;z",
            '{"a": 3}',
            "NA",
            "v",
        ],
        [
            "d",
            "2024-01-01 10:03",
            "user",
            "Can you look it up?",
            "no",
            "Agree",
            "post",
            "1.0",
            "z;x",
            '{"a": 4}',
            "",
            "v",
        ],
    ]
    profile = profile_of(tmp_path, csv_text(*rows))
    assert looks(profile) == {
        "id": "id",
        "when": "time",
        "who said": "category",
        "words": "text",
        "flag": "yes_no",
        "mood": "ordered",
        "topic": "category",
        "points": "score",
        "tags": "set",
        "raw": "json",
        "nothing": "empty",
        "same": "constant",
    }
    assert profile.column("tags").separator == ";"
    assert profile.column("nothing").missing == ("NA",)
    assert profile.column("mood").values == (
        *("Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"),
    )


def scale_of(*answers: str) -> Scale:
    return guess_scale(Counter(answers)).scale


@pytest.mark.parametrize(
    ("answers", "level", "values"),
    [
        ("1 2 5", "ordinal", ("1", "2", "3", "4", "5")),
        ("2 3 4", "ordinal", ("2", "3", "4")),
        ("0 10 7", "ordinal", tuple(map(str, range(11)))),
        ("-1 0 1", "ordinal", ("-1", "0", "1")),
        ("1.0 3.0 2.0", "ordinal", ("1", "2", "3")),
        ("0 1 1", "binary", ("0", "1")),
        ("0 50 77 100", "interval", ()),
        ("0.5 1 2.25", "interval", ()),
        ("yes no YES", "binary", ("0", "1")),
        ("ja nein", "binary", ("0", "1")),
        ("Pass Fail", "binary", ("0", "1")),
        ("pos neg neutral pos neg", "nominal", ("neg", "neutral", "pos")),
        ("low high medium", "ordinal", ("low", "medium", "high")),
        ("9;5;6 9;5 5 6", "nominal", ("5", "6", "9")),
    ],
)
def test_the_scale_of_answers_is_guessed(answers: str, level: str, values: tuple[str, ...]) -> None:
    scale = scale_of(*answers.split())
    assert (scale.level, scale.values) == (level, values)


@pytest.mark.parametrize(
    ("answers", "codes", "anchors"),
    [
        (
            ("2 - Strongly present", "0 - Absent"),
            {"2 - Strongly present": "2", "0 - Absent": "0"},
            {"2": "Strongly present", "0": "Absent"},
        ),
        (("4: good", "5: great"), {"4: good": "4", "5: great": "5"}, {"4": "good", "5": "great"}),
        (("Good (4)", "Bad (2)"), {"Good (4)": "4", "Bad (2)": "2"}, {"4": "Good", "2": "Bad"}),
        (("1 (low)", "2", "3 (high)"), {"1 (low)": "1", "3 (high)": "3"}, {"1": "low", "3": "high"}),
    ],
)
def test_numbers_with_their_wording_are_numbers_with_anchors(
    answers: tuple[str, ...], codes: dict[str, str], anchors: dict[str, str]
) -> None:
    scale = scale_of(*answers)
    assert (scale.level, dict(scale.codes), dict(scale.anchors)) == ("ordinal", codes, anchors)


def test_likert_words_of_other_languages_are_ordered() -> None:
    assert scale_of("immer", "nie", "oft").values == ("nie", "oft", "immer")
    assert scale_of("同意", "非常不同意", "中立").values == ("非常不同意", "中立", "同意")
    assert scale_of("extremely", "not at all", "moderately").level == "ordinal"


def test_spellings_of_an_answer_are_one_answer_and_this_is_a_doubt() -> None:
    guess = guess_scale(Counter(["spam", "Spam", "spam", "ham", "ham", "eggs"]))
    assert guess.scale.values == ("eggs", "ham", "spam")
    assert dict(guess.scale.codes) == {"Spam": "spam"}
    assert guess.doubts == ("'Spam' is read as 'spam'",)


def test_decimal_commas_are_a_mark_of_the_scale() -> None:
    assert scale_of("3,5", "4,0", "2,25") == Scale("interval", decimal=",")
    assert guess_scale(Counter(["1,234", "2,500"])).doubts == ("'1,234' may be a number in thousands",)


def test_texts_with_commas_are_no_sets() -> None:
    assert not scale_of("Well, I think so.", "No, thanks.", "It is late, is it not?").separator


def test_empty_cells_of_sets_are_a_doubt_until_they_have_a_code(tmp_path: Path) -> None:
    text = "item,r1,r2\n1,slow;rude,slow\n2,,slow;late\n3,rude,rude;slow\n4,late,\n"
    reading = profile_of(tmp_path, text).readings[0]
    assert [doubt for doubt in reading.doubts if "empty cells" in doubt] == [
        "answers: empty cells (2) are no answer; codes:=:[] makes them the answer that no value applies"
    ]
    assert profile_lines(profile_of(tmp_path, text), "agree t.csv")[-1].endswith("--map 'separator:=;'")


@pytest.mark.parametrize(
    ("header", "explained"),
    [("comment", {}), ("Notes", {}), ("rationale", {"explanation@gpt": "rationale"})],
)
def test_a_remark_beside_several_raters_is_nobodys_reason(
    tmp_path: Path, header: str, explained: dict[str, str]
) -> None:
    text = f"id,anna,ben,gpt,{header}\n1,4,5,4,nice one\n2,2,2,3,too long for me\n3,5,4,5,\n"
    entries = profile_of(tmp_path, text).readings[0].mapping.entries()
    assert {key: name for key, name in entries.items() if key.startswith("explanation")} == explained


def test_words_for_no_answer_get_no_code_of_their_own(tmp_path: Path) -> None:
    reading = profile_of(tmp_path, "item,r1,r2\n1,yes,NA\n2,no,no\n3,-,yes\n").readings[0]
    assert dict(reading.mapping.scale("").codes) == {"NA": "", "-": "", "yes": "1", "no": "0"}
    assert reading.certain


def test_scales_are_of_all_raters_of_a_question(tmp_path: Path) -> None:
    text = "id,ann1_helpful,ann2_helpful,ann1_safe,ann2_safe\n1,1,4,yes,no\n2,2,5,no,no\n3,2,3,yes,yes\n"
    mapping = profile_of(tmp_path, text).readings[0].mapping
    assert mapping.scale("helpful").values == ("1", "2", "3", "4", "5")
    assert mapping.scale("safe").level == "binary"


def test_judges_on_another_scale_than_people_are_a_doubt(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, "id,human_score,gpt4_score\n1,1,1.5\n2,2,2.25\n3,5,4.75\n")
    assert not profile.readings[0].certain
    assert "people answer with whole numbers from 1 to 5" in profile.readings[0].doubts[0]


def test_codes_of_categories_are_a_doubt(tmp_path: Path) -> None:
    reading = profile_of(tmp_path, "doc,coder,code\n1,a,3\n1,b,2\n2,a,1\n2,b,1\n").readings[0]
    assert reading.doubts == ("code: the numbers 1 to 3 may be codes of categories",)


def test_answers_below_the_first_rows_count(tmp_path: Path) -> None:
    rows = [f"{n},ann,{n % 2 + 2}" for n in range(2100)] + ["2100,gpt-4o,5", "2101,gpt-4o,1"]
    profile = profile_of(tmp_path, "item,rater,value\n" + "\n".join(rows) + "\n")
    assert profile.n_rows == 2102
    assert profile.judges == ("gpt-4o",)
    assert profile.readings[0].mapping.scale("").values == ("1", "2", "3", "4", "5")


def test_a_mapping_of_the_user_is_completed_with_the_scales_of_its_questions(tmp_path: Path) -> None:
    table = table_of(tmp_path, "item,x,y\n1,yes,no\n2,no,no\n")
    mapping = read_mapping({"item": "item", "label:ok": ["x", "y"]}, table.columns)
    assert dict(scan(table, mapping).scale("ok").codes) == {"yes": "1", "no": "0"}
    coded = read_mapping(
        {"item": "item", "label:ok": ["x", "y"], "codes:ok": {"yes": "2", "no": "1", "?": ""}}, table.columns
    )
    assert scan(table, coded).scale("ok").values == ("1", "2")
    assert dict(scan(table, coded).scale("ok").codes) == {"yes": "2", "no": "1", "?": ""}
    own = read_mapping({"item": "item", "label:ok": ["x", "y"], "scale:ok": ["no", "yes"]}, table.columns)
    assert scan(table, own).scale("ok") == Scale(values=("no", "yes"), level="binary")


# People and judges, speakers and rated ones, and what is said.


def test_raters_with_names_of_models_are_judges(tmp_path: Path) -> None:
    text = (
        "item,rater,value\n1,ann,1\n1,o3-mini,2\n1,openai/gpt-4o,2\n2,Claudette,1\n2,LLM judge,1\n2,ann,2\n"
    )
    assert profile_of(tmp_path, text).judges == ("o3-mini", "openai/gpt-4o", "LLM judge")


def test_the_speakers_that_look_like_systems_are_rated(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, SHAPES[0].text)
    assert (profile.speakers, profile.rated) == (("customer", "bot"), ("bot",))


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, "speaker,note\nAna,How are you today?\nBen,I am fine thank you.\n")
    assert not profile.certain
    assert profile.readings[0].missing == (
        "a column with the text of each turn",
        "a column that says which dialogue a row belongs to",
    )


def test_a_file_without_a_column_of_dialogues_may_be_one_dialogue(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, "speaker,text\nAna,How are you today?\nBen,I am fine thank you.\n")
    assert mapped(profile.readings[0]) == {"speaker=speaker", "text=text"}
    assert profile.readings[0].doubts == (
        "no column says which dialogue a row belongs to: the file is one dialogue",
    )


def test_lists_of_labels_are_a_doubt(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Hi", "score": 1}, {"role": "bot", "content": "Hello", "score": 4}]
    reading = profile_of(
        tmp_path, jsonl({"id": "a", "turns": turns}, {"id": "b", "turns": turns}), ".jsonl"
    ).readings[0]
    assert reading.doubts == ("turns[].score may be labels: a mapping reads no lists of them",)


def test_comparisons_of_two_responses_are_never_certain(tmp_path: Path) -> None:
    text = (
        "prompt,response_a,response_b,winner\n"
        "Tell me a joke now,Why did he go?,Knock knock there,a\nSay a name,It is Ann,It is Ben,b\n"
    )
    profile = profile_of(tmp_path, text)
    assert not profile.certain
    assert any("import it as pairs" in missing for reading in profile.readings for missing in reading.missing)


def test_raters_in_rows_and_many_items_in_columns(tmp_path: Path) -> None:
    answers = {f"doc{n}__{question}": n % 3 + 1 for n in range(12) for question in ("color", "shape")}
    text = json.dumps({"worker_1": answers, "worker_2": answers, "gpt-4o": answers})
    profile = profile_of(tmp_path, text, ".json")
    reading = profile.readings[0]
    assert (reading.key, reading.certain, profile.judges) == ("survey", True, ("gpt-4o",))
    assert {"rater=key", "label[doc7]:color=doc7__color"} <= mapped(reading)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("id,judge1,judge2\n1,4,5\n2,3,3\n3,1,2\n", "judge1, judge2 may be people or models"),
        (
            "id,annotator_1_id,annotator_1_label,annotator_2_id,annotator_2_label\n1,x,4,y,5\n2,y,3,z,3\n"
            "3,x,1,z,2\n",
            "annotator_1_id may name the rater of each row",
        ),
        (
            "dialogue,turn,speaker,text\na,2,Ben,I am fine\na,1,Ana,How are you?\nb,1,Ana,Hello\n"
            "b,2,Ben,Hi\n",
            "the rows are not in the order of turn",
        ),
        ("id,human_label,final_label\n1,4,5\n2,3,3\n3,1,2\n", "nothing says who answered final_label"),
        ("item,rater,value\n1,a,4\n1,a,5\n1,b,4\n2,a,1\n2,b,1\n", ""),
        ("id,annotator,score\n1,a,4\n1,a,5\n1,b,4\n2,a,1\n2,b,1\n", "rows repeat an answer to the same id"),
    ],
)
def test_what_would_decide_a_figure_is_asked(text: str, doubt: str, tmp_path: Path) -> None:
    reading = profile_of(tmp_path, text).readings[0]
    assert doubt in reading.doubts or (not doubt and reading.certain)


HEADERS = (
    *("id", "item", "rater", "label", "score", "ann1", "ann1_helpful", "gpt4", "gpt4_reason", "gold", "text"),
    *("speaker", "conv_id", "turn", "question", "answer", "context", "judge", "messages[].role", "@", "a]b"),
    *("messages[].content", "tags[]", "response_a", "response_b", "q1", "D1_fluent", " ", "Safe? [Item 1]"),
)
TEXTS = (
    *(
        "1",
        "2",
        "yes",
        "no",
        "NA",
        "",
        None,
        "a;b",
        "2 - x",
        "Agree",
        "I like it a lot.",
        "User: hi\nBot: ho",
    ),
    *("[1, 2]", '{"a": 1}', "gpt-4", "3,5", "0.7", "Good (4)", "nan", "["),
)
LISTS: tuple[list[Cell], ...] = (["a", "b"], [], [None], ["1", "1"])
CELLS: tuple[Cell, ...] = (*TEXTS, *LISTS)


def test_any_table_is_described_and_every_mapping_is_read_again() -> None:
    draws = random.Random(31)
    for _ in range(150):
        columns = tuple(draws.sample(HEADERS, draws.randint(1, 8)))
        cells = {name: draws.choices(CELLS, k=draws.randint(1, 3)) for name in columns}
        rows = [
            (n, {name: draws.choice(cells[name]) for name in columns}) for n in range(draws.randint(0, 8))
        ]
        profile = describe(TableFile("csv", columns, partial(iter, rows)))
        assert profile_lines(profile, "agree")
        for reading in profile.readings:
            if reading.is_possible:
                assert read_mapping(reading.mapping.entries(), columns) == reading.mapping


def test_an_empty_table_has_no_reading(tmp_path: Path) -> None:
    assert profile_of(tmp_path, "a,b\n").readings == ()


def test_a_profile_is_printed_in_lines(tmp_path: Path) -> None:
    lines = profile_lines(
        profile_of(tmp_path, "id,human_label,judge_label\n1,yes,-\n2,no,yes\n3,no,no\n"), "agree t.csv"
    )
    assert lines == [
        "3 rows, 3 columns",
        "",
        "column       looks like  filled  different  examples",
        "id           ids         100%          3  1, 2, 3",
        "human_label  yes or no   100%          2  yes, no",
        "judge_label  yes or no    67%          2  yes, no  no answer: -",
        "",
        "certain: Each row is one item with 2 raters in columns.",
        "    label: yes or no (guessed from the answers)",
        "not: Each row is one turn of a dialogue. Missing: a column with the text of each turn; a column"
        " that says"
        " who speaks; a column that says which dialogue a row belongs to.",
        "Judges by their names: judge",
        "",
        "To read it so, correct what is wrong and run:",
        "agree t.csv --map item=id --map label:label@human=human_label --map judge:label@judge=judge_label",
    ]


def test_names_of_columns_cannot_write_on_the_screen(tmp_path: Path) -> None:
    lines = profile_lines(profile_of(tmp_path, "id,\x1b[31mred\n1,4\n2,5\n"), "agree t.csv")
    assert all(char.isprintable() for line in lines for char in line)


# Public files and known cases, where they are at hand.


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("nameless_columns_are_raters/index.csv", {"item=item", "label@ann1=ann1", "label@ann2=ann2"}),
        (
            "nameless_columns_are_raters/trailing_comma.csv",
            {"item=item", "label@ann1=ann1", "label@ann2=ann2"},
        ),
        (
            "nameless_columns_are_raters/extra_numbers.csv",
            {"item=item", "label@ann1=ann1", "label@ann2=ann2"},
        ),
        ("missing_words_are_categories/long.csv", {"item=item", "rater=rater", "value=value"}),
        ("blank_rows_and_columns/turns.csv", {"dialogue=dialogue", "speaker=speaker", "text=text"}),
        ("unread_columns_refuse_the_file/meta.jsonl", {"item=item", "rater=rater", "value=value"}),
    ],
)
def test_known_cases_have_their_right_reading(name: str, columns: set[str]) -> None:
    path = CASES / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    reading = describe(open_table(Source(path))).readings[0]
    assert (mapped(reading), reading.certain) == (columns, True)


def test_a_person_called_like_a_model_is_a_doubt() -> None:
    path = CASES / "judge_or_person_by_name/battles.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    profile = describe(open_table(Source(path)))
    assert not profile.certain
    assert "Claudette" not in profile.judges
    assert {"openai/gpt-4o", "o3-mini", "vicuna-33b"} <= set(profile.judges)
    assert any("Claude may be a person or a model" in reading.doubts for reading in profile.readings)


# Nothing is certain that loses texts or answers.


def message(number: int, *children: object) -> dict[str, object]:
    sender = "User" if number % 2 else "GPT"
    return {"text": f"This is what I say in {number}", "sender": sender, "children": list(children)}


def test_texts_that_would_be_left_out_are_a_doubt(tmp_path: Path) -> None:
    document = {"id": "c1", "messages": [message(1, message(2)), message(3, message(4))]}
    profile = profile_of(tmp_path, json.dumps(document), ".json")
    assert not profile.certain
    assert any("text may be turns, too, and would be left out" in r.doubts for r in profile.readings)
    records = [
        {
            "source": {"body": f"Where is my parcel {number}?"},
            "parts": [
                {"body": f"It is on its way {number}.", "author": "bot"},
                {"body": "Thanks.", "author": "me"},
            ],
        }
        for number in range(3)
    ]
    reading = profile_of(tmp_path, jsonl(*records), ".jsonl").readings[0]
    assert (reading.certain, reading.doubts) == (
        False,
        ("source.body may be turns, too, and would be left out",),
    )


def test_the_instructions_of_a_system_are_not_rated(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "Be kind to all."}, {"role": "user", "content": "Who are you?"}]
    requests = [{"custom_id": str(number), "body": {"messages": messages}} for number in range(3)]
    profile = profile_of(tmp_path, jsonl(*requests), ".jsonl")
    assert (profile.speakers, profile.rated) == (("system", "user"), ())
    spoken = "id,speaker,text\n1,user,Hello to you\n1,system,Good day to you\n2,system,Hi\n2,user,Hello\n"
    assert profile_of(tmp_path, spoken).rated == ("system",)


def rated_turns(n_dialogues: int) -> str:
    rows = [
        f"d{d},{t},{'AB'[t % 2]},What I say is {d} and {t},r{r},{d % 3 + 1},{(d + r) % 4 + 1},t{d % 3}"
        for d in range(n_dialogues)
        for r in (1, 2)
        for t in range(3)
    ]
    return "\n".join(["dialogue,turn,speaker,text,rater,quality,warmth,topic", *rows, ""])


def test_what_all_rows_and_raters_of_a_dialogue_share_is_no_label(tmp_path: Path) -> None:
    reading = profile_of(tmp_path, rated_turns(6)).readings[0]
    assert reading.certain
    assert {"metadata=quality", "metadata=topic", "label[dialogue]:warmth=warmth"} <= mapped(reading)
    assert "quality may be the raters' labels of the dialogue: all agree" in (
        profile_of(tmp_path, rated_turns(3)).readings[0].doubts
    )


def test_an_answer_that_is_the_same_everywhere_is_asked_about(tmp_path: Path) -> None:
    rows = [line.rsplit(",", 3)[0] for line in rated_turns(6).splitlines()]
    text = "\n".join([f"{rows[0]},helpful", *(f"{row},1" for row in rows[1:]), ""])
    reading = profile_of(tmp_path, text).readings[0]
    assert "helpful may be the raters' labels of the dialogue: all agree" in reading.doubts


def test_rows_of_several_systems_to_the_same_prompt_are_their_responses(tmp_path: Path) -> None:
    rows = [
        f"p{p},Question number {p} is?,Answer to {p} of {system},{system},r{r},{(p + r) % 5 + 1}"
        for p in range(4)
        for system in ("gpt-4o", "llama")
        for r in (1, 2)
    ]
    text = "\n".join(["prompt_id,prompt,response,system,rater,score", *rows, ""])
    reading = profile_of(tmp_path, text).readings[0]
    assert (reading.certain, reading.sentence) == (
        True,
        "Each row is the response of one system, rated by one rater.",
    )
    assert mapped(reading) == {
        *("dialogue=prompt_id", "utterance:user=prompt", "response=response", "system=system"),
        *("rater=rater", "label[turn]:score=score"),
    }
    source = Source(tmp_path / "table.csv", mapping=reading.mapping.entries())
    records = [record.record for record in read_mapped(source)]
    assert [len(record.continuations) for record in records] == [2] * 4  # type: ignore[union-attr]


def test_systems_that_answer_different_prompts_are_not_compared(tmp_path: Path) -> None:
    text = "id,prompt,response,model\n1,Who is it?,It is I,gpt-4o\n2,Who are you?,I am me,llama\n"
    assert "utterance:assistant=response" in mapped(profile_of(tmp_path, text).readings[0])


def test_turns_in_columns_are_said_by_those_whom_their_names_name(tmp_path: Path) -> None:
    text = (
        "id,turn1_user,turn1_bot,turn2_user,turn2_bot,overall_rating\n1,hi,hello,why,so,4\n"
        "2,hey,yes,what,it,2\n"
    )
    reading = profile_of(tmp_path, text).readings[0]
    assert mapped(reading) == {
        *("dialogue=id", "utterance:user=turn1_user", "utterance:bot=turn1_bot"),
        *("utterance:user=turn2_user", "utterance:bot=turn2_bot"),
        "label[dialogue]:overall_rating=overall_rating",
    }


def test_answers_of_people_and_models_are_no_turns_and_none_is_left_out_silently(tmp_path: Path) -> None:
    text = (
        "id,human_1,model_1,human_2,model_2\n1,good,bad,good,good\n2,bad,bad,good,bad\n3,good,good,bad,good\n"
    )
    profile = profile_of(tmp_path, text)
    assert profile.readings[0].key == "wide"
    assert "model_1 may hold answers, too" in profile.readings[0].doubts


def test_numbered_columns_of_labels_are_raters_unless_it_is_said_otherwise(tmp_path: Path) -> None:
    text = "text,label_1,label_2,label_3\nThis is a long text,1,1,0\nAnd another one,0,1,1\n"
    reading = profile_of(tmp_path, text).readings[0]
    assert {f"label:label@label_{n}=label_{n}" for n in (1, 2, 3)} <= mapped(reading)
    assert "label_1, label_2, label_3 may be raters or questions" in reading.doubts


def test_names_above_answers_on_some_turns_may_be_raters(tmp_path: Path) -> None:
    text = (
        "dialogue,speaker,text,Anna,Ben\n1,user,How are you today?,,\n1,bot,I am fine thanks,4,5\n"
        "2,user,What is your name?,,\n2,bot,I am a bot,2,4\n"
    )
    reading = profile_of(tmp_path, text).readings[0]
    assert {"label@Anna=Anna", "label@Ben=Ben"} <= mapped(reading)
    assert "Anna, Ben may be raters or questions" in reading.doubts


def test_raters_whose_answers_all_differ_in_a_short_table_are_read_like_the_others(tmp_path: Path) -> None:
    text = "feedback_id,annotator_1,annotator_2,annotator_3\n" + "".join(
        f"{number},{first},{first},{third}\n"
        for number, (first, third) in enumerate(
            [("joy", "calm"), ("anger", "anger"), ("fear", "fear"), ("trust", "fear"), ("calm", "joy")]
        )
    )
    (reading, *_) = profile_of(tmp_path, text).readings
    assert reading.certain
    assert mapped(reading) >= {f"label@annotator_{number}=annotator_{number}" for number in (1, 2, 3)}


def test_accuracy_that_people_rate_is_a_question(tmp_path: Path) -> None:
    rows = [f"i{n},{rater},{n % 5 + 1},{(n + 1) % 5 + 1}\n" for n in range(6) for rater in ("ana", "ben")]
    (reading, *_) = profile_of(tmp_path, "item,rater,accuracy,fluency\n" + "".join(rows)).readings
    assert mapped(reading) == {
        "item=item",
        "rater=rater",
        "label:accuracy=accuracy",
        "label:fluency=fluency",
    }


def test_computed_accuracy_is_no_question(tmp_path: Path) -> None:
    rows = [f"i{n},{rater},0.{n}37,{n % 5 + 1}\n" for n in range(6) for rater in ("ana", "ben")]
    (reading, *_) = profile_of(tmp_path, "item,rater,accuracy,fluency\n" + "".join(rows)).readings
    assert "label:accuracy=accuracy" not in mapped(reading)


def test_an_id_of_responses_is_no_rater_where_reviewers_are_named(tmp_path: Path) -> None:
    rows = [f"r{n},{rater},{n % 3 + 1}\n" for n in range(4) for rater in ("EG", "WD", "MDO")]
    (reading, *_) = profile_of(tmp_path, "response_id,reviewer,clarity\n" + "".join(rows)).readings
    assert mapped(reading) == {"item=response_id", "rater=reviewer", "label:clarity=clarity"}


def test_a_table_of_one_row_without_ids_is_not_read_without_asking(tmp_path: Path) -> None:
    text = '"[openai:gpt-4] What is drunk?","[openai:gpt-4o] What is drunk?"\nWater.,Water.\n'
    assert profile_of(tmp_path, text).certain is None


@pytest.mark.parametrize("header", ["message,response", "seeker_post,response_post"])
def test_a_message_and_the_response_to_it_are_an_exchange(header: str, tmp_path: Path) -> None:
    rows = [f"Where is number {n} of them?,It is on shelf {n} over there.,{n % 2}\n" for n in range(6)]
    prompt, response = header.split(",")
    (reading, *_) = profile_of(tmp_path, f"{header},grounded\n" + "".join(rows)).readings
    assert reading.key == "cells"
    assert mapped(reading) >= {f"utterance:user={prompt}", f"utterance:assistant={response}"}
    assert not reading.certain


def test_rated_summaries_of_chats_are_not_read_as_chats_alone(tmp_path: Path) -> None:
    record = {"id": "1", "dialogue": "| Ana: Hi! | Ben: Hello.", "summary": "They meet."}
    path = tmp_path / "rated.jsonl"
    path.write_text(json.dumps(record | {"annotations": [{"fluency": 4}, {"fluency": 5}]}) + "\n")
    assert guess(FORMATS, read_start(path)) == "table"
    path.write_text(json.dumps(record) + "\n")
    assert guess(FORMATS, read_start(path)) == "samsum"


def test_customers_of_chats_are_users(tmp_path: Path) -> None:
    path = tmp_path / "support.json"
    customer, bot = {"role": "customer", "content": "Where?"}, {"role": "chatbot", "content": "Here."}
    path.write_text(json.dumps({"conversations": [{"id": "C1", "messages": [customer, bot]}]}))
    (record,) = [entry.record for entry in FORMATS["messages"].read(Source(path))]
    assert isinstance(record, Dialogue)
    assert [person.role for person in record.participants] == ["user", "assistant"]


def test_relevance_of_the_context_is_a_question_beside_other_qualities(tmp_path: Path) -> None:
    header = "item,judge,faithfulness,context_relevance,answer_relevance\n"
    rows = [
        f"i{n},{judge},0.{n}5,0.{n}7,0.{n + 1}3\n" for n in range(5) for judge in ("gpt-4o", "mistral-7b")
    ]
    (reading, *_) = profile_of(tmp_path, header + "".join(rows)).readings
    assert reading.certain
    assert mapped(reading) >= {
        "label:faithfulness=faithfulness",
        "label:context_relevance=context_relevance",
        "label:answer_relevance=answer_relevance",
    }


def test_raters_in_rows_who_are_named_among_the_judges_are_judges(tmp_path: Path) -> None:
    text = "id,prompt,response,judge,helpful\n" + "".join(
        f"{n},Why is number {n} so?,Because of number {n}.,{judge},{n % 3 + 1}\n"
        for n in range(4)
        for judge in ("GPT", "Ana")
    )
    (reading, *_) = profile_of(tmp_path, text).readings
    source = Source(tmp_path / "table.csv", mapping=reading.mapping.entries(), settings={"judges": "GPT"})
    records = [entry.record for entry in read_mapped(source)]
    kinds = {(label.rater, label.kind) for record in records for label in record.labels}
    assert kinds == {("GPT", "judge"), ("Ana", "human")}


def test_the_number_of_a_response_is_no_rater_beside_a_column_of_raters(tmp_path: Path) -> None:
    rows = [f"R_{n},d{n // 4},{n % 2 + 1},{'ana' if n % 4 < 2 else 'ben'},{n % 5 + 1}\n" for n in range(20)]
    profile = profile_of(tmp_path, "ResponseId,conversation_id,turn,rater,helpful\n" + "".join(rows))
    assert {reading.mapping.of("rater") for reading in profile.readings if reading.is_possible} == {"rater"}


def test_many_authors_are_speakers(tmp_path: Path) -> None:
    rows = [f"room-{n // 40},user_{n % 200},message {n} of all\n" for n in range(400)]
    profile = profile_of(tmp_path, "thread_id,author,message\n" + "".join(rows))
    assert profile.readings[0].mapping.of("speaker") == "author"


def test_a_column_of_different_names_is_the_id_of_dialogues_in_cells(tmp_path: Path) -> None:
    said = "Client: I feel sad.\\nCoach: Tell me more."
    rows = [f'case {n},"{said}",{n % 5 + 1}\n'.replace("\\n", "\n") for n in range(12)]
    profile = profile_of(tmp_path, "Case,Transcript,helpful\n" + "".join(rows))
    assert "dialogue=Case" in mapped(profile.readings[0])


@pytest.mark.parametrize("header", ["Gesprächs-Nr,wer,Äußerung", "رقم المحادثة,المتحدث,النص"])
def test_columns_may_be_called_in_german_and_arabic(header: str, tmp_path: Path) -> None:
    rows = [f"g{n // 4},{('Kunde', 'Bot')[n % 2]},Das ist der Satz {n}.\n" for n in range(20)]
    profile = profile_of(tmp_path, f"{header}\n" + "".join(rows))
    dialogue, speaker, text = header.split(",")
    assert mapped(profile.readings[0]) == {f"dialogue={dialogue}", f"speaker={speaker}", f"text={text}"}
