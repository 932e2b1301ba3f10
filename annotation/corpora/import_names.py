"""Names in an import: which questions its labels answer, and unified spelling of names and answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any

from django.db.models import Exists, Min, OuterRef, Q
from django.db.models.functions import Length

from annotation import scheme_store
from annotation.corpora import import_staging
from annotation.formats import FORMATS, Rating, Source, SourceRecord
from annotation.formats.corpus_format import FOLD_NAMES, JUDGES, MISSING
from annotation.formats.source import Faults, ImportProblem
from annotation.kinds import KINDS
from annotation.models import Campaign, Import, LabelCount, Rater, Scheme, SchemeVersion
from annotation.models import Turn as StoredTurn
from annotation.models.corpora import Corpus
from annotation.models.labels import Label
from annotation.models.schemes import Question, asks_about
from annotation.records import HUMAN, Continuation, Dialogue, LabelRecord, Turn
from annotation.schemes import SCHEMES
from annotation.schemes.cocoeval import PAPER_NAMES
from annotation.schemes.definitions import (
    COMPARISON,
    LEVELS,
    RANKING,
    SHORT_NAME,
    QuestionDefinition,
    SchemeDefinition,
    values_text,
)
from annotation.text.table_cells import (
    Names,
    describe_clashes,
    folded,
    judges_of,
    looks_like_a_model,
    means_nothing,
    unsaid_judges,
    words_of,
)

# A corpus's own scheme: questions that its files answer and that no other scheme asks.

OWN = "own"
"""Name of the corpus's own scheme in `--scheme`."""


@dataclass(frozen=True, slots=True)
class QuestionReference:
    """A question as the labels of a file name it, with their information on its scale.

    `numbers` and `words` are set where some answers can only be a number, or only a text.
    """

    kind: str
    key: str
    scheme: str
    line: int | None
    numbers: bool
    words: bool
    level: str
    values: str
    group: str
    anchors: str | None

    def problem(self, reason: str) -> ImportProblem:
        """Build the problem of the question, to be raised."""
        return ImportProblem(reason, field="question", line=self.line)


def own_key(corpus: Corpus, kind: str) -> str:
    """Return the key of a corpus's own scheme about items of a kind."""
    return f"corpus:{corpus.name}:{kind}"


def own_questions(
    corpus: Corpus, references: Sequence[QuestionReference]
) -> dict[QuestionReference, Question]:
    """Return questions of the corpus's own schemes, adding a version where some are new."""
    resolved: dict[QuestionReference, Question] = {}
    for kind in sorted({reference.kind for reference in references}):
        mine = [reference for reference in references if reference.kind == kind]
        version = _version(corpus, kind, mine)
        questions = {
            question.key: question for question in version.questions.select_related("version__scheme")
        }
        resolved.update({reference: questions[reference.key] for reference in mine})
    return resolved


def _version(corpus: Corpus, kind: str, references: Sequence[QuestionReference]) -> SchemeVersion:
    """Return the newest version of the own scheme, extended by these questions."""
    key = own_key(corpus, kind)
    last = SchemeVersion.objects.filter(scheme__key=key).order_by("-version").first()
    questions = (
        {} if last is None else {question.key: _definition(question) for question in last.questions.all()}
    )
    for reference in references:
        questions.setdefault(reference.key, _new(reference))
    return scheme_store.store(
        definition=SchemeDefinition(
            key=key,
            version=1,
            title=f"Imported questions of {corpus.name} ({KINDS[kind].plural})",
            item_kind=kind,
            unit="item",
            introduction="Questions as they were named in imported files.",
            questions=_by_group(questions.values()),
        )
    )


def _by_group(questions: Iterable[QuestionDefinition]) -> tuple[QuestionDefinition, ...]:
    """Return the questions in their order, those of a group together where its first one stands."""
    places: dict[str, int] = {}
    for place, question in enumerate(questions := tuple(questions)):
        places.setdefault(question.group or f"\0{question.key}", place)
    return tuple(sorted(questions, key=lambda question: places[question.group or f"\0{question.key}"]))


