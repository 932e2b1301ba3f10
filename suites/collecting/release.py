"""Release check of a corpus: the state of every dialogue, reviewers' reasons, and possible personal data."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.corpora.exclusion import NOT_CHECKED, OBJECTED, PASSED, Exclusion, Review, reviews
from annotation.models import Campaign, Corpus, Dialogue, Label, Turn
from annotation.models.labels import live_labels
from annotation.models.turn_numbers import numbers_of
from annotation.text.context import NamedText
from annotation.text.table_cells import guarded
from annotation.work.labels import name_of
from annotation.work.screens import Screen
from calibration.exports.downloads import Content, Order
from calibration.exports.parts import ExportPart
from calibration.exports.writing import Blocks
from suites.collecting.personal_data import KINDS, Flag, scan
from suites.collecting.schemes import ETHICS, OBJECTION, REASON

RELEASE = Exclusion(OBJECTION, ">=", "1")
"""The exclusion by which selections leave out what the check has not passed."""
HIDDEN = "hidden"
"""State of a dialogue in a test part that nobody has opened, whose answers no page shows."""
TITLES = {
    PASSED: "passed",
    OBJECTED: "objected",
    NOT_CHECKED: "not checked",
    HIDDEN: "in the unopened test part",
}
"""States with their names on pages."""
TOGETHER = 50
"""Dialogues that are scanned in one batch."""
COLUMNS = ("dialogue", "state", "objections", "reviews", "needed", "reasons", "flags")
FILE, LABELS_A_TURN = "release", 3
"""Name of the file among downloads, and how many labels are written while one turn is scanned."""
NOTE, FIRST_FLAGS = "possible personal data", 40


@dataclass(frozen=True, slots=True)
class TurnFlag:
    """Possible personal data in a stored turn: its continuation, its index there from 0, and its number."""

    continuation: str
    turn: int
    number: int
    kind: str
    text: str

    @property
    def title(self) -> str:
        """Name of the kind on pages."""
        return KINDS[self.kind]


@dataclass(frozen=True, slots=True)
class CheckedDialogue:
    """A dialogue in the release check: its state, the reviewers' reasons by pseudonym, and its flags."""

    review: Review
    reasons: tuple[tuple[str, str], ...]
    flags: tuple[TurnFlag, ...]

    @property
    def state(self) -> str:
        """Key of the state; `hidden` in a test part that nobody has opened."""
        return state_of(self.review)

    def as_json(self) -> dict[str, Any]:
        """Return plain data; without answers where these are hidden."""
        review = self.review
        is_hidden = review.is_hidden
        return {
            "dialogue": review.dialogue,
            "state": self.state,
            "objections": None if is_hidden else review.objections,
            "reviews": None if is_hidden else review.reviews,
            "needed": review.needed,
            "reasons": [{"rater": rater, "reason": reason} for rater, reason in self.reasons],
            "flags": [
                {
                    "continuation": flag.continuation,
                    "turn": flag.turn,
                    "turn_number": flag.number,
                    "kind": flag.kind,
                    "text": flag.text,
                }
                for flag in self.flags
            ],
        }


def release_reviews(corpus: Corpus, state: str = "") -> list[Review]:
    """Return the dialogues of a corpus by key, training included; with a state, those in it alone."""
    rows = reviews(corpus, RELEASE)
    return [row for row in rows if state_of(row) == state] if state else rows


def state_of(review: Review) -> str:
    """Return the key of a dialogue's state, `hidden` where its answers are."""
    return HIDDEN if review.is_hidden else review.state


def state_counts(rows: Sequence[Review]) -> dict[str, int]:
    """Return the number of dialogues in each state."""
    counted = Counter(map(state_of, rows))
    return {state: counted[state] for state in TITLES}


def release_campaigns(corpus: Corpus) -> list[Campaign]:
    """Return the campaigns of the release check, newest first."""
    rows = corpus.campaigns.filter(scheme_version__scheme__key=ETHICS.key, archived_at=None)
    return list(rows.order_by("-pk"))


def checked_dialogues(corpus: Corpus, rows: Sequence[Review]) -> list[CheckedDialogue]:
    """Return dialogues with reasons and flags, in order."""
    ids = [row.id for row in rows]
    reasons = _reasons(corpus, [row.id for row in rows if not row.is_hidden])
    flags = _flags(ids)
    return [CheckedDialogue(row, tuple(reasons[row.id]), tuple(flags[row.id])) for row in rows]


