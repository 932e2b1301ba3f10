"""An agent's memory of a long dialogue: entries in order of time, at any moment.

A moment is the number of the running session and the position of the last turn heard. No entry contains a
turn that is not heard or that comes after the moment. After DialSim (Kim et al. 2024).
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, groupby
from typing import Protocol

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from annotation.records import EVENTS, SELF, Continuation, Dialogue, Turn
from annotation.script_records import Date, Question, Use
from annotation.text.words import UNSPACED
from jobs.prompt import about_tokens
from judges.protocols.protocol import Case
from judges.protocols.quoting import Seen
from suites.long_dialogue.scripts.answers import Moment, PromptContent
from suites.long_dialogue.scripts.graph import DEFAULT, RelationTable
from suites.long_dialogue.scripts.sessions import Sessions, spoken

# The turns that the main character of a script hears, as lines to quote, and nothing else of the script.

Lines = tuple[str, ...]


class Heard:
    """A script as its main character hears it. Places are positions of the dialogue's own turns."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.sessions = Sessions(dialogue)
        self._seen = Seen(Case(dialogue, Continuation(SELF, dialogue.system, dialogue.turns)))
        self._lines: dict[int, Lines] = {}

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the sessions heard, in order."""
        return tuple(sorted(self.sessions.heard))

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Places of all turns heard or said, in order, without events: nobody says joining and leaving."""
        return tuple(place for number in self.numbers for place in self.of(number))

    def of(self, number: int, until: int | None = None) -> tuple[int, ...]:
        """Return the places heard in a session, up to and including the place `until`."""
        turns = self.dialogue.turns
        heard = self.sessions.heard_turns(number, until)
        return tuple(place for place in heard if turns[place].act not in EVENTS)

    def so_far(self, point: int) -> int:
        """Return how many of `places` are heard once the turn at `point` has been said."""
        return bisect_right(self.places, point)

    def lines(self, place: int) -> Lines:
        """Return a turn as lines, without a heading: `Ana: text`; text after a line break is indented."""
        if place not in self._lines:
            self._lines[place] = self.turn_lines(self.dialogue.turns[place])
        return self._lines[place]

    def turn_lines(self, turn: Turn) -> Lines:
        """Return any turn as lines, without a heading."""
        return tuple(self._seen.turn(turn, turn))

    def text(self, number: int, until: int | None = None) -> str:
        """Return the text heard in a session as lines, without its heading."""
        return "\n".join(line for place in self.of(number, until) for line in self.lines(place))

    def name(self, speaker: str) -> str:
        """Return the display name of a speaker."""
        return self._seen.names.of(speaker)

    @cached_property
    def headings(self) -> dict[int, str]:
        """Heading of each session heard: its date, and its number within that day."""
        met: Counter[Date] = Counter()
        headings = {}
        for number in self.numbers:
            date = self.sessions[number].date
            met[date] += 1
            headings[number] = f"== {spoken(date)}, session {met[date]} =="
        return headings


# Input of an agent of a long dialogue: too large for a state, and the same at each step.
#
# A worker reads it once and shares it between all questions about the script.

Vectors = NDArray[np.float32]
Embeds = Callable[[Sequence[str]], Vectors]
"""Embeds texts, one row each, in their order."""
Counts = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Material:
    """A script with its questions and the uses of one question set.

    `summaries` are session summaries, by the `text_digest` of the text that the main character heard
    (`Heard.text`). `vectors` embeds texts, None without an embedder. `context` is the size of the model's
    context in tokens, 0 if unknown; `count_tokens` counts as the model does. `relations` is the corpus's
    table, or the default table of Concord.
    """

    dialogue: Dialogue
    questions: tuple[Question, ...]
    uses: tuple[Use, ...]
    summaries: Mapping[str, str] = field(default_factory=dict)
    vectors: Embeds | None = None
    context: int = 0
    count_tokens: Counts = about_tokens
    relations: RelationTable = field(default_factory=lambda: DEFAULT)


