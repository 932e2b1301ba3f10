"""Dialogues and responses with people's ratings, as JSON documents: FED, FED with GPT-4, USR, ComperDial."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.formats.corpus_format import Format, Head, Rating, SourceRecord
from annotation.formats.fields import (
    ID_LIMIT,
    NAME_LIMIT,
    Fields,
    decode,
    decode_python,
    is_number,
    kind_of,
    number_or_none,
    plain,
    require,
)
from annotation.formats.source import ImportProblem, Source
from annotation.records import HUMAN, SELF, Continuation, Dialogue, LabelRecord, Participant, Turn
from annotation.schemes import ratings
from annotation.schemes.ratings import ASPECTS, LOW
from annotation.schemes.ratings import FED_DIALOGUE as DIALOGUE
from annotation.schemes.ratings import FED_GPT4 as GPT4
from annotation.schemes.ratings import FED_TURN as TURN
from annotation.schemes.ratings import USR as SCHEME


def _list(source: Source, file: Path, expected: str = "a list") -> Iterator[tuple[str, Any]]:
    """Yield (path, element) of a file that is a list."""
    place = source.name_in_folder(file)
    elements = require(decode_python(source.document(file)), list, expected=expected, file=place, filled=True)
    return ((f"[{index}]", element) for index, element in enumerate(elements))


def _answers(
    quality: str,
    values: Iterable[tuple[str, Any]],
    read: Callable[[Any, str], tuple[float | None, str]],
    about: tuple[str, int | None, str],
    raters: Sequence[str] = (),
) -> Iterator[LabelRecord]:
    """Yield a label for each (path, value) of a quality, about a (continuation, turn, scheme).

    `read` returns the number or the reason why it is missing. The nth value is by the nth rater; without
    raters, by an unidentified one.
    """
    continuation, turn, scheme = about
    for slot, (path, value) in enumerate(values):
        number, missing = read(value, path)
        yield LabelRecord(
            rater=raters[slot] if raters else f"slot {slot + 1}",
            kind="human",
            continuation=continuation,
            turn=turn,
            question=quality.lower().replace(" ", "_"),
            value=number,
            missing=missing,
            identified=bool(raters),
            scheme=scheme,
        )


# FED (Mehri and Eskenazi 2020): 125 conversations rated whole, and 375 responses in them.
#
# The file lists rated contexts. One without a response is a whole conversation: a dialogue here, its
# system's lines rated turns, the user's lines given. A rated response whose context begins a conversation
# and which is that conversation's next line is that turn; any other is a static continuation at its point.
# Five people rated each item, but slot i is not the same person throughout: they are unidentified.
# A text `N/A (reason)` in place of a value is a missing answer with its reason.

FED_FIELDS = frozenset({"context", "response", "system", "annotations"})
PARTICIPANTS = (Participant("User", role="user"), Participant("System", role="system"))
NOT_APPLICABLE = re.compile(r"\s*N/A\b\s*+(?:\((?P<reason>.*)\)\s*)?", re.DOTALL | re.IGNORECASE)

Lines = tuple[str, ...]


@dataclass(slots=True)
class _Placed:
    """A conversation with the responses placed in it."""

    dialogue: Dialogue
    lines: Lines
    labels: list[LabelRecord]
    continuations: list[Continuation] = field(default_factory=list)

    def record(self) -> Dialogue:
        return replace(self.dialogue, continuations=tuple(self.continuations), labels=tuple(self.labels))


def read_fed(source: Source) -> Iterator[SourceRecord]:
    """Yield the conversations in the file's order, `fed-001` first."""
    items = _items(source)
    placed = [_conversation(item, number) for number, item in enumerate(_conversations(items), start=1)]
    if not placed:
        raise ImportProblem("holds no whole conversation: each item has a response")
    for item in items:
        if item.has("response"):
            _place_response(item, placed)
    for conversation in placed:
        yield SourceRecord(conversation.record())


def dialogue_id(number: int) -> str:
    """Return the id of the n-th conversation of the file, counted from 1."""
    return f"fed-{number:03d}"