def _reasons(corpus: Corpus, dialogues: Sequence[int]) -> Mapping[int, list[tuple[str, str]]]:
    labels: Any = (
        live_labels()
        .filter(
            question__key=REASON,
            question__version__scheme__key=ETHICS.key,
            rater__kind="human",
            item__continuation__dialogue__in=dialogues,
            missing="",
        )
        .select_related("rater", "item__continuation")
        .order_by("pk")
    )
    reasons: dict[int, list[tuple[str, str]]] = defaultdict(list)
    label: Label
    for label in labels:
        reasons[label.item.continuation.dialogue_id].append(
            (name_of(label.rater, corpus.pk), label.text or "")
        )
    return reasons


def _flags(dialogues: Sequence[int]) -> Mapping[int, list[TurnFlag]]:
    turns: dict[int, list[tuple[int, str, int, str]]] = defaultdict(list)
    rows: Any = Turn.objects.filter(continuation__dialogue__in=dialogues)
    columns = ("continuation__dialogue", "pk", "continuation__key", "position", "text")
    for dialogue, *turn in rows.order_by("continuation_id", "position").values_list(*columns):
        turns[dialogue].append((turn[0], turn[1], turn[2], turn[3]))
    casts = dict(Dialogue.objects.filter(pk__in=dialogues).values_list("pk", "participants"))
    flags: dict[int, list[tuple[int, str, int, Flag]]] = {}
    for dialogue, own in turns.items():
        found_flags = scan([text for *_, text in own], cast_names(casts[dialogue]))
        flags[dialogue] = [(*own[flag.turn][:3], flag) for flag in found_flags]
    numbers = numbers_of([pk for several in flags.values() for pk, *_ in several])
    by_dialogue: dict[int, list[TurnFlag]] = defaultdict(list)
    for dialogue, several in flags.items():
        for pk, continuation, position, flag in several:
            row = TurnFlag(continuation, position, numbers[pk], flag.kind, flag.text)
            by_dialogue[dialogue].append(row)
    return by_dialogue


def cast_names(participants: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names, ids and aliases of a dialogue's people."""
    names = []
    for person in participants:
        names += [person["id"], person.get("name") or "", *(person.get("aliases") or ())]
    return names


def csv_blocks(corpus: Corpus, state: str = "") -> Blocks:
    """Yield the release check as CSV, a row for each dialogue; text cells are guarded."""
    rows = release_reviews(corpus, state)
    yield _line(COLUMNS)
    for start in range(0, len(rows), TOGETHER):
        lines = []
        for checked in checked_dialogues(corpus, rows[start : start + TOGETHER]):
            data = checked.as_json()
            reasons = " | ".join(f"{row['rater']}: {row['reason']}" for row in data["reasons"])
            flags = " | ".join(
                f"{flag.continuation}/{flag.turn} {flag.title}: {flag.text}" for flag in checked.flags
            )
            cells = [data[name] for name in COLUMNS[:5]]
            lines.append(_line([*("" if cell is None else cell for cell in cells), reasons, flags]))
        yield b"".join(lines)
    return len(rows)


def _line(cells: Sequence[Any]) -> bytes:
    text = io.StringIO()
    row = [guarded(cell) if isinstance(cell, str) else cell for cell in cells]
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue().encode()


def release_order(corpus: Corpus, state: str = "") -> Order:
    """Return the order of the release check's file: a worker writes it for a large corpus."""
    return Order(FILE, corpus, None, ExportPart(None, ""), "csv", choice={"state": state})


CONTENTS = {
    FILE: Content(
        title="release check",
        most=lambda order: Turn.objects.filter(continuation__dialogue__corpus=order.corpus).count(),
        blocks=lambda order: csv_blocks(order.corpus, order.choice["state"]),
        labels_a_row=LABELS_A_TURN,
        offer=lambda corpus: None,
        template="",
    )
}
"""The file among the downloads of a corpus; its page is that of the release check."""


def screen_notes(screen: Screen) -> list[NamedText]:
    """Return the flags of a reviewer's screen, from the lines and people that it shows."""
    lines = screen.lines
    names = [*(line.who for line in lines)]
    for person in screen.people:
        names += [person.name, *person.aliases]
    flags = scan([line.text for line in lines], names)
    texts = [f"turn {lines[flag.turn].no}: {flag.title} “{flag.text}”" for flag in flags[:FIRST_FLAGS]]
    if more := len(flags) - len(texts):
        texts.append(f"and {more:,} more")
    return [(NOTE, "\n".join(texts))] if texts else []


SCREEN_NOTES = {ETHICS.key: screen_notes}
