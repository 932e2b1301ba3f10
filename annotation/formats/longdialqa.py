"""LongDialQA (Kim et al. 2024), converted to JSON: scripts of series with questions, and where each is asked.

A file is {episode: {scene: {"script", "date", "easy_q", "hard_q"}}}, or a folder of such files. All of it is
one dialogue: each scene is a session, in the order of the file; what is asked in a scene is a use of a
question there. The keys of the file stand. The published files are pickles, which are never opened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, Fields, decode, kind_of
from annotation.formats.head import Head
from annotation.formats.longdialqa_checks import differences
from annotation.formats.longdialqa_lines import Script as Lines
from annotation.formats.longdialqa_lines import read_date
from annotation.formats.longdialqa_questions import Questions
from annotation.formats.longform import EVERYBODY, KEY, MAIN, named_main, run_backwards
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source, is_pickle
from annotation.records import Dialogue, Participant, Turn
from annotation.scripts.records import QuestionSet, Script, Session

SCENE = frozenset({"script", "date", "easy_q", "hard_q"})
SEASON = re.compile(r"(?:season|series|s)[ _-]*0*(\d{1,3})(?!\d)", re.IGNORECASE)
SET = "LongDialQA"
"""What the question set of a file is called."""
MAIN_OF = {"friends": "Ross", "bigbang": "Sheldon", "theoffice": "Michael"}
"""Whose memory the published files test, by what these are called."""
PICKLED = (".pickle", ".pkl")


class _Reader:
    """What the files have said so far. A scene's session is called `s` and its running number."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.sessions: list[Session] = []
        self.paths: dict[str, str] = {}
        self.turns: list[Turn] = []
        self.questions = Questions()
        self.loose = 0

    def take(self, episode: str, scene: str, raw: Any) -> None:
        """Add a scene; raise ImportProblem with the path of what does not fit."""
        path = f"{episode}.{scene}"
        fields = Fields(raw, path, SCENE)
        session = f"s{len(self.sessions) + 1:03}"
        try:
            date = read_date(fields.text("date"))
        except ValueError as error:
            raise fields.problem("date", str(error)) from None
        lines = Lines(fields.text("script"), fields.at("script"), session)
        season = SEASON.search(episode)
        self.sessions.append(
            Session(
                id=session,
                date=date,
                episode=episode,
                scene=scene,
                season=season[1] if season else "",
            )
        )
        self.paths[session] = path
        self.turns.extend(lines.turns)
        self.loose += lines.left_out
        self.questions.take(fields, session)


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the one dialogue of a file or folder."""
    reader = _Reader(source)
    seen: dict[str, str] = {}
    for file in source.files():
        place = file.name if source.path.is_dir() else ""
        _refuse_pickle(source, file)
        for episode, scenes in _episodes(decode(source.document(file)), place):
            if episode in seen:
                raise ImportProblem(f"is in {seen[episode] or 'the file'} already", field=episode, file=place)
            seen[episode] = place
            _scenes(reader, episode, scenes, place)
    if source.faults is not None and source.faults.found:
        return
    if not reader.turns:
        raise ImportProblem("has no turns")
    record = _dialogue(reader)
    source.notes.extend(_notes(reader, record))
    yield SourceRecord(record)


def _refuse_pickle(source: Source, file: Path) -> None:
    """Refuse a pickle by its first bytes, or by its name: it is never opened."""
    with file.open("rb") as opened:
        if is_pickle(opened.read(16)) or source.called(file).lower().endswith(PICKLED):
            told = "is a pickle, and opening it would run code: convert it to JSON first"
            raise ImportProblem(told, file=file.name if source.path.is_dir() else "")


def _episodes(document: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(document, dict) or not document:
        raise ImportProblem(f"must be an object of episodes, not {kind_of(document)}", file=place)
    for episode, scenes in document.items():
        if not episode or len(episode) > NAME_LIMIT or not isinstance(scenes, dict):
            reason = f"must be an object of scenes, called by 1 to {NAME_LIMIT} characters"
            raise ImportProblem(reason, field=episode[:60], file=place)
        yield episode, scenes


def _scenes(reader: _Reader, episode: str, scenes: dict[str, Any], place: str) -> None:
    for scene, raw in scenes.items():
        try:
            if not scene or len(scene) > NAME_LIMIT:
                raise ImportProblem(f"a scene is called by 1 to {NAME_LIMIT} characters", field=episode)
            reader.take(episode, scene, raw)
        except ImportProblem as problem:
            reader.source.report(problem.placed(file=place))


def _dialogue(reader: _Reader) -> Dialogue:
    counts = Counter(turn.speaker for turn in reader.turns)
    collective = tuple(name for name in counts if name.casefold() in EVERYBODY)
    own = _own_main(reader.source, counts)
    main = named_main(reader.source, counts, tuple(counts), collective, own)
    questions, uses = reader.questions.whole()
    sets = (QuestionSet(name=SET, imported=True, uses=uses),) if uses else ()
    return Dialogue(
        id=_key(reader.source),
        turns=tuple(reader.turns),
        participants=tuple(Participant(name, name=name) for name in counts),
        language="en",
        script=Script(
            main=main,
            sessions=tuple(reader.sessions),
            collective=tuple(dict.fromkeys(("all", *collective))),
        ),
        questions=questions,
        question_sets=sets,
    )


def _own_main(source: Source, counts: Counter[str]) -> str:
    """Return the main character of a published file, '' where it is none or nobody is called so."""
    for beginning, name in MAIN_OF.items():
        if source.name.lower().startswith(beginning) and name in counts:
            return name
    return ""


def _key(source: Source) -> str:
    key = str(source.settings.get(KEY, "")) or Path(source.name).stem
    if not key or len(key) > ID_LIMIT:
        raise ImportProblem(f"the dialogue's id has 1 to {ID_LIMIT} characters: name it", field=KEY)
    return key


def _notes(reader: _Reader, record: Dialogue) -> Iterator[str]:
    script = record.script
    assert script is not None
    if reader.loose:
        yield f"lines that name who wrote an episode, left out: {reader.loose}"
    yield from run_backwards(script.sessions, reader.paths)
    yield from reader.questions.notes()
    yield from differences(record, reader.paths)


def _looks_like(head: Head) -> bool:
    if is_pickle(head.content):
        return True
    return (
        head.text.startswith("{")
        and {"script", "date"} <= head.inner
        and bool({"easy_q", "hard_q"} & head.inner)
    )


FORMAT = Format(
    key="longdialqa",
    title="LongDialQA: scripts with questions",
    hint="{episode: {scene: {script, date, easy_q, hard_q}}} as JSON; convert the published pickles first.",
    read=read,
    looks_like=_looks_like,
    folder=True,
    settings=(MAIN, KEY),
)