def _items(source: Source) -> list[Fields]:
    items = require(decode(source.document(source.path)), list, expected="a list of rated items")
    return [Fields(item, f"[{index}]", FED_FIELDS) for index, item in enumerate(items)]


def _conversations(items: list[Fields]) -> Iterator[Fields]:
    return (item for item in items if not item.has("response"))


def _conversation(item: Fields, number: int) -> _Placed:
    lines = tuple(item.text("context").split("\n"))
    turns = tuple(_turn(line, item.at("context")) for line in lines)
    dialogue = Dialogue(
        id=dialogue_id(number),
        turns=turns,
        participants=PARTICIPANTS,
        language="en",
        system=item.id("system", limit=NAME_LIMIT),
    )
    return _Placed(dialogue, lines, list(_fed_labels(item, (SELF, None, DIALOGUE.key))))


def _turn(line: str, path: str) -> Turn:
    speaker, mark, text = line.partition(": ")
    if not mark or speaker not in ("User", "System"):
        raise ImportProblem(f"{line[:40]!r} begins with neither 'User: ' nor 'System: '", field=path)
    return Turn(speaker, text, given=speaker == "User")


def _place_response(item: Fields, placed: list[_Placed]) -> None:
    """Add a rated response to the first conversation that its context begins."""
    lines = tuple(item.text("context").split("\n"))
    at = len(lines)
    conversation = next((candidate for candidate in placed if candidate.lines[:at] == lines), None)
    if conversation is None:
        raise item.problem("context", "is the beginning of no conversation in the file")
    response = item.text("response")
    if conversation.lines[at : at + 1] == (response,) and not conversation.dialogue.turns[at].given:
        conversation.labels.extend(_fed_labels(item, (SELF, at, TURN.key)))
        return
    earlier = sum(1 for continuation in conversation.continuations if continuation.turns[0].at == at)
    key = f"response-at-{at}" + (f"-{earlier + 1}" if earlier else "")
    turn = replace(_turn(response, item.at("response")), at=at)
    if turn.given:
        raise item.problem("response", "is by the user: only the system's responses are rated")
    conversation.continuations.append(
        Continuation(key, item.id("system", limit=NAME_LIMIT), (turn,), mode="static")
    )
    conversation.labels.extend(_fed_labels(item, (key, 0, TURN.key)))


def _fed_labels(item: Fields, about: tuple[str, int | None, str]) -> Iterator[LabelRecord]:
    if not item.has("annotations"):
        raise item.problem("annotations", "is missing")
    for quality, values in item.object("annotations").items():
        path = f"{item.at('annotations')}.{quality}"
        numbered = ((f"{path}[{n}]", value) for n, value in enumerate(require(values, list, path)))
        yield from _answers(quality, numbered, _value, about)


def _value(value: Any, path: str) -> tuple[float | None, str]:
    """Return a number, or the reason why there is none."""
    if is_number(value):
        return float(value), ""
    if isinstance(value, str) and (match := NOT_APPLICABLE.fullmatch(value)):
        return None, (match["reason"] or "not applicable").strip()
    raise ImportProblem(f"must be a number or a text like 'N/A (reason)', not {kind_of(value)}", field=path)


FED = Format(
    key="fed",
    title="FED conversations with their ratings",
    hint="fed_data.json: 125 conversations with ratings of each and of 375 responses.",
    read=read_fed,
    looks_like=lambda head: (
        head.text.startswith("[")
        and {"context", "annotations"} <= head.keys
        and not (head.objects and all("response" in item for item in head.objects))
    ),
    schemes=("fed_turn", "fed_dialogue"),
)


# GPT-4's scores of FED's 125 conversations (Zhang et al. 2024): labels for a corpus imported as `fed`.
#
# The file maps a quality and a sample's number (`coh_1`) to one score for each conversation, in the order of
# FED's file. The five samples are answers of one judge.

