"""ComperDial (Wakaki et al. 2024): people's dialogues, responses of systems at their points, and ratings.

A folder holds the dialogues (`ComperDial_dialogue_data.json` or `ComperDial_data.json`), the responses with
their scores (`ComperDial_turn_level_evaluation.json`) and the scores of all responses of a system to a
dialogue (`ComperDial_dialogue_level_evaluation.json`). A dialogue's two people have their personas as
profiles. Each system, agent or human writer, has one static continuation for each dialogue, with a turn at
every point of B. Dialogues that nobody responded to are left out. What evaluations call their fields is read
by `annotation.formats.comperdial_answers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, Fields, decode_python, is_number, kind_of, plain
from annotation.formats.head import Head
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import SELF, Continuation, Dialogue, LabelRecord, Participant, Turn
from annotation.schemes import comperdial_dialogue, comperdial_turn
from annotation.schemes.comperdial_dialogue import LOW
from annotation.schemes.comperdial_turn import ASPECTS

# ComperDial's evaluation files: who gave which score to what, and which aspects made it low.
#
# A file is a list of records; each says which dialogue, system and, at turn level, response it is about. A
# score is a number (with its annotator, or of an unidentified one), a list with one number for each of
# several unidentified annotators, or an object of scores by annotator. An aspect is marked with `n`: beside
# the score in the record, in the same arrangement, or within an annotator's own object.

NAMES = {
    "dialogue": ("dialogue_id", "dialog_id", "dialogue", "id"),
    "system": ("system", "system_id", "model", "model_id", "agent", "agent_id"),
    "turn": ("turn", "turn_id", "turn_index"),
    "response": ("response", "text"),
    "annotator": ("annotator", "annotator_id"),
    "score": ("score", "scores", "overall"),
}
"""What a file may call a field, by its name here; `columns` say what else it is called."""
MARKED = ("n", "N", 1, True)
UNMARKED = ("", "-", 0, False, None)


@dataclass(frozen=True, slots=True)
class Answer:
    """One annotator's score and, of those that were asked for, which aspects were marked."""

    rater: str
    identified: bool
    score: float
    marks: Mapping[str, bool]
    field: str

    def asked(self) -> Iterator[tuple[str, bool]]:
        """Yield the marks that answer a question: all where the score is low, else those that are set."""
        for aspect, marked in self.marks.items():
            if marked or self.score <= LOW:
                yield aspect, marked


def name_of(fields: Fields, key: str, columns: Mapping[str, str]) -> str:
    """Return what a record calls a field, empty where it has none of that kind."""
    if key in columns:
        return columns[key] if fields.has(columns[key]) else ""
    return next((name for name in NAMES[key] if fields.has(name)), "")


def known(fields: Fields, key: str, columns: Mapping[str, str]) -> str:
    """Return what a field of a record is called; refuse a record without it."""
    name = name_of(fields, key, columns)
    if not name:
        told = columns.get(key) or " or ".join(NAMES[key])
        raise fields.problem(
            key, f"is missing: there is no {told}; say which field it is with columns {key}=NAME"
        )
    return name


def identity(fields: Fields, name: str, limit: int) -> str:
    """Return an id that is a text or a whole number."""
    value = fields.raw[name]
    return str(value) if type(value) is int else fields.id(name, limit=limit).strip()


def answers(fields: Fields, columns: Mapping[str, str]) -> list[Answer]:
    """Return the answers of a record; raise ImportProblem where it cannot be told whose or which they are."""
    name = known(fields, "score", columns)
    value, path = fields.raw[name], fields.at(name)
    beside = {aspect: fields.raw[aspect] for aspect in ASPECTS if aspect in fields.raw}
    if isinstance(value, dict):
        return [
            _by(rater, one, f"{path}.{rater}", _part(beside, rater, path)) for rater, one in value.items()
        ]
    if isinstance(value, list):
        return [
            _answer(f"slot {n + 1}", False, one, f"{path}[{n}]", _part(beside, n, path))
            for n, one in enumerate(value)
            if one is not None
        ]
    annotator = name_of(fields, "annotator", columns)
    rater = identity(fields, annotator, NAME_LIMIT) if annotator else "slot 1"
    return [_answer(rater, bool(annotator), value, path, beside)]


