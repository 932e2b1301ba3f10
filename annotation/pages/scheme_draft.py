"""A scheme in the editor's form: texts in fields, complete or not.

Each question keeps its `uid` while questions are added, moved and removed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from typing import Any

from django.utils.text import Truncator

from annotation.schemes.definitions import UNSCALED, QuestionDefinition, SchemeDefinition, is_met, plain
from annotation.schemes.rules import EVIDENCE_KEY, PAGE_KEYS, Problem

# Defaults for fields that a researcher leaves empty: keys, groups and hot keys.

WORDS_OF_A_KEY = 4
MOST_TAGS = 100
LONGEST = 40


def key_from(text: str, otherwise: str, used_keys: Collection[str]) -> str:
    """Return a key of a text's first words, or `otherwise` where the text has no Latin letters.

    A key among `used_keys` gets a number.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", re.sub(r"['’]", "", plain))
    while words and not words[0][0].isalpha():
        words.pop(0)
    words = words[:WORDS_OF_A_KEY]
    while len(words) > 1 and len("_".join(words)) > LONGEST:
        words.pop()
    key = "_".join(words)[:LONGEST] or otherwise
    number = 2
    while (candidate := key if number == 2 and key not in used_keys else f"{key}_{number}") in used_keys:
        number += 1
    return candidate


def shortcut_from(texts: Iterable[str], used_letters: Collection[str]) -> str:
    """Return the first free letter of the texts, else of the alphabet; '' where all letters are used."""
    letters = (letter for text in (*texts, ascii_lowercase) for letter in text.lower())
    return next(
        (letter for letter in letters if letter in ascii_lowercase and letter not in used_letters), ""
    )


ANSWERED_BY = {
    "ordinal": "a scale: steps in order",
    "interval": "a scale whose steps are equally far apart",
    "ratio": "a scale of equal steps that counts from zero",
    "nominal": "one of several, in no order",
    "binary": "yes or no",
    "tags": "tags: any of a list",
    "tag": "a single tag: set or not, beside others of its group",
    "count": "a number that counts from zero",
    "number": "a number whose zero means nothing special",
    "text": "words",
    "comparison": "which of two is better (for pairs)",
    "ranking": "an order of all that is shown (for rankings)",
}
"""Types of answers by kind of question, in words for the form."""
SCALES = ("ordinal", "interval", "ratio")
HELP = {
    "definition": "What it means",
    "example": "An example",
    "not_this": "What it is not",
    "keep_in_mind": "Keep in mind, one aspect a line",
}
ASKED_OF = {"": "each turn", "dialogue": "the whole dialogue, after its turns"}
"""Subjects of a question on a screen with all turns of a continuation, by item kind."""
UNITS = {"item": "one of them", "continuation": "all turns of a continuation"}
POINTS_AT = {"": "at nothing", "turns": "at turns", "spans": "at turns or at words in them"}
NO_KEY = "none"
GONE = "gone"
SLOTS = {
    "level": "kind",
    "anchors": "values",
    "positive": "values",
    "show_if": "after",
    "minimum": "range",
    "maximum": "range",
    "whole": "range",
    "evidence_for": "evidence",
    "evidence_required": "evidence",
}
"""Form field for the problems of a definition's field, where their names differ."""
FIELDS = (
    "wording",
    "short_name",
    "key",
    "kind",
    "values",
    "tags",
    "range",
    "group",
    "shortcut",
    "required",
    "help",
    "after",
    "evidence",
    "item_kind",
)
SCHEME_FIELDS = ("title", "key", "item_kind", "unit", "introduction", "guidelines", "source", "questions")
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,15}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})", re.ASCII)
FieldErrors = dict[str, list[str]]