JUDGE = "gpt-4"
COLUMN = re.compile(r"(?P<question>[a-z]+)_(?P<sample>[1-9][0-9]{0,3})")
FIRST_SCORES = re.compile(r'\s*\{\s*"[a-z]+_[1-9][0-9]{0,3}"\s*:\s*\[\s*(?:-?\d|null)')


def read_fed_gpt4(source: Source) -> Iterator[SourceRecord]:
    """Yield one rating for each score."""
    content = decode(source.document(source.path))
    columns = require(content, dict, expected="an object of lists of scores", filled=True)
    for column, scores in columns.items():
        match = COLUMN.fullmatch(column)
        if match is None:
            raise ImportProblem("must be a quality and a sample's number, like coh_1", field=column)
        for index, score in enumerate(require(scores, list, column, "a list of scores")):
            yield SourceRecord(_rating(match["question"], int(match["sample"]) - 1, index, score, column))


def _rating(question: str, sample: int, index: int, score: Any, column: str) -> Rating:
    field = f"{column}[{index}]"
    value = number_or_none(score, field, "a number or null")
    label = LabelRecord(
        rater=JUDGE,
        kind="judge",
        continuation=SELF,
        turn=None,
        question=question,
        value=value,
        missing="no score given" if value is None else "",
        sample=sample,
        scheme=GPT4.key,
    )
    return Rating(dialogue_id(index + 1), label, field=field)


FED_GPT4 = Format(
    key="fed_gpt4",
    title="GPT-4's scores of FED's conversations",
    hint="fed_gpt4_annotations.json: five samples of five qualities, added to a corpus of FED.",
    read=read_fed_gpt4,
    looks_like=lambda head: FIRST_SCORES.match(head.text) is not None,
    labels_only=True,
    schemes=(GPT4.key,),
)


# USR (Mehri and Eskenazi 2020): responses to contexts of PersonaChat and Topical-Chat, with ratings.
#
# `pc_usr_data.json` and `tc_usr_data.json` are lists of {"context", "fact", "annotators", "responses"}. A
# context is one dialogue: its lines alternate between speakers, so that the response is by `System` and the
# line before it by `User`. A persona ("your persona: ...") is the profile of `System`, any other fact goes
# into the metadata. The original response is the dialogue's own next turn, given, so that it is the
# reference; each response, the original one too, is a static continuation by its model, rated by the scheme
# `usr_turn`. Equal contexts share a cluster.

CONTEXT = frozenset({"context", "fact", "annotators", "responses"})
QUALITIES = ("Understandable", "Natural", "Maintains Context", "Engaging", "Uses Knowledge", "Overall")
RESPONSE = frozenset({"response", "model", *QUALITIES})
ORIGINAL = "original ground truth"
PERSONA = "your persona:"
NO_FACT = ("", "_nofact")
USER, SYSTEM = "User", "System"