def text_digest(text: str) -> str:
    """Return the SHA-256 of a session's heard text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


UTTERANCE, SESSION, SUMMARY, BASE, ORACLE = "utterance", "session", "summary", "base", "oracle"
NO_MEMORY, FULL = "no_memory", "full"
MEMORIES = (UTTERANCE, SESSION, SUMMARY, BASE, ORACLE, NO_MEMORY, FULL)
RETRIEVED = (UTTERANCE, SESSION, SUMMARY)
"""Memories from which a retriever chooses entries."""
USUAL_K: Mapping[str, int] = {UTTERANCE: 20, SESSION: 10, SUMMARY: 15, ORACLE: 20}


class NoSummary(ValueError):
    """A session's summary is missing from a memory of summaries; the message names the session."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory entry of one session: its heading, its lines, and the places of the turns in them.

    `complete` means that the entry contains everything heard of the session, as its turns or as their
    summary. `time` is its position in time: the last place, plus a fraction for words spoken outside the
    script. `sought` is the text that is embedded, '' for the entry's whole text: a remembered answer is found
    by its question, whose vector can be computed before anything is answered.
    """

    session: int
    heading: str
    lines: Lines
    time: float
    places: tuple[int, ...] = ()
    complete: bool = False
    sought: str = ""

    @property
    def text(self) -> str:
        """Full text, both for search and in a prompt."""
        return "\n".join((self.heading, *self.lines))


class Memory(Protocol):
    """Fixed entries in order of time, and the number of them available at a moment."""

    entries: Sequence[Entry]

    def at(self, moment: Moment) -> tuple[int, tuple[Entry, ...]]:
        """Return the number of available entries, and the extra entries: a session that still goes on."""


class Utterances:
    """Each turn is an entry."""

    def __init__(self, heard: Heard) -> None:
        self._places = heard.places
        numbers = heard.sessions.of_turn
        self.entries: Sequence[Entry] = [
            Entry(number, heard.headings[number], heard.lines(place), place, (place,))
            for place in heard.places
            for number in (numbers[place],)
        ]

    def at(self, moment: Moment) -> tuple[int, tuple[Entry, ...]]:
        """Return the number of turns heard; there are no extra entries."""
        return bisect_right(self._places, moment.point), ()


class WholeSessions:
    """Each session is an entry: its full text, or its summary once it has ended."""

    def __init__(self, heard: Heard, summary_of: Callable[[int], str | None] | None = None) -> None:
        self._heard, self._summary_of = heard, summary_of
        self._numbers = tuple(number for number in heard.numbers if heard.of(number))
        self.entries: Sequence[Entry] = [self._ended(number) for number in self._numbers]

    def at(self, moment: Moment) -> tuple[int, tuple[Entry, ...]]:
        """Return the number of ended sessions, and the running session as far as it was heard."""
        ended = bisect_right(self._numbers, moment.session - 1)
        running = running_entry(self._heard, moment)
        return ended, () if running is None else (running,)

    def _ended(self, number: int) -> Entry:
        places = self._heard.of(number)
        if self._summary_of is None:
            return session_entry(self._heard, number, places)
        summary = self._summary_of(number)
        if summary is None:
            session = self._heard.sessions[number]
            raise NoSummary(f"session {number} ({session.id}) has no summary: make the summaries first")
        lines = summary_lines(summary)
        return Entry(number, self._heard.headings[number], lines, places[-1], complete=True)


def session_entry(heard: Heard, number: int, places: Sequence[int]) -> Entry:
    """Return the turns heard in a session, at least one, as one entry."""
    lines = tuple(line for place in places for line in heard.lines(place))
    return Entry(number, heard.headings[number], lines, places[-1], tuple(places), complete=True)


def running_entry(heard: Heard, moment: Moment) -> Entry | None:
    """Return the running session as far as it was heard by a moment, None if nothing was heard."""
    places = heard.of(moment.session, moment.point)
    return session_entry(heard, moment.session, places) if places else None


def summary_lines(summary: str) -> Lines:
    """Return a summary as lines that cannot be mistaken for a turn or a heading."""
    first, *rest = summary.strip().split("\n")
    return (f"Summary: {first}", *(f"      {line}" for line in rest))


# Memory entries in a prompt: the best by BM25 or by cosine, as many as fit.
#
# Among equal entries the more recent ranks first. Where the chosen entries do not fit, the last are dropped,
# which lowers k; the k that was used is stored with the answer.

# BM25 over entries in order of time, with the statistics of exactly the moment of the query.
#
#     score(q, d) = sum over tokens w of q of  idf(w) * f(w, d) * (K1 + 1)
#                                              / (f(w, d) + K1 * (1 - B + B * |d| / mean length))
#     idf(w)      = ln(1 + (N - n(w) + 0.5) / (n(w) + 0.5))
#
# f is the count of w in entry d, |d| its length in tokens, N the number of entries, n(w) the number that
# contain w; a word repeated in the query counts each time. Entries are indexed once. At a moment with the
# first n entries, n(w) comes from bisection in the word's postings, and the mean length from cumulative sums;
# extra entries outside the index, such as a session that still goes on, join for one query.

K1, B = 1.5, 0.75
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Tokens = Sequence[str]
_WORD = regex.compile(rf"[{UNSPACED}]\p{{M}}*|(?:(?![{UNSPACED}])[\p{{L}}\p{{N}}\p{{M}}_])+")


def tokens(text: str) -> list[str]:
    """Return the words of a text in any script, lower-cased; a script without spaces yields its characters.

    An apostrophe separates words, so `Ana's` contains the word `ana`.
    """
    return list(_WORD.findall(text.lower()))


@dataclass(frozen=True, slots=True)
class Posting:
    """Postings of a word: the numbers of its entries, ascending, and its count in each."""

    entries: Integers
    counts: Floats


class Index:
    """Entries in order of time, as lists of tokens."""

    def __init__(self, entries: Sequence[Tokens]) -> None:
        self.lengths: Floats = np.fromiter(map(len, entries), dtype=np.float64, count=len(entries))
        self._sums: Floats = np.concatenate([np.zeros(1), np.cumsum(self.lengths)])
        places: dict[str, list[int]] = {}
        counts: dict[str, list[int]] = {}
        for number, entry in enumerate(entries):
            for word, count in Counter(entry).items():
                places.setdefault(word, []).append(number)
                counts.setdefault(word, []).append(count)
        self._postings = {
            word: Posting(np.array(numbers, dtype=np.int64), np.array(counts[word], dtype=np.float64))
            for word, numbers in places.items()
        }

    def __len__(self) -> int:
        return len(self.lengths)

    def scores(self, query: Tokens, entry_count: int, beside: Sequence[Tokens] = ()) -> Floats:
        """Return the scores, 0 or more, of the first `entry_count` entries, then of the extra entries.

        Raises IndexError if the index has fewer entries.
        """
        if not 0 <= entry_count <= len(self):
            raise IndexError(f"{entry_count} entries are asked for, and there are {len(self)}")
        number = entry_count + len(beside)
        totals = np.zeros(number)
        if not number:
            return totals
        extra = [Counter(entry) for entry in beside]
        lengths = np.concatenate([self.lengths[:entry_count], [float(len(entry)) for entry in beside]])
        mean = (self._sums[entry_count] + lengths[entry_count:].sum()) / number
        for word, times in Counter(query).items():
            places, counts = self._occurrences(word, entry_count, extra)
            if len(places):
                totals[places] += times * _weights(counts, lengths[places], mean, number)
        return totals

    def _occurrences(
        self, word: str, entry_count: int, extra: Sequence[Counter[str]]
    ) -> tuple[Integers, Floats]:
        """Return the entries that contain a word at a moment, with its count in each."""
        posting = self._postings.get(word, _NOWHERE)
        end = int(np.searchsorted(posting.entries, entry_count))
        more = [(entry_count + at, count[word]) for at, count in enumerate(extra) if word in count]
        if not more:
            return posting.entries[:end], posting.counts[:end]
        places, counts = zip(*more, strict=True)
        return (
            np.concatenate([posting.entries[:end], np.array(places, dtype=np.int64)]),
            np.concatenate([posting.counts[:end], np.array(counts, dtype=np.float64)]),
        )


def ranking(scores: Floats, times: Floats) -> Integers:
    """Return positions by descending score; among equal scores the more recent comes first."""
    return np.lexsort((-times, -scores))


def _weights(counts: Floats, lengths: Floats, mean: float, number: int) -> Floats:
    """Return the contribution of a word to the score of each entry that contains it."""
    document_frequency = len(counts)
    idf = math.log(1 + (number - document_frequency + 0.5) / (document_frequency + 0.5))
    return idf * counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / mean))


_NOWHERE = Posting(np.zeros(0, dtype=np.int64), np.zeros(0))


BM25, EMBEDDING = "bm25", "embedding"
RETRIEVERS = (BM25, EMBEDDING)
TIME, RANK = "time", "rank"
ORDERS = (TIME, RANK)
Cost = Callable[[Entry], int]
"""Token count of an entry in a prompt."""


class Retriever(Protocol):
    """Scores entries against a query."""

    def scores(self, query: str, entry_count: int, beside: Sequence[Entry]) -> Floats:
        """Return the scores of the first `entry_count` entries, then of the extra ones; higher is better."""


class ByWords:
    """BM25 over the words of entries."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._index = Index([tokens(entry.text) for entry in entries])

    def scores(self, query: str, entry_count: int, beside: Sequence[Entry]) -> Floats:
        """Return BM25 scores with the statistics of this moment."""
        return self._index.scores(tokens(query), entry_count, [tokens(entry.text) for entry in beside])