@dataclass(slots=True)
class DraftQuestion:
    """Fields of a question; `values` are pairs of a value and its wording.

    `after` is the uid of the question on which it depends ('': none, GONE: a removed one), `answers` and
    `low` to `high` are the answers that show it, `condition` is the stored condition, as JSON. `evidence` is
    the kind of evidence of its answers (`evidence_for`: those with evidence; empty for the rule's default),
    `item_kind` a key of ASKED_OF. `tags` has a tag a line, `name: what it means`; each becomes a question of
    its own (`parts`), which is `in_list`. `told` has problems by field, `earlier` the choices for `after`.
    """

    uid: str
    unfolded: bool = False
    wording: str = ""
    short_name: str = ""
    key: str = ""
    kind: str = "ordinal"
    values: list[tuple[str, str]] = field(default_factory=list)
    minimum: str = ""
    maximum: str = ""
    whole: bool = False
    group: str = ""
    shortcut: str = ""
    required: bool = True
    positive: str = ""
    help: dict[str, str] = field(default_factory=dict)
    after: str = ""
    answers: list[str] = field(default_factory=list)
    low: str = ""
    high: str = ""
    condition: str = ""
    evidence: str = ""
    evidence_for: list[str] = field(default_factory=list)
    evidence_required: bool = False
    item_kind: str = ""
    tags: str = ""
    in_list: bool = False
    told: FieldErrors = field(default_factory=dict)
    earlier: list[DraftQuestion] = field(default_factory=list)
    chosen_key: str = ""
    chosen_shortcut: str = ""

    @property
    def is_scale(self) -> bool:
        """Whether its values are numbers in order."""
        return self.kind in SCALES

    @property
    def is_open(self) -> bool:
        """Whether the answer may be any number."""
        return self.kind in ("count", "number")

    @property
    def awaited(self) -> DraftQuestion | None:
        """The question on which it depends."""
        return next((question for question in self.earlier if question.uid == self.after), None)

    @property
    def after_choices(self) -> list[tuple[str, str]]:
        """Questions after which it may be asked."""
        rows = [
            (other.uid, f"only after “{Truncator(other.wording or other.chosen_key).chars(50)}”")
            for other in self.earlier
        ]
        if self.after and self.awaited is None:
            rows.append((self.after, "only after a question that is not before it"))
        return [("", "always"), *rows]

    @property
    def is_fixed(self) -> bool:
        """Whether its values are fixed: yes and no."""
        return self.kind == "binary"

    @property
    def has_free_values(self) -> bool:
        """Whether rows of values may be added and taken out."""
        return not self.is_fixed

    @property
    def input_mode(self) -> str | None:
        """Keyboard of a phone for its values."""
        return "decimal" if self.is_scale else None

    @property
    def usual_anchors(self) -> dict[str, str]:
        """Wordings of fixed values where they have none of their own."""
        return {"0": "No", "1": "Yes"} if self.is_fixed else {}

    @property
    def has_group(self) -> bool:
        """Whether it stands in a group on the page."""
        return self.kind in ("tag", "text")

    @property
    def least(self) -> str | None:
        """Least number that its kind allows."""
        return "0" if self.kind == "count" else None

    @property
    def shortcut_hint(self) -> str:
        """How a tag gets its key of the keyboard."""
        if self.shortcut == NO_KEY:
            return "This tag has no key."
        if self.shortcut:
            return "Left empty, a key is chosen."
        if self.chosen_shortcut:
            return f"Chosen: {self.chosen_shortcut}. Write another, or none."
        return "No letter is free."

    @property
    def unseen(self) -> list[tuple[str, str]]:
        """Values that its form carries without showing them."""
        pairs = [
            ("unfolded", "1" if self.unfolded else ""),
            ("was", self.kind),
            ("condition", self.condition),
            ("positive", self.positive),
        ]
        if self.kind == "tags":
            pairs.append(("wording", self.wording))
        if self.kind == "tags" or (self.kind == "tag" and self.required):
            pairs.append(("required", "on"))
        return pairs

    @property
    def has_more(self) -> bool:
        """Whether a rarely used field is filled in or has a problem."""
        fields = (self.key, self.short_name, self.evidence, self.has_help)
        return any(fields) or not self.told.keys().isdisjoint(("help", "key", "short_name", "evidence"))

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Its answers, each with its wording."""
        if self.kind == "tag":
            return [("1", "set"), ("0", "not set")]
        return [(value, text or value) for value, text in self.values if value]

    @property
    def fields(self) -> list[str]:
        """Names of its fields on the page."""
        if self.kind == "tags":
            return ["kind", "tags", "group", "item_kind"]
        absent = {"tags"} if self.has_group else {"tags", "group"}
        return [name for name in FIELDS if name not in absent]

    @property
    def title(self) -> str:
        """Its wording, or the names of its tags."""
        return ", ".join(part.wording for part in self.parts()) if self.kind == "tags" else self.wording

    def parts(self) -> list[DraftQuestion]:
        """Return the questions of the scheme that it stands for: itself, or one a tag of its list."""
        if self.kind != "tags":
            return [self]
        lines = [line.partition(":") for line in self.tags.splitlines() if line.strip()]
        return [
            DraftQuestion(
                self.uid,
                wording=name.strip(),
                kind="tag",
                group=self.group,
                help={"definition": meaning.strip()},
                item_kind=self.item_kind,
                in_list=True,
            )
            for name, _, meaning in lines[:MOST_TAGS]
        ]

    @property
    def help_rows(self) -> list[tuple[str, str, str]]:
        """Parts of its help: name, heading, text."""
        return [(name, heading, self.help.get(name, "")) for name, heading in HELP.items()]

    @property
    def has_help(self) -> bool:
        """Whether any part of its help is filled in."""
        return any(self.help.values())

    def typed(self, value: str) -> Any:
        """Return a value in the type of a file: a number where the question's values are numbers."""
        return value if self.kind in ("nominal", "comparison") else number(value)


