"""LongDialQA (Kim et al. 2024), converted to JSON: scripts of series with questions, and their scenes.

The input is a file {episode: {scene: {"script", "date", "easy_q", "hard_q"}}}, or a folder of such files. It
becomes one dialogue: each scene is a session, in file order, and each question of a scene becomes a use
there. The file's keys are kept. The published files are pickles, which are never opened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation import script_records as records
from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import NAME_LIMIT, Fields, decode, kind_of, require
from annotation.formats.source import ImportProblem, Source, is_pickle
from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import (
    DEFAULT_STYLE,
    LETTERS,
    UNKNOWN,
    Date,
    Form,
    Question,
    QuestionSet,
    Script,
    Session,
    Use,
)
from annotation.text.words import fold
from suites.long_dialogue.longform import (
    EVERYBODY,
    KEY,
    MAIN,
    MAX_PLACES,
    dialogue_id,
    named_main,
    run_backwards,
)
from suites.long_dialogue.scripts.making import check, unchecked
from suites.long_dialogue.scripts.sessions import Sessions

# The script of a scene of LongDialQA, line by line, and the parsing of its date.

WRITERS = ("Teleplay: ", "Story: ")
"""Markers of lines that credit the episode's writers; nobody speaks such a line."""
NAME = 60
"""Maximum length of a speaker's name, the text before the first colon of a line."""
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
FORM = "write September 22, 1994, or 1994-09-22; the day, or day and month, may be left out"
WORDS = re.compile(r"(?:(?P<month>[a-z]{3,9})\.?\s+)?(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+)?(?P<year>\d{4})")
DAY_FIRST = re.compile(r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+(?P<month>[a-z]{3,9})\.?\s+(?P<year>\d{4})")


class SceneLines:
    """The turns of a scene, and the number of lines left out. Raises ImportProblem."""

    def __init__(self, text: str, path: str, session: str) -> None:
        self.turns: list[Turn] = []
        self.left_out = 0
        for number, line in enumerate(text.split("\n"), start=1):
            if not (line := line.strip()):
                continue
            if any(sign in line for sign in WRITERS):
                self.left_out += 1
                continue
            self._take(line, f"{path}, its line {number}", session)

    def _take(self, line: str, path: str, session: str) -> None:
        """Add a line as a turn; a line without a speaker continues the previous turn."""
        speaker, colon, text = line.partition(":")
        speaker = speaker.strip()
        if colon and 0 < len(speaker) <= NAME:
            self.turns.append(Turn(speaker, text.strip(), session=session))
        elif self.turns:
            last = self.turns[-1]
            self.turns[-1] = Turn(last.speaker, f"{last.text}\n{line}".strip(), session=session)
        else:
            raise ImportProblem("nobody says it: the first line of a scene is “Name: text”", field=path)


def read_date(text: str) -> Date:
    """Parse a date such as `September 22, 1994`, `22 September 1994` or `1994-09-22`.

    The day, or day and month, may be left out. Raises ValueError for anything else.
    """
    plain = " ".join(text.replace(",", " ").split()).lower()
    match = WORDS.fullmatch(plain) or DAY_FIRST.fullmatch(plain)
    if match is None:
        try:
            return Date.read(text)
        except ValueError as error:
            raise ValueError(f"{error} ({FORM})") from None
    month = None
    if match["month"] is not None:
        month = _month(match["month"], text)
    elif match["day"] is not None:
        raise ValueError(f"{text[:40]!r} is not a date: {FORM}")
    return Date(int(match["year"]), month, int(match["day"]) if match["day"] else None)


def _month(name: str, text: str) -> int:
    for number, month in enumerate(MONTHS, start=1):
        if month.startswith(name):
            return number
    raise ValueError(f"{text[:40]!r} is not a date: {FORM}")


# The questions of LongDialQA: the entries of each scene, merged into questions and their uses.
#
# A question of a scene has a wording for each speaker, five options of which the last is "I don't know", and
# its answer. Entries with the same wording and the same four choices are one question, in any scene. The file
# contains neither the evidence nor, for an unanswerable use, the true answer; the latter is taken from
# another use of the question, if there is one.

QUESTION_FIELDS = frozenset({"questions", "options", "answer"})
EASY = ("ans_wo_time", "ans_w_time", "before_event_unans", "dont_know_unans", "dont_know_unans_time")
HOPS = {"past": "past", "cur": "current", "current": "current", "fu": "future", "future": "future"}
HOPS |= {"undated": "undated", "unheard": "unheard"}
FORMS: dict[str, Form] = {"past": "past", "current": "present", "future": "present", "undated": "undated"}
DATED = ("ans_w_time", "dont_know_unans_time")
DONT_KNOW = "i don't know"
LENGTH = 10_000
"""Maximum length of a wording or an option, in characters."""


@dataclass(slots=True)
class _Gathered:
    """A question, as far as its uses define it; `type` is that of its first use."""

    id: str
    source: records.Source
    type: str
    text: str
    choices: tuple[str, ...]
    styles: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    number: str = ""


class Questions:
    """The questions of all scenes, and their uses in order."""

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str, tuple[str, ...]], _Gathered] = {}
        self._uses: list[Use] = []
        self._counts = {"quiz": 0, "tkg": 0}
        self._seen: set[tuple[str, str]] = set()
        self._twice: list[str] = []
        self._unmatched: list[str] = []
        self._reworded: list[str] = []

    def take(self, scene: Fields, session: str) -> None:
        """Add the questions of a scene; raise ImportProblem with the path of an invalid entry."""
        kinds: tuple[tuple[str, records.Source, Callable[[str, str], str]], ...] = (
            ("easy_q", "quiz", _quiz_type),
            ("hard_q", "tkg", _tkg_type),
        )
        for name, source, read_type in kinds:
            for type, entries in _object(scene, name).items():
                path = f"{scene.at(name)}.{type}"
                question_type = read_type(type, path)
                for key, raw in _each(entries, path):
                    fields = Fields(raw, f"{path}.{key}", QUESTION_FIELDS)
                    self._take(source, question_type, key, fields, session)

    def _take(self, source: records.Source, type: str, number: str, fields: Fields, session: str) -> None:
        styles = _styles(fields)
        options = _options(fields)
        answer = fold(fields.text("answer"))
        letter = next(
            (
                letter
                for letter, option in zip(LETTERS, options, strict=True)
                if fold(option) == answer or (letter == UNKNOWN and _is_dont_know(answer))
            ),
            "",
        )
        if not letter or not styles or len(set(map(fold, options))) < len(options):
            self._unmatched.append(fields.path)
            return
        question = self._question(source, type, number, styles, options[:4])
        if (question.id, session) in self._seen:
            self._twice.append(fields.path)
            return
        self._seen.add((question.id, session))
        self._reword(question, styles, fields.path)
        if letter != UNKNOWN:
            question.answer = question.answer or options[LETTERS.index(letter)]
        self._uses.append(
            Use(
                question=question.id,
                session=session,
                answerable=letter != UNKNOWN,
                key=letter,
                type=type,
                order=_order(question.choices, options[:4]),
                rule="file",
            )
        )

    def _question(
        self, source: records.Source, type: str, number: str, styles: dict[str, str], choices: tuple[str, ...]
    ) -> _Gathered:
        text = styles.get(DEFAULT_STYLE) or next(iter(styles.values()))
        place = (source, fold(text), tuple(sorted(map(fold, choices))))
        if place not in self._questions:
            self._counts[source] += 1
            key = f"{'q' if source == 'quiz' else 'k'}{self._counts[source]}"
            self._questions[place] = _Gathered(key, source, type, text, choices, number=number)
        return self._questions[place]

    def _reword(self, question: _Gathered, styles: dict[str, str], path: str) -> None:
        """Add new wordings; the first wording of a speaker is kept."""
        for speaker, text in styles.items():
            if question.styles.setdefault(speaker, text) != text:
                self._reworded.append(path)
                return

    def result(self) -> tuple[tuple[Question, ...], tuple[Use, ...]]:
        """Return the questions and their uses."""
        bases = {
            (question.number, tuple(sorted(map(fold, question.choices)))): question.id
            for question in self._questions.values()
            if question.source == "quiz" and question.type not in DATED
        }
        return tuple(_record(question, bases) for question in self._questions.values()), tuple(self._uses)

    def notes(self) -> Iterator[str]:
        """Yield notes on problems in the questions, each with its first places."""
        for paths, description in (
            (
                self._unmatched,
                "uses without a wording, with equal options, or whose answer is none of them, left out",
            ),
            (self._twice, "questions that a scene asks twice, of which the first one counts"),
            (self._reworded, "questions that are worded anew for a speaker; the first wording is kept"),
        ):
            if paths:
                yield f"{description}: {len(paths)} ({', '.join(paths[:MAX_PLACES])})"