class ByVectors:
    """Cosine of entry and query vectors, rounded to six digits so that equal texts score equal."""

    def __init__(self, entries: Sequence[Entry], embeds: Embeds) -> None:
        self._embeds = embeds
        self._rows = self._unit(list(map(_sought, entries)))

    def scores(self, query: str, entry_count: int, beside: Sequence[Entry]) -> Floats:
        """Return the cosines, from -1 to 1; 0 for a vector that is zero."""
        rows = self._unit([query, *map(_sought, beside)])
        query_row, more = rows[0], rows[1:]
        indexed = self._rows[:entry_count] @ query_row if entry_count else np.zeros(0)
        cosines: Floats = np.concatenate([indexed, more @ query_row]).astype(np.float64)
        return np.round(cosines, 6)

    def _unit(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        rows = np.asarray(self._embeds(texts), dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _sought(entry: Entry) -> str:
    return entry.sought or entry.text


class Search:
    """A memory with its retriever."""

    def __init__(self, memory: Memory, retriever: Retriever) -> None:
        self.memory, self.retriever = memory, retriever
        entries = memory.entries
        self._times = np.fromiter((entry.time for entry in entries), np.float64, len(entries))

    def best(self, query: str, moment: Moment, k: int, more: Sequence[Entry] = ()) -> list[Entry]:
        """Return the k best entries at a moment, the best first; `more` are entries outside the memory."""
        entry_count, running = self.memory.at(moment)
        beside = [*more, *running]
        scores = self.retriever.scores(query, entry_count, beside)
        times = np.concatenate([self._times[:entry_count], [entry.time for entry in beside]])
        entries = self.memory.entries
        return [
            entries[place] if place < entry_count else beside[place - entry_count]
            for place in ranking(scores, times)[:k]
        ]


@dataclass(frozen=True, slots=True)
class Recalled:
    """Entries of a prompt, in prompt order; `k` is None where it has no meaning."""

    entries: tuple[Entry, ...]
    k: int | None = None


def fitting(ranked: Sequence[Entry], cost: Cost, budget: int | None) -> list[Entry]:
    """Return the longest prefix of the ranking that takes at most `budget` tokens."""
    entries, remaining = [], budget
    for entry in ranked:
        if remaining is not None:
            remaining -= cost(entry)
            if remaining < 0:
                break
        entries.append(entry)
    return entries


def in_order(ranked: Sequence[Entry], order: str) -> Recalled:
    """Put entries, ranked best first, into the order of the prompt."""
    entries = tuple(ranked) if order == RANK else tuple(sorted(ranked, key=lambda entry: entry.time))
    return Recalled(entries, len(ranked))


# Recall: the part of its history that an agent's prompt shows for a question.

NOTHING = "no relevant history"
"""Placeholder in a prompt without history."""


class TooLong(ValueError):
    """The full history does not fit; the message has both token counts."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A query to the agent's memory at one moment.

    `evidence` are session numbers; `budget` is the token budget of the history, None without a limit;
    `remembered` are earlier questions and answers that the agent remembers.
    """

    moment: Moment
    query: str
    evidence: tuple[int, ...]
    k: int
    order: str
    budget: int | None
    remembered: tuple[Entry, ...] = ()


@dataclass
class Recall:
    """Recall from the turns heard; `search` ranks the entries of a memory with a retriever."""

    heard: Heard
    memory: str
    count: Counts
    search: Search | None = None
    _costs: dict[str, int] = field(default_factory=dict)

    def recalled(self, request: RecallRequest) -> Recalled:
        """Return the entries of the prompt, in order. Raises TooLong if a `full` history does not fit."""
        if self.search is not None:
            ranked = self.search.best(request.query, request.moment, request.k, request.remembered)
            return in_order(fitting(ranked, self.cost, request.budget), request.order)
        if self.memory == ORACLE:
            return self._oracle(request)
        if self.memory == NO_MEMORY:
            return Recalled(())
        assert self.memory in (BASE, FULL)
        return Recalled(self._recent(request))

    def cost(self, entry: Entry) -> int:
        """Return the token count of an entry."""
        return sum(map(self._cost, (entry.heading, *entry.lines)))

    def _cost(self, line: str) -> int:
        if line not in self._costs:
            self._costs[line] = self.count(f"| {line}\n")
        return self._costs[line]

    def _oracle(self, request: RecallRequest) -> Recalled:
        """Return the evidence that was heard; the most recent part of it if all of it does not fit."""
        heard = [
            entry for number in request.evidence if (entry := self._session_entry(number, request.moment))
        ]
        recent = sorted(heard, key=lambda entry: -entry.time)[: request.k]
        return in_order(fitting(recent, self.cost, request.budget), "time")

    def _session_entry(self, number: int, moment: Moment) -> Entry | None:
        if number == moment.session:
            return running_entry(self.heard, moment)
        places = self.heard.of(number) if number < moment.session else ()
        return session_entry(self.heard, number, places) if places else None

    def _recent(self, request: RecallRequest) -> tuple[Entry, ...]:
        """Return the most recent turns that fit, grouped by session, with the remembered questions."""
        now = self.heard.so_far(request.moment.point)
        remembered_tokens = sum(map(self.cost, request.remembered))
        first = 0
        if request.budget is not None:
            remaining = request.budget - remembered_tokens
            first = bisect_left(range(now), -remaining, key=lambda place: -self._tokens(place, now))
        if self.memory == FULL and first:
            raise TooLong(
                f"the whole history has {remembered_tokens + self._tokens(0, now):,} tokens, "
                f"and {request.budget:,} fit"
            )
        return _merged(self.heard, self.heard.places[first:now], request.remembered)

    def _tokens(self, first: int, now: int) -> int:
        """Return the token count of heard turns from one to another, with the headings of their sessions."""
        if first >= now:
            return 0
        place = self.heard.places[first]
        opens = first == 0 or self._number(first - 1) != self._number(first)
        heading = 0 if opens else self._cost(self.heard.headings[self.heard.sessions.of_turn[place]])
        return heading + self._sums[now] - self._sums[first]

    @cached_property
    def _sums(self) -> Sequence[int]:
        """Tokens before each heard turn; a session's heading counts at its first turn."""
        token_counts, before = [], 0
        for index, place in enumerate(self.heard.places):
            number = self._number(index)
            heading = self._cost(self.heard.headings[number]) if number != before else 0
            token_counts.append(heading + sum(map(self._cost, self.heard.lines(place))))
            before = number
        return [0, *accumulate(token_counts)]

    def tokens_between(self, place: int, point: int) -> int:
        """Return the tokens heard after the turn at a place, up to the turn at `point`."""
        return self._sums[self.heard.so_far(point)] - self._sums[self.heard.so_far(place)]

    def _number(self, index: int) -> int:
        return self.heard.sessions.of_turn[self.heard.places[index]]


def lines_of(entries: Iterable[Entry]) -> list[str]:
    """Return entries as lines to quote."""
    lines = [line for entry in entries for line in (entry.heading, *entry.lines)]
    return lines or [NOTHING]


def prompt_content(entries: Iterable[Entry]) -> PromptContent:
    """Collect the sessions and turns that entries show."""
    entries = tuple(entries)
    return PromptContent(
        sessions=frozenset(entry.session for entry in entries if entry.complete),
        turns=frozenset(place for entry in entries for place in entry.places),
    )


def _merged(heard: Heard, places: Sequence[int], remembered: Sequence[Entry]) -> tuple[Entry, ...]:
    """Merge heard turns into one entry per session, split where something was said outside the script."""
    numbers = heard.sessions.of_turn
    breaks = [entry.time for entry in remembered]
    groups = groupby(places, key=lambda place: (numbers[place], sum(place > time for time in breaks)))
    entries = [
        Entry(number, heard.headings[number], _lines(heard, group), group[-1], group)
        for (number, _), group in ((key, tuple(each)) for key, each in groups)
    ]
    return tuple(sorted([*entries, *remembered], key=lambda entry: entry.time))


def _lines(heard: Heard, places: Sequence[int]) -> tuple[str, ...]:
    return tuple(line for place in places for line in heard.lines(place))