@dataclass(slots=True)
class Draft:
    """A scheme's fields and its questions in order; `told` has problems by field.

    `name` is that of the campaign in whose form it stands: the title where it has none, and then the key is
    none of `used_keys`. `parts` are the questions of the scheme, each after the draft's question for it.
    """

    title: str = ""
    name: str = ""
    key: str = ""
    item_kind: str = "turn"
    unit: str = "item"
    introduction: str = ""
    guidelines: str = ""
    source: str = ""
    about_open: bool = False
    one_conversation: bool = False
    used_keys: Collection[str] = ()
    questions: list[DraftQuestion] = field(default_factory=list)
    parts: list[tuple[DraftQuestion, DraftQuestion]] = field(default_factory=list)
    told: FieldErrors = field(default_factory=dict)
    chosen_key: str = ""

    @property
    def asks_of_both(self) -> bool:
        """Whether questions may be about the whole dialogue: only on screens with all turns."""
        return self.item_kind == "turn" and self.unit == "continuation"

    @property
    def has_more(self) -> bool:
        """Whether a rarely used field is filled in or has a problem."""
        return bool(self.source or self.about_open or self.one_conversation or self.told.get("source"))

    def new_uid(self) -> str:
        """Return an unused uid."""
        return f"q{1 + max((int(question.uid[1:]) for question in self.questions), default=0)}"

    def settle(self) -> None:
        """Fill in derived fields: keys, groups, hot keys, and each question's choices for `after`."""
        self.chosen_key = self.key or key_from(self.title or self.name, "scheme", self.used_keys)
        keys = {question.key for question in self.questions if question.key}
        used_letters = {*PAGE_KEYS, *(question.shortcut for question in self.questions)}
        if any(question.evidence for question in self.questions):
            used_letters.add(EVIDENCE_KEY)
        uids = {question.uid for question in self.questions}
        self.parts = [(question, part) for question in self.questions for part in question.parts()]
        for index, (_, question) in enumerate(self.parts):
            before = [part for _, part in self.parts[:index]]
            same = [other for other in before if other.item_kind == question.item_kind]
            question.earlier = [other for other in same if other.kind not in UNSCALED and not other.in_list]
            question.chosen_key = question.key or key_from(question.wording, f"question_{index + 1}", keys)
            keys.add(question.chosen_key)
            question.chosen_shortcut = ""
            if question.after and question.after not in uids:
                question.after = GONE
            if question.kind != "tag":
                continue
            question.group = question.group or (same and same[-1].group) or _group(question)
            if question.shortcut == NO_KEY:
                continue
            texts = (question.wording, question.chosen_key)
            question.chosen_shortcut = question.shortcut or shortcut_from(texts, used_letters)
            used_letters.add(question.chosen_shortcut)

    def tell(self, problems: Iterable[Problem]) -> None:
        """Add problems to the fields that they are about."""
        for problem in problems:
            path = list(problem.path)
            if path[:1] == ["questions"] and len(path) > 1 and int(path[1]) < len(self.parts):
                (question, part), rest = self.parts[int(path[1])], path[2:]
                name = str(rest[0]) if rest else "wording"
                place = f"{part.wording}: " if part.in_list else _placed(rest)
                slot = "tags" if part.in_list else SLOTS.get(name, name)
                question.told.setdefault(slot, []).append(place + problem.sentence)
            else:
                name = str(path[0]) if path and path[0] in SCHEME_FIELDS else ""
                self.told.setdefault(name, []).append(problem.sentence)

    @property
    def slots(self) -> list[tuple[str, list[str]]]:
        """Ids of all places for problems beside fields, each with its problems."""
        names = [name for name in SCHEME_FIELDS if not (name == "guidelines" and self.name)]
        own = [(f"scheme-{name}", self.told.get(name, [])) for name in names]
        theirs = [
            (f"{question.uid}-{name}", question.told.get(name, []))
            for question in self.questions
            for name in question.fields
        ]
        return [*own, *theirs]


