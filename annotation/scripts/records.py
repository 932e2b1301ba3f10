"""What a script is: dated sessions and who hears them, facts said in them, and questions with their uses.

Plain immutable data that imports nothing of the project (`dialsim.md`, section 1). Sessions are numbered from
1 in their order; a turn names its session by id.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date as Day
from types import MappingProxyType
from typing import Any, Literal

Source = Literal["quiz", "tkg"]
Form = Literal["undated", "present", "past"]
"""How a question about a fact is worded: without a date as for ever, as of now, or with the fact's date."""
Status = Literal["draft", "accepted", "rejected", "corrected"]
Precision = Literal["year", "month", "day"]

SOURCES: tuple[Source, ...] = ("quiz", "tkg")
FORMS: tuple[Form, ...] = ("undated", "present", "past")
STATUSES: tuple[Status, ...] = ("draft", "accepted", "rejected", "corrected")
FACT, QUESTION = "fact", "question"
LETTERS = "ABCDE"
UNKNOWN = "E"
"""The letter of `I don't know`, which is always offered and never among a question's own choices."""
DEFAULT_STYLE = "default"
ORIGINAL, ANONYMISED, SWAPPED = "original", "anonymised", "swapped"
NAMES = (ORIGINAL, ANONYMISED, SWAPPED)
_WRITTEN = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    """Return one empty mapping for all records that have nothing."""
    return _NOTHING


@dataclass(frozen=True, slots=True, order=True)
class Date:
    """A date that may be partial: the days that it can mean. Raises ValueError where there is no such day."""

    year: int
    month: int | None = None
    day: int | None = None

    def __post_init__(self) -> None:
        if self.day is not None and self.month is None:
            raise ValueError("a day needs a month")
        if not 1 <= self.year <= 9999 or not 1 <= (self.month or 1) <= 12:
            raise ValueError(f"{self} is no date")
        if not 1 <= (self.day or 1) <= calendar.monthrange(self.year, self.month or 1)[1]:
            raise ValueError(f"{self} is no date")

    @classmethod
    def read(cls, text: str) -> Date:
        """Return the date that `1994-09-22`, `1994-09` or `1994` writes; raise ValueError."""
        written = _WRITTEN.fullmatch(text.strip())
        if written is None:
            raise ValueError(f"{text[:40]!r} is not a date: write 1994-09-22, 1994-09 or 1994")
        year, month, day = (None if part is None else int(part) for part in written.groups())
        assert year is not None
        return cls(year, month, day)

    def __str__(self) -> str:
        parts = [f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part is not None)]
        return "-".join(parts)

    @property
    def precision(self) -> Precision:
        """How exact it is."""
        if self.month is None:
            return "year"
        return "month" if self.day is None else "day"

    @property
    def first(self) -> Day:
        """The first day that it can mean."""
        return Day(self.year, self.month or 1, self.day or 1)

    @property
    def last(self) -> Day:
        """The last day that it can mean."""
        month = self.month or 12
        return Day(self.year, month, self.day or calendar.monthrange(self.year, month)[1])

    def before(self, other: Date) -> bool:
        """Whether its last day is before the other's first one."""
        return self.last < other.first

    def overlaps(self, other: Date) -> bool:
        """Whether neither is before the other although they are not equal in value and precision."""
        return self != other and not self.before(other) and not other.before(self)


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a script. `present` are participants who are there beside those who speak in it.

    `season`, where it is named, is what is resampled in place of the session.
    """

    id: str
    date: Date
    place: str = ""
    episode: str = ""
    scene: str = ""
    season: str = ""
    present: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameMap:
    """A version of other names: each full word, or run of words, that is replaced, and what by.

    `kept` are spellings that stay although they look like a mapped name: other people of the same first name,
    titles of works.
    """

    kind: str
    version: int
    pairs: tuple[tuple[str, str], ...]
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """What makes a dialogue a script: its main character, its sessions in order, and its name maps.

    `collective` are speakers that are no person, such as `all`: nobody asks in their name.
    """

    main: str
    sessions: tuple[Session, ...]
    collective: tuple[str, ...] = ("all",)
    names: tuple[NameMap, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """Head, relation and tail, said in a session; `turns` are positions of own turns where known.

    People stand in it by their names. Only accepted facts count. `superseded_by` is the id of the fact that
    stands in its place, '' while it stands itself.
    """

    id: str
    head: str
    relation: str
    tail: str
    session: str
    turns: tuple[int, ...] = ()
    status: Status = "draft"
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with an answer, its four choices (the answer among them), and the sessions that give it.

    `evidence_all` says that all of them are needed. `evidence_turns` are positions of own turns, where
    known. Of a question about facts, `facts` and `relations` are those of its hops in order, and `forms` how
    each is worded. `answers` are all texts that are right, `base` the question whose dated variant it is.
    `styles` are its wordings by speaker and `default`. `origin` names the question set that made it, '' for
    one that stands by itself. `superseded_by` is the id of the question in its place, '' while it stands.
    """

    id: str
    source: Source
    text: str
    choices: tuple[str, ...]
    answer: str
    evidence: tuple[str, ...] = ()
    evidence_all: bool = False
    hops: int = 0
    evidence_turns: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    dated: bool = False
    answers: tuple[str, ...] = ()
    base: str = ""
    styles: Mapping[str, str] = field(default_factory=_nothing, hash=False)
    origin: str = ""
    status: Status = "draft"
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """A question asked in a session: whether it can be answered there, the letter of its key, and why.

    `order` says which choice stands at A to D, such as `2031`. `since` is the position of the last own turn
    that has to be heard before it is asked, None where nothing of its own session counts. `sessions` and
    `rule` are the why: the sessions that decide, and the rule's name.
    """

    question: str
    session: str
    answerable: bool
    key: str
    type: str
    order: str = "0123"
    since: int | None = None
    sessions: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Uses by name, and how they were made; `imported` ones came with a file, whose keys stand."""

    name: str
    seed: int = 0
    policy: str = "body"
    presence: bool = True
    imported: bool = False
    uses: tuple[Use, ...] = ()
