"""LongDialQA as JSON: scenes are sessions, their questions become questions and uses; no pickle is opened."""

from __future__ import annotations

import copy
import json
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, Faults, ImportProblem, Source
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Corpus, QuestionSet, Record
from annotation.records import Dialogue
from annotation.script_records import Date
from suites.long_dialogue.editing.import_records import uses_of
from suites.long_dialogue.longdialqa import dates_in, read_date
from tests.importing.helpers import imported

UNKNOWN = "I don't know"
SEPT = "September 22, 1994"


def asked(text: str, answer: str, options: str = "boots,a hat,a dog,tea", **styles: str) -> dict[str, Any]:
    """Return a question of a scene as the file has it."""
    told = [*options.split(","), UNKNOWN]
    return {"questions": {**styles, "default": text}, "options": told, "answer": answer}


WHAT, DATED = "What did Ana buy?", "What did Ana buy on September 22, 1994?"
SMALL: dict[str, Any] = {
    "S01E01": {
        "1": {
            "script": "Teleplay: Cara Lane\nAna: I bought boots.\nAgain.\n\nBen: Again?\nAll: Ha!",
            "date": SEPT,
            "easy_q": {
                "before_event_unans": {"7": asked(WHAT, UNKNOWN, Ben="By the way, what did Ana buy?")}
            },
            "hard_q": {"cur": [asked("Who is Ana's boss?", "Ben", "Cy,Ben,Di,Eve")], "past": []},
        },
        "2": {
            "script": "Ana: Hm.\nBen: (laughs) Yes.\nAna: So.",
            "date": "September 23, 1994",
            "easy_q": {
                "ans_wo_time": {
                    "7": asked(WHAT, "Boots", "tea,a dog,a hat,boots", Cara="Now, what did Ana buy?")
                },
                "ans_w_time": {"7": asked(DATED, "boots")},
            },
        },
    },
    "S02E01": {
        "1": {
            "script": "Ana: Bye.",
            "date": "May 1996",
            "easy_q": {"dont_know_unans": {}},
            "hard_q": {
                "past": [asked("Who was Ana's boss on September 22nd, 1994?", "Ben", "Cy,Ben,Di,Eve")],
                "past_cur": [asked("Who is now the boss of Ana's boss?", "Di", "Cy,Ben,Di,Eve")],
                "fu": [asked("Who is Ben's wife?", UNKNOWN, "Cy,Ana,Di,Eve")],
            },
        }
    },
}


def written(folder: Path, content: Any, name: str = "series.json") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def read(path: Path, name: str = "", **settings: Any) -> tuple[Dialogue, list[str]]:
    source = Source(path, settings=settings, name=name)
    (entry,) = FORMATS["longdialqa"].read(source)
    assert isinstance(entry.record, Dialogue)
    return entry.record, source.notes


def refused(path: Path, format: str = "longdialqa", **settings: Any) -> ImportProblem:
    with pytest.raises(ImportProblem) as caught:
        list(FORMATS[format].read(Source(path, settings=settings)))
    return caught.value


def test_scenes_are_sessions_with_their_dates_in_the_order_of_the_file(tmp_path: Path) -> None:
    record, notes = read(written(tmp_path, SMALL), main="ana")
    assert record.script is not None
    assert (record.id, record.language, record.script.main) == ("series", "en", "Ana")
    assert [
        (one.id, str(one.date), one.episode, one.scene, one.season) for one in record.script.sessions
    ] == [
        ("s001", "1994-09-22", "S01E01", "1", "1"),
        ("s002", "1994-09-23", "S01E01", "2", "1"),
        ("s003", "1996-05", "S02E01", "1", "2"),
    ]
    assert [(turn.session, turn.speaker, turn.text) for turn in record.turns][:3] == [
        ("s001", "Ana", "I bought boots.\nAgain."),
        ("s001", "Ben", "Again?"),
        ("s001", "All", "Ha!"),
    ]
    assert record.script.collective == ("all", "All")
    assert notes == [
        "lines that name who wrote an episode, left out: 1",
        "7 uses were checked as far as the file allows, and its keys stand: of 6 of 6 questions it says "
        "neither the evidence nor the facts",
    ]
    assert guess(FORMATS, read_start(written(tmp_path, SMALL))) == "longdialqa"