def _by(rater: str, value: Any, path: str, beside: Mapping[str, Any]) -> Answer:
    """Return a named annotator's answer: a score, or an object of a score and marks."""
    if not 0 < len(rater) <= NAME_LIMIT:
        raise ImportProblem(f"an annotator's name has 1 to {NAME_LIMIT} characters", field=path[:120])
    if not isinstance(value, dict):
        return _answer(rater, True, value, path, beside)
    own = Fields(value, path, frozenset({*NAMES["score"], *ASPECTS}))
    score = known(own, "score", {})
    marks = {aspect: own.raw[aspect] for aspect in ASPECTS if aspect in own.raw}
    return _answer(rater, True, own.raw[score], own.at(score), marks or beside)


def _part(beside: Mapping[str, Any], key: str | int, path: str) -> dict[str, Any]:
    """Return one annotator's marks of those that stand beside the scores of several."""
    found: dict[str, Any] = {}
    for aspect, marks in beside.items():
        if isinstance(marks, dict) and isinstance(key, str):
            found[aspect] = marks.get(key)
        elif isinstance(marks, list) and isinstance(key, int) and key < len(marks):
            found[aspect] = marks[key]
        else:
            raise ImportProblem(f"is not arranged as the scores in {path} are", field=aspect)
    return found


def _answer(rater: str, identified: bool, value: Any, path: str, marks: Mapping[str, Any]) -> Answer:
    if not is_number(value):
        raise ImportProblem(f"must be a score from 1 to 5, not {kind_of(value)}", field=path)
    told = {aspect: _mark(mark, f"{path}, {aspect}") for aspect, mark in marks.items()}
    return Answer(rater, identified, float(value), told, path)


def _mark(value: Any, path: str) -> bool:
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str | int | None) and text in (*MARKED, *UNMARKED):
        return text in MARKED
    raise ImportProblem("must be n where the aspect is marked, and empty where it is not", field=path)


DIALOGUES = ("ComperDial_dialogue_data.json", "ComperDial_data.json")
TURNS = "ComperDial_turn_level_evaluation.json"
WHOLES = "ComperDial_dialogue_level_evaluation.json"
OWN = frozenset({"dialogue_id", "id", "persona", "dialogue"})
PEOPLE = frozenset({"A", "B"})
SAID = frozenset({"persona_id", "text"})
ANSWERING = "B"


@dataclass(slots=True)
class _Responses:
    """What one system answered in one dialogue, by the number of B's turn."""

    texts: dict[int, str] = field(default_factory=dict)
    scores: list[tuple[int, Answer]] = field(default_factory=list)
    whole: list[Answer] = field(default_factory=list)


