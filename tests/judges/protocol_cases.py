"""Cases for every protocol, and the possible readings of its replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from annotation.kinds import COMPARING
from annotation.records import Continuation, Dialogue, Participant, Turn
from annotation.scenario_records import Decision, Fact, Key, Scenario, Secret
from annotation.schemes import ratings
from annotation.schemes.definitions import COMPARISON
from judges.protocols import PROTOCOLS, Asking, Case, Member, NeedAnswer, Reading, Verdict
from judges.protocols.cocoeval import BEHAVIOUR_KEYS as KEYS
from judges.protocols.cocoeval import NO_REASON
from judges.protocols.cpdscore import mean_in_words, words_in_words
from judges.protocols.rubric import Rubric
from suites.group_chat.protocols import JUDGED_MOVES, NOT_APPLICABLE, NOT_ASKED
from suites.group_chat.scenarios.cascade import turn_of


def case(
    text: str = "Yes, gladly.", *, protocol: Any = None, history: str = "Shall we?", variant: str = ""
) -> Case:
    """Return a static turn for protocols about turns, else a rollout of three judged turns and one given."""
    part = protocol.parts(variant)[0] if protocol is not None else ""
    people = (
        Participant("A", "Ana", "host", (history,)),
        Participant("B", "Ben"),
        Participant("bot", "model-x"),
    )
    turns = (Turn("A", history), Turn("B", "Let us begin."))
    if protocol is not None and protocol.covers in COMPARING:
        return compared(text, turns, people, history)
    if protocol is not None and protocol.covers == "decision":
        return decided(text, history)
    if protocol is not None and protocol.covers == "answer":
        return answered(text, history)
    if protocol is not None and protocol.covers == "turn":
        static = Continuation("c", "model-x", (Turn("bot", text, at=1),), mode="static")
        return Case(Dialogue("d", turns, people, (static,), summary=history), static, 0, part=part)
    lines = (Turn("A", text), Turn("B", "Hm.", given=True), Turn("bot", text), Turn("B", "So be it."))
    rollout = Continuation("c", "model-x", lines)
    metadata = {"goal": history, "system": "model-x"}
    dialogue = Dialogue("d", turns, people, (rollout,), summary=history, metadata=metadata)
    return Case(dialogue, rollout, need_answers=scored(protocol, rollout), part=part)


def compared(
    text: str, turns: tuple[Turn, ...], people: tuple[Participant, ...], history: str, swapped: bool = True
) -> Case:
    """Return two systems' responses to one point, by default shown in swapped order."""
    answers = {"model-x": text, "model-y": f"{text} Or not."}
    told = [
        Continuation(f"c-{name}", name, (Turn("bot", said, at=1),), mode="static")
        for name, said in answers.items()
    ]
    dialogue = Dialogue("d", turns, people, tuple(told), summary=history)
    members = tuple(Member(one, 0) for one in told)
    return Case(dialogue, told[0], members=members, shown=(1, 0) if swapped else (0, 1))


def decided(text: str, history: str, **key: Any) -> Case:
    """Return a message at the third turn of a scenario, after a private turn that tells a secret."""
    people = (
        Participant("A", "Ana", "host", (history,)),
        Participant("B", "Ben"),
        Participant("C", "Cleo"),
        Participant("bot", "model-x", agent=True),
    )
    turns = (Turn("A", history), Turn("B", history, audience=("bot",)), Turn("A", "Well?"))
    asked = {
        "speak": {"message": 1.0},
        "conduct": ("face", "leak"),
        "ground": {"answer": 1.0},
        "rubric": True,
    }
    scenario = Scenario(
        "bot",
        keys={2: Key(1, **(asked | key))},
        secrets=(Secret("s1", "B", ("B", "bot"), 1, ("zebra",), history),),
        common_ground=(Fact("g1", history, ("A", "B"), 0),),
    )
    made = turn_of(Decision(2, "message", text, "implicit"), "bot", turns[2])
    static = Continuation("c", "model-x", (made,), mode="static")
    return Case(Dialogue("d", turns, people, (static,), summary=history, scenario=scenario), static, 0)


