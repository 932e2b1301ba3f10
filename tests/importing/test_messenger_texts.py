"""Tests of chats that messengers export as text: speakers, times, long messages, lines of the system."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from annotation.formats import messenger_texts
from tests.importing.test_chat_forms import dialogues

FORMS = Path(__file__).parent / "forms"


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        (
            "kakaotalk.txt",
            [
                ("Ana", "hello", "Monday, January 1, 2024 10:00 AM"),
                ("Ben", "hi", "Monday, January 1, 2024 10:01 AM"),
            ],
        ),
        (
            "kakaotalk--korean.txt",
            [
                ("아나", "안녕\n둘째 줄", "2024년 1월 1일 월요일 오후 3:11"),
                ("벤", "네", "2024년 1월 1일 월요일 오후 3:12"),
            ],
        ),
        (
            "kakaotalk--mobile.txt",
            [("아나", "안녕", "2024년 1월 1일 오후 3:11"), ("벤", "네", "2024년 1월 1일 오후 3:12")],
        ),
        ("line.txt", [("Ana", "hello", "2024/01/01 10:00"), ("Ben", "hi there", "2024/01/01 10:01")]),
        (
            "line--japanese.txt",
            [("Ana", "こんにちは\n元気？", "2024/01/01 10:00"), ("Ben", "はい", "2024/01/01 10:01")],
        ),
        (
            "imessage.txt",
            [("Me", "hello", "Jan 01, 2024 10:00:00 AM"), ("+15551234", "hi", "Jan 01, 2024 10:00:05 AM")],
        ),
        (
            "transcript--wechat.txt",
            [("Ana", "hello", "2024-01-01 10:00:00"), ("Ben", "hi", "2024-01-01 10:00:05")],
        ),
        (
            "subtitles--sbv.sbv",
            [
                ("ALICE", "Hi, my name is Alice Miller", "0:00:00.599"),
                ("JOHN", "And I am John Brown", "0:00:04.160"),
            ],
        ),
    ],
)
def test_messages_have_their_speaker_and_the_day_above_them(
    name: str, turns: list[tuple[str, str, str]]
) -> None:
    ((dialogue,), _) = dialogues(FORMS / name)
    assert [(turn.speaker, turn.text, turn.time) for turn in dialogue.turns][: len(turns)] == turns


@pytest.mark.parametrize("name", ["kakaotalk--korean.txt", "line--japanese.txt"])
def test_lines_that_nobody_says_are_counted(name: str) -> None:
    assert "Left out: lines of the system (1)." in dialogues(FORMS / name)[1]


def test_a_line_below_a_message_stays_even_if_somebody_left(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text((FORMS / "kakaotalk.txt").read_text().replace("hello\n", "hello\nMy sister left early\n"))
    ((dialogue,), _) = dialogues(path)
    assert dialogue.turns[0].text == "hello\nMy sister left early"


@pytest.mark.parametrize("piece", ["[", "- ", "1:00 ", "a님이 ", "2024년 1월 1일 ", "\t", "Jan 01, 2024 "])
def test_no_line_takes_long(piece: str) -> None:
    line = piece * (60_000 // len(piece))
    start = time.process_time()
    for lines in (messenger_texts.KAKAO, messenger_texts.KAKAO_MOBILE, messenger_texts.LINE):
        for pattern in (lines.day, lines.message, lines.event):
            pattern.fullmatch(line)
            pattern.match(line)
    messenger_texts.IMESSAGE_TIME.fullmatch(line)
    assert time.process_time() - start < 1
