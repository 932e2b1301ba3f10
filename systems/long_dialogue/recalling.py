"""What an agent recalls when it is asked: the part of its history that stands in the prompt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, groupby

from annotation.scripts.answers import Moment, Shown
from systems.long_dialogue.heard import Heard
from systems.long_dialogue.material import Counts
from systems.long_dialogue.memory import (
    BASE,
    FULL,
    NO_MEMORY,
    ORACLE,
    Entry,
    running_entry,
    session_entry,
)
from systems.long_dialogue.retrieval import Chosen, Search, fitting, in_order

NOTHING = "no relevant history"
"""What stands in the prompt where nothing does."""


class TooLong(ValueError):
    """The whole history does not fit; the message has both numbers."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a memory at a moment.

    `evidence` are numbers of sessions; `budget` is how many tokens the history may take, None for any number;
    `said` are earlier questions and answers that are remembered.
    """

    moment: Moment
    query: str
    evidence: tuple[int, ...]
    k: int
    order: str
    budget: int | None
    said: tuple[Entry, ...] = ()


@dataclass
class Recall:
    """Recalls from what was heard; `search` is what a memory with a retriever goes by."""

    heard: Heard
    memory: str
    count: Counts
    search: Search | None = None
    _costs: dict[str, int] = field(default_factory=dict)

    def recalled(self, wanted: Wanted) -> Chosen:
        """Return the entries of the prompt, in their order. Raises TooLong where `full` does not fit."""
        if self.search is not None:
            ranked = self.search.best(wanted.query, wanted.moment, wanted.k, wanted.said)
            return in_order(fitting(ranked, self.cost, wanted.budget), wanted.order)
        if self.memory == ORACLE:
            return self._oracle(wanted)
        if self.memory == NO_MEMORY:
            return Chosen(())
        assert self.memory in (BASE, FULL)
        return Chosen(self._recent(wanted))

    def cost(self, entry: Entry) -> int:
        """Return how many tokens an entry takes."""
        return sum(map(self._cost, (entry.heading, *entry.lines)))

    def _cost(self, line: str) -> int:
        if line not in self._costs:
            self._costs[line] = self.count(f"| {line}\n")
        return self._costs[line]

    def _oracle(self, wanted: Wanted) -> Chosen:
        """Return the evidence that was heard, the most recent of it where it is too much."""
        heard = [entry for number in wanted.evidence if (entry := self._whole(number, wanted.moment))]
        recent = sorted(heard, key=lambda entry: -entry.time)[: wanted.k]
        return in_order(fitting(recent, self.cost, wanted.budget), "time")

    def _whole(self, number: int, moment: Moment) -> Entry | None:
        if number == moment.session:
            return running_entry(self.heard, moment)
        places = self.heard.of(number) if number < moment.session else ()
        return session_entry(self.heard, number, places) if places else None

    def _recent(self, wanted: Wanted) -> tuple[Entry, ...]:
        """Return the most recent turns that fit, by sessions, with what is remembered of questions."""
        now = self.heard.so_far(wanted.moment.point)
        taken = sum(map(self.cost, wanted.said))
        first = 0
        if wanted.budget is not None:
            left = wanted.budget - taken
            first = bisect_left(range(now), -left, key=lambda place: -self._tokens(place, now))
        if self.memory == FULL and first:
            raise TooLong(
                f"the whole history has {taken + self._tokens(0, now):,} tokens, and {wanted.budget:,} fit"
            )
        return _merged(self.heard, self.heard.places[first:now], wanted.said)

    def _tokens(self, first: int, now: int) -> int:
        """Return how many tokens the heard turns from one to another take, with their sessions' headings."""
        if first >= now:
            return 0
        place = self.heard.places[first]
        opens = first == 0 or self._number(first - 1) != self._number(first)
        heading = 0 if opens else self._cost(self.heard.headings[self.heard.sessions.of_turn[place]])
        return heading + self._sums[now] - self._sums[first]

    @cached_property
    def _sums(self) -> Sequence[int]:
        """The tokens before each heard turn, with the headings of sessions at their first turns."""
        made, before = [], 0
        for index, place in enumerate(self.heard.places):
            number = self._number(index)
            heading = self._cost(self.heard.headings[number]) if number != before else 0
            made.append(heading + sum(map(self._cost, self.heard.lines(place))))
            before = number
        return [0, *accumulate(made)]

    def tokens_between(self, place: int, point: int) -> int:
        """Return how many tokens were heard after the turn at a place, up to the one at `point`."""
        return self._sums[self.heard.so_far(point)] - self._sums[self.heard.so_far(place)]

    def _number(self, index: int) -> int:
        return self.heard.sessions.of_turn[self.heard.places[index]]


def lines_of(entries: Iterable[Entry]) -> list[str]:
    """Return entries as lines to be quoted."""
    lines = [line for entry in entries for line in (entry.heading, *entry.lines)]
    return lines or [NOTHING]


def shown_by(entries: Iterable[Entry]) -> Shown:
    """Return what of the script stands in some entries."""
    entries = tuple(entries)
    return Shown(
        sessions=frozenset(entry.session for entry in entries if entry.whole),
        turns=frozenset(place for entry in entries for place in entry.places),
    )


def _merged(heard: Heard, places: Sequence[int], said: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return heard turns as one entry a session, parted where something was said beside the script."""
    numbers = heard.sessions.of_turn
    breaks = [entry.time for entry in said]
    groups = groupby(places, key=lambda place: (numbers[place], sum(place > time for time in breaks)))
    entries = [
        Entry(number, heard.headings[number], _lines(heard, group), group[-1], group)
        for (number, _), group in ((key, tuple(each)) for key, each in groups)
    ]
    return tuple(sorted([*entries, *said], key=lambda entry: entry.time))


def _lines(heard: Heard, places: Sequence[int]) -> tuple[str, ...]:
    return tuple(line for place in places for line in heard.lines(place))