def test_a_question_is_one_wherever_it_is_asked_and_each_asking_is_a_use(tmp_path: Path) -> None:
    record, _ = read(written(tmp_path, SMALL), main="Ana")
    what, dated = (one for one in record.questions if one.source == "quiz")
    assert (what.id, what.hops, what.choices, what.answer) == (
        "q1",
        0,
        ("boots", "a hat", "a dog", "tea"),
        "boots",
    )
    assert what.styles == {
        "Ben": "By the way, what did Ana buy?",
        "default": WHAT,
        "Cara": "Now, what did Ana buy?",
    }
    assert (dated.dated, dated.base, what.base) == (True, "q1", "")
    (found,) = record.question_sets
    assert (found.name, found.imported) == ("LongDialQA", True)
    uses = {(use.question, use.session): (use.answerable, use.key, use.type, use.order) for use in found.uses}
    assert uses["q1", "s001"] == (False, "E", "before_event_unans", "0123")
    assert uses["q1", "s002"] == (True, "D", "ans_wo_time", "3210")
    assert uses["q2", "s002"] == (True, "A", "ans_w_time", "0123")


def test_questions_about_facts_have_their_hops_and_forms_from_their_type(tmp_path: Path) -> None:
    record, _ = read(written(tmp_path, SMALL), main="Ana")
    types = {use.question: use.type for use in record.question_sets[0].uses}
    told = [
        (one.id, one.hops, one.forms, types[one.id], one.answer)
        for one in record.questions
        if one.source == "tkg"
    ]
    assert told == [
        ("k1", 1, ("present",), "current", "Ben"),
        ("k2", 1, ("past",), "past", "Ben"),
        ("k3", 2, ("past", "present"), "past_current", "Di"),
        ("k4", 1, ("present",), "future", ""),
    ]


def test_several_files_are_one_dialogue(tmp_path: Path) -> None:
    folder = tmp_path / "office"
    folder.mkdir()
    for name, episode in zip(("a.json", "b.json"), SMALL, strict=True):
        written(folder, {episode: SMALL[episode]}, name)
    record, _ = read(folder, main="Ana")
    assert (record.id, len(record.turns)) == ("office", 7)
    written(folder, {"S01E01": SMALL["S02E01"]}, "c.json")
    problem = refused(folder, main="Ana")
    assert (problem.file, problem.field, problem.reason) == ("c.json", "S01E01", "is in a.json already")


def test_the_published_files_have_their_main_characters(tmp_path: Path) -> None:
    text = json.dumps(SMALL).replace("Ben:", "Ross:")
    record, notes = read(written(tmp_path, text.encode(), "friends_dialsim.json"))
    assert record.script is not None
    assert record.script.main == "Ross"
    assert notes[0] == (
        "the main character is Ross, as the published file has it: the setting main names another"
    )