@dataclass(slots=True)
class _Held:
    """A dialogue with the points of B's turns and what systems answered there."""

    record: Dialogue
    points: list[int]
    systems: dict[str, _Responses] = field(default_factory=dict)


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues that were responded to, in the order of their file."""
    files = _files(source)
    held: dict[str, _Held] = {}
    for name in DIALOGUES:
        if name in files:
            _dialogues(source, files[name], held)
    if TURNS in files:
        _turns(source, files[TURNS], held)
    if WHOLES in files:
        _wholes(source, files[WHOLES], held)
    rated = {key: one for key, one in held.items() if one.systems}
    if rated and len(rated) < len(held):
        source.notes.append(f"dialogues that nobody responded to, left out: {len(held) - len(rated)}")
    for key, one in (rated or held).items():
        try:
            record = _record(key, one)
        except ImportProblem as problem:
            source.report(problem.placed(file=TURNS))
        else:
            yield SourceRecord(record)


def _files(source: Source) -> dict[str, Path]:
    """Return the files of a folder by name; a file alone is one of dialogues."""
    if not source.path.is_dir():
        return {DIALOGUES[0]: source.path}
    files = {file.name: file for file in source.files()}
    if extra := sorted(files.keys() - {*DIALOGUES, TURNS, WHOLES}):
        listed = ", ".join((*DIALOGUES, TURNS, WHOLES))
        raise ImportProblem(f"is no file of ComperDial: they are {listed}", file=extra[0])
    if not files.keys() & set(DIALOGUES):
        raise ImportProblem(f"there is neither {' nor '.join(DIALOGUES)} among the files")
    if WHOLES in files and TURNS not in files:
        raise ImportProblem(f"rates responses, which are in {TURNS}: send it, too", file=WHOLES)
    return files


def _list(source: Source, file: Path) -> Iterator[tuple[str, Any]]:
    """Yield (path, element) of a file that is a list."""
    content = decode_python(source.document(file))
    if not isinstance(content, list) or not content:
        raise ImportProblem(f"must be a list, not {kind_of(content)}", file=_place(source, file))
    yield from ((f"[{index}]", raw) for index, raw in enumerate(content))


def _place(source: Source, file: Path) -> str:
    return file.name if source.path.is_dir() else ""


def _object(raw: Any, path: str) -> Fields:
    return Fields(raw, path, frozenset(raw) if isinstance(raw, dict) else frozenset())


def _dialogues(source: Source, file: Path, held: dict[str, _Held]) -> None:
    for number, (path, raw) in enumerate(_list(source, file), start=1):
        try:
            one = _dialogue(_object(raw, path), number)
            before = held.setdefault(one.record.id, one)
            if before.record.turns != one.record.turns:
                raise ImportProblem(f"the dialogue {one.record.id!r} has other turns elsewhere", field=path)
        except ImportProblem as problem:
            source.report(problem.placed(file=_place(source, file)))


def _dialogue(fields: Fields, number: int) -> _Held:
    name = next((name for name in ("dialogue_id", "id") if fields.has(name)), "")
    persona = Fields(fields.object("persona"), fields.at("persona"), PEOPLE)
    said = [Fields(part, path, SAID) for path, part in fields.items("dialogue")]
    turns = tuple(Turn(one.choice("persona_id", ("A", "B"), ""), one.text("text")) for one in said)
    points = [index for index, turn in enumerate(turns) if turn.speaker == ANSWERING]
    if not points:
        raise fields.problem("dialogue", f"has no turn of {ANSWERING}")
    record = Dialogue(
        id=identity(fields, name, ID_LIMIT) if name else str(number),
        turns=turns,
        participants=tuple(Participant(key, profile=persona.texts(key)) for key in sorted(PEOPLE)),
        language="en",
        metadata={key: plain(value, fields.at(key)) for key, value in fields.raw.items() if key not in OWN},
    )
    return _Held(record, points)


def _about(source: Source, fields: Fields, held: dict[str, _Held]) -> tuple[_Held, str]:
    """Return the dialogue and the system that a record of an evaluation is about."""
    read = {*chain(*NAMES.values()), *source.columns.values(), *comperdial_turn.ASPECTS}
    source.pass_over(name for name in fields.raw if name not in read)
    name = known(fields, "dialogue", source.columns)
    key = identity(fields, name, ID_LIMIT)
    if key not in held:
        raise fields.problem(
            name, f"{key[:60]!r} is not the id of a dialogue (without ids they count from 1)"
        )
    system = known(fields, "system", source.columns)
    called = identity(fields, system, NAME_LIMIT)
    if not called or called == SELF:
        raise fields.problem(system, "must be a name, and not `self`")
    return held[key], called


def _turns(source: Source, file: Path, held: dict[str, _Held]) -> None:
    numbered: list[tuple[int, Fields]] = []
    for path, raw in _list(source, file):
        try:
            fields = _object(raw, path)
            numbered.append((_turn_number(source, fields), fields))
        except ImportProblem as problem:
            source.report(problem.placed(file=_place(source, file)))
    first = 0 if any(number == 0 for number, _ in numbered) else 1
    for number, fields in numbered:
        try:
            one, system = _about(source, fields, held)
            _add_response(source, fields, one, system, number - first)
        except ImportProblem as problem:
            source.report(problem.placed(file=_place(source, file)))


def _turn_number(source: Source, fields: Fields) -> int:
    number = fields.count(known(fields, "turn", source.columns), None)
    return 0 if number is None else number


def _add_response(source: Source, fields: Fields, one: _Held, system: str, number: int) -> None:
    turn, response = (known(fields, name, source.columns) for name in ("turn", "response"))
    if number >= len(one.points):
        raise fields.problem(turn, f"is beyond the {len(one.points)} turns of {ANSWERING}")
    text = fields.text(response)
    answered = one.systems.setdefault(system, _Responses())
    if answered.texts.setdefault(number, text) != text:
        raise fields.problem(response, f"differs from what {system[:60]!r} answered there before")
    answered.scores += [(number, answer) for answer in answers(fields, source.columns)]


def _wholes(source: Source, file: Path, held: dict[str, _Held]) -> None:
    for path, raw in _list(source, file):
        try:
            fields = _object(raw, path)
            one, system = _about(source, fields, held)
            if system not in one.systems:
                raise ImportProblem(f"{system[:60]!r} has no responses to this dialogue", field=path)
            one.systems[system].whole += answers(fields, source.columns)
        except ImportProblem as problem:
            source.report(problem.placed(file=_place(source, file)))


def _record(key: str, one: _Held) -> Dialogue:
    parts = tuple(_continuation(key, system, said, one) for system, said in one.systems.items())
    labels = tuple(label for system, said in one.systems.items() for label in _labels(system, said))
    own = one.record
    return Dialogue(
        id=own.id,
        turns=own.turns,
        participants=own.participants,
        continuations=parts,
        labels=labels,
        language=own.language,
        metadata=own.metadata,
    )


def _continuation(key: str, system: str, said: _Responses, one: _Held) -> Continuation:
    absent = [str(number + 1) for number in range(len(one.points)) if number not in said.texts]
    if absent:
        raise ImportProblem(
            f"{system[:60]!r} has no response to dialogue {key[:60]!r} at turn {', '.join(absent)}"
        )
    turns = tuple(Turn(ANSWERING, said.texts[n], at=point) for n, point in enumerate(one.points))
    return Continuation(system, system, turns, mode="static")


def _labels(system: str, said: _Responses) -> Iterator[LabelRecord]:
    for number, answer in said.scores:
        yield _label(system, number, answer, comperdial_turn.SCHEME.key, "overall", answer.score)
    for answer in said.whole:
        scheme = comperdial_dialogue.SCHEME.key
        yield _label(system, None, answer, scheme, "overall", answer.score)
        for aspect, marked in answer.asked():
            yield _label(system, None, answer, scheme, f"low_{aspect}", float(marked))


def _label(
    system: str, turn: int | None, answer: Answer, scheme: str, question: str, value: float
) -> LabelRecord:
    return LabelRecord(
        rater=answer.rater,
        kind="human",
        continuation=system,
        turn=turn,
        question=question,
        value=value,
        identified=answer.identified,
        scheme=scheme,
    )


def _looks_like(head: Head) -> bool:
    return head.text.startswith("[") and {"persona", "dialogue", "persona_id"} <= head.keys


FORMAT = Format(
    key="comperdial",
    title="ComperDial dialogues, responses and ratings",
    hint="The files of ComperDial together: dialogues, turn-level and dialogue-level evaluation.",
    read=read,
    looks_like=_looks_like,
    folder=True,
    columns=tuple(NAMES),
)