def _record(gathered: _Gathered, bases: dict[tuple[str, tuple[str, ...]], str]) -> Question:
    hops = gathered.type.split("_") if gathered.source == "tkg" else []
    dated = gathered.type in DATED
    forms = tuple(FORMS[hop] for hop in hops) if all(hop in FORMS for hop in hops) else ()
    return Question(
        id=gathered.id,
        source=gathered.source,
        text=gathered.text,
        choices=gathered.choices,
        answer=gathered.answer,
        hops=len(hops),
        forms=forms,
        dated=dated or "past" in hops,
        base=bases.get((gathered.number, tuple(sorted(map(fold, gathered.choices)))), "") if dated else "",
        styles=gathered.styles,
        status="accepted",
    )


def _object(fields: Fields, name: str) -> dict[str, Any]:
    if not fields.has(name):
        return {}
    return require(fields.raw[name], dict, fields.at(name), "an object of questions by type")


def _each(entries: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield (number, question) of an object or a list."""
    if isinstance(entries, dict):
        yield from entries.items()
    elif isinstance(entries, list):
        yield from ((str(number), raw) for number, raw in enumerate(entries))
    else:
        raise ImportProblem(f"must be an object or a list of questions, not {kind_of(entries)}", field=path)


def _quiz_type(name: str, path: str) -> str:
    if name not in EASY:
        raise ImportProblem(f"is no type of quiz question; there are {', '.join(EASY)}", field=path)
    return name


def _tkg_type(name: str, path: str) -> str:
    hops = name.split("_")
    if len(hops) > 2 or not all(hop in HOPS for hop in hops):
        reason = "is no type of question about facts: past, cur or fu, or a pair of them such as past_cur"
        raise ImportProblem(reason, field=path)
    return "_".join(HOPS[hop] for hop in hops)


def _styles(fields: Fields) -> dict[str, str]:
    styles = fields.object("questions")
    for speaker, text in styles.items():
        if type(text) is not str or len(text) > LENGTH:
            where = f"{fields.at('questions')}.{speaker[:60]}"
            raise ImportProblem(f"must be a text of at most {LENGTH} characters", field=where)
    return {speaker: text for speaker, text in styles.items() if text.strip()}


def _options(fields: Fields) -> tuple[str, ...]:
    options = fields.texts("options")
    if len(options) != len(LETTERS) or any(len(option) > LENGTH for option in options):
        raise fields.problem("options", f"must be five texts, of at most {LENGTH} characters each")
    if not _is_dont_know(fold(options[-1])):
        raise fields.problem("options", f"must end with “I don't know”, not {options[-1][:60]!r}")
    return options


def _is_dont_know(text: str) -> bool:
    return text.replace("’", "'").rstrip(".! ") == DONT_KNOW


def _order(choices: tuple[str, ...], options: tuple[str, ...]) -> str:
    """Return the order of a question's choices at A to D."""
    remaining = {number: fold(choice) for number, choice in enumerate(choices)}
    order = ""
    for option in options:
        number = next(number for number, choice in remaining.items() if choice == fold(option))
        del remaining[number]
        order += str(number)
    return order


# Checks of imported uses against the rules for known answers (`docs/long_dialogue/questions.md`).
#
# A LongDialQA file names neither the sessions that answer a question nor the facts it is about. Everything
# that can be checked without them is checked; the file's keys are kept, and differences are reported.

UNANSWERABLE = ("before_event_unans", "dont_know_unans", "dont_know_unans_time", "future", "unheard")
DAY = re.compile(
    rf"\b(?P<month>{'|'.join(MONTHS)})\s+(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?P<year>\d{{4}})\b",
    re.IGNORECASE,
)
YEAR = re.compile(r"\bin\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)


@dataclass(slots=True)
class _Checked:
    """A use with the number and date of its session, and related data from its question's other uses.

    `text_dates` are the dates in the question's text. `answered` and `current` are the first session in which
    the question is answerable, and in which a fact holds; None without one.
    """

    use: Use
    number: int
    date: Date
    text_dates: tuple[Date, ...]
    answered: int | None
    current: int | None


@dataclass(slots=True)
class _Firsts:
    """First sessions of a question's uses, by their meaning."""

    answered: dict[str, int] = field(default_factory=dict)
    current: dict[str, int] = field(default_factory=dict)


def _key_against_type(it: _Checked) -> bool:
    hops = it.use.type.split("_") if it.use.type not in UNANSWERABLE else [it.use.type]
    return it.use.answerable == any(hop in UNANSWERABLE for hop in hops)


def _never_known(it: _Checked) -> bool:
    return it.use.type.startswith("dont_know") and it.answered is not None


def _answered_before(it: _Checked) -> bool:
    return it.use.type == "before_event_unans" and it.answered is not None and it.answered <= it.number


def _past_not_past(it: _Checked) -> bool:
    return it.use.type == "past" and any(not date.before(it.date) for date in it.text_dates)


def _known_future(it: _Checked) -> bool:
    return it.use.type == "future" and it.current is not None and it.current <= it.number


UNHEARD = "uses in sessions without the main character, which are never asked"
OTHER_KEY = "uses whose answer is another than elsewhere, or than the rules have it"
CHECKS: tuple[tuple[str, Callable[[_Checked], bool]], ...] = (
    ("uses whose key does not go with their type", _key_against_type),
    ("uses that say that the main character can never know what another session answers", _never_known),
    ("uses that say that the evidence comes later, after the question could be answered", _answered_before),
    ("questions about the past whose own date is not before that of their session", _past_not_past),
    ("questions about the future that a session before could answer", _known_future),
)


def differences(record: Dialogue, paths: Mapping[str, str]) -> Iterator[str]:
    """Yield notes on the imported uses of a dialogue that contradict the rules, with the first sessions.

    `paths` are the places of its sessions in the file.
    """
    uses = [use for question_set in record.question_sets for use in question_set.uses]
    if not uses:
        return
    silent = len(unchecked(record, record.questions))
    yield (
        f"{len(uses)} uses were checked as far as the file allows, and its keys stand: of {silent} of "
        f"{len(record.questions)} questions it says neither the evidence nor the facts"
    )
    faults: dict[str, list[tuple[str, str]]] = {UNHEARD: [], OTHER_KEY: []}
    for fault in check(record, record.questions, uses):
        faults[UNHEARD if fault.file == "asked" else OTHER_KEY].append((fault.question, fault.session))
    checked = list(_checked(record, uses))
    for description, wrong in CHECKS:
        faults[description] = [(it.use.question, it.use.session) for it in checked if wrong(it)]
    for description, several in faults.items():
        if several:
            places = [f"{question} in {paths[session]}" for question, session in several[:MAX_PLACES]]
            yield f"{description}: {len(several)} ({', '.join(places)})"


def _checked(record: Dialogue, uses: list[Use]) -> Iterator[_Checked]:
    sessions = Sessions(record)
    dates_by_id = {question.id: tuple(dates_in(question.text)) for question in record.questions}
    firsts = _firsts(sessions, uses)
    for use in uses:
        number = sessions.numbers[use.session]
        yield _Checked(
            use=use,
            number=number,
            date=sessions[number].date,
            text_dates=dates_by_id[use.question],
            answered=firsts.answered.get(use.question),
            current=firsts.current.get(use.question),
        )


def _firsts(sessions: Sessions, uses: list[Use]) -> _Firsts:
    firsts = _Firsts()
    for use in uses:
        number = sessions.numbers[use.session]
        for holds, earliest in ((use.answerable, firsts.answered), (use.type == "current", firsts.current)):
            if holds and number < earliest.get(use.question, number + 1):
                earliest[use.question] = number
    return firsts


def dates_in(text: str) -> Iterator[Date]:
    """Yield the dates named in a question: a day or month with its year, or `in` and a year."""
    for match in DAY.finditer(text):
        try:
            yield Date(
                int(match["year"]),
                MONTHS.index(match["month"].lower()) + 1,
                int(match["day"]) if match["day"] else None,
            )
        except ValueError:
            continue  # no such day in the month: the question names no date
    for match in YEAR.finditer(text):
        yield Date(int(match["year"]))


SCENE = frozenset({"script", "date", "easy_q", "hard_q"})
SEASON = re.compile(r"(?:season|series|s)[ _-]*0*(\d{1,3})(?!\d)", re.IGNORECASE)
SET = "LongDialQA"
"""Name of a file's question set."""
MAIN_OF = {"friends": "Ross", "bigbang": "Sheldon", "theoffice": "Michael"}
"""Main character of each published file, by the prefix of its name."""
PICKLED = (".pickle", ".pkl")


class _Reader:
    """Content of the files read so far. A scene's session is called `s` and its running number."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.sessions: list[Session] = []
        self.paths: dict[str, str] = {}
        self.turns: list[Turn] = []
        self.questions = Questions()
        self.loose = 0

    def take(self, episode: str, scene: str, raw: Any) -> None:
        """Add a scene; raise ImportProblem with the path of an invalid entry."""
        path = f"{episode}.{scene}"
        fields = Fields(raw, path, SCENE)
        session = f"s{len(self.sessions) + 1:03}"
        try:
            date = read_date(fields.text("date"))
        except ValueError as error:
            raise fields.problem("date", str(error)) from None
        lines = SceneLines(fields.text("script"), fields.at("script"), session)
        season = SEASON.search(episode)
        self.sessions.append(
            Session(
                id=session,
                date=date,
                episode=episode,
                scene=scene,
                season=season[1] if season else "",
            )
        )
        self.paths[session] = path
        self.turns.extend(lines.turns)
        self.loose += lines.left_out
        self.questions.take(fields, session)


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the one dialogue of a file or folder."""
    reader = _Reader(source)
    seen: dict[str, str] = {}
    for file in source.files():
        place = source.name_in_folder(file)
        _refuse_pickle(source, file)
        for episode, scenes in _episodes(decode(source.document(file)), place):
            if episode in seen:
                raise ImportProblem(f"is in {seen[episode] or 'the file'} already", field=episode, file=place)
            seen[episode] = place
            _scenes(reader, episode, scenes, place)
    if source.faults is not None and source.faults.problems:
        return
    if not reader.turns:
        raise ImportProblem("has no turns")
    record = _dialogue(reader)
    source.notes.extend(_notes(reader, record))
    yield SourceRecord(record)


def _refuse_pickle(source: Source, file: Path) -> None:
    """Refuse a pickle, recognised by its first bytes or its name; it is never opened."""
    with file.open("rb") as opened:
        if is_pickle(opened.read(16)) or source.called(file).lower().endswith(PICKLED):
            reason = "is a pickle, and opening it would run code: convert it to JSON first"
            raise ImportProblem(reason, file=source.name_in_folder(file))


def _episodes(document: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    episodes = require(document, dict, expected="an object of episodes", file=place, filled=True)
    for episode, scenes in episodes.items():
        if not episode or len(episode) > NAME_LIMIT or not isinstance(scenes, dict):
            reason = f"must be an object of scenes, called by 1 to {NAME_LIMIT} characters"
            raise ImportProblem(reason, field=episode[:60], file=place)
        yield episode, scenes


def _scenes(reader: _Reader, episode: str, scenes: dict[str, Any], place: str) -> None:
    for scene, raw in scenes.items():
        try:
            if not scene or len(scene) > NAME_LIMIT:
                raise ImportProblem(f"a scene is called by 1 to {NAME_LIMIT} characters", field=episode)
            reader.take(episode, scene, raw)
        except ImportProblem as problem:
            reader.source.report(problem.placed(file=place))


def _dialogue(reader: _Reader) -> Dialogue:
    counts = Counter(turn.speaker for turn in reader.turns)
    collective = tuple(name for name in counts if name.casefold() in EVERYBODY)
    own = _own_main(reader.source, counts)
    main = named_main(reader.source, counts, tuple(counts), collective, own)
    questions, uses = reader.questions.result()
    sets = (QuestionSet(name=SET, imported=True, uses=uses),) if uses else ()
    return Dialogue(
        id=dialogue_id(reader.source),
        turns=tuple(reader.turns),
        participants=tuple(Participant(name, name=name) for name in counts),
        language="en",
        script=Script(
            main=main,
            sessions=tuple(reader.sessions),
            collective=tuple(dict.fromkeys(("all", *collective))),
        ),
        questions=questions,
        question_sets=sets,
    )


def _own_main(source: Source, counts: Counter[str]) -> str:
    """Return the main character of a published file, '' for other files or if nobody has that name."""
    for prefix, name in MAIN_OF.items():
        if source.name.lower().startswith(prefix) and name in counts:
            return name
    return ""


def _notes(reader: _Reader, record: Dialogue) -> Iterator[str]:
    script = record.script
    assert script is not None
    if reader.loose:
        yield f"lines that name who wrote an episode, left out: {reader.loose}"
    yield from run_backwards(script.sessions, reader.paths)
    yield from reader.questions.notes()
    yield from differences(record, reader.paths)


def _looks_like(head: Head) -> bool:
    if is_pickle(head.content):
        return True
    return (
        head.text.startswith("{")
        and {"script", "date"} <= head.inner
        and bool({"easy_q", "hard_q"} & head.inner)
    )


FORMAT = Format(
    key="longdialqa",
    title="LongDialQA: scripts with questions",
    hint="{episode: {scene: {script, date, easy_q, hard_q}}} as JSON; convert the published pickles first.",
    read=read,
    looks_like=_looks_like,
    folder=True,
    settings=(MAIN, KEY),
)


FORMATS = {FORMAT.key: FORMAT}