def _group(question: DraftQuestion) -> str:
    """Return the default name of a group of tags."""
    return "Tags of the whole" if question.item_kind else "Tags"


def _placed(rest: list[str | int]) -> str:
    """Return the prefix of a problem that names its row of the values or its part of the help."""
    if len(rest) < 2:
        return ""
    if rest[0] == "values":
        return f"Row {int(rest[1]) + 1}: "
    return f"{HELP.get(str(rest[1]), rest[1])}: " if rest[0] in ("anchors", "help") else ""


def number(text: str) -> Any:
    """Parse a number; return any other text unchanged, for the rules to report."""
    if not _NUMBER.fullmatch(text):
        return text
    return plain(float(text))


# Conversion from the form to the structure of a file, and from a definition to the form.

FEW = 3
"""Maximum number of questions that the editor shows unfolded; with more, all start folded."""
LEVEL = {"tag": "binary", "count": "ratio", "number": "interval", "comparison": "nominal"}


def mapping_of(draft: Draft) -> dict[str, Any]:
    """Return a settled draft in the structure of a file (`annotation.schemes.files`)."""
    flags = {name: True for name in ("about_open", "one_conversation") if getattr(draft, name)}
    texts = {
        name: text for name in ("introduction", "guidelines", "source") if (text := getattr(draft, name))
    }
    return {
        "key": draft.chosen_key,
        "title": draft.title or draft.name,
        "item_kind": draft.item_kind,
        "unit": draft.unit,
        **texts,
        **flags,
        "questions": [_question(draft, part) for _, part in draft.parts],
    }


def _question(draft: Draft, question: DraftQuestion) -> dict[str, Any]:
    content: dict[str, Any] = {
        "key": question.chosen_key,
        "wording": question.wording,
        "short_name": question.short_name,
        "level": LEVEL.get(question.kind, question.kind),
        **_scale(question),
        "group": question.group if question.kind in ("tag", "text") else "",
        "shortcut": question.chosen_shortcut,
        "help": {name: text for name, text in question.help.items() if text},
        "required": question.required,
        **_evidence(question),
        "item_kind": question.item_kind,
        "show_if": _condition(draft, question) if question.after else None,
    }
    return {name: value for name, value in content.items() if value not in (None, "", {}, [])}


def _evidence(question: DraftQuestion) -> dict[str, Any]:
    if not question.evidence:
        return {}
    choices = {} if question.kind == "tag" else dict(question.choices)
    values = [question.typed(value) for value in question.evidence_for if value in choices]
    required = {"evidence_required": True} if question.evidence_required else {}
    return {"evidence": question.evidence, "evidence_for": values, **required}


def _scale(question: DraftQuestion) -> dict[str, Any]:
    if question.is_open:
        ends = {"minimum": question.minimum, "maximum": question.maximum}
        integers_only = {"whole": True} if question.whole else {}
        return {name: number(end) for name, end in ends.items() if end} | integers_only
    if question.kind in UNSCALED:
        return {}
    if question.kind == "tag" and not question.values:
        return {"values": [0, 1], "positive": 1}
    rows = [(question.typed(value), text) for value, text in question.values if value or text]
    scale: dict[str, Any] = {"values": [value for value, _ in rows]}
    if anchors := {value: text for value, text in rows if text}:
        scale["anchors"] = anchors
    if question.kind in ("binary", "tag"):
        scale["positive"] = number(question.positive or "1")
    return scale


def _condition(draft: Draft, question: DraftQuestion) -> dict[str, Any]:
    awaited = next((other for other in draft.questions if other.uid == question.after), None)
    if awaited is None:
        return {"question": ""}
    key = awaited.chosen_key
    if awaited.is_open:
        ends = {"min": question.low, "max": question.high}
        return {"question": key} | {name: number(end) for name, end in ends.items() if end}
    values = [awaited.typed(value) for value, _ in awaited.choices]
    ordered = all(isinstance(value, int | float) for value in values)
    answers = [awaited.typed(value) for value in question.answers if value in dict(awaited.choices)]
    stored = json.loads(question.condition or "null")
    if stored and stored["question"] == key and answers == _met(stored, key, values):
        return dict(stored)
    return {"question": key} | _range(sorted(values) if ordered else [], answers)