def _new(reference: QuestionReference) -> QuestionDefinition:
    if reference.numbers and reference.words:
        raise reference.problem(f"{reference.key!r} is answered with numbers and with texts: use one of them")
    words = RANKING if reference.kind == "ranking" else "nominal"
    level: Any = reference.level or (words if reference.words else "interval")
    if level not in LEVELS:
        raise reference.problem(f"the level {level!r} is not one of {', '.join(LEVELS)}")
    values = tuple(json.loads(reference.values or "[]"))
    if reference.kind == "pair" and level == "nominal":
        values = values or COMPARISON
    pairs = json.loads(reference.anchors or "[]")
    anchors: dict[Any, str] = {int(value) if value % 1 == 0 else value: word for value, word in pairs}
    if level == "ordinal" and values and all(isinstance(value, str) for value in values):
        anchors = dict(enumerate(values, start=1))  # the words in their declared order are 1, 2, 3, ...
        values = tuple(anchors)
    if reference.group and level not in ("binary", "text"):
        raise reference.problem(
            f"{reference.key!r} is {level}: only yes/no questions, and texts beside them, stand in a group"
        )
    return QuestionDefinition(
        key=reference.key,
        wording=reference.key,
        short_name=reference.key.removeprefix(f"{reference.group}:")[:SHORT_NAME] if reference.group else "",
        level=level,
        values=values,
        anchors=anchors,
        group=reference.group,
    )


def _definition(question: Question) -> QuestionDefinition:
    same = {field.name: getattr(question, field.name) for field in fields(QuestionDefinition)}
    return QuestionDefinition(**same | {"values": tuple(question.values)})


# Resolution of a file's labels to questions of schemes, decided once for the whole file.
#
# In this order: the scheme that a label itself names; the schemes given with the import; a scheme that labels
# or campaigns of the corpus use; the built-in scheme for that kind of item that has the question (where
# several have it, the one that has most of the file's questions); else the corpus's own scheme.

ELSEWHERE = ("corpus:", "metric:")
"""Key prefixes of schemes whose questions a corpus may adopt as its own: they come with other data."""

