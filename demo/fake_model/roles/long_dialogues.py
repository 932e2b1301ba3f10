"""Long dialogues: readers, facts, quizzes, summaries of sessions, styles, the judge of replies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demo.fake_model.errors import ErrorFileProblem, fold, one_chance
from demo.fake_model.requests import Request, turns
from demo.fake_model.role import Answer, Role, Sampler, planted_value

# A reader of a long dialogue: it answers correctly if its history holds the evidence, else it abstains or
# guesses.
#
# The truth is in the prompt. A turn of the history with the answer to a question holds `{evidence q17}`, or
# `{evidence q17 1/2}` if it is one of two parts that are both needed. The question holds `{answer q17 ...}`
# with the right answer's text, or its letter, after the id. Ids are compared only by letters and digits, so
# that a question can have `{answer q.17 ...}`, which keeps a retriever from matching the id itself. Its own
# keys in an error model:
#
# e          chance to miss although the evidence is present: then one of the other four options, uniformly
# g          chance to choose (E) if the evidence is absent; else one of A to E, uniformly
# knows      answers known from elsewhere: an object of texts by question, without the parts in braces. Such a
#            question is answered as if the evidence were present, under its original names only.
#
# Every draw depends on the history and the question, and on the seed if the request has one.

LETTERS, UNKNOWN = "ABCDE", "E"
UNKNOWING = "I don't know"
_EVIDENCE = re.compile(r"\{evidence ([^\s{}]+)(?: (\d+)/(\d+))?\}")
_ANSWER_READER = re.compile(r"\{answer ([^\s{}]+)(?: ([^{}]*))?\}")
_MARKER_READER = re.compile(r"\s*\{[^{}]*\}")
_OPTION = re.compile(r"\(([A-E])\) (.*)")
_OFFERED = re.compile(r": (.*), or don't you know\?", re.S)


def known_answers(value: Any, where: str) -> Mapping[str, str]:
    """Return the answers known from elsewhere, by folded question; raise ErrorFileProblem."""
    if not isinstance(value, dict) or not all(isinstance(answer, str) for answer in value.values()):
        raise ErrorFileProblem(f"{where}: an object of questions with their answers is needed")
    return {fold(question): answer for question, answer in value.items()}


@dataclass(frozen=True, slots=True)
class Exam:
    """A question in a prompt: its id, bare text, options by letter, and answer.

    `answer` is '' if the question has none, or it is not among the options. `sufficient`: the history holds
    the evidence; `lists`: the options are listed below the question with letters.
    """

    id: str
    text: str
    options: Mapping[str, str]
    answer: str
    sufficient: bool
    lists: bool


class Reader(Role):
    """Answers a QUESTION from a HISTORY, as the person under YOU."""

    key = "reader"
    title = "the answer to a question about a long dialogue"
    own_keys = {"e": one_chance, "g": one_chance, "knows": known_answers}

    def recognises(self, request: Request) -> bool:
        """Whether it shows an identity, a date, a memory, and a question."""
        return {"YOU", "NOW", "HISTORY", "QUESTION"} <= set(request.titles)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the letter, or the text of the option, that the reader chooses."""
        exam = exam_of(request)
        letter = letter_of(exam, sampler, "\n".join([*(request.block("HISTORY") or ()), exam.text]))
        return Answer(lines=[f"({letter})" if exam.lists else exam.options[letter]])


def exam_of(request: Request) -> Exam:
    """Return the question of a prompt, with whether its history holds the evidence."""
    question = "\n".join(turn.text for turn in turns(request.block("QUESTION") or ())[-1:])
    match = _ANSWER_READER.search(question)
    key, planted = (match[1], match[2] or "") if match else ("", "")
    wording = _MARKER_READER.sub("", question)
    options, text, lists = _parse_options(wording, planted)
    letter = next((candidate for candidate, option in options.items() if fold(option) == fold(planted)), "")
    history = "\n".join(request.block("HISTORY") or ())
    answer = planted if planted in LETTERS[:4] and planted else letter
    return Exam(key, text, options, answer, bool(key) and sufficient(key, history), lists)


