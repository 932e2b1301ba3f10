"""What came of a trial: each question as a given turn, then its answer with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.records import Act, Turn
from annotation.scripts.answers import NATURAL, TEMPLATE, late
from annotation.scripts.records import Question
from annotation.scripts.replies import FAILED, LATE, NONE, TEXT, Outcome, read_natural, read_template
from systems.generators.base import Settings, State
from systems.long_dialogue import settings as named
from systems.long_dialogue.recalling import Recall
from systems.long_dialogue.trial import Asked, Trials

Json = dict[str, Any]


def turns_of(trials: Trials, state: State) -> tuple[Turn, ...]:
    """Return the turns of a trial that is answered: pairs of a given question and an answer."""
    return tuple(turn for number in range(len(state["answers"])) for turn in _pair(trials, state, number))


def outcome_of(answer: Mapping[str, Any], asked: Asked, settings: Settings) -> Outcome:
    """Return what an answer came to: a letter, or why there is none. `seconds` are those of its reply."""
    if "error" in answer:
        return Outcome(FAILED)
    limit = int(settings[named.LIMIT]) or None
    if answer["seconds"] is not None and late(answer["seconds"], limit):
        return Outcome(LATE)
    if settings[named.FORMAT] == TEMPLATE:
        return read_template(answer["text"], asked.put.choices)
    if settings[named.FORMAT] == NATURAL:
        return read_natural(answer["text"], asked.put.choices)
    return Outcome(TEXT if answer["text"].strip() else NONE)


def _pair(trials: Trials, state: State, number: int) -> Iterator[Turn]:
    asked, answer = trials.question(state, number), state["answers"][number]
    ask = asked.ask
    main = trials.main
    at, session = ask.point + 1, ask.use.session
    yield Turn(ask.asker, asked.put.text, given=True, at=at, session=session, addressees=(main,))
    extra = {"answer": _told(trials, state, asked, answer)}
    act: Act = "message" if answer["text"].strip() else "silence"
    yield Turn(main, answer["text"], at=at, session=session, addressees=(ask.asker,), act=act, extra=extra)


def _told(trials: Trials, state: State, asked: Asked, answer: Mapping[str, Any]) -> Json:
    settings = state["settings"]
    outcome = outcome_of(answer, asked, settings)
    question = trials.questions[asked.ask.question]
    return {
        **_of_question(trials, question, asked, settings),
        "outcome": outcome.value,
        "lenient": outcome.lenient,
        "seconds": answer["seconds"],
        "retrieval": {
            "sessions": sorted({entry.session for entry in asked.chosen.entries}),
            "evidence": asked.extent,
            "k": asked.chosen.k,
            "k_asked": settings[named.K] or None,
        },
        "distance": _distance(trials, question, asked, trials.recall(settings)),
        **({"error": answer["error"]} if "error" in answer else {}),
    }


def _of_question(trials: Trials, question: Question, asked: Asked, settings: Settings) -> Json:
    ask, use, put = asked.ask, asked.ask.use, asked.put
    return {
        "question": question.id,
        "set": settings[named.SET],
        "session": ask.session,
        "use": use.type,
        "answerable": use.answerable,
        "key": use.key,
        "answer": put.answer,
        "answers": list(put.answers),
        "choices": list(put.choices),
        "source": question.source,
        "hops": question.hops,
        "relations": list(question.relations),
        "forms": list(question.forms),
        "asker": ask.asker,
        "evidence": list(trials.evidence(question)),
        "evidence_all": question.evidence_all,
        "rule": use.rule,
        "format": settings[named.FORMAT],
        "names": settings[named.NAMES],
        "class": {"wanted": ask.wanted, "asked": ask.asked, "owed": list(ask.owed)},
    }


def _distance(trials: Trials, question: Question, asked: Asked, recall: Recall) -> Json:
    """Return how far back the most recent evidence is that was heard, in sessions and in heard tokens."""
    moment, heard = trials.moment(asked.ask), recall.heard
    places = [
        place
        for number in trials.evidence(question)
        if number <= moment.session
        for place in heard.of(number, moment.point if number == moment.session else None)
    ]
    told = [place for place in places if place in question.evidence_turns] or places
    if not told:
        return {"sessions": None, "tokens": None}
    session = heard.sessions.of_turn[told[-1]]
    return {
        "sessions": moment.session - session,
        "tokens": recall.tokens_between(told[-1], moment.point),
    }
