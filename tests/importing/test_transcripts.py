"""Transcripts as text become dialogues: speakers, texts of several lines, times, lines that nobody says."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.formats import FORMATS, ImportProblem
from annotation.formats.corpus_format import Head, guess, read_start
from annotation.records import Dialogue
from tests.importing.helpers import imported, read_file

FORMS = Path(__file__).parent / "forms"


def written(folder: Path, text: str, name: str = "chat.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def turns(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in dialogue.turns]


def times(dialogue: Dialogue) -> list[str]:
    return [turn.time for turn in dialogue.turns]


def test_a_chat_of_whatsapp_keeps_messages_and_placeholders_and_counts_what_nobody_says() -> None:
    (dialogue,), notes = read_file(FORMS / "whatsapp.txt")
    assert dialogue.id == "whatsapp"
    assert turns(dialogue) == [
        ("Ana", "Shall we start?"),
        ("Ben", "Yes\nsecond line: of Ben"),
        ("Ben", "<Media omitted>"),
        ("+49 170 1234567", "Late, sorry"),
    ]
    assert times(dialogue)[::3] == ["2024-01-12T10:01", "2024-01-13T00:05"]
    assert notes == ["Left out: lines of the system (3)."]


def test_a_chat_of_an_american_telephone_has_months_first_and_twelve_hours() -> None:
    (dialogue,), notes = read_file(FORMS / "whatsapp--ios.txt")
    assert turns(dialogue) == [
        ("Ana", "Shall we start?"),
        ("Ben", "Yes"),
        ("Ana", "image omitted"),
        ("Ana", "Look"),
    ]
    assert times(dialogue) == [
        "2024-01-12T10:01:30",
        "2024-01-12T22:02:00",
        "2024-01-13T00:03:00",
        "2024-01-13T12:04:00",
    ]
    assert notes == ["Left out: lines of the system (1)."]


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("12.01.24, 10:01 - Ana: Hi", "2024-01-12T10:01"),
        ("12.01.24 г., 10:01 ч. - Ana: Hi", "2024-01-12T10:01"),
        ("12-01-2024 10:01 - Ana: Hi", "2024-01-12T10:01"),
        ("[12-01-2024 10:01:02] Ana: Hi", "2024-01-12T10:01:02"),
        ("12/01/2024 à 22:01 - Ana: Hi", "2024-01-12T22:01"),
        ("12/01/24, 10:01 p. m. - Ana: Hi", "2024-01-12T22:01"),
        ("1/12/24, 10:01\u202fPM - Ana: Hi", "2024-01-12T22:01"),
        ("2024-01-12, 10:01 - Ana: Hi", "2024-01-12T10:01"),
        ("2024/1/12 下午10:01 - Ana: Hi", "2024-01-12T22:01"),
        ("2024. 1. 12. 오후 10:01, Ana : Hi", "2024-01-12T22:01"),
        ("[2024/1/12 上午10:01:02] Ana: Hi", "2024-01-12T10:01:02"),
        ("12/01/14 22:01:02: Ana: Hi", "2014-01-12T22:01:02"),
        ("\u200f١٢\u200f/١\u200f/٢٠٢٤، ١٠:٠١ م - Ana: Hi", "2024-01-12T22:01"),
    ],
)
def test_dates_of_whatsapp_are_written_in_many_ways(tmp_path: Path, line: str, time: str) -> None:
    (dialogue,), _ = read_file(written(tmp_path, f"{line}\n"))
    assert (turns(dialogue), times(dialogue)) == ([("Ana", "Hi")], [time])


def test_the_order_of_day_and_month_is_the_one_in_which_time_goes_on(tmp_path: Path) -> None:
    (dialogue,), notes = read_file(
        written(tmp_path, "1/2/24, 10:01 - Ana: Hi\n2/1/24, 10:01 - Ben: Hi\n2/2/24, 9:00 - Ana: Bye\n")
    )
    assert times(dialogue) == ["2024-01-02T10:01", "2024-02-01T10:01", "2024-02-02T09:00"]
    assert notes == ["Dates like 1/2/24 are read as month/day/year."]


def test_dates_in_no_order_refuse_the_chat(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="no order of day, month and year"):
        read_file(written(tmp_path, "13/13/24, 10:01 - Ana: Hi\n"))


def test_cues_of_one_speaker_are_one_turn_with_its_times() -> None:
    (dialogue,), notes = read_file(FORMS / "subtitles.vtt")
    assert turns(dialogue) == [("Ana", "Shall we start & plan?"), ("Ben", "Yes."), ("Ana", "Good.")]
    assert times(dialogue) == ["00:00:01.000", "00:00:05.500", "00:00:05.500"]
    assert [turn.extra["end"] for turn in dialogue.turns] == ["00:00:05.000", "00:00:06.000", "00:00:06.000"]
    assert notes == [
        "Cues of one speaker in a row are one turn: 4 cues.",
        "Speakers, with their turns: Ana (2), Ben (1).",
    ]


def test_zoom_names_speakers_in_the_text_and_words_before_a_colon_are_no_speaker() -> None:
    (dialogue,), notes = read_file(FORMS / "subtitles--zoom.vtt")
    assert turns(dialogue) == [
        ("Ana Smith", "Shall we start? Two things: time and place."),
        ("Ben", "Yes. Go on."),
    ]
    assert "Cues without a speaker are read as said by the speaker before: 1." in notes


def test_a_cue_of_srt_may_have_two_speakers() -> None:
    (dialogue,), _ = read_file(FORMS / "subtitles--srt.srt")
    assert turns(dialogue) == [("ANA", "Shall we start?"), ("BEN", "Yes."), ("ANA", "Good.")]


def test_webex_names_speakers_above_the_cue(tmp_path: Path) -> None:
    cues = 'WEBVTT\n\n1 "Ana Smith" (42)\n00:01.0 --> 00:02.0\nHi\n\n2 "Ben" (43)\n00:03.0 --> 00:04.0\nYes\n'
    (dialogue,), _ = read_file(written(tmp_path, cues))
    assert turns(dialogue) == [("Ana Smith", "Hi"), ("Ben", "Yes")]


def test_subtitles_without_speakers_are_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem) as caught:
        read_file(written(tmp_path, "WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n"))
    assert (
        str(caught.value) == "no cue says who speaks: expected cues like `<v Ana>Hello</v>` or `Ana: Hello`"
    )


def test_a_direct_message_in_zoom_is_heard_by_two() -> None:
    (dialogue,), _ = read_file(FORMS / "zoom-chat.txt")
    assert turns(dialogue) == [
        ("Ana Smith", "Shall we start?"),
        ("Ben", "Yes\nin a minute"),
        ("Ana Smith", "Good: now"),
    ]
    assert [turn.audience for turn in dialogue.turns] == [None, ("Ben", "Ana Smith"), None]
    (dialogue,), _ = read_file(FORMS / "zoom-chat--one-line.txt")
    assert turns(dialogue) == [("Ana", "Shall we start?"), ("Ben", "Yes")]


def test_a_log_of_irc_has_messages_and_actions() -> None:
    (dialogue,), notes = read_file(FORMS / "irc.txt")
    assert turns(dialogue) == [
        ("ana", "shall we start?"),
        ("ben", "yes"),
        ("ana", "* waves"),
        ("cid", "<- late"),
    ]
    assert times(dialogue) == ["10:01", "10:02", "10:03", "10:04"]
    assert notes == ["Left out: lines of the system (2)."]


def test_lines_above_a_transcript_are_kept_with_it() -> None:
    (dialogue,), notes = read_file(FORMS / "transcript.txt")
    assert dialogue.metadata == {"heading": "Title: Weekly meeting"}
    assert turns(dialogue) == [
        ("Ana", "Shall we start?"),
        ("Ben", "Two things: time\nand place."),
        ("Ana", "Good."),
    ]
    assert times(dialogue) == ["00:00:01", "00:00:04", "00:00:09"]
    assert notes == ["Speakers, with their turns: Ana (2), Ben (1)."]


def test_words_before_a_colon_in_the_midst_of_a_message_are_no_speakers_and_named(tmp_path: Path) -> None:
    text = "user: hi\nassistant: here:\nNote: it is short.\nuser: thanks\nassistant: bye\n"
    (dialogue,), notes = read_file(written(tmp_path, text))
    assert turns(dialogue)[1] == ("assistant", "here:\nNote: it is short.")
    assert notes[-1] == "Before a colon, but no speakers: Note."


def test_otter_writes_names_and_times_above_the_texts() -> None:
    (dialogue,), notes = read_file(FORMS / "transcript--otter.txt")
    assert turns(dialogue) == [("Ana Smith", "Shall we start?"), ("Ben", "Yes."), ("Ana Smith", "Good.")]
    assert times(dialogue) == ["0:03", "0:10", "1:02:03"]
    assert notes[0] == "Left out: lines of the system (1)."


@pytest.mark.parametrize(
    "text",
    [
        "[00:01.000 --> 00:02.000] [SPEAKER_00]: Hi\n[00:02.000 --> 00:03.000] [SPEAKER_01]: Yes\n",
        "SPEAKER_00 (00:01): Hi\nSPEAKER_01 (00:02): Yes\n",
        "00:01 SPEAKER_00: Hi\n00:02 SPEAKER_01: Yes\n",
        "**SPEAKER_00:** Hi\n\n**SPEAKER_01:** Yes\n",
        "SPEAKER_00 [00:01]\nHi\n\nSPEAKER_01 [00:02]\nYes\n",
        "[SPEAKER_00] 10:01:02\nHi\n\n[SPEAKER_01] 10:01:03\nYes\n",
        "00:00:00\n\nSPEAKER_00: Hi\nSPEAKER_01: Yes\n00:05:00\n",
        "SPEAKER_00, [12.01.2024 10:01]\nHi\n\nSPEAKER_01, [12.01.2024 10:02]\nYes\n",
    ],
)
def test_speakers_stand_before_or_beside_times(tmp_path: Path, text: str) -> None:
    (dialogue,), _ = read_file(written(tmp_path, text))
    assert turns(dialogue) == [("SPEAKER_00", "Hi"), ("SPEAKER_01", "Yes")]


WAYS: dict[str, tuple[str, str]] = {
    "arrows": (">> Ana: Are we one?\n\n>> Beth: We are.\n\n>> Ana: Good.\n", "Ana Beth Ana"),
    "wide colons": ("医生：你好\n病人：我头疼。\n医生：有没有发烧？\n", "医生 病人 医生"),
    "numbered lines": (
        "1. Doctor: How are you?\n2. Client: Not well.\n3. Doctor: Why?\n",
        "Doctor Client Doctor",
    ),
    "prompts": ("user> hello\nbot> Hi, what is it?\nuser> the time\nbot> Ten.\n", "user bot user bot"),
    "numbered speakers": ("T1: Hello, how are you?\nC1: Fine.\nT2: And now?\nC2: Well.\n", "T C T C"),
    "names above texts": (
        "ANA\nAll right, Ben.\n\nBEN\nWhat?\n\nANA\nNothing,\nreally.\n\nBEN\nOh.\n",
        "ANA BEN ANA BEN",
    ),
    "text of Discord": (
        "Ana — Today at 10:01 AM\nhi\nhere?\nBen — Today at 10:02 AM\nyes\nAna — 01/02/2024 10:03 AM\nok\n",
        "Ana Ben Ana",
    ),
}


@pytest.mark.parametrize(("text", "speakers"), WAYS.values(), ids=WAYS)
def test_speakers_are_written_in_many_ways(tmp_path: Path, text: str, speakers: str) -> None:
    (dialogue,), _ = read_file(written(tmp_path, text))
    assert [turn.speaker for turn in dialogue.turns] == speakers.split()
    assert all(turn.text and ":" not in turn.text for turn in dialogue.turns)


def test_headings_that_do_not_recur_are_no_speakers(tmp_path: Path) -> None:
    text = "Aim\nWe ask why.\n\nMethod\nWe asked.\n\nResult\nThey said so.\n\nEnd\nThank you.\n"
    assert guess(FORMATS, read_start(written(tmp_path, text))) == "table"


def test_lines_of_dashes_divide_dialogues() -> None:
    dialogues, notes = read_file(FORMS / "transcript--several.txt")
    assert {dialogue.id: turns(dialogue) for dialogue in dialogues} == {
        "transcript--several-1": [("User", "Hi"), ("Bot", "Hello")],
        "transcript--several-2": [("User", "Bye, then"), ("Bot", "See you\nsoon")],
    }
    assert notes[0] == "Lines like --- or ### divide dialogues."


def test_a_heading_above_a_line_of_dashes_stays_with_the_transcript(tmp_path: Path) -> None:
    text = "TRANSCRIPTION: a.m4a\nDate: 1/24/2025, 10:30\n=====\n\n[0:00] Ana: Hi.\n[0:15] Ben: Yes.\n"
    (dialogue,), _ = read_file(written(tmp_path, text))
    assert dialogue.metadata == {"heading": "TRANSCRIPTION: a.m4a\nDate: 1/24/2025, 10:30"}
    assert turns(dialogue) == [("Ana", "Hi."), ("Ben", "Yes.")]


def test_blank_lines_divide_dialogues_only_where_one_speaker_begins_all(tmp_path: Path) -> None:
    dialogues, notes = read_file(written(tmp_path, "User: Hi\nBot: Hello\n\nUser: Bye\nBot: See you\n"))
    assert [len(dialogue.turns) for dialogue in dialogues] == [2, 2]
    assert notes[0] == "Blank lines divide dialogues, each begun by the same speaker."
    dialogues, notes = read_file(written(tmp_path, "User: Hi\nBot: Hello\n\nBot: Well?\nUser: Bye\n"))
    assert [len(dialogue.turns) for dialogue in dialogues] == [4]
    assert notes[0] == "Blank lines do not divide dialogues: put --- between them if they should."
    dialogues, _ = read_file(written(tmp_path, "User: Hi\n\nBot: Hello\n\nUser: Bye\n"))
    assert [len(dialogue.turns) for dialogue in dialogues] == [3]


@pytest.mark.parametrize(
    "text",
    [
        "id,speaker,text\n1,Ana,hello: you\n2,Ben,yes\n",
        "text;note\nAna: hello;x\nBen: yes;y\n",
        "# Notes\n\nAna: hello\nBen: yes\n",
        "- name: Ana\n- name: Ben\n",
        "name: Ana\nage: 4\nplace: Rome\n",
        "From: Ana\nTo: Ben\nSubject: Rome\n\nHello\n\nFrom: Ben\nTo: Ana\nSubject: Re: Rome\n",
        "Dear Ana,\nthis is a letter: it has no speakers.\nYours, Ben\n",
        '{"a": 1}\n',
        "2024-01-12 10:01:02 INFO: a\n2024-01-12 10:01:03 ERROR: b\n2024-01-12 10:01:04 INFO: c\n",
    ],
)
def test_tables_markdown_and_settings_are_no_transcripts(text: str) -> None:
    forms = ("whatsapp", "subtitles", "zoom-chat", "irc", "transcript")
    assert not [key for key in forms if FORMATS[key].looks_like(Head(text.encode()))]


@pytest.mark.parametrize("key", ["whatsapp", "subtitles", "zoom-chat", "irc", "transcript"])
def test_a_text_where_nobody_speaks_is_refused_with_what_was_expected(tmp_path: Path, key: str) -> None:
    with pytest.raises(ImportProblem, match=r"expected (lines|cues) like"):
        read_file(written(tmp_path, "Once upon a time\nthere was a king.\n"), key)


@pytest.mark.django_db
def test_a_transcript_is_imported_and_its_id_may_be_declared(tmp_path: Path) -> None:
    result = imported(FORMS / "whatsapp.txt", format="whatsapp", settings={"dialogue": "outing"})
    assert (result.dialogues, result.turns) == (1, 4)