def read_usr(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each context: `usr-persona-001` or `usr-topical-001` is the file's first."""
    for file in source.files():
        contexts = list(_list(source, file, "a list of contexts"))
        part = "persona" if any(_is_persona(raw) for _, raw in contexts) else "topical"
        clusters: dict[str, str] = {}
        for number, (path, raw) in enumerate(contexts, start=1):
            key = f"usr-{part}-{number:03d}"
            with source.report_problems(file):
                fields = Fields(raw, path, CONTEXT)
                record = _usr_dialogue(fields, key)
                cluster = clusters.setdefault(fields.text("context").strip(), key)
                yield SourceRecord(replace(record, cluster=cluster), file=source.name_in_folder(file))


def _is_persona(raw: Any) -> bool:
    fact = raw.get("fact") if isinstance(raw, dict) else None
    return isinstance(fact, str) and PERSONA in fact.lower()


def _usr_dialogue(fields: Fields, key: str) -> Dialogue:
    context = fields.text("context").strip()
    lines = [line.strip() for line in context.split("\n")] if context else []
    if not lines:
        raise fields.problem("context", "is empty")
    turns = tuple(
        Turn(USER if (len(lines) - index) % 2 else SYSTEM, line, given=True)
        for index, line in enumerate(lines)
    )
    raters = _raters(fields)
    responses = list(fields.objects("responses", RESPONSE))
    if not responses:
        raise fields.problem("responses", "has no responses")
    parts = _continuations(responses, len(lines))
    original = _original(responses)
    profile, fact = _split_fact(fields.text("fact", ""))
    return Dialogue(
        id=key,
        turns=turns
        + tuple(Turn(SYSTEM, response.text("response").strip(), given=True) for response in original),
        system=original[0].text("model").strip() if original else HUMAN,
        participants=(
            Participant(USER, role="user"),
            Participant(SYSTEM, role="system", profile=profile),
        ),
        continuations=parts,
        labels=tuple(
            label
            for response, part in zip(responses, parts, strict=True)
            for label in _usr_labels(response, part.id, raters)
        ),
        language="en",
        metadata={"fact": fact} if fact else {},
    )


def _split_fact(fact: str) -> tuple[tuple[str, ...], str]:
    """Split a fact field into the persona's sentences and the fact; one of them is empty."""
    text = fact.strip()
    if text in NO_FACT:
        return (), ""
    if PERSONA not in text.lower():
        return (), text
    lines = (line.strip() for line in text.split("\n"))
    return tuple(
        line[len(PERSONA) :].strip() if line.lower().startswith(PERSONA) else line for line in lines if line
    ), ""


def _raters(fields: Fields) -> tuple[str, ...]:
    """Return the raters of all responses to a context, none where the file does not name them."""
    names = fields.texts("annotators")
    if len(set(names)) < len(names) or any(not 0 < len(name) <= NAME_LIMIT for name in names):
        raise fields.problem("annotators", "must be different names")
    return names


def _original(responses: list[Fields]) -> list[Fields]:
    """Return the response of the original conversation, the reference of the others; none without it."""
    originals = [response for response in responses if response.text("model").strip().lower() == ORIGINAL]
    if len(originals) > 1:
        raise originals[1].problem("model", "is the original response for the second time")
    return originals


def _continuations(responses: list[Fields], at: int) -> tuple[Continuation, ...]:
    trials: Counter[str] = Counter()
    parts = []
    for response in responses:
        model = response.id("model", limit=min(NAME_LIMIT, ID_LIMIT)).strip()
        if not model or model == SELF:
            raise response.problem("model", "must be a name, and not `self`")
        trial = trials[model]
        trials[model] += 1
        turn = Turn(SYSTEM, response.text("response").strip(), at=at)
        key = model if not trial else f"{model}-{trial + 1}"
        parts.append(Continuation(key, model, (turn,), mode="static", trial=trial))
    return tuple(parts)


def _usr_labels(response: Fields, continuation: str, raters: tuple[str, ...]) -> Iterator[LabelRecord]:
    for quality in QUALITIES:
        if not response.has(quality):
            raise response.problem(quality, "is missing")
        answers = list(response.items(quality))
        if raters and len(answers) != len(raters):
            raise response.problem(quality, f"has {len(answers)} answers of {len(raters)} annotators")
        yield from _answers(quality, answers, _number, (continuation, 0, SCHEME.key), raters)


def _number(value: Any, path: str) -> tuple[float | None, str]:
    return number_or_none(value, path), "no answer given" if value is None else ""


def _looks_like_usr(head: Head) -> bool:
    return head.text.startswith("[") and {"context", "fact", "responses"} <= head.keys


USR = Format(
    key="usr",
    title="USR responses with their ratings",
    hint="pc_usr_data.json or tc_usr_data.json, or both together.",
    read=read_usr,
    looks_like=_looks_like_usr,
    folder=True,
    schemes=(SCHEME.key,),
)


# ComperDial (Wakaki et al. 2024): people's dialogues, responses of systems at their points, and ratings.
#
# A folder holds the dialogues (`ComperDial_dialogue_data.json` or `ComperDial_data.json`), the responses
# with their scores (`ComperDial_turn_level_evaluation.json`) and the scores of all responses of a system to
# a dialogue (`ComperDial_dialogue_level_evaluation.json`). A dialogue's two people have their personas as
# profiles. Each system, agent or human writer, has one static continuation for each dialogue, with a turn
# at every point of B. Dialogues without responses are left out. The field names of evaluations are resolved
# in the section below.

# ComperDial's evaluation files: annotators' scores, and the aspects that made a score low.
#
# A file is a list of records; each names its dialogue, system and, at turn level, response. A score is a
# number (with its annotator, or of an unidentified one), a list with one number for each of several
# unidentified annotators, or an object of scores by annotator. An aspect is marked with `n`: beside the score
# in the record, in the same arrangement, or within an annotator's own object.

NAMES = {
    "dialogue": ("dialogue_id", "dialog_id", "dialogue", "id"),
    "system": ("system", "system_id", "model", "model_id", "agent", "agent_id"),
    "turn": ("turn", "turn_id", "turn_index"),
    "response": ("response", "text"),
    "annotator": ("annotator", "annotator_id"),
    "score": ("score", "scores", "overall"),
}
"""Names of a field in files, by its name here; `columns` adds further ones."""
MARKED = ("n", "N", 1, True)
UNMARKED = ("", "-", 0, False, None)


@dataclass(frozen=True, slots=True)
class Answer:
    """One annotator's score and, of the requested aspects, the marked ones."""

    rater: str
    identified: bool
    score: float
    marks: Mapping[str, bool]
    field: str

    def answered_marks(self) -> Iterator[tuple[str, bool]]:
        """Yield the marks that answer a question: all where the score is low, else those that are set."""
        for aspect, marked in self.marks.items():
            if marked or self.score <= LOW:
                yield aspect, marked


def name_of(fields: Fields, key: str, columns: Mapping[str, str]) -> str:
    """Return a record's name for a field, empty where it has none of that kind."""
    if key in columns:
        return columns[key] if fields.has(columns[key]) else ""
    return next((name for name in NAMES[key] if fields.has(name)), "")


def required_name(fields: Fields, key: str, columns: Mapping[str, str]) -> str:
    """Return the name of a field in a record; refuse a record without it."""
    name = name_of(fields, key, columns)
    if not name:
        names = columns.get(key) or " or ".join(NAMES[key])
        raise fields.problem(
            key, f"is missing: there is no {names}; say which field it is with --map {key}=NAME"
        )
    return name


def identity(fields: Fields, name: str, limit: int) -> str:
    """Return an id that is a text or a whole number."""
    value = fields.raw[name]
    return str(value) if type(value) is int else fields.id(name, limit=limit).strip()


def answers(fields: Fields, columns: Mapping[str, str]) -> list[Answer]:
    """Return the answers of a record; raise ImportProblem where their annotator or content is ambiguous."""
    name = required_name(fields, "score", columns)
    value, path = fields.raw[name], fields.at(name)
    beside = {aspect: fields.raw[aspect] for aspect in ASPECTS if aspect in fields.raw}
    if isinstance(value, dict):
        return [
            _by(rater, element, f"{path}.{rater}", _part(beside, rater, path))
            for rater, element in value.items()
        ]
    if isinstance(value, list):
        return [
            _answer(f"slot {n + 1}", False, element, f"{path}[{n}]", _part(beside, n, path))
            for n, element in enumerate(value)
            if element is not None
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
    score = required_name(own, "score", {})
    marks = {aspect: own.raw[aspect] for aspect in ASPECTS if aspect in own.raw}
    return _answer(rater, True, own.raw[score], own.at(score), marks or beside)


def _part(beside: Mapping[str, Any], key: str | int, path: str) -> dict[str, Any]:
    """Return one annotator's marks among those beside the scores of several."""
    rater_marks: dict[str, Any] = {}
    for aspect, marks in beside.items():
        if isinstance(marks, dict) and isinstance(key, str):
            rater_marks[aspect] = marks.get(key)
        elif isinstance(marks, list) and isinstance(key, int) and key < len(marks):
            rater_marks[aspect] = marks[key]
        else:
            raise ImportProblem(f"is not arranged as the scores in {path} are", field=aspect)
    return rater_marks


def _answer(rater: str, identified: bool, value: Any, path: str, marks: Mapping[str, Any]) -> Answer:
    if not is_number(value):
        raise ImportProblem(f"must be a score from 1 to 5, not {kind_of(value)}", field=path)
    checked_marks = {aspect: _mark(mark, f"{path}, {aspect}") for aspect, mark in marks.items()}
    return Answer(rater, identified, float(value), checked_marks, path)


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
UTTERANCE_FIELDS = frozenset({"persona_id", "text"})
ANSWERING = "B"


@dataclass(slots=True)
class _Responses:
    """One system's responses in one dialogue, by the number of B's turn."""

    texts: dict[int, str] = field(default_factory=dict)
    scores: list[tuple[int, Answer]] = field(default_factory=list)
    dialogue_answers: list[Answer] = field(default_factory=list)


@dataclass(slots=True)
class _Gathered:
    """A dialogue with the points of B's turns and the systems' responses there."""

    record: Dialogue
    points: list[int]
    systems: dict[str, _Responses] = field(default_factory=dict)


def read_comperdial(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues with responses, in file order."""
    files = source.files_by_name(DIALOGUES[0])
    _check_files(files)
    dialogues: dict[str, _Gathered] = {}
    for name in DIALOGUES:
        if name in files:
            _dialogues(source, files[name], dialogues)
    if TURNS in files:
        _turns(source, files[TURNS], dialogues)
    if WHOLES in files:
        _wholes(source, files[WHOLES], dialogues)
    rated = {key: gathered for key, gathered in dialogues.items() if gathered.systems}
    if rated and len(rated) < len(dialogues):
        source.notes.append(f"dialogues that nobody responded to, left out: {len(dialogues) - len(rated)}")
    for key, gathered in (rated or dialogues).items():
        with source.report_problems(files.get(TURNS)):
            yield SourceRecord(_record(key, gathered))


def _check_files(files: Mapping[str, Path]) -> None:
    if extra := sorted(files.keys() - {*DIALOGUES, TURNS, WHOLES}):
        names = ", ".join((*DIALOGUES, TURNS, WHOLES))
        raise ImportProblem(f"is no file of ComperDial: they are {names}", file=extra[0])
    if not files.keys() & set(DIALOGUES):
        raise ImportProblem(f"there is neither {' nor '.join(DIALOGUES)} among the files")
    if WHOLES in files and TURNS not in files:
        raise ImportProblem(f"rates responses, which are in {TURNS}: send it, too", file=WHOLES)


def _dialogues(source: Source, file: Path, dialogues: dict[str, _Gathered]) -> None:
    for number, (path, raw) in enumerate(_list(source, file), start=1):
        with source.report_problems(file):
            gathered = _dialogue(Fields(raw, path), number)
            before = dialogues.setdefault(gathered.record.id, gathered)
            if before.record.turns != gathered.record.turns:
                raise ImportProblem(
                    f"the dialogue {gathered.record.id!r} has other turns elsewhere", field=path
                )


def _dialogue(fields: Fields, number: int) -> _Gathered:
    name = next((name for name in ("dialogue_id", "id") if fields.has(name)), "")
    persona = Fields(fields.object("persona"), fields.at("persona"), PEOPLE)
    utterances = list(fields.objects("dialogue", UTTERANCE_FIELDS))
    turns = tuple(
        Turn(utterance.choice("persona_id", ("A", "B"), ""), utterance.text("text"))
        for utterance in utterances
    )
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
    return _Gathered(record, points)


def _about(source: Source, fields: Fields, dialogues: dict[str, _Gathered]) -> tuple[_Gathered, str]:
    """Return the dialogue and the system that a record of an evaluation is about."""
    read_fields = {*chain(*NAMES.values()), *source.mapping.values(), *ratings.ASPECTS}
    source.pass_over(name for name in fields.raw if name not in read_fields)
    name = required_name(fields, "dialogue", source.mapping)
    key = identity(fields, name, ID_LIMIT)
    if key not in dialogues:
        raise fields.problem(
            name, f"{key[:60]!r} is not the id of a dialogue (without ids they count from 1)"
        )
    system = required_name(fields, "system", source.mapping)
    called = identity(fields, system, NAME_LIMIT)
    if not called or called == SELF:
        raise fields.problem(system, "must be a name, and not `self`")
    return dialogues[key], called


def _turns(source: Source, file: Path, dialogues: dict[str, _Gathered]) -> None:
    numbered: list[tuple[int, Fields]] = []
    for path, raw in _list(source, file):
        with source.report_problems(file):
            fields = Fields(raw, path)
            numbered.append((_turn_number(source, fields), fields))
    first = 0 if any(number == 0 for number, _ in numbered) else 1
    for number, fields in numbered:
        with source.report_problems(file):
            gathered, system = _about(source, fields, dialogues)
            _add_response(source, fields, gathered, system, number - first)


def _turn_number(source: Source, fields: Fields) -> int:
    number = fields.count(required_name(fields, "turn", source.mapping), None)
    return 0 if number is None else number


def _add_response(source: Source, fields: Fields, gathered: _Gathered, system: str, number: int) -> None:
    turn, response = (required_name(fields, name, source.mapping) for name in ("turn", "response"))
    if number >= len(gathered.points):
        raise fields.problem(turn, f"is beyond the {len(gathered.points)} turns of {ANSWERING}")
    text = fields.text(response)
    answered = gathered.systems.setdefault(system, _Responses())
    if answered.texts.setdefault(number, text) != text:
        raise fields.problem(response, f"differs from what {system[:60]!r} answered there before")
    answered.scores += [(number, answer) for answer in answers(fields, source.mapping)]


def _wholes(source: Source, file: Path, dialogues: dict[str, _Gathered]) -> None:
    for path, raw in _list(source, file):
        with source.report_problems(file):
            fields = Fields(raw, path)
            gathered, system = _about(source, fields, dialogues)
            if system not in gathered.systems:
                raise ImportProblem(f"{system[:60]!r} has no responses to this dialogue", field=path)
            gathered.systems[system].dialogue_answers += answers(fields, source.mapping)


def _record(key: str, gathered: _Gathered) -> Dialogue:
    parts = tuple(
        _continuation(key, system, responses, gathered) for system, responses in gathered.systems.items()
    )
    labels = tuple(
        label for system, responses in gathered.systems.items() for label in _labels(system, responses)
    )
    return replace(gathered.record, continuations=parts, labels=labels)


def _continuation(key: str, system: str, responses: _Responses, gathered: _Gathered) -> Continuation:
    absent = [str(number + 1) for number in range(len(gathered.points)) if number not in responses.texts]
    if absent:
        raise ImportProblem(
            f"{system[:60]!r} has no response to dialogue {key[:60]!r} at turn {', '.join(absent)}"
        )
    turns = tuple(Turn(ANSWERING, responses.texts[n], at=point) for n, point in enumerate(gathered.points))
    return Continuation(system, system, turns, mode="static")


def _labels(system: str, responses: _Responses) -> Iterator[LabelRecord]:
    for number, answer in responses.scores:
        yield _label(system, number, answer, ratings.COMPERDIAL_TURN.key, "overall", answer.score)
    for answer in responses.dialogue_answers:
        scheme = ratings.COMPERDIAL_DIALOGUE.key
        yield _label(system, None, answer, scheme, "overall", answer.score)
        for aspect, marked in answer.answered_marks():
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


def _looks_like_comperdial(head: Head) -> bool:
    return head.text.startswith("[") and {"persona", "dialogue", "persona_id"} <= head.keys


COMPERDIAL = Format(
    key="comperdial",
    title="ComperDial dialogues, responses and ratings",
    hint="The files of ComperDial together: dialogues, turn-level and dialogue-level evaluation.",
    read=read_comperdial,
    looks_like=_looks_like_comperdial,
    folder=True,
    roles=tuple(NAMES),
)
