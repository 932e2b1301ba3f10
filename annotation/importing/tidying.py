"""Names and answers as an import keeps them: names in one spelling, words for no answer as missing answers.

Names of dialogues, speakers, raters and systems have no space around them. Those that differ in case or inner
space alone are refused with a list, joined, or kept apart, as the import's settings say. Who is a judge is
said by the file, or by the settings: names are a reason to ask alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from django.db import connection

from annotation.formats import Faults, ImportProblem, Rating, Source, SourceRecord
from annotation.formats.settings import FOLD_NAMES, JUDGES, MISSING
from annotation.models import Corpus, Import, Rater
from annotation.records import HUMAN, Continuation, Dialogue, LabelRecord, Turn
from annotation.text.cells import (
    Names,
    clashes_told,
    folded,
    judges_of,
    looks_like_a_model,
    means_nothing,
    unsaid_judges,
    words_of,
)

ADVICE = "differ in case or space alone: --fold-names joins them, --fold-names=no keeps them apart"
TOLD = 20
MOST_OF_A_CATEGORY = 60
"""Characters of the longest answer that is taken for a category, whose spellings are compared."""
DIALOGUES = """
SELECT array_agg(key ORDER BY id) FROM annotation_dialogue WHERE corpus_id = %s
 GROUP BY lower(translate(key, E' \\t\\u00a0', '')) HAVING count(*) > 1 AND bool_or(imported_id = %s)
 ORDER BY min(id) LIMIT 20