def sufficient(key: str, history: str) -> bool:
    """Whether a history holds the evidence of a question: an undivided part, or all parts of one division."""
    parts: dict[int, set[int]] = {}
    for marked, part, total in _EVIDENCE.findall(history):
        if _same(marked) == _same(key):
            parts.setdefault(int(total or 1), set()).add(int(part or 1))
    return any(len(present) >= total for total, present in parts.items())


def letter_of(exam: Exam, sampler: Sampler, text: str) -> str:
    """Return the letter that a reader chooses; its draws depend on `text`."""
    own = sampler.errors.own
    right = exam.answer if exam.sufficient else _known_letter(exam, own.get("knows", {}))
    if right:
        others = [letter for letter in LETTERS if letter != right]
        return (
            _pick_letter(others, sampler.draw("which", text))
            if sampler.draw("misses", text) < own.get("e", 0.0)
            else right
        )
    if sampler.draw("abstains", text) < own.get("g", 0.0):
        return UNKNOWN
    return _pick_letter(LETTERS, sampler.draw("guess", text))


def chance_right(exam: Exam, key: str, own: Mapping[str, Any]) -> float:
    """Return the chance that the reader is right on a question with a key from A to E.

    A question without letters has options in an order of its own: its key is that of the answer, or (E).
    """
    key = key if exam.lists or key == UNKNOWN else exam.answer
    e, g = own.get("e", 0.0), own.get("g", 0.0)
    if right := exam.answer if exam.sufficient else _known_letter(exam, own.get("knows", {})):
        return float(1 - e if right == key else e / 4)
    return float((1 - g) / 5 + (g if key == UNKNOWN else 0.0))


def expected(p: float, v: float, e: float, g: float) -> float:
    """Return the expected accuracy if a share p of questions has sufficient evidence in the prompt and a
    share v has the key (E).
    """
    return p * (1 - e) + (1 - p) * (1 - g) / 5 + v * g


def _parse_options(wording: str, answer: str) -> tuple[dict[str, str], str, bool]:
    """Return the options by letter, the question without them, and whether they are listed with letters.

    An open question offers none: its reader thinks of three wrong ones.
    """
    first, *more = wording.split("\n")
    matches = [match for line in more if (match := _OPTION.fullmatch(line))]
    if matches:
        return {match[1]: match[2] for match in matches}, first, True
    if inside := _OFFERED.search(wording):
        text = f"{wording[: inside.start()]}?"
        return dict(zip(LETTERS, (*_split_options(inside[1], answer), UNKNOWING), strict=False)), text, False
    options = (answer, *(f"something else ({number})" for number in (1, 2, 3)), UNKNOWING)
    return dict(zip(LETTERS, options, strict=True)), wording, False


