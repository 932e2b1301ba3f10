"""MPDD (Chen et al. 2020): dialogues of Chinese television plays.

They are in `dialogue.json`; `metadata.json` may stand beside it.

A case is one dialogue by people, in Chinese. An utterance's listeners are whom it addresses. Its emotion,
and the speaker's relation to each listener, are nominal labels of one imported rater: `relation` to the
first listener, `relation_2` to the second, and so on. `metadata.json` lists the emotions and relations that
there are, and groups relations by field and position. The setting `min_turns` leaves shorter dialogues out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import ID_LIMIT, Fields, decode, kind_of
from annotation.formats.head import Head
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import SELF, Dialogue, LabelRecord, Participant, Turn

RATER = "MPDD annotation"
DIALOGUES, METADATA = "dialogue.json", "metadata.json"
UTTERANCE = frozenset({"speaker", "utterance", "listener", "emotion"})
LISTENER = frozenset({"name", "relation"})
KNOWN = frozenset({"relation", "field", "position", "emotion"})
GROUPS = ("field", "position")


@dataclass(slots=True)
class _Scale:
    """The answers that there are: those that the metadata list, else those that were seen, in that order."""

    listed: bool = False
    answers: dict[str, dict[str, None]] = field(default_factory=lambda: {"emotion": {}, "relation": {}})
    groups: dict[str, dict[str, str]] = field(default_factory=lambda: {group: {} for group in GROUPS})

    def answer(self, fields: Fields, name: str) -> str:
        """Return an answer; refuse one that the metadata do not list."""
        value = fields.id(name)
        if self.listed and value not in self.answers[name]:
            listed = ", ".join(self.answers[name])
            raise fields.problem(name, f"{value[:60]!r} is not listed in {METADATA}: {listed[:200]}")
        self.answers[name].setdefault(value)
        return value


@dataclass(slots=True)
class _Said:
    """An utterance, read: what was said to whom, with which emotion and relations."""

    turn: Turn
    emotion: str
    relations: list[str]


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each case, in the order of the file."""
    dialogues, metadata = _files(source)
    scale = _Scale()
    if metadata is not None:
        _list(scale, source, metadata)
    place = dialogues.name if source.path.is_dir() else ""
    cases = decode(source.document(dialogues))
    if not isinstance(cases, dict) or not cases:
        raise ImportProblem(f"must be an object of dialogues by case, not {kind_of(cases)}", file=place)
    read_cases: dict[str, list[_Said]] = {}
    for key, case in cases.items():
        try:
            read_cases[key] = _case(key, case, scale)
        except ImportProblem as problem:
            source.report(problem.placed(file=place))
    least = int(source.settings.get("min_turns", 1))
    short = sum(1 for said in read_cases.values() if len(said) < least)
    if short:
        source.notes.append(f"dialogues of fewer than {least} turns, left out: {short}")
    for key, said in read_cases.items():
        if len(said) >= least:
            yield SourceRecord(_dialogue(key, said, scale), file=place)


def _files(source: Source) -> tuple[Path, Path | None]:
    """Return the file of the dialogues and that of the metadata, None without one."""
    if not source.path.is_dir():
        return source.path, None
    files = {file.name: file for file in source.files()}
    if DIALOGUES not in files:
        raise ImportProblem(f"there is no {DIALOGUES} among the files")
    if extra := sorted(files.keys() - {DIALOGUES, METADATA}):
        raise ImportProblem("is no file of MPDD: leave it out", file=extra[0])
    return files[DIALOGUES], files.get(METADATA)


def _list(scale: _Scale, source: Source, file: Path) -> None:
    """Read which emotions and relations there are, and how relations are grouped."""
    try:
        fields = Fields(decode(source.document(file)), "", KNOWN)
        for name in scale.answers:
            scale.answers[name].update(dict.fromkeys(fields.texts(name)))
        for group in GROUPS:
            parts = Fields(fields.object(group), group, frozenset(fields.object(group)))
            scale.groups[group] = {relation: part for part in parts.raw for relation in parts.texts(part)}
    except ImportProblem as problem:
        raise problem.placed(file=file.name) from None
    scale.listed = True


def _case(key: str, case: Any, scale: _Scale) -> list[_Said]:
    if not key or len(key) > ID_LIMIT:
        raise ImportProblem(f"the id of a case has 1 to {ID_LIMIT} characters", field=key[:60])
    fields = Fields({key: case}, "", frozenset({key}))
    said = [_utterance(Fields(part, path, UTTERANCE), scale) for path, part in fields.items(key)]
    if not said:
        raise fields.problem(key, "has no turns")
    return said


def _utterance(fields: Fields, scale: _Scale) -> _Said:
    listeners = [Fields(part, path, LISTENER) for path, part in fields.items("listener")]
    names = [listener.id("name") for listener in listeners]
    if len(set(names)) < len(names):
        raise fields.problem("listener", "names one listener twice")
    relations = [scale.answer(listener, "relation") for listener in listeners]
    turn = Turn(
        fields.id("speaker"),
        fields.text("utterance"),
        addressees=tuple(names),
        extra=_extra(dict(zip(names, relations, strict=True)), scale),
    )
    return _Said(turn, scale.answer(fields, "emotion"), relations)


def _extra(relations: dict[str, str], scale: _Scale) -> dict[str, Any]:
    """Return the relations by listener, with their field and position where these are known."""
    listeners = {
        name: {"relation": relation}
        | {group: part[relation] for group, part in scale.groups.items() if relation in part}
        for name, relation in relations.items()
    }
    return {"listeners": listeners} if listeners else {}


def _dialogue(key: str, said: list[_Said], scale: _Scale) -> Dialogue:
    people = dict.fromkeys(name for one in said for name in (one.turn.speaker, *one.turn.addressees))
    return Dialogue(
        id=key,
        turns=tuple(one.turn for one in said),
        participants=tuple(Participant(name) for name in people),
        labels=tuple(label for n, one in enumerate(said) for label in _labels(one, n, scale)),
        language="zh",
    )


def _labels(one: _Said, position: int, scale: _Scale) -> Iterator[LabelRecord]:
    answers = [("emotion", "emotion", one.emotion)]
    for number, relation in enumerate(one.relations, start=1):
        answers.append(("relation", "relation" if number == 1 else f"relation_{number}", relation))
    for name, question, value in answers:
        yield LabelRecord(
            rater=RATER,
            kind="human",
            continuation=SELF,
            turn=position,
            question=question,
            value=value,
            level="nominal",
            values=tuple(scale.answers[name]),
        )


def _looks_like(head: Head) -> bool:
    return head.text.startswith("{") and {"speaker", "utterance", "listener", "emotion"} <= head.inner


FORMAT = Format(
    key="mpdd",
    title="MPDD dialogues",
    hint="dialogue.json, alone or together with metadata.json.",
    read=read,
    looks_like=_looks_like,
    folder=True,
    settings=("min_turns",),
)