"""
"""Dialogues of the corpus whose names differ in case or space alone, one of them of this import."""


class Tidying:
    """The names and answers of one file, as its settings have them kept."""

    def __init__(self, origin: Source, corpus: Corpus, *, into: bool) -> None:
        self.names = str(origin.settings.get(FOLD_NAMES, ""))
        self.missing = words_of(str(origin.settings.get(MISSING, "")))
        self.met: set[str] = set()
        self.judges = judges_of(str(origin.settings.get(JUDGES, "")))
        self.join = self.names == "yes"
        self.dialogues, self.systems, self.raters = (Names(self.join) for _ in range(3))
        self.speakers: list[tuple[str, ...]] = []
        self.joined: dict[tuple[str, ...], None] = {}
        self.unsaid: dict[str, int | None] = {}
        self.kinds: dict[str, str] = {}
        self.answers: dict[tuple[str, str], str] = {}
        self.spellings: dict[tuple[str, str], dict[str, None]] = {}
        if into:
            self._know(self.raters, Rater.objects.filter(corpus=corpus).values_list("name", flat=True))
            self._know(self.systems, corpus.systems.values_list("name", flat=True))
            if self.join:
                self._know(self.dialogues, corpus.dialogues.order_by("id").values_list("key", flat=True))

    @staticmethod
    def _know(names: Names, stored: Iterable[str]) -> None:
        """Take the corpus's names as they are: they may differ in case alone."""
        for name in stored:
            names[name] = name
            names.first.setdefault(folded(name), name)

    def tidy(self, entries: Iterable[SourceRecord], faults: Faults) -> Iterator[SourceRecord]:
        """Yield the records with their names and answers as they are kept."""
        for entry in entries:
            record = entry.record
            try:
                tidied = (
                    self._rating(record, entry)
                    if isinstance(record, Rating)
                    else self._dialogue(record, entry)
                )
            except ImportProblem as problem:
                faults.add(problem.placed(line=entry.line, file=entry.file))
            else:
                yield entry if tidied is record else replace(entry, record=tidied)

    def _rating(self, rating: Rating, entry: SourceRecord) -> Rating:
        key = self._key(rating.dialogue)
        label = self._label(rating.label, entry, rating.raw)
        if key == rating.dialogue and label is rating.label:
            return rating
        return replace(rating, dialogue=key, label=label, raw=None if label.value is None else rating.raw)

    def _key(self, dialogue: str) -> str:
        return self.dialogues[dialogue] if self.join else dialogue.strip()

    def _dialogue(self, dialogue: Dialogue, entry: SourceRecord) -> Dialogue:
        speakers = Names(self.join)
        participants = tuple(
            one if speakers[one.id] == one.id else replace(one, id=speakers[one.id])
            for one in dialogue.participants
        )
        tidied = {
            "id": self._key(dialogue.id),
            "system": self.systems[dialogue.system],
            "participants": tuple({one.id: one for one in reversed(participants)}.values())[::-1],
            "turns": _turns(dialogue.turns, speakers),
            "continuations": tuple(self._continuation(one, speakers) for one in dialogue.continuations),
            "labels": tuple(self._label(label, entry) for label in dialogue.labels),
        }
        if speakers.clashes:
            clashes = [tuple(names) for names in speakers.clashes.values()]
            self.joined.update(dict.fromkeys(clashes))
            self.speakers += clashes if len(self.speakers) < TOLD else []
        changed = {name: value for name, value in tidied.items() if value != getattr(dialogue, name)}
        return replace(dialogue, **changed) if changed else dialogue  # type: ignore[arg-type]

    def _continuation(self, part: Continuation, speakers: Names) -> Continuation:
        turns, system = _turns(part.turns, speakers), self.systems[part.system]
        if turns is part.turns and system == part.system:
            return part
        return replace(part, turns=turns, system=system)

    def _label(self, label: LabelRecord, entry: SourceRecord, raw: str | None = None) -> LabelRecord:
        rater = self.raters[label.rater]
        changed: dict[str, object] = {} if rater == label.rater else {"rater": rater}
        if (kind := self._kind(label, rater, entry)) != label.kind:
            changed["kind"] = kind
        cell = raw or label.value if self.missing else None
        cell = f"{cell:g}" if isinstance(cell, float | int) else cell
        if cell and means_nothing(cell.strip(), self.missing):
            plain = cell.strip().casefold()
            self.met.add(plain if plain in self.missing else plain.partition(" (")[0])
            if label.value is not None:
                reason = cell.partition("(")[2].rstrip(" )") or cell.strip()
                changed |= {"value": None, "missing": reason, "evidence": ()}
        value = changed.get("value", label.value)
        is_category = label.level in ("", "nominal") and len(str(value)) <= MOST_OF_A_CATEGORY
        if isinstance(value, str) and is_category:
            category = self._category(label.question, value)
            changed |= {} if category == value else {"value": category}
        return replace(label, **changed) if changed else label  # type: ignore[arg-type]

    def _category(self, question: str, value: str) -> str:
        """The category that an answer in words is kept as, and note its spellings."""
        first = self.answers.setdefault((question, folded(value)), value)
        if first != value:
            self.spellings.setdefault((question, first), {first: None})[value] = None
        return first if self.join else value

    def _kind(self, label: LabelRecord, rater: str, entry: SourceRecord) -> str:
        """Return the kind of a rater as the file says it, else as the settings do, else a person's."""
        kind = label.kind
        if self.judges is None:
            if not kind:
                self.unsaid.setdefault(rater, entry.line)
            return kind or HUMAN
        named = rater in self.judges
        if named:
            self.kinds[rater] = "judge"
        if named and kind not in ("", "judge"):
            raise ImportProblem(f"{rater!r} is {kind} here, but named among the judges", field="kind")
        if named and not label.identified:
            raise ImportProblem("only people can be unidentified", field="identified")
        found = kind or ("judge" if named else HUMAN)
        if not kind:
            self.kinds[rater] = found
        return found

    def check(self, imported: Import, faults: Faults, *, dialogues: bool) -> None:
        """Refuse names that differ in case or space alone; ask who is a judge where that is not clear."""
        clashes: list[tuple[str, Sequence[Iterable[str]]]] = [
            ("speakers", list(dict.fromkeys(self.speakers))),
            ("raters", list(self.raters.clashes.values())),
            ("systems", list(self.systems.clashes.values())),
        ]
        if dialogues and not self.names:
            with connection.cursor() as cursor:
                cursor.execute(DIALOGUES, [imported.corpus_id, imported.pk])
                clashes.append(("dialogues", [keys for (keys,) in cursor.fetchall()]))
        if not self.names:
            for what, names in clashes:
                if names:
                    faults.add(ImportProblem(f"{clashes_told(names, what)} {ADVICE}"))
        if any(map(looks_like_a_model, self.unsaid)):
            line = min((line for line in self.unsaid.values() if line), default=None)
            faults.add(ImportProblem(unsaid_judges(self.unsaid), field="kind", line=line))
        if absent := sorted((self.judges or frozenset()) - self.kinds.keys()):
            faults.add(ImportProblem(f"there is no rater {absent[0]!r} in the file", field=JUDGES))

    def notes(self) -> list[str]:
        """Say which names were joined, and who was taken for what."""
        told = [("dialogues", self.dialogues), ("systems", self.systems), ("raters", self.raters)]
        notes = [
            f"Joined: {clashes_told(names.clashes.values(), what)}." for what, names in told if names.clashes
        ]
        notes += [f"Joined: {clashes_told(self.joined, 'speakers')}."] if self.joined else []
        notes += self._categories()
        if unmet := sorted(self.missing - self.met):
            notes.append(f"No answer reads {', '.join(unmet)}: --missing took nothing as missing for it.")
        groups = {"Judges": "judge", "People": HUMAN}
        for title, kind in groups.items():
            raters = [rater for rater, found in self.kinds.items() if found == kind]
            if raters:
                more = f" and {len(raters) - TOLD} more" if len(raters) > TOLD else ""
                notes.append(f"{title}: {', '.join(raters[:TOLD])}{more}.")
        return notes if self.join else [note for note in notes if not note.startswith("Joined")]

    def _categories(self) -> list[str]:
        """Say which answers in words differ in case or space alone, question by question."""
        by_question: dict[str, list[Iterable[str]]] = {}
        for (question, _), spellings in self.spellings.items():
            by_question.setdefault(question, []).append(spellings)
        if self.join:
            return [
                f"Joined: {clashes_told(clashes, f'answers to {question}:')}."
                for question, clashes in list(by_question.items())[:TOLD]
            ]
        if self.names:
            return []
        return [
            f"{question}: {clashes_told(clashes, 'the answers')} differ in case or space alone and are "
            "categories of their own; --fold-names joins them."
            for question, clashes in list(by_question.items())[:TOLD]
        ]


def _turns(turns: tuple[Turn, ...], speakers: Names) -> tuple[Turn, ...]:
    """Return turns with the names of their people as they are kept; the same object where nothing changes."""
    changed = False
    tidied = []
    for turn in turns:
        speaker = speakers[turn.speaker]
        if speaker != turn.speaker or turn.addressees or turn.audience:
            addressees = tuple(dict.fromkeys(speakers[name] for name in turn.addressees))
            audience = turn.audience and tuple(dict.fromkeys(speakers[name] for name in turn.audience))
            if (speaker, addressees, audience) != (turn.speaker, turn.addressees, turn.audience):
                turn = replace(turn, speaker=speaker, addressees=addressees, audience=audience)
                changed = True
        tidied.append(turn)
    return tuple(tidied) if changed else turns