def answered(text: str, history: str, **changes: Any) -> Case:
    """Return an open answer after the second turn; `history` is the question and part of the right answer."""
    people = (Participant("A", "Ana"), Participant("B", "Ben"))
    turns = (Turn("A", history), Turn("B", "Let us begin."))
    record = {
        "question": "q1",
        "key": "A",
        "answer": f"red boots {history}",
        "answers": [],
        "outcome": "text",
    }
    told = {"answer": record | {"format": "open", "choices": []} | changes}
    asked = Turn("B", history, at=2, given=True)
    static = Continuation("c", "model-x", (asked, Turn("A", text, at=2, extra=told)), mode="static")
    return Case(Dialogue("d", turns, people, (static,)), static, 1)


def scored(protocol: Any, continuation: Continuation) -> dict[str, dict[int | None, NeedAnswer]]:
    """Return other raters' scores for a protocol that needs them: 3.5 for every turn."""
    turns = [i for i, turn in enumerate(continuation.turns) if not turn.given]
    return {
        need.role: {turn: NeedAnswer(3.5) for turn in turns} for need in (protocol.needs if protocol else ())
    }


def behaviours_reply(**changes: Any) -> str:
    fields: dict[str, Any] = {}
    for key in KEYS:
        fields |= {f"{key}_explanation": "", f"{key}_turns": [], f"{key}_count": 0}
    return json.dumps(fields | changes)


PLAIN = st.text("abc de.:{}\"'\n", max_size=30).map(str.strip)
"""Texts that a judge may give as explanation."""


