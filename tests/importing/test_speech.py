"""Tests of transcripts of speech recognition and of linguists' programs: speakers, joined segments, times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.formats import ImportProblem
from tests.importing.helpers import written
from tests.importing.test_chat_forms import dialogues, refused

FORMS = Path(__file__).parent / "forms"
SPOKEN = {
    "speech.json": ("SPEAKER_00", "SPEAKER_01"),
    "speech--amazon.json": ("spk_0", "spk_1"),
    "speech--calls.json": ("AGENT", "CUSTOMER"),
    "speech--azure.json": ("speaker 1", "speaker 2"),
    "speech--deepgram.json": ("speaker 0", "speaker 1"),
    "speech--assemblyai.json": ("A", "B"),
}


@pytest.mark.parametrize("name", SPOKEN)
def test_recordings_of_every_service_become_the_same_turns(name: str) -> None:
    ((dialogue,), _) = dialogues(FORMS / name)
    assert tuple(turn.speaker for turn in dialogue.turns) == SPOKEN[name]
    assert [turn.text for turn in dialogue.turns] == ["Hello there.", "Hi."]
    assert [turn.time for turn in dialogue.turns][1] in ("1.0", "PT1S")


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        ("speech--rev.json", [("Ana", "Hello, Ben."), ("speaker 1", "Hi.")]),
        ("speech--gong.json", [("s1", "Hello. Ready?"), ("s2", "Yes.")]),
        ("speech--google.json", [("speaker 1", "hello there"), ("speaker 2", "hi")]),
        ("speech--fireflies.json", [("Ana", "Hello"), ("Ben", "Hi")]),
        ("elan.eaf", [("Ana", "hello"), ("Ben", "hi Ana")]),
        ("praat.TextGrid", [("Ana", 'hello "you"'), ("Ben", "hi")]),
        (
            "chat.cha",
            [
                ("CHI", "more cookie ."),
                ("MOT", "you want another cookie , do you ?"),
                ("CHI", "xxx [= unclear] &-uh cookie@f ."),
            ],
        ),
    ],
)
def test_segments_words_and_tiers_become_turns(name: str, turns: list[tuple[str, str]]) -> None:
    ((dialogue,), _) = dialogues(FORMS / name)
    assert [(turn.speaker, turn.text) for turn in dialogue.turns] == turns


def test_segments_of_one_speaker_in_a_row_are_one_turn(tmp_path: Path) -> None:
    said = [("A", "So"), ("A", "then"), ("B", "Yes"), (None, "Hm")]
    segments = [
        {"speaker": who, "text": text, "start": n, "end": n + 1} for n, (who, text) in enumerate(said)
    ]
    ((dialogue,), _) = dialogues(written(tmp_path, {"segments": segments}, name="call.json"))
    assert [(turn.speaker, turn.text) for turn in dialogue.turns] == [
        ("A", "So then"),
        ("B", "Yes"),
        ("unknown", "Hm"),
    ]
    assert dialogue.id == "call"


@pytest.mark.parametrize(
    "content",
    [
        {"text": " Hi.", "segments": [{"id": 0, "start": 0.0, "end": 1.0, "text": " Hi."}], "language": "en"},
        [{"text": "hello everyone", "start": 0.0, "duration": 1.5}],
        {"results": [{"alternatives": [{"transcript": "hi", "words": [{"word": "hi"}]}]}]},
        {"recognizedPhrases": [{"channel": 0, "nBest": [{"display": "Hi."}]}]},
    ],
)
def test_a_recording_without_speakers_says_what_to_do(tmp_path: Path, content: Any) -> None:
    assert "again with labels of speakers (diarization)" in refused(tmp_path, content)


def test_two_channels_are_two_speakers(tmp_path: Path) -> None:
    phrases = [{"channel": n % 2, "offset": f"PT{n}S", "nBest": [{"display": f"No {n}."}]} for n in range(3)]
    ((dialogue,), _) = dialogues(written(tmp_path, {"recognizedPhrases": phrases}))
    assert [turn.speaker for turn in dialogue.turns] == ["channel 0", "channel 1", "channel 0"]


def test_the_last_result_of_google_repeats_all_words(tmp_path: Path) -> None:
    words = [
        {"word": word, "speakerTag": tag, "startTime": f"{n}s"}
        for n, (word, tag) in enumerate([("a", 1), ("b", 2)])
    ]
    results = [{"alternatives": [{"words": words[:1]}]}, {"alternatives": [{"words": words}]}]
    ((dialogue,), _) = dialogues(written(tmp_path, {"results": results}))
    assert [turn.text for turn in dialogue.turns] == ["a", "b"]


def test_words_of_watson_have_the_speakers_of_their_beginnings(tmp_path: Path) -> None:
    words = [["so", 0.0, 0.4], ["then", 0.5, 0.7], ["yes", 2.3, 2.8]]
    labels = [{"from": start, "to": end, "speaker": int(start > 1)} for _, start, end in words]
    results = [{"alternatives": [{"transcript": "so then yes", "timestamps": words}], "final": True}]
    ((dialogue,), _) = dialogues(written(tmp_path, {"results": results, "speaker_labels": labels}))
    assert [(turn.speaker, turn.text) for turn in dialogue.turns] == [
        ("speaker 0", "so then"),
        ("speaker 1", "yes"),
    ]


def test_an_annotation_of_elan_without_a_time_of_its_own_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.eaf"
    path.write_text((FORMS / "elan.eaf").read_text().replace(' TIME_VALUE="1000"', ""))
    ((dialogue,), _) = dialogues(path)
    assert [(turn.text, turn.time) for turn in dialogue.turns] == [("hello", "0"), ("hi Ana", "0.9")]


SHORT = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n3\n<exists>\n{size}\n'


def test_a_short_textgrid_with_words_and_sounds_has_the_words_of_each_speaker(tmp_path: Path) -> None:
    tier = '"IntervalTier"\n"{name}"\n0\n3\n1\n0\n3\n"{text}"\n'
    tiers = [("Ana - words", "hello"), ("Ana - phones", "h"), ("Ben - words", "hi")]
    path = tmp_path / "a.TextGrid"
    path.write_text(SHORT.format(size=3) + "".join(tier.format(name=name, text=text) for name, text in tiers))
    ((dialogue,), notes) = dialogues(path)
    assert [(turn.speaker, turn.text) for turn in dialogue.turns] == [("Ana", "hello"), ("Ben", "hi")]
    assert notes == ["Left out: tiers of sounds or syllables (1)."]
    path.write_text(SHORT.format(size=1) + tier.format(name="words", text="hello"))
    with pytest.raises(ImportProblem, match="names no speaker"):
        dialogues(path)


@pytest.mark.parametrize("size", ["9" * 400, "-1", "1e308", "3000000000"])
def test_a_textgrid_of_an_impossible_size_is_refused_or_read_at_once(tmp_path: Path, size: str) -> None:
    path = tmp_path / "a.TextGrid"
    path.write_text(SHORT.format(size=1) + f'"IntervalTier"\n"Ana"\n0\n3\n{size}\n0\n3\n"hello"\n')
    with pytest.raises(ImportProblem):
        dialogues(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("<?xml", '<!DOCTYPE a [<!ENTITY b "c">]><?xml'), "defines entities"),
        (("</TIER>", ""), "is not valid XML"),
        (('TIER_ID="Ben"', 'PARTICIPANT="Ana" TIER_ID="Ben"'), "has several tiers of Ana"),
    ],
)
def test_files_of_elan_that_cannot_be_read_are_refused_in_a_line(
    tmp_path: Path, change: tuple[str, str], reason: str
) -> None:
    path = tmp_path / "a.eaf"
    path.write_text((FORMS / "elan.eaf").read_text().replace(*change))
    with pytest.raises(ImportProblem, match=reason):
        dialogues(path)


def test_participants_and_recording_times_of_chat_are_not_lost() -> None:
    ((dialogue,), _) = dialogues(FORMS / "chat.cha")
    assert (dialogue.turns[0].extra, dialogue.turns[0].time) == ({"role": "Eve Target_Child"}, "0")
    assert dialogue.metadata["date"] == "17-OCT-1962"