class Runs:
    """What would be run if it were unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("ran",))


@pytest.mark.exhaustive
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("content", [SMALL, {}, [1], OrderedDict(a=1), Runs()])
def test_a_pickle_is_refused_by_its_first_bytes(
    tmp_path: Path, protocol: int, content: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    pickled = pickle.dumps(content, protocol)
    path = written(tmp_path, pickled, "friends.json")
    assert guess(FORMATS, read_start(path)) == "longdialqa"
    for format in ("longdialqa", "longform", "jsonl", "turns-csv"):
        assert refused(path, format).reason == (
            "is a pickle, and opening it would run code: convert it to JSON first"
        )
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["friends_dialsim.pickle", "friends.PKL"])
def test_a_file_that_is_called_a_pickle_is_refused_too(tmp_path: Path, name: str) -> None:
    assert "is a pickle" in refused(written(tmp_path, SMALL, name)).reason


def changed(*path: str, to: Any) -> dict[str, Any]:
    """Return the small file with another value at a path."""
    content = copy.deepcopy(SMALL)
    *parents, last = path
    place: Any = content
    for part in parents:
        place = place[int(part) if isinstance(place, list) else part]
    place[int(last) if isinstance(place, list) else last] = to
    return content


SCENE = ("S01E01", "2")
QUIZ = (*SCENE, "easy_q", "ans_wo_time", "7")


@pytest.mark.parametrize(
    ("content", "field", "reason"),
    [
        ([], "", "must be an object of episodes, not a list"),
        ({"S01E01": []}, "S01E01", "must be an object of scenes"),
        (changed(*SCENE, to=[]), "S01E01.2", "must be an object"),
        (changed(*SCENE, "date", to="soon"), "S01E01.2.date", "'soon' is not a date"),
        (changed(*SCENE, "date", to="February 30, 1994"), "S01E01.2.date", "1994-02-30 is no date"),
        (changed(*SCENE, "date", to=None), "S01E01.2.date", "must be a text, not null"),
        (changed(*SCENE, "script", to=4), "S01E01.2.script", "must be a text"),
        (changed(*SCENE, "script", to="rain\nAna: Hm"), "S01E01.2.script, its line 1", "nobody says it"),
        (changed(*SCENE, "scene", to="x"), "S01E01.2.scene", "is not a field of the format"),
        (changed(*SCENE, "easy_q", to=[]), "S01E01.2.easy_q", "must be an object of questions by type"),
        (changed(*SCENE, "easy_q", "hard", to={}), "S01E01.2.easy_q.hard", "is no type of quiz question"),
        (changed(*SCENE, "hard_q", to={"soon": []}), "S01E01.2.hard_q.soon", "is no type of question about"),
        (changed(*SCENE, "hard_q", to={"past": "x"}), "S01E01.2.hard_q.past", "must be an object or a list"),
        (changed(*QUIZ, "options", to=["a", "b"]), ".".join(QUIZ) + ".options", "must be five texts"),
        (
            changed(*QUIZ, "options", to=list("abcde")),
            ".".join(QUIZ) + ".options",
            "must end with “I don't know”",
        ),
        (changed(*QUIZ, "questions", to={"Ben": 4}), ".".join(QUIZ) + ".questions.Ben", "must be a text"),
        (changed(*QUIZ, "answer", to=None), ".".join(QUIZ) + ".answer", "must be a text, not null"),
        (changed(*QUIZ, "key", to="A"), ".".join(QUIZ) + ".key", "is not a field of the format"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(
    tmp_path: Path, content: Any, field: str, reason: str
) -> None:
    problem = refused(written(tmp_path, content), main="Ana")
    assert problem.field == field
    assert problem.reason.startswith(reason)


def test_problems_of_several_scenes_are_told_at_once(tmp_path: Path) -> None:
    content = changed(*SCENE, "date", to="soon")
    content["S02E01"]["1"]["date"] = "later"
    faults = Faults()
    assert list(FORMATS["longdialqa"].read(Source(written(tmp_path, content), faults=faults))) == []
    assert [problem.field for problem in faults.problems] == ["S01E01.2.date", "S02E01.1.date"]


def test_uses_that_cannot_be_asked_are_left_out_with_a_note(tmp_path: Path) -> None:
    record, notes = read(written(tmp_path, changed(*QUIZ, "answer", to="a cat")), main="Ana")
    assert len(record.question_sets[0].uses) == 6
    told = "uses without a wording, with equal options, or whose answer is none of them, left out: 1"
    assert f"{told} (S01E01.2.easy_q.ans_wo_time.7)" in notes


def test_what_differs_from_what_can_be_known_is_a_note_and_the_keys_stand(tmp_path: Path) -> None:
    content = copy.deepcopy(SMALL)
    last = content["S02E01"]["1"]
    last["easy_q"] = {
        "before_event_unans": {"7": asked(WHAT, UNKNOWN)},
        "dont_know_unans": {"8": asked("And then?", "tea")},
        "dont_know_unans_time": {"7": asked(DATED, UNKNOWN)},
    }
    last["hard_q"] = {
        "past": [asked("Who was Ana's boss in June 1997?", "Ben", "Cy,Ben,Di,Eve")],
        "fu": [asked("Who is Ana's boss?", UNKNOWN, "Cy,Ben,Di,Eve")],
    }
    content["S02E01"]["2"] = {"script": "Ben: Ah.", "date": "1995", "hard_q": {"cur": [asked("Who?", "tea")]}}
    record, notes = read(written(tmp_path, content), main="Ana")
    assert notes[1:] == [
        "dates run backwards: S02E01.2 is of 1995, but S02E01.1 before it of 1996-05",
        "10 uses were checked as far as the file allows, and its keys stand: of 6 of 6 questions it says "
        "neither the evidence nor the facts",
        "uses in sessions without the main character, which are never asked: 1 (k3 in S02E01.2)",
        "uses whose key does not go with their type: 1 (q3 in S02E01.1)",
        "uses that say that the main character can never know what another session answers: "
        "2 (q3 in S02E01.1, q2 in S02E01.1)",
        "uses that say that the evidence comes later, after the question could be answered: "
        "1 (q1 in S02E01.1)",
        "questions about the past whose own date is not before that of their session: 1 (k2 in S02E01.1)",
        "questions about the future that a session before could answer: 1 (k1 in S02E01.1)",
    ]
    keys = {use.question: use.key for use in record.question_sets[0].uses if use.session == "s003"}
    assert keys == {"q1": "E", "q3": "D", "q2": "E", "k2": "B", "k1": "E"}


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("September 22, 1994", Date(1994, 9, 22)),
        ("Sept. 22nd 1994", Date(1994, 9, 22)),
        ("22 September 1994", Date(1994, 9, 22)),
        ("1994-09-22", Date(1994, 9, 22)),
        ("September, 1994", Date(1994, 9)),
        ("1994", Date(1994)),
    ],
)
def test_a_date_is_read_as_it_is_written(text: str, date: Date) -> None:
    assert read_date(text) == date


@pytest.mark.parametrize("text", ["", "22, 1994", "Smarch 3, 1994", "September 31, 1994", "22/9/1994", "94"])
def test_what_is_no_date_is_said_so(text: str) -> None:
    with pytest.raises(ValueError, match=r"is (not a|no) date"):
        read_date(text)


def test_dates_of_a_question_are_found() -> None:
    assert list(dates_in("Who was it on May 3rd, 1995, in June 1996 and in 1997, on June 31, 1998?")) == [
        Date(1995, 5, 3),
        Date(1996, 6),
        Date(1997),
    ]


@pytest.mark.django_db
def test_it_is_imported_once_with_its_questions_and_uses(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    result = imported(path, format="longdialqa", settings={"main": "Ana"})
    assert (result.created, result.dialogues, result.turns) == (True, 1, 7)
    stored = QuestionSet.objects.get()
    dialogue = Corpus.objects.get().dialogues.get()
    assert (stored.imported, len(list(uses_of(stored, dialogue.pk)))) == (True, 7)
    assert Record.objects.get(key="k4").content["answer"] == ""
    again = imported(path, format="longdialqa", settings={"main": "Ana"})
    assert not again.created


def test_a_question_that_a_scene_asks_twice_counts_once(tmp_path: Path) -> None:
    content = copy.deepcopy(SMALL)
    content["S02E01"]["1"]["hard_q"]["past"] *= 2
    record, notes = read(written(tmp_path, content), main="Ana")
    assert len(record.question_sets[0].uses) == 7
    told = "questions that a scene asks twice, of which the first one counts: 1"
    assert f"{told} (S02E01.1.hard_q.past.1)" in notes


def test_another_answer_to_the_same_question_is_told_and_its_key_stands(tmp_path: Path) -> None:
    content = copy.deepcopy(SMALL)
    content["S02E01"]["1"]["easy_q"] = {"ans_wo_time": {"7": asked(WHAT, "tea")}}
    record, notes = read(written(tmp_path, content), main="Ana")
    told = "uses whose answer is another than elsewhere, or than the rules have it: 1"
    assert f"{told} (q1 in S02E01.1)" in notes
    assert [use.key for use in record.question_sets[0].uses if use.question == "q1"] == ["E", "D", "D"]