def _split_options(text: str, answer: str) -> list[str]:
    """Return four options from a sentence; if commas within them give more, those are the answer's."""
    parts = text.split(", ")
    if len(parts) == 4:
        return parts
    rest = text.replace(answer, "", 1).strip(", ").split(", ") if answer else parts
    size = max(1, len(rest) // 3)
    wrong = [", ".join(rest[at : at + size]) for at in range(0, len(rest), size)][:3]
    return [answer, *wrong] if answer else (wrong + ["something else"] * 4)[:4]


def _known_letter(exam: Exam, knows: Mapping[str, str]) -> str:
    """Return the letter of an answer known from elsewhere, '' if it is not offered."""
    answer = knows.get(fold(exam.text))
    return next(
        (letter for letter, option in exam.options.items() if answer and fold(option) == fold(answer)), ""
    )


def _pick_letter(letters: Sequence[str], draw: float) -> str:
    return letters[int(draw * len(letters))]


def _same(key: str) -> str:
    return "".join(letter for letter in key if letter.isalnum()).casefold()


# Sessions that answer each question of a quiz: those with planted evidence, with errors.

MISSES, INVENTS = "misses", "invents"
_ANSWER = re.compile(r"\{answer ([^\s{}]+)[^{}]*\}")
_SESSION = re.compile(r"Session (\d+)")
Sessions = Sequence[str]
"""The texts of the sessions shown, in their order."""


class QuizMapper(Role):
    """Reads `{evidence q17}` in the turns of SESSIONS, `{evidence q17 1/2}` for one of two parts that
    are both needed, and `{answer q17 ...}` in the question that it is about.

    Mistakes, each with a chance drawn per question and session: `misses` leaves out a session that gives the
    answer, `invents` adds one that does not.
    """

    key = "quiz_mapper"
    title = "which sessions answer which questions"
    own_keys = dict.fromkeys((MISSES, INVENTS), one_chance)

    def recognises(self, request: Request) -> bool:
        """Whether it has sessions, and questions about them."""
        return {"SESSIONS", "QUESTIONS"} <= set(request.titles)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the answerable questions, with their sessions."""
        sessions = sessions_of(request)
        mappings = []
        for turn in request.numbered("QUESTIONS"):
            match = _ANSWER.search(turn.full_text)
            if match and (entry := mapped(match[1], sessions, sampler)):
                mappings.append({"question": turn.number, **entry})
        return Answer({"answerable": mappings})


def sessions_of(request: Request) -> list[str]:
    """Return the texts of the sessions that a prompt shows."""
    texts: list[list[str]] = []
    for line in request.block("SESSIONS") or ():
        if _SESSION.fullmatch(line):
            texts.append([])
        elif texts:
            texts[-1].append(line)
    return ["\n".join(lines) for lines in texts]


def mapped(key: str, sessions: Sessions, sampler: Sampler) -> Mapping[str, Any] | None:
    """Return the entry for the question with this id, None if no session answers it."""
    numbers = [number for number, text in enumerate(sessions, start=1) if names(key, text, sampler)]
    if not numbers:
        return None
    needed = any(int(total or 1) > 1 for text in sessions for _, total in planted_questions(key, text))
    return {"sessions": numbers, "all_needed": needed and len(numbers) > 1}


def names(key: str, text: str, sampler: Sampler) -> bool:
    """Whether a session is named for a question."""
    is_planted = bool(planted_questions(key, text))
    errs = sampler.draw(MISSES if is_planted else INVENTS, f"{key}\n{text}")
    return is_planted != (errs < sampler.errors.own.get(MISSES if is_planted else INVENTS, 0.0))


def planted_questions(key: str, text: str) -> list[tuple[str, str]]:
    """Return the parts of the evidence for a question in a session, each with the number of all parts."""
    return [(part, total) for marked, part, total in _EVIDENCE.findall(text) if _same(marked) == _same(key)]


# Facts of a session, planted in its turns as `{fact Ben | roommate | Cara}`, with errors.

MISSES_FACTS, CORRUPTS, INVENTS_FACTS = "misses", "corrupts", "invents"
SOMEBODY = "Somebody Else"
Names = Sequence[str]
"""Names of a person, the main name first."""
_FACT = re.compile(r"\{fact ([^{}|]+)\|([^{}|]+)\|([^{}|]+)\}")


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact, and the number of the turn that states it."""

    head: str
    relation: str
    tail: str
    turn: int


class FactWriter(Role):
    """Writes down the planted facts of a SESSION.

    Errors, each with a chance: `misses` leaves a planted fact out, `corrupts` gives a written fact another
    tail, `invents` adds a fact that no turn states (drawn per session). All draws depend on the session.
    """

    key = "fact_writer"
    title = "the facts that a session tells"
    own_keys = dict.fromkeys((MISSES_FACTS, CORRUPTS, INVENTS_FACTS), one_chance)

    def recognises(self, request: Request) -> bool:
        """Whether it has people, relations, and a session."""
        return {"PEOPLE", "RELATIONS", "SESSION"} <= set(request.titles)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the facts."""
        people = [line.replace(", also called ", ", ").split(", ") for line in request.block("PEOPLE") or ()]
        relations = [line.partition(":")[0] for line in request.block("RELATIONS") or ()]
        text = "\n".join(request.block("SESSION") or ())
        facts = write_facts(planted_facts(request), text, people, relations, sampler)
        return Answer({"facts": [{name: getattr(fact, name) for name in fact.__slots__} for fact in facts]})


def planted_facts(request: Request) -> list[Planted]:
    """Return the facts that the turns of a session plant, in their order."""
    return [
        Planted(head.strip(), relation.strip(), tail.strip(), turn.number or 0)
        for turn in request.numbered("SESSION")
        for head, relation, tail in _FACT.findall(turn.full_text)
    ]


def write_facts(
    facts: Sequence[Planted], text: str, people: Sequence[Names], relations: Sequence[str], sampler: Sampler
) -> list[Planted]:
    """Return the facts to write down, from those planted in a session with this text."""
    written_facts = [
        _write_fact(fact, text, people, sampler) for fact in facts if not misses(fact, text, sampler)
    ]
    if invents(text, sampler) and people and relations:
        written_facts.append(Planted(people[0][0], relations[0], SOMEBODY, 1))
    return written_facts


def misses(fact: Planted, text: str, sampler: Sampler) -> bool:
    """Whether a planted fact of a session is left out."""
    return _errs(MISSES_FACTS, f"{fact}\n{text}", sampler)


def corrupts(fact: Planted, text: str, sampler: Sampler) -> bool:
    """Whether a written fact gets another tail."""
    return _errs(CORRUPTS, f"{fact}\n{text}", sampler)


def invents(text: str, sampler: Sampler) -> bool:
    """Whether a fact is added that is not in the session."""
    return _errs(INVENTS_FACTS, text, sampler)


def _write_fact(fact: Planted, text: str, people: Sequence[Names], sampler: Sampler) -> Planted:
    if not corrupts(fact, text, sampler):
        return fact
    others = [names[0] for names in people if not {fact.head, fact.tail} & set(names)] or [SOMEBODY]
    which = others[int(sampler.draw("which", f"{fact}\n{text}") * len(others))]
    return Planted(fact.head, fact.relation, which, fact.turn)


def _errs(error: str, text: str, sampler: Sampler) -> bool:
    return sampler.draw(error, text) < sampler.errors.own.get(error, 0.0)


# Memory summary of a session: the turns with markers, some of them forgotten.

DROPS = "drops"
NOTHING = "Nothing happened that needs to be remembered."
_MARKER = re.compile(r"\{[^{}\n]{1,200}\}")


class SessionSummariser(Role):
    """Repeats the turns of a SESSION that contain a marker, such as `{evidence q17}`.

    With the chance `drops`, drawn for each marker, it forgets the marker: the braces go, and a turn without
    another marker goes with them.
    """

    key = "session_summariser"
    title = "a summary of a session of a long dialogue"
    own_keys = dict.fromkeys((DROPS,), one_chance)

    def recognises(self, request: Request) -> bool:
        """Whether it has a listener, and a session."""
        return {"LISTENER", "SESSION"} <= set(request.titles)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the paragraph."""
        return Answer({"summary": summary(request.block("SESSION") or (), sampler)})


def summary(lines: Sequence[str], sampler: Sampler) -> str:
    """Return the summary of a session's lines."""
    text = "\n".join(lines)
    sentences = []
    for turn in turns(lines):
        markers = _MARKER.findall(turn.full_text)
        lost = [marker for marker in markers if drops(marker, text, sampler)]
        if len(lost) < len(markers):
            sentences.append(" ".join(_without(turn.full_text, lost).split()))
    return " ".join(sentences) or NOTHING


def drops(marker: str, text: str, sampler: Sampler) -> bool:
    """Whether a marker in a session with this text is forgotten."""
    return sampler.draw(DROPS, f"{marker}\n{text}") < sampler.errors.own.get(DROPS, 0.0)


def _without(text: str, markers: Sequence[str]) -> str:
    for marker in markers:
        text = text.replace(marker, " ")
    return text


# A question rephrased in several people's styles, with errors that a check can detect.

DROPS_WORDS, STATES = "drops", "states"
OPENERS = ("By the way, {0}", "Say, {0}", "I was wondering: {0}", "Just out of interest, {0}")
INSTEAD = "that one"
_NAME = re.compile(r"(?<=\s)[A-Z]\w*(?![^{}]*\})")
"""A capitalised word that is neither first nor in braces."""


class StyleWriter(Role):
    """Puts an opener in front of the QUESTION for each of the ASKERS; text in braces stays.

    Errors, each with a chance drawn per asker: `drops` leaves a name out, `states` ends without a question
    mark. A repeated request is drawn anew.
    """

    key = "style_writer"
    title = "a question in several people's words"
    own_keys = dict.fromkeys((DROPS_WORDS, STATES), one_chance)

    def recognises(self, request: Request) -> bool:
        """Whether it has a question, a person to ask, and the askers."""
        return {"ASKED", "QUESTION", "ASKERS"} <= set(request.titles)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return a wording for each number."""
        question = " ".join(request.block("QUESTION") or ())
        again = "\n".join(request.block("AGAIN") or ())
        wordings = [
            {"asker": turn.number, "text": worded(question, turn.full_text, again, sampler)}
            for turn in request.numbered("ASKERS")
        ]
        return Answer({"wordings": wordings})


def worded(question: str, asker: str, again: str, sampler: Sampler) -> str:
    """Return a question in an asker's style; `again` describes the errors of earlier wordings."""
    draw_key = f"{question}\n{asker}\n{again}"
    opener = OPENERS[int(sampler.draw("opener", draw_key) * len(OPENERS))]
    first = question[:1].lower() + question[1:]
    text = opener.format(first) if _starts_plainly(question) else question
    if errs(DROPS_WORDS, question, asker, again, sampler):
        text = _NAME.sub(INSTEAD, text, count=1)
    if errs(STATES, question, asker, again, sampler):
        text = text.replace("?", ".")
    return text


def errs(error: str, question: str, asker: str, again: str, sampler: Sampler) -> bool:
    """Whether an asker's wording has an error."""
    return sampler.draw(error, f"{question}\n{asker}\n{again}") < sampler.errors.own.get(error, 0.0)


def _starts_plainly(question: str) -> bool:
    """Whether the first word may be lower-case: a question word, not a name."""
    return question.split(" ", 1)[0].casefold() in (
        *("who", "whose", "what", "where", "when", "which", "why", "how", "in", "on"),
    )


# The judge of free replies to questions about a long dialogue: right or wrong.

ANSWER, REPLY = "RIGHT ANSWER", "REPLY"
CORRECT, WRONG = "correct", "wrong"
MATCH, YES = "match", "yes"
CONTRADICTS = "contradicts"


class AnswerMatch(Role):
    """Reads `{match yes}` in the reply; a text without it is wrong.

    Sensitivity and specificity of `match` apply to recognising a right reply. With the chance `contradicts`
    it says of a reply that it is both right and wrong.
    """

    key = "answer_match"
    title = "whether a free reply says what is right"
    own_keys = {CONTRADICTS: one_chance}

    def recognises(self, request: Request) -> bool:
        """Whether it has a right answer and a reply, and asks for two truth values."""
        return request.shows(ANSWER) and request.shows(REPLY) and set(request.fields) == {CORRECT, WRONG}

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the two truth values."""
        is_right, is_wrong = matched("\n".join(request.block(REPLY) or ()), sampler)
        return Answer({CORRECT: is_right, WRONG: is_wrong})


def matched(text: str, sampler: Sampler) -> tuple[bool, bool]:
    """Return whether a reply is called right, and whether it is called wrong."""
    if sampler.draw(CONTRADICTS, text) < sampler.errors.own.get(CONTRADICTS, 0.0):
        return True, True
    is_right = sampler.yes_or_no(MATCH, text, planted_value(text, MATCH) == YES)
    return is_right, not is_right
