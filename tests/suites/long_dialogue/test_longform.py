"""Long dialogues in plain text: dated session headings, one line per turn, directions, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, Faults, ImportProblem, Source
from annotation.formats.corpus_format import Head, guess, read_start, settings_of
from annotation.records import Dialogue
from annotation.script_records import Date
from suites.long_dialogue.scripts.sessions import Sessions

SMALL = """\
(The first season)

== s01 | 1994-09-22 | kitchen | episode: The boots | season: 1 | present: Cara, Dan ==
Ana: I finally bought the boots.
Ben: (laughs) Again?
[Somebody rings.]
Ana (at the door): At 10:30: who is it?

== s02 | 1994-10 | present: Ana ==
Ben: (sighs)
All: Surprise!
Ana and Ben: We knew.
=== s03 | 1995 ===
Ben: Bye.
"""


def written(folder: Path, text: str | bytes, name: str = "friends.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path: Path, **settings: Any) -> tuple[Dialogue, list[str]]:
    source = Source(path, settings=settings_of(settings, "longform", FORMATS["longform"].settings))
    (entry,) = FORMATS["longform"].read(source)
    assert isinstance(entry.record, Dialogue)
    return entry.record, source.notes


def problems(path: Path, **settings: Any) -> list[tuple[int | None, str]]:
    """Return (line, reason) of everything that is wrong with a file."""
    faults = Faults()
    source = Source(path, settings=settings, faults=faults)
    try:
        list(FORMATS["longform"].read(source))
    except ImportProblem as problem:
        faults.add(problem)
    return [(problem.line, problem.reason) for problem in faults.problems]


def test_headings_make_sessions_and_lines_make_turns(tmp_path: Path) -> None:
    record, notes = read(written(tmp_path, SMALL), main="ana")
    assert record.script is not None
    assert (record.id, record.script.main) == ("friends", "Ana")
    assert [(one.id, str(one.date), one.place) for one in record.script.sessions] == [
        ("s01", "1994-09-22", "kitchen"),
        ("s02", "1994-10", ""),
        ("s03", "1995", ""),
    ]
    first, second, _ = record.script.sessions
    assert (first.episode, first.season, first.present) == ("The boots", "1", ("Cara", "Dan"))
    assert [(turn.session, turn.speaker, turn.text) for turn in record.turns] == [
        ("s01", "Ana", "I finally bought the boots."),
        ("s01", "Ben", "Again?"),
        ("s01", "Ana", "At 10:30: who is it?"),
        ("s02", "All", "Surprise!"),
        ("s02", "Ana and Ben", "We knew."),
        ("s03", "Ben", "Bye."),
    ]
    assert second.present == ("Ana", "Ben")
    assert record.script.collective == ("all", "All", "Ana and Ben")
    assert {turn.time for turn in record.turns} == {""}
    assert [person.id for person in record.participants] == [
        "Ana",
        "Ben",
        "All",
        "Ana and Ben",
        "Cara",
        "Dan",
    ]
    assert notes == [
        "directions in brackets that are dropped: 4",
        "lines without words, left out; who they name is present: 1",
    ]
    assert Sessions(record).heard == {1, 2}


def test_directions_are_kept_in_their_places_where_the_import_says_so(tmp_path: Path) -> None:
    record, notes = read(written(tmp_path, SMALL), main="Ana", keep_directions="yes")
    assert [turn.text for turn in record.turns[:4]] == [
        "I finally bought the boots.",
        "(laughs) Again? [Somebody rings.]",
        "(at the door) At 10:30: who is it?",
        "(sighs)",
    ]
    assert notes == []
    opening, _ = read(written(tmp_path, "== a | 1994 ==\n(Rain.)\nAna: Hm."), keep_directions="yes")
    assert opening.turns[0].text == "(Rain.) Hm."


def test_directions_within_directions_are_one(tmp_path: Path) -> None:
    record, notes = read(written(tmp_path, "== a | 1994 ==\nAna: So (he [the cat] runs (fast)), what now?"))
    assert record.turns[0].text == "So, what now?"
    assert "directions in brackets that are dropped: 1" in notes


def test_who_says_most_is_the_main_character_where_none_is_named(tmp_path: Path) -> None:
    record, notes = read(written(tmp_path, SMALL))
    assert record.script is not None
    assert record.script.main == "Ana"
    assert notes[0] == (
        "the main character is Ana, who has the most turns (2): the setting main names another"
    )


def test_a_main_character_who_is_not_there_is_refused_with_those_who_are(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    assert problems(path, main="Zoe") == [
        (None, "'Zoe' neither speaks nor is present (Ana, Ben, Cara, Dan do)")
    ]
    assert read(path, main="Dan")[0].script.main == "Dan"  # type: ignore[union-attr]
    assert "neither speaks nor is present" in problems(path, main="All")[0][1]


def test_chinese_names_full_width_signs_byte_order_mark_and_crlf(tmp_path: Path) -> None:
    text = "== 一 ｜ 1994-09-22 ｜ 厨房 | present：小红、老王 ==\r\n"
    text += "小明：（笑）你好，今天10:30见。\r\n大家：好！\r\n"
    record, _ = read(written(tmp_path, b"\xef\xbb\xbf" + text.encode()), main="小明")
    assert record.script is not None
    (session,) = record.script.sessions
    assert (session.id, session.place, session.present) == ("一", "厨房", ("小红", "老王"))
    assert [(turn.speaker, turn.text) for turn in record.turns] == [
        ("小明", "你好，今天10:30见。"),
        ("大家", "好！"),
    ]
    assert record.script.collective == ("all", "大家")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("== a | 1994 ==\nAna: Hi\nMeet me at 10:30\n", 3, "is neither a heading"),
        ("== a | 1994 ==\nand so on\n", 2, "is neither a heading"),
        ("== a | 1994 ==\n: Hi\n", 2, "a name has 1 to 60 characters"),
        (f"== a | 1994 ==\n{'x' * 61}: Hi\n", 2, "a name has 1 to 60 characters"),
        ("Ana: Hi\n== a | 1994 ==\nAna: Hi\n", 1, "stands before the first heading of a session"),
        ("== a ==\nAna: Hi\n", 1, "the session 'a' has no date"),
        ("== a | | kitchen ==\nAna: Hi\n", 1, "the session 'a' has no date"),
        ("== a | kitchen ==\nAna: Hi\n", 1, "the session 'a' has no date: 'kitchen' is not a date"),
        ("== a | 1994-02-30 ==\nAna: Hi\n", 1, "the session 'a' has no date: 1994-02-30 is no date"),
        ("== | 1994 ==\nAna: Hi\n", 1, "the id of a session has 1 to"),
        ("== a | 1994\nAna: Hi\n", 1, "the heading does not end with =="),
        ("== a | 1994 | b | c ==\nAna: Hi\n", 1, "the session 'a' has place twice"),
        (
            "== a | 1994 ==\nAna: Hi\n== a | 1995 ==\nAna: Hi",
            3,
            "the session 'a' is there twice, first on line 1",
        ),
        ("== a | 1994 ==\nAna: Hi\0\n", 2, "holds a NUL character"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    (problem,) = [one for one in problems(written(tmp_path, text)) if one[0] == line]
    assert problem[1].startswith(reason) or reason in problem[1]


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    told = problems(written(tmp_path, "== a | 1994 ==\nAna: Hi\nwhat\n== b ==\nAna: Hi\n== a | 1995 ==\n"))
    assert [line for line, _ in told] == [3, 4, 6]


def test_a_file_without_sessions_or_without_turns_is_refused(tmp_path: Path) -> None:
    assert problems(written(tmp_path, "(nothing)\n")) == [(None, "has no sessions")]
    assert problems(written(tmp_path, "== a | 1994 ==\n(nothing)\n")) == [(None, "has no turns")]
    assert problems(written(tmp_path, b"== a | 1994 ==\nAna: \xff\n"))[0] == (2, "is not UTF-8 at byte 5")


def test_dates_that_run_backwards_are_a_note_that_names_both_lines(tmp_path: Path) -> None:
    text = "== a | 1994-09-22 ==\nAna: x\n== b | 1994-09-21 ==\nAna: y\n== c | 1994 ==\nAna: z\n"
    record, notes = read(written(tmp_path, text), main="Ana")
    assert notes == [
        "dates run backwards: b on line 3 is of 1994-09-21, but a on line 1 before it of 1994-09-22"
    ]
    assert record.script is not None
    assert [one.date for one in record.script.sessions] == [Date(1994, 9, 22), Date(1994, 9, 21), Date(1994)]


def test_a_session_without_a_turn_is_noted(tmp_path: Path) -> None:
    text = "== a | 1994 ==\nAna: x\nAna: y\n== b | 1995 ==\n(rain)\n"
    _, notes = read(written(tmp_path, text), main="Ana")
    assert notes == [
        "directions in brackets that are dropped: 1",
        "sessions without a turn: 1, b (line 4)",
    ]


def test_the_format_is_found_from_how_a_file_begins(tmp_path: Path) -> None:
    assert guess(FORMATS, read_start(written(tmp_path, SMALL))) == "longform"
    assert guess(FORMATS, Head(b"\xef\xbb\xbf== a | 1994 ==\nAna: Hi, you, there")) == "longform"
    assert guess(FORMATS, Head(b"== Title ==\n")) == "table"


def test_the_dialogue_is_called_as_the_file_or_as_the_import_says(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    assert read(path, dialogue="d 1")[0].id == "d 1"
    source = Source(path, name="Season one.txt")
    assert [entry.record.id for entry in FORMATS["longform"].read(source)] == ["Season one"]  # type: ignore[union-attr]


def test_25_000_turns_are_read(tmp_path: Path) -> None:
    lines = []
    for session in range(788):
        lines.append(f"== s{session} | {1990 + session // 80}-01 | kitchen ==")
        lines += [f"Person {turn % 6}: (laughs) I said {turn} times that it is so." for turn in range(32)]
    record, _ = read(written(tmp_path, "\n".join(lines)))
    assert len(record.turns) == 788 * 32