STAGED_QUESTIONS = f"""
SELECT {import_staging.KIND} AS kind, question, scheme, min(line),
       bool_or(number IS NOT NULL AND text IS NULL), bool_or(number IS NULL AND text IS NOT NULL),
       max(level), max(values::text), max("group"), max(anchors::text)
  FROM import_label l GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""  # noqa: S608  (keys of ours)


def staged_questions() -> list[QuestionReference]:
    """Return the distinct questions of the staged labels."""
    return [QuestionReference(*row) for row in import_staging.fetch(STAGED_QUESTIONS)]


@dataclass(slots=True)
class Resolver:
    """Finds stored questions for the questions of a file.

    A `fresh` corpus uses no scheme yet; with `built_in`, the names may be those of built-in schemes.
    """

    corpus: Corpus
    schemes: tuple[str, ...]
    fresh: bool
    faults: Faults
    built_in: bool = True
    notes: list[str] = field(default_factory=list)

    def resolve(self, references: Iterable[QuestionReference]) -> dict[QuestionReference, Question]:
        """Return the stored question of each reference, storing built-in and own schemes where needed.

        References that cannot be resolved are reported as faults and left out.
        """
        references = list(references)
        resolved: dict[QuestionReference, Question] = {}
        own: list[QuestionReference] = []
        for reference in references:
            try:
                question = self._find(reference, references)
            except ImportProblem as problem:
                self.faults.add(problem)
                continue
            if question is None:
                own.append(reference)
            else:
                resolved[reference] = question
        try:
            resolved.update(own_questions(self.corpus, own))
        except ImportProblem as problem:
            self.faults.add(problem)
        self.notes = [_note(reference, question) for reference, question in resolved.items()]
        return resolved

    def _find(self, reference: QuestionReference, references: list[QuestionReference]) -> Question | None:
        if reference.scheme:
            return self._of_named_scheme(reference)
        for key in self.schemes:
            if key != OWN and (question := _of_scheme(key, reference)):
                return question
        if OWN in self.schemes:
            return None
        used = None if self.fresh else self._used(reference)
        return used or (self._built_in(reference, references) if self.built_in else None)

    def _of_named_scheme(self, reference: QuestionReference) -> Question | None:
        """Return the question of the scheme that the labels name; None for one that the corpus must own."""
        question = _of_scheme(reference.scheme, reference)
        if question is None and not reference.level and not reference.scheme.startswith(ELSEWHERE):
            raise reference.problem(
                f"the scheme {reference.scheme!r} has no question {reference.key!r} about {reference.kind} "
                "items"
            )
        return question

    def _used(self, reference: QuestionReference) -> Question | None:
        """Return the question as existing labels or campaigns of this corpus ask it."""
        labels = Label.objects.filter(question=OuterRef("pk"), item__corpus=self.corpus)
        campaigns = Campaign.objects.filter(scheme_version=OuterRef("version"), corpus=self.corpus)
        used = Question.objects.filter(asks_about(reference.kind), key=reference.key).select_related(
            "version__scheme"
        )
        questions = list(used.filter(Exists(labels)).order_by("-version")) or list(
            used.filter(Exists(campaigns)).order_by("-version")
        )
        self._refuse_several(reference, {question.version.scheme.key for question in questions})
        return questions[0] if questions else None

    def _built_in(self, reference: QuestionReference, references: list[QuestionReference]) -> Question | None:
        claimed = {key for format in FORMATS.values() for key in format.schemes}
        keys = {other.key for other in references if other.kind == reference.kind}
        scores: dict[str, int] = {}
        for scheme in SCHEMES.values():
            mine = {question.key for question in scheme.questions}
            if scheme.item_kind == reference.kind and reference.key in mine and scheme.key not in claimed:
                scores[scheme.key] = len(mine & keys)
        best = {key for key, score in scores.items() if score == max(scores.values())}
        self._refuse_several(reference, best)
        return _of_scheme(best.pop(), reference) if best else None

    def _refuse_several(self, reference: QuestionReference, schemes: set[str]) -> None:
        if len(schemes) > 1:
            names = ", ".join(sorted(schemes))
            raise reference.problem(
                f"{reference.key!r} about {reference.kind} items is in several schemes ({names}): "
                "choose with --scheme"
            )


def known_scheme(key: str) -> bool:
    """Whether a scheme of this key is built in or stored, or the key means the corpus's own."""
    return key == OWN or key in SCHEMES or Scheme.objects.filter(key=key.partition("@")[0]).exists()


def _of_scheme(key: str, reference: QuestionReference) -> Question | None:
    """Return the question of a scheme (`key` or `key@version`); a built-in one is stored at first use."""
    name, _, version = key.partition("@")
    condition = asks_about(reference.kind) & Q(
        version__scheme__key=name, key=PAPER_NAMES.get((name, reference.key), reference.key)
    )
    stored = (
        Question.objects.filter(condition).select_related("version__scheme").order_by("-version__version")
    )
    number = int(version) if version.isascii() and version.isdigit() else 0
    if number and (exact := stored.filter(version__version=number).first()):
        return exact
    definition = SCHEMES.get(name)
    if definition and reference.kind in definition.item_kinds:
        scheme_version = scheme_store.store(definition=definition)
        if question := stored.filter(version=scheme_version).first():
            return question
    return stored.first()


def _note(reference: QuestionReference, question: Question) -> str:
    version = question.version
    scale = f", one of {values_text(question.values)}" if question.values else ""
    return (
        f"Question {reference.key} about {KINDS[reference.kind].plural}: {question.level}{scale} "
        f"(scheme {version.scheme.key}, version {version.version})."
    )