def _range(scale: list[Any], answers: list[Any]) -> dict[str, Any]:
    """Return answers at the low or high end of a scale as one bound, else as a list."""
    some = 0 < len(answers) < len(scale)
    if some and sorted(answers) == scale[: len(answers)]:
        return {"max": scale[len(answers) - 1]}
    if some and sorted(answers) == scale[-len(answers) :]:
        return {"min": scale[-len(answers)]}
    return {"in": answers}


def _met(condition: Mapping[str, Any], key: str, values: Iterable[Any]) -> list[Any]:
    return [value for value in values if is_met(condition, {key: value})]


def draft_of(definition: SchemeDefinition) -> Draft:
    """Return the draft of a definition."""
    draft = Draft(
        title=definition.title,
        key=definition.key,
        item_kind=definition.item_kind,
        unit=definition.unit,
        introduction=definition.introduction,
        guidelines=definition.guidelines,
        source=definition.source,
        about_open=definition.about_open,
        one_conversation=definition.one_conversation,
    )
    few = len(definition.questions) <= FEW
    for index, question in enumerate(definition.questions):
        draft.questions.append(_draft_question(f"q{index + 1}", question, few))
        _wait(draft, draft.questions[-1], question.show_if)
    draft.settle()
    return draft


def with_lists(draft: Draft) -> Draft:
    """Join tags that follow each other into lists, as far as the scheme stays the same."""
    content = mapping_of(draft)
    for first in range(len(draft.questions)):
        last = first
        while last < len(draft.questions) and _joins(draft.questions[first], draft.questions[last]):
            last += 1
        if last - first < 2:
            continue
        tags = draft.questions[first:last]
        lines = [f"{tag.wording}: {tag.help.get('definition', '')}".removesuffix(": ") for tag in tags]
        head = tags[0]
        joined = DraftQuestion(head.uid, head.unfolded, kind="tags", group=head.group, tags="\n".join(lines))
        joined.item_kind = head.item_kind
        candidate = replace(draft, questions=[*draft.questions[:first], joined, *draft.questions[last:]])
        candidate.settle()
        if mapping_of(candidate) == content:
            return with_lists(candidate)
        draft.settle()
    return draft


def _joins(first: DraftQuestion, tag: DraftQuestion) -> bool:
    """Whether a tag may stand in one list with the first."""
    return tag.kind == "tag" and (tag.group, tag.item_kind) == (first.group, first.item_kind)


def _draft_question(uid: str, question: QuestionDefinition, unfolded: bool) -> DraftQuestion:
    kind: str = "tag" if question.is_tag else question.level
    if question.is_comparison:
        kind = "comparison"
    if question.is_open:
        kind = "count" if question.level == "ratio" else "number"
    is_plain = question.is_tag and not question.anchors
    rows = (
        [] if is_plain else [(str(value), str(question.anchors.get(value, ""))) for value in question.values]
    )
    return DraftQuestion(
        uid=uid,
        unfolded=unfolded,
        wording=question.wording,
        short_name=question.short_name,
        key=question.key,
        kind=kind,
        values=rows,
        minimum="" if question.minimum is None else str(plain(question.minimum)),
        maximum="" if question.maximum is None else str(plain(question.maximum)),
        whole=question.whole,
        group=question.group,
        shortcut=question.shortcut or (NO_KEY if question.is_tag else ""),
        required=question.required,
        positive="" if question.positive is None else str(plain(question.positive)),
        help=dict(question.help),
        evidence=question.evidence,
        evidence_for=[str(value) for value in question.evidence_for],
        evidence_required=question.evidence_required,
        item_kind=question.item_kind,
    )


def _wait(draft: Draft, question: DraftQuestion, condition: Mapping[str, Any] | None) -> None:
    """Fill in the fields of a question's condition."""
    if condition is None:
        return
    question.condition = json.dumps(dict(condition), ensure_ascii=False)
    awaited = next((other for other in draft.questions if other.key == condition["question"]), None)
    question.after = awaited.uid if awaited else GONE
    if awaited is None or awaited.is_open:
        question.low, question.high = (str(condition.get(end, "")) for end in ("min", "max"))
        return
    pairs = [(value, awaited.typed(value)) for value, _ in awaited.choices]
    question.answers = [value for value, typed in pairs if is_met(condition, {awaited.key: typed})]
