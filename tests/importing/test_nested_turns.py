"""Dialogues in lists and nested values of other people's files: each is read as its owner means it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.formats.mapped import read_mapped
from annotation.formats.nested_cells import open_nested
from annotation.formats.nested_values import parse_nested
from annotation.formats.profile import Profile, describe
from annotation.formats.source import Faults, ImportProblem, Source
from annotation.records import Dialogue
from tests.importing.table_shapes import csv_text, jsonl


def profile_of(tmp_path: Path, text: str, suffix: str) -> Profile:
    path = tmp_path / f"talks{suffix}"
    path.write_text(text)
    return describe(open_nested(Source(path)))


def read(tmp_path: Path, text: str, suffix: str = ".json") -> tuple[Profile, list[Dialogue], Source]:
    profile = profile_of(tmp_path, text, suffix)
    source = Source(tmp_path / f"talks{suffix}", mapping=profile.readings[0].mapping.entries())
    return profile, [entry.record for entry in read_mapped(source)], source  # type: ignore[misc]


def turns(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in dialogue.turns]


MESSAGES = [
    {"message": "Hello there", "senderID": 1, "createdAt": 1616824869486},
    {"message": "Good day to you", "senderID": 2, "createdAt": 1616824879571},
]


@pytest.mark.parametrize("write", [json.dumps, repr], ids=["json", "python"])
def test_messages_in_a_cell_are_turns_however_they_are_written(
    write: Callable[[object], str], tmp_path: Path
) -> None:
    cells = [["7", write(MESSAGES), "up"], ["8", "[]", ""]]
    profile, (dialogue,), source = read(tmp_path, csv_text(["ID", "Messages", "state"], *cells), ".csv")
    assert profile.readings[0].key == "messages"
    assert turns(dialogue) == [("1", "Hello there"), ("2", "Good day to you")]
    assert "Rows with an empty list of turns were left out: 1." in source.notes


def test_an_array_of_texts_as_numpy_writes_it_is_a_list() -> None:
    text = """['Say , Jim , how about it ? '\n " I don't know . "\n ' Come on ']"""
    assert parse_nested(text) == ["Say , Jim , how about it ? ", " I don't know . ", " Come on "]
    assert parse_nested("[3 4 2]") == ["3", "4", "2"]


def test_labels_beside_the_turns_of_an_array_are_about_these_turns(tmp_path: Path) -> None:
    cells = [["['Where do you live now ?'\n 'I live in Graz now .']", "[2 1]"]]
    cells += [["['Shall we go home ?' 'Yes , we go .' 'So let us go .']", "[3 1 2]"]]
    profile, dialogues, _ = read(tmp_path, csv_text(["dialog", "act"], *cells), ".csv")
    assert "label[turn]:act=act[]" in {f"{c.key}={c.name}" for c in profile.readings[0].mapping.columns}
    assert [[(label.turn, label.value) for label in dialogue.labels] for dialogue in dialogues] == [
        [(0, 2.0), (1, 1.0)],
        [(0, 3.0), (1, 1.0), (2, 2.0)],
    ]


def test_labels_in_a_list_of_turns_are_about_these_turns(tmp_path: Path) -> None:
    def turn(place: int, speaker: str, text: str, emotion: str | None) -> dict[str, object]:
        return {"no": place, "speaker": speaker, "text": text, "emotion": emotion}

    first = [turn(1, "A", "Hi there", "joy"), turn(2, "B", "", None), turn(3, "B", "Oh no, why", "anger")]
    records = ({"id": 1, "turns": first}, {"id": 2, "turns": first[:1] + first[2:]})
    profile, dialogues, _ = read(tmp_path, jsonl(*records), ".jsonl")
    assert profile.readings[0].doubts == ("no column says who answered: the rater is named after the file",)
    assert {label.question for dialogue in dialogues for label in dialogue.labels} == {"emotion"}
    assert [(label.turn, label.value, label.kind) for label in dialogues[0].labels] == [
        *((0, "joy", "human"), (1, "anger", "human")),
    ]


def test_a_label_of_a_turn_without_a_text_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text(
        jsonl(
            {
                "id": 1,
                "turns": [{"speaker": "A", "text": ""}, {"speaker": "B", "text": "Hi"}],
                "act": ["x", "y"],
            }
        )
    )
    entries = {
        "dialogue": "id",
        "speaker": "turns[].speaker",
        "text": "turns[].text",
        "label[turn]:act": "act[]",
    }
    with pytest.raises(ImportProblem, match="has an answer about turn 1 of the list, which has no text"):
        list(read_mapped(Source(path, mapping=entries)))


def test_a_cell_that_is_no_list_among_lists_is_a_problem_with_its_line(tmp_path: Path) -> None:
    good = [[str(n), json.dumps(MESSAGES)] for n in range(300)]
    path = tmp_path / "talks.csv"
    path.write_text(csv_text(["ID", "Messages"], *good, ["301", "lost"]))
    entries = {"dialogue": "ID", "text": "Messages[].message", "speaker": "Messages[].senderID"}
    source = Source(path, mapping=entries)
    with pytest.raises(ImportProblem, match="line 302, field Messages: is no list or object"):
        list(read_mapped(source))


def test_a_column_that_is_mapped_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "talks.csv"
    path.write_text(
        csv_text(
            ["ID", "log"], ["7", repr([{"role": "user", "content": "Hi"}, {"role": "bot", "content": "Yes"}])]
        )
    )
    source = Source(path, mapping={"dialogue": "ID", "transcript": "log"})
    (dialogue,) = [entry.record for entry in read_mapped(source)]
    assert isinstance(dialogue, Dialogue)
    assert turns(dialogue) == [("user", "Hi"), ("bot", "Yes")]


def test_objects_in_cells_are_columns(tmp_path: Path) -> None:
    def message(kind: str, text: str) -> str:
        return json.dumps({"type": kind, "data": {"content": text, "type": kind}})

    rows = [["a", message("human", "Good morning bot")], ["a", message("ai", "Good morning to you")]]
    rows += [["b", message("human", "Am I insured?")], ["b", message("ai", "No, you are not.")]]
    profile, dialogues, _ = read(tmp_path, csv_text(["conversation_uuid", "message"], *rows), ".csv")
    assert profile.certain
    assert turns(dialogues[1]) == [("human", "Am I insured?"), ("ai", "No, you are not.")]


LISTS: dict[str, tuple[dict[str, object], list[str]]] = {
    "parallel lists": (
        {"utt": ["This is the day.", "And I am Alex."], "speaker": ["Ana Brand, host", "Alex"]},
        ["Ana Brand, host", "Alex"],
    ),
    "parallel lists in the plural": (
        {"dialogue": ["Are you okay now?", "No, not at all."], "speakers": ["Bo", "Maya"]},
        ["Bo", "Maya"],
    ),
    "names in texts": (
        {"utterances": ["patient: my throat is sore", "doctor: since when is it?"]},
        ["patient", "doctor"],
    ),
    "pairs": ({"dialogue": [["A", "how are you today"], ["B", "fine, and you too?"]]}, ["A", "B"]),
    "agents by id": (
        {"chat_logs": [{"text": "A deal?", "id": "agent_1"}, {"text": "Yes, it is.", "id": "agent_2"}]},
        ["agent_1", "agent_2"],
    ),
    "lists of names": (
        {
            "TURNS": [
                {"NAMES": ["MATT"], "UTTERANCES": ["Hello,", "welcome."]},
                {"NAMES": ["LAURA", "SAM"], "UTTERANCES": ["Hi!"]},
            ]
        },
        ["MATT", "LAURA, SAM"],
    ),
    "one speaker": ({"student_turns": ["Can you help me?", "Just tell me now."]}, ["student", "student"]),
}


@pytest.mark.parametrize(("record", "speakers"), LISTS.values(), ids=LISTS)
def test_lists_say_who_speaks(record: dict[str, object], speakers: list[str], tmp_path: Path) -> None:
    profile, dialogues, _ = read(tmp_path, jsonl(record | {"id": "d1"}, record | {"id": "d2"}), ".jsonl")
    assert profile.certain, profile.readings[0].doubts
    assert [[turn.speaker for turn in dialogue.turns] for dialogue in dialogues] == [speakers, speakers]


def test_two_texts_of_a_turn_are_asked_about(tmp_path: Path) -> None:
    conversation = [
        {"en_speaker": "Ben", "en_sentence": "I will be late.", "ja_sentence": "遅れます。"},
        {"en_speaker": "Ai", "en_sentence": "No problem.", "ja_sentence": "大丈夫です。"},
    ]
    profile = profile_of(
        tmp_path,
        jsonl({"id": 1, "conversation": conversation}, {"id": 2, "conversation": conversation}),
        ".jsonl",
    )
    assert (
        "conversation[].en_sentence and conversation[].ja_sentence may be the text"
        in profile.readings[0].doubts
    )


def test_columns_that_name_speakers_are_no_answers(tmp_path: Path) -> None:
    records = [
        {"dialogue": ["Are you okay?", "No, not yet."], "speakers": names, "PersonX": names[0]}
        for names in (["Bo", "Ann"], ["Leo", "Mom"])
    ]
    _, dialogues, _ = read(tmp_path, jsonl(*records), ".jsonl")
    assert not any(dialogue.labels for dialogue in dialogues)


def scene(key: str, *texts: str) -> dict[str, object]:
    return {
        "scene_id": key,
        "utterances": [{"speakers": [f"S{n}"], "transcript": text} for n, text in enumerate(texts)],
    }


def test_dialogues_within_records_are_the_rows(tmp_path: Path) -> None:
    episodes = [
        {
            "episode_id": "e1",
            "scenes": [scene("c1", "Hi you.", "Hello!"), scene("c2", "Where is he?", "Gone.")],
        }
    ]
    _, dialogues, source = read(tmp_path, json.dumps({"season": "s1", "episodes": episodes}))
    assert [(dialogue.id, turns(dialogue)) for dialogue in dialogues] == [
        ("c1", [("S0", "Hi you."), ("S1", "Hello!")]),
        ("c2", [("S0", "Where is he?"), ("S1", "Gone.")]),
    ]
    assert "The rows are the objects of `episodes[].scenes`." in source.notes


def test_lists_within_turns_are_no_dialogues(tmp_path: Path) -> None:
    turn = {"speaker": "USER", "utterance": "A table for two", "frames": [{"slots": [{"text": "two"}]}]}
    _, dialogues, _ = read(
        tmp_path, json.dumps([{"id": "d1", "turns": [turn, turn | {"speaker": "SYSTEM"}]}])
    )
    assert turns(dialogues[0]) == [("USER", "A table for two"), ("SYSTEM", "A table for two")]


def test_lists_of_a_document_that_are_alike_are_read_one_after_another(tmp_path: Path) -> None:
    def talk(key: int) -> dict[str, object]:
        return {
            "convo_id": key,
            "log": [{"speaker": "agent", "text": "Hello you"}, {"speaker": "customer", "text": "Hi"}],
        }

    _, dialogues, source = read(tmp_path, json.dumps({"train": [talk(1), talk(2)], "dev": [talk(3)]}))
    assert [dialogue.id for dialogue in dialogues] == ["1", "2", "3"]
    assert "The rows are the objects of `train, dev`." in source.notes


def test_marks_between_turns_are_no_part_of_them(tmp_path: Path) -> None:
    text = csv_text(
        ["qid", "conversation"],
        ["1", "Teacher: Hi Luca|EOM|Luca: Sure.|EOM|Teacher: Why?"],
        ["2", "Teacher: Hello|EOM|Ann: Hi."],
    )
    profile, dialogues, _ = read(tmp_path, text, ".csv")
    assert profile.certain
    assert turns(dialogues[0]) == [("Teacher", "Hi Luca"), ("Luca", "Sure."), ("Teacher", "Why?")]


def test_transcripts_may_have_wide_colons(tmp_path: Path) -> None:
    text = csv_text(["编号", "对话"], ["1", "医生：你好\n病人：我头疼"], ["2", "医生：怎么了\n病人：发烧"])
    _, dialogues, _ = read(tmp_path, text, ".csv")
    assert turns(dialogues[0]) == [("医生", "你好"), ("病人", "我头疼")]


def test_numbered_prompts_and_responses_are_the_turns_of_one_dialogue(tmp_path: Path) -> None:
    header = ["Prompt", "Claude Response 1", "Prompt 2", "Claude Response 2 (if necessary)"]
    rows = [
        ["I like my work.", "Do you?", "Not always.", "Why?"],
        ["Free speech is good.", "Often.", "Always!", ""],
    ]
    profile, dialogues, _ = read(tmp_path, csv_text(header, *rows), ".csv")
    assert profile.certain
    assert [len(dialogue.turns) for dialogue in dialogues] == [4, 3]
    assert turns(dialogues[0])[2:] == [("user", "Not always."), ("assistant", "Why?")]


def test_columns_of_turns_in_another_order_are_not_read_without_asking(tmp_path: Path) -> None:
    header = ["user_1", "user_2", "bot_1", "bot_2"]
    rows = [
        ["Hello there", "Is it open?", "Hi you", "Yes, it is"],
        ["Good day", "Where are you?", "Hey", "At home"],
    ]
    (reading, *_) = [
        r for r in profile_of(tmp_path, csv_text(header, *rows), ".csv").readings if r.key == "cells"
    ]
    assert reading.missing == ("the columns of turns in their order",)


def test_lists_of_exchanges_are_turns_one_by_one(tmp_path: Path) -> None:
    first = [
        {"user": "Hello there", "bot": "Hi, what is it?"},
        {"user": "Where is it?", "bot": "On its way."},
    ]
    records = ({"session": "s1", "turns": first}, {"session": "s2", "turns": first[:1]})
    profile, dialogues, _ = read(tmp_path, jsonl(*records), ".jsonl")
    assert profile.certain
    assert turns(dialogues[0]) == [
        *(
            ("user", "Hello there"),
            ("bot", "Hi, what is it?"),
            ("user", "Where is it?"),
            ("bot", "On its way."),
        ),
    ]


def test_pairs_of_a_question_and_its_answer_are_exchanges(tmp_path: Path) -> None:
    history = [["What is an otp?", "A password."], ["Is it open on Sunday?", "No, it is closed."]]
    _, dialogues, _ = read(
        tmp_path, jsonl({"id": 1, "history": history}, {"id": 2, "history": history[:1]}), ".jsonl"
    )
    assert turns(dialogues[1]) == [("user", "What is an otp?"), ("assistant", "A password.")]


def test_a_document_of_lists_has_a_dialogue_a_list(tmp_path: Path) -> None:
    message = {"speaker": "Joey", "utterance": "Hey, you there"}
    document = [[message, message | {"speaker": "Ross"}], [message, message | {"speaker": "Monica"}]]
    _, dialogues, source = read(tmp_path, json.dumps(document))
    assert [[turn.speaker for turn in dialogue.turns] for dialogue in dialogues] == [
        ["Joey", "Ross"],
        ["Joey", "Monica"],
    ]
    assert "Each list of the document is a row, with its turns as `dialogue`." in source.notes
    assert guess(FORMATS, read_start(tmp_path / "talks.json")) == "table"


def test_turns_without_speakers_are_asked_about(tmp_path: Path) -> None:
    rows = [["1", "Are you a fan?"], ["1", "Yes, I am."], ["2", "Do you dance?"], ["2", "No, I do not."]]
    profile, dialogues, _ = read(tmp_path, csv_text(["conversation_id", "message"], *rows), ".csv")
    assert profile.readings[0].doubts == ("no column says who speaks: all turns are by `unnamed`",)
    assert [len(dialogue.turns) for dialogue in dialogues] == [2, 2]


TURN_ROWS: dict[str, tuple[list[list[str]], str, str]] = {
    "the direction of messages says who speaks": (
        [
            ["conversation_id", "type", "text"],
            *(["7", "outbound", "Hello, this is Sara"], ["7", "inbound", "Hi Sara, yes?"]),
            *(["8", "outbound", "Hello, this is Luna"], ["8", "inbound", "I ordered it"]),
        ],
        "speaker=type",
        "",
    ),
    "plurals in brackets": (
        [
            ["dialogue_id", "Speaker(s)", "Dialogue", "Addressee(s)"],
            *(["p", "Gared", "We should start back", "Will"], ["p", "Will", "The dead are dead", "Gared"]),
            *(["q", "Gared", "Will saw them there", "Will"], ["q", "Will", "So I did, I did", "Gared"]),
        ],
        "addressees=Addressee(s)",
        "",
    ),
    "channels may be dialogues": (
        [
            ["participant__code", "channel", "body"],
            *(["ab1", "2-271", "hallo du da"], ["cd2", "2-271", "hey, wie viel?"]),
            *(["ef3", "2-272", "was sagst du"], ["gh4", "2-272", "lass fünfzig machen"]),
        ],
        "speaker=participant__code",
        "channel may be something other than the dialogue",
    ),
    "episodes begin again in each season": (
        [
            ["season", "episode", "speaker", "line"],
            *(["1", "1", "Jim", "I told you so"], ["1", "1", "Pam", "Any messages for me?"]),
            *(["2", "1", "Jim", "It is done now"], ["2", "1", "Pam", "Oh, it is not"]),
        ],
        "text=line",
        "episode may begin again in each season: join both in a column",
    ),
    "translations of turns": (
        [
            ["conversation_id", "message_id", "speaker", "lang", "text"],
            *(["1", "m1", "a", "en", "How are you today?"], ["1", "m1", "a", "he", "מה שלומך היום"]),
            *(["1", "m2", "b", "en", "I am very well"], ["1", "m2", "b", "he", "אני בסדר גמור"]),
        ],
        "turn=message_id",
        "rows with the same message_id may be translations: keep one lang",
    ),
}


@pytest.mark.parametrize(("rows", "column", "doubt"), TURN_ROWS.values(), ids=TURN_ROWS)
def test_rows_of_turns(rows: list[list[str]], column: str, doubt: str, tmp_path: Path) -> None:
    reading = profile_of(tmp_path, csv_text(*rows), ".csv").readings[0]
    assert reading.key == "turns"
    assert column in {f"{c.key}={c.name}" for c in reading.mapping.columns}
    assert reading.certain == (not doubt), reading.doubts
    assert doubt in (*reading.doubts, "")


def test_texts_that_repeat_the_dialogue_are_not_asked_about(tmp_path: Path) -> None:
    cells = [
        [
            "1",
            "Member: Hello, my claim.\nAgent: Which one is it?\nMember: The last.",
            "Hello, my claim. The last.",
        ]
    ]
    cells += [
        [
            "2",
            "Member: Good morning to you.\nAgent: Your id?\nMember: It is 12.",
            "Good morning to you. It is 12.",
        ]
    ]
    assert profile_of(tmp_path, csv_text(["id", "context", "member_message"], *cells), ".csv").certain


def test_addresses_are_no_answers(tmp_path: Path) -> None:
    header = ["questionID", "questionText", "therapistURL", "answerText"]
    cells = [
        [str(n), f"I feel bad again {n}?", f"https://x.org/t{n % 2}", f"Thank you for asking {n}."]
        for n in range(4)
    ]
    reading = profile_of(tmp_path, csv_text(header, *cells), ".csv").readings[0]
    assert {f"{c.key}={c.name}" for c in reading.mapping.columns} >= {
        "utterance:user=questionText",
        "utterance:assistant=answerText",
    }
    assert not reading.mapping.answers


def test_a_text_that_is_no_table_says_what_is_missing(tmp_path: Path) -> None:
    profile = profile_of(
        tmp_path, "It was a long day at work.\nWe all went home late.\nNobody said a word then.\n", ".txt"
    )
    assert [reading.missing for reading in profile.readings] == [
        ("lines that say who speaks, such as `Ana: Hello`",)
    ]


def test_a_bad_row_is_one_problem_however_often_the_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "talks.csv"
    path.write_text("d,who,text,tags\n1,a,hello you,x;y\n1,b,bad row,x,y,z\n1,b,fine then,x\n")
    source = Source(
        path,
        mapping={
            "dialogue": "d",
            "speaker": "who",
            "text": "text",
            "label:tags": "tags",
            "separator:tags": ";",
        },
    )
    source.faults = Faults()
    list(read_mapped(source))
    assert [str(problem) for problem in source.faults.problems] == ["line 3: has 6 columns, the first line 4"]


def test_what_stands_beside_events_without_a_text_is_no_label_of_turns(tmp_path: Path) -> None:
    def message(agent: int, text: str | None, action: str = "message") -> dict[str, object]:
        return {"action": action, "agent": agent, "data": text}

    events = [message(0, "Hi, is it still there?"), message(1, "Yes it is."), message(1, None, "offer")]
    others = [message(1, "How old is the car?"), message(0, "Ten years.")]
    records = ({"uuid": "a", "events": events}, {"uuid": "b", "events": others})
    _, dialogues, _ = read(tmp_path, jsonl(*records), ".jsonl")
    assert [(len(dialogue.turns), dialogue.labels) for dialogue in dialogues] == [(2, ()), (2, ())]