# Normalisation of names and answers in an import: one spelling per name, words for no answer as missing.
#
# Names of dialogues, speakers, raters and systems have no space around them. Those that differ in case or
# inner space alone, from one another or from the corpus, are refused with a list, joined, or kept apart,
# depending on the import's settings. Answers in words that differ so are listed, or joined. Judges are
# declared by the file, or by the settings: names are only a reason to ask.

ADVICE = "differ in case or space alone: --fold-names joins them, --fold-names=no keeps them apart"
SEPARATE = "differ in case or space alone and are categories of their own; --fold-names joins them."
MOST_LISTED = 20
MOST_OF_A_CATEGORY = 60
"""Maximum characters of an answer that counts as a category, whose spellings are compared."""
TEXTS = ("text", RANKING)
"""Levels whose answers are no categories."""
DIALOGUES = """
SELECT array_agg(key ORDER BY id), array_agg(key) FILTER (WHERE imported_id IS DISTINCT FROM %s)
  FROM annotation_dialogue WHERE corpus_id = %s
 GROUP BY lower(translate(key, E' \\t\\u00a0', '')) HAVING count(*) > 1 AND bool_or(imported_id = %s)
 ORDER BY min(id) LIMIT 20
"""
"""Dialogues of the corpus whose names differ in case or space alone, one of them of this import, and those of
them that existed before.
"""