def of_turn(scores: dict[str, int], explained: bool = False) -> Callable[..., st.SearchStrategy[Reading]]:
    """Return readings of integer scores from 1, by question, about the turn in view."""
    why = PLAIN if explained else st.just("")

    def made(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
        one = {key: st.tuples(st.integers(1, top), why) for key, top in scores.items()}
        return st.fixed_dictionaries(one).map(
            lambda told: Reading(
                tuple(Verdict(k, asked.turn, told[k][0], "", told[k][1]) for k in protocol.answers)
            )
        )

    return made


def of_behaviours(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
    """Return readings of marked turns, each behaviour with its explanation."""
    judged = asked.judged()
    one = st.tuples(st.sets(st.sampled_from(judged)), PLAIN)

    def made(told: dict[str, tuple[set[int], str]]) -> Reading:
        return Reading(
            tuple(
                Verdict(
                    key, turn, float(turn in told[key][0]), "", told[key][1] if turn in told[key][0] else ""
                )
                for key in protocol.asked_in(asked.part)
                for turn in judged
            )
        )

    return st.fixed_dictionaries(dict.fromkeys(protocol.asked_in(asked.part), one)).map(made)


def of_overall(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
    """Return readings of the two scores; a score below 10 without a reason is flagged."""

    def made(told: dict[str, tuple[int, str]]) -> Reading:
        silent = [key for key in protocol.answers if told[key][0] < 10 and not told[key][1].strip()]
        return Reading(
            tuple(Verdict(key, None, float(told[key][0]), "", told[key][1]) for key in protocol.answers),
            tuple(f"{NO_REASON}: nothing is said of what cost {key}" for key in silent),
        )

    return st.fixed_dictionaries({key: st.tuples(st.integers(1, 10), PLAIN) for key in protocol.answers}).map(
        made
    )


def of_dialogue(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
    """Return readings of three scores that follow the rule, with their basis as explanation."""
    scores = st.integers(10, 39).map(lambda tenths: tenths / 10)
    beside = (mean_in_words(asked), words_in_words(asked), "")
    keys = tuple(protocol.answers)

    def made(told: tuple[float, float]) -> Reading:
        values = (*told, min(told))
        return Reading(
            tuple(Verdict(k, None, v, "", why) for k, v, why in zip(keys, values, beside, strict=True))
        )

    return st.tuples(scores, scores).map(made)


def schemes_of(protocol: Any) -> tuple[Any, ...]:
    """Return the schemes with which a protocol is tested; (None,) if it takes none."""
    if not protocol.takes_scheme:
        return (None,)
    if protocol.key == "pairwise":
        return (ratings.PAIR,)
    if protocol.key == "g_eval":
        return (ratings.COMPERDIAL_TURN, ratings.COMPERDIAL_DIALOGUE)
    return (ratings.COMPERDIAL_TURN, ratings.FED_DIALOGUE)


def bound() -> Iterator[tuple[Asking, str]]:
    """Yield every protocol with each of its variants, and with its schemes if it takes any."""
    for protocol in PROTOCOLS.values():
        for variant in protocol.variants if isinstance(protocol, Asking) else ():
            for scheme in schemes_of(protocol):
                found = protocol.over(scheme, variant) if scheme else protocol
                assert isinstance(found, Asking)
                yield found, variant


CASES = list(bound())


def of_values(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
    """Return readings of one value per question, with an explanation if the reply has one."""
    assert isinstance(protocol, Rubric)
    questions = protocol.call_questions(asked)
    why = PLAIN if protocol.variant == "json" else st.just("")
    one = {q.key: st.tuples(st.sampled_from(q.values), why) for q in questions}

    def made(told: dict[str, tuple[float, str]]) -> Reading:
        own = protocol.variant in ("expected", "probabilities")
        flags = (f"no_logprobs: {NO_PROBABILITIES}",) if own else ()
        verdicts = (Verdict(q.key, asked.turn, float(told[q.key][0]), "", told[q.key][1]) for q in questions)
        return Reading(tuple(verdicts), flags)

    return st.fixed_dictionaries(one).map(made)


def of_comparison(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
    """Return readings of an answer to a pair, with an explanation."""
    told = st.tuples(st.sampled_from(COMPARISON), PLAIN)
    return told.map(lambda one: Reading((Verdict("preference", None, one[0], "", one[1]),)))


def of_conduct(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
    """Return readings of a score, or why it does not apply, and of a leak or none."""
    score = st.tuples(st.integers(1, 5), PLAIN, st.sets(st.integers(1, 4)))
    left_out = st.tuples(st.none(), PLAIN.filter(bool), st.sets(st.integers(1, 4)))

    def pointed(turns: set[int], why: str) -> str:
        name = "turn" if len(turns) == 1 else "turns"
        return f"({name} {', '.join(map(str, sorted(turns)))}) {why}".strip() if turns else why

    def made(told: tuple[Any, tuple[int, str]]) -> Reading:
        (value, why, turns), (leak, reason) = told
        face = Verdict("face", 0, value, "" if value else NOT_APPLICABLE, pointed(turns, why))
        answers = {"face": face, "leak": Verdict("leak", 0, leak, "", reason)}
        return Reading(tuple(answers.get(k, Verdict(k, 0, None, NOT_ASKED)) for k in protocol.answers))

    return st.tuples(score | left_out, st.tuples(st.integers(0, 1), PLAIN)).map(made)


def of_move(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
    """Return readings of a move with an explanation, and of the facts presupposed."""
    told = st.tuples(st.sampled_from(JUDGED_MOVES), PLAIN, st.sampled_from(("g1", "none")))
    return told.map(
        lambda one: Reading((Verdict("move", 0, one[0], "", one[1]), Verdict("presupposes", 0, one[2])))
    )


def of_match(protocol: Asking, asked: Case) -> st.SearchStrategy[Reading]:
    """Return readings of right or wrong."""
    return st.sampled_from([0.0, 1.0]).map(lambda value: Reading((Verdict("right", asked.turn, value),)))


NO_PROBABILITIES = (
    "the endpoint gave no probabilities; the value is the reply's own, to be averaged over samples"
)
READINGS: dict[str, Callable[..., st.SearchStrategy[Reading]]] = {
    "cpdscore_simple": of_turn(dict.fromkeys(PROTOCOLS["cpdscore_simple"].answers, 5)),
    "cpdscore_detail": of_turn({"overall": 5}, explained=True),
    "cpdscore_original_simple": of_turn(dict.fromkeys(PROTOCOLS["cpdscore_original_simple"].answers, 5)),
    "cpdscore_original_detail": of_turn({"engagingness": 3}, explained=True),
    "cpdscore_dialogue": of_dialogue,
    "rubric": of_values,
    "g_eval": of_values,
    "pairwise": of_comparison,
    "conduct": of_conduct,
    "compose": of_turn({"score": 5}, explained=True),
    "ground_move": of_move,
    "answer_match": of_match,
    "cocoeval_behaviours": of_behaviours,
    "cocoeval_overall": of_overall,
}
"""Strategy of a protocol's possible readings, by its key."""