class Tidying:
    """Names and answers of one file, normalised by its settings."""

    def __init__(self, origin: Source, corpus: Corpus, *, into: bool) -> None:
        self.names = str(origin.settings.get(FOLD_NAMES, ""))
        self.missing = words_of(str(origin.settings.get(MISSING, "")))
        self.met: set[str] = set()
        self.judges = judges_of(str(origin.settings.get(JUDGES, "")))
        self.join = self.names == "yes"
        self.dialogues, self.systems, self.raters = (Names(self.join) for _ in range(3))
        self.corpus = corpus if into else None
        self.speakers: list[tuple[str, ...]] = []
        self.stored_speakers: set[str] = set()
        self.joined: dict[tuple[str, ...], None] = {}
        self.unsaid: dict[str, int | None] = {}
        self.kinds: dict[str, str] = {}
        self.answers: dict[str, dict[str, dict[str, None]]] = {}
        if into:
            self.raters.know(Rater.objects.filter(corpus=corpus).values_list("name", flat=True))
            self.systems.know(corpus.systems.values_list("name", flat=True))
            if self.join:
                self.dialogues.know(corpus.dialogues.order_by("id").values_list("key", flat=True))

    def tidy(self, entries: Sequence[SourceRecord], faults: Faults) -> Iterator[SourceRecord]:
        """Yield the records with normalised names and answers."""
        speakers = self._speakers(entries)
        for entry in entries:
            record = entry.record
            try:
                tidied = (
                    self._rating(record, entry)
                    if isinstance(record, Rating)
                    else self._dialogue(record, entry, speakers.get(self._key(record.id), ()))
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

    def _speakers(self, entries: Iterable[SourceRecord]) -> dict[str, list[str]]:
        """Return the participants of the corpus's dialogues to which a batch adds turns, by dialogue key."""
        records = (entry.record for entry in entries)
        keys = [
            self._key(record.id)
            for record in records
            if isinstance(record, Dialogue) and (record.turns or record.continuations)
        ]
        if self.corpus is None or not keys:
            return {}
        stored = self.corpus.dialogues.filter(key__in=keys).values_list("pk", "key", "participants")
        speakers = {pk: (key, [person["id"] for person in people]) for pk, key, people in stored}
        turns = StoredTurn.objects.filter(continuation__dialogue__in=speakers).values_list(
            "continuation__dialogue", "speaker"
        )
        for dialogue, speaker in (
            turns.annotate(first=Min("id")).order_by("first").values_list("continuation__dialogue", "speaker")
        ):
            speakers[dialogue][1].append(speaker)
        return dict(speakers.values())

    def _dialogue(self, dialogue: Dialogue, entry: SourceRecord, stored: Iterable[str]) -> Dialogue:
        speakers = Names(self.join)
        speakers.know(stored)
        participants = tuple(
            participant
            if speakers[participant.id] == participant.id
            else replace(participant, id=speakers[participant.id])
            for participant in dialogue.participants
        )
        tidied = {
            "id": self._key(dialogue.id),
            "system": self.systems[dialogue.system],
            "participants": tuple(
                {participant.id: participant for participant in reversed(participants)}.values()
            )[::-1],
            "turns": _turns(dialogue.turns, speakers),
            "continuations": tuple(
                self._continuation(continuation, speakers) for continuation in dialogue.continuations
            ),
            "labels": tuple(self._label(label, entry) for label in dialogue.labels),
        }
        if speakers.clashes:
            clashes = [tuple(names) for names in speakers.clashes.values()]
            self.joined.update(dict.fromkeys(clashes))
            self.stored_speakers |= speakers.stored.intersection(chain(*clashes))
            self.speakers += clashes if len(self.speakers) < MOST_LISTED else []
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
        if isinstance(value, str) and label.level not in TEXTS and len(value) <= MOST_OF_A_CATEGORY:
            self.answers.setdefault(label.question, {}).setdefault(folded(value), {})[value] = None
        return replace(label, **changed) if changed else label  # type: ignore[arg-type]

    def _kind(self, label: LabelRecord, rater: str, entry: SourceRecord) -> str:
        """Return the kind of a rater: from the file, else from the settings, else a person."""
        kind = label.kind
        if self.judges is None:
            if not kind:
                self.unsaid.setdefault(rater, entry.line)
            return kind or HUMAN
        is_judge = rater in self.judges
        if is_judge:
            self.kinds[rater] = "judge"
        if is_judge and kind not in ("", "judge"):
            raise ImportProblem(f"{rater!r} is {kind} here, but named among the judges", field="kind")
        if is_judge and not label.identified:
            raise ImportProblem("only people can be unidentified", field="identified")
        resolved_kind = kind or ("judge" if is_judge else HUMAN)
        if not kind:
            self.kinds[rater] = resolved_kind
        return resolved_kind

    def check(self, imported: Import, faults: Faults, *, dialogues: bool) -> None:
        """Refuse names that differ in case or space alone; ask which raters are judges where unclear."""
        clashes: list[tuple[str, Sequence[Iterable[str]], Collection[str]]] = [
            ("speakers", list(dict.fromkeys(self.speakers)), self.stored_speakers),
            ("raters", list(self.raters.clashes.values()), self.raters.stored),
            ("systems", list(self.systems.clashes.values()), self.systems.stored),
        ]
        if dialogues and not self.names:
            rows = import_staging.fetch(DIALOGUES, [imported.pk, imported.corpus_id, imported.pk])
            earlier = {key for _, before in rows for key in before or ()}
            clashes.append(("dialogues", [keys for keys, _ in rows], earlier))
        if not self.names:
            for category, names, stored in clashes:
                if names:
                    faults.add(ImportProblem(f"{describe_clashes(names, category, stored=stored)} {ADVICE}"))
        if any(map(looks_like_a_model, self.unsaid)):
            line = min((line for line in self.unsaid.values() if line), default=None)
            faults.add(ImportProblem(unsaid_judges(self.unsaid), field="kind", line=line, of_file=True))
        if absent := sorted((self.judges or frozenset()) - self.kinds.keys()):
            faults.add(ImportProblem(f"there is no rater {absent[0]!r} in the file", field=JUDGES))

    def notes(self) -> list[str]:
        """Describe which names were joined, and the assumed kinds of raters."""
        categories = [("dialogues", self.dialogues), ("systems", self.systems), ("raters", self.raters)]
        notes = [
            f"Joined: {describe_clashes(names.clashes.values(), category, stored=names.stored)}."
            for category, names in categories
            if names.clashes
        ]
        if self.joined:
            notes.append(f"Joined: {describe_clashes(self.joined, 'speakers', stored=self.stored_speakers)}.")
        if unmet := sorted(self.missing - self.met):
            notes.append(f"No answer reads {', '.join(unmet)}: --missing took nothing as missing for it.")
        groups = {"Judges": "judge", "People": HUMAN}
        for title, kind in groups.items():
            raters = [rater for rater, rater_kind in self.kinds.items() if rater_kind == kind]
            if raters:
                more = f" and {len(raters) - MOST_LISTED} more" if len(raters) > MOST_LISTED else ""
                notes.append(f"{title}: {', '.join(raters[:MOST_LISTED])}{more}.")
        return notes if self.join else [note for note in notes if not note.startswith("Joined")]

    def join_answers(
        self, questions: Mapping[QuestionReference, Question]
    ) -> tuple[dict[tuple[int, str], str], list[str]]:
        """Compare a file's answers in words with one another and with those of the scale or the corpus.

        Return the joined spellings, by question id and the file's spelling, and notes on spellings that
        differ in case or space alone.
        """
        joined: dict[tuple[int, str], str] = {}
        notes: dict[str, None] = {}
        for reference, question in questions.items():
            answers = self.answers.get(reference.key)
            scale = _words_of_scale(question)
            if not answers or question.level in TEXTS or self.names == "no" or (scale and not self.join):
                continue  # answers off a scale are refused
            stored = scale or (_stored_answers(self.corpus, reference, question) if self.corpus else [])
            by_fold: dict[str, list[str]] = {}
            for answer in stored:
                by_fold.setdefault(folded(answer), []).append(answer)
            clashes = []
            for fold, spellings in answers.items():
                first, *others = dict.fromkeys([*by_fold.get(fold, []), *spellings])
                if spellings.keys() & set(others):
                    clashes.append([first, *others])
                    joined |= {(question.pk, spelling): first for spelling in others}
            if clashes:
                title = f"answers to {reference.key}:" if self.join else "the answers"
                where = "on the scale" if scale else "in the corpus"
                listing = describe_clashes(clashes, title, stored=stored, where=where)
                notes[f"Joined: {listing}." if self.join else f"{reference.key}: {listing} {SEPARATE}"] = None
        return joined if self.join else {}, list(notes)[:MOST_LISTED]


def _words_of_scale(question: Question) -> list[str]:
    """Return the words of a question's scale; none where any word is an answer."""
    if question.level == Question.Level.NOMINAL:
        return [value for value in question.values if isinstance(value, str)]
    return list(question.anchors.values())


def _stored_answers(corpus: Corpus, reference: QuestionReference, question: Question) -> list[str]:
    """Return a corpus's stored answers in words to a question, in any version, the oldest first."""
    versions = Question.objects.filter(
        asks_about(reference.kind), version__scheme=question.version.scheme, key=question.key
    )
    counted = LabelCount.objects.filter(question__in=versions)
    if not counted.filter(corpus=corpus).exists():
        return []
    labels = Label.objects.filter(question__in=versions, superseded_at__isnull=True, text__isnull=False)
    if counted.exclude(corpus=corpus).exists():
        labels = labels.filter(item__corpus=corpus)
    rows = labels.annotate(length=Length("text")).filter(length__lte=MOST_OF_A_CATEGORY)
    by_age = rows.values("text").annotate(first=Min("pk")).order_by("first").values_list("text", flat=True)
    return [text for text in by_age if text is not None]


def _turns(turns: tuple[Turn, ...], speakers: Names) -> tuple[Turn, ...]:
    """Return turns with normalised names of people; the same object where nothing changes."""
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
