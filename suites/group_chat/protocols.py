"""Judges of an agent's decisions in a group chat: conduct, composition, common ground, the cascade."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.records import Turn
from annotation.scenario_records import (
    DIMENSIONS,
    LEAK,
    MOVES,
    UNPARSEABLE,
    Decision,
    Fact,
    Judged,
    Key,
    Mode,
    Outcome,
    Secret,
)
from jobs.prompt import OutOfScale, Unparseable, object_schema
from judges.protocols.protocol import (
    WAITING,
    Asking,
    Case,
    Computing,
    Need,
    NeedAnswer,
    Reading,
    Unwritable,
    Verdict,
    find_verdict,
    number,
)
from judges.protocols.questions import format_value, scale_lines, text_field
from judges.protocols.quoting import AROUND, Seen, around, quote
from judges.protocols.replies import integer, json_object
from judges.protocols.wording import Filling, Variable
from suites.group_chat.scenarios.cascade import answers, decision_of, decisions_of, outcome
from suites.group_chat.scenarios.points import key_at, listeners_at, scenario_of, seen_by
from suites.group_chat.schemes import CASCADE as SCHEME
from suites.group_chat.schemes import COMPOSE, CONDUCT, FIVE, MOVE, PRESUPPOSES, SCORE, STAGE
from suites.group_chat.schemes import GROUND_MOVE as GROUND

# Material for raters of an agent's decisions, and the choice of decisions to rate.
#
# A decision is rated where it reaches the stage that a protocol judges; a decision that failed before, or
# that says nothing, is not rated. The variant `judge_void` rates every message at a scored point.

REACHED, JUDGE_VOID = "", "judge_void"
VARIANTS = (REACHED, JUDGE_VOID)
NO_SCENARIO = "the dialogue is no scenario"
UNREAD = "the reply could not be read"
FREE = "anything goes at this point"
SAYS_NOTHING = {"silence": "nothing was said", "reaction": "a reaction says nothing"}
NOT_ASKED = "not asked here"
CHAT = Variable("chat", "the turns of the chat up to the decision", required=True)
DECISION = Variable("decision", "the decision that is judged", required=True)
LISTENERS = Variable("listeners", "who sees the decision")
FIELDS = Variable("fields", "the form of the reply", required=True)


def decision_in(case: Case) -> Decision:
    """Return the decision of a case."""
    assert case.turn is not None
    return decision_of(case.continuation.turns[case.turn], case.continuation.condition)


def key_of(case: Case) -> Key:
    """Return the key of the decision's point."""
    return key_at(scenario_of(case.dialogue), decision_in(case).point)


def refusal_at(case: Case, stage: str, variant: str) -> str:
    """Return the reason why no judge rates a decision's stage, '' where one does."""
    if case.dialogue.scenario is None:
        return NO_SCENARIO
    decision = decision_in(case)
    if UNPARSEABLE in decision.flags:
        return UNREAD
    if decision.act in SAYS_NOTHING:
        return SAYS_NOTHING[decision.act]
    if key_of(case).free:
        return FREE
    if variant == JUDGE_VOID:
        return ""
    decisions = decisions_of(case.continuation).items()
    earlier = {at: other for at, (_, other) in decisions if at < decision.point}
    score = outcome(case.dialogue, decision, earlier=earlier).stages[stage]
    return "" if score.state in ("scored", "pending") else score.why


def dimensions_of(case: Case) -> tuple[str, ...]:
    """Return the dimensions of conduct to rate: those of the key, or all where it names none."""
    requested = key_of(case).conduct
    return tuple(dimension for dimension in DIMENSIONS if dimension in requested) or DIMENSIONS


def full_chat(seen: Seen) -> tuple[Turn, ...]:
    """Return all turns up to the decision, including private ones."""
    return seen.before()


def agents_chat(case: Case) -> tuple[Turn, ...]:
    """Return the turns up to the decision that the agent saw."""
    return seen_by(case.dialogue, decision_in(case).point, scenario_of(case.dialogue).agent)


def decision_block(seen: Seen, chat: Sequence[Turn], mark: str = "") -> str:
    """Return the decision, quoted."""
    return quote("DECISION", seen.response(chat, mark))


def listeners_block(case: Case, seen: Seen) -> str:
    """Return the people who see the decision, quoted."""
    listener_ids = listeners_at(case.dialogue, decision_in(case).point)
    listeners = [person.id for person in case.dialogue.participants if person.id in listener_ids]
    return quote("WHO SEES IT", [seen.names.of(each) for each in listeners])


def secrets_block(case: Case, seen: Seen) -> str:
    """Return the secrets that exist by then, quoted, each with the people who may know it."""
    secrets = scenario_of(case.dialogue).secrets
    return quote(
        "SECRETS",
        [_entry_lines(secret, secret.text, seen) for secret in secrets if _exists_by_then(secret, case)],
    )


def facts_at(case: Case) -> tuple[Fact, ...]:
    """Return the facts of the common ground that exist by then."""
    return tuple(fact for fact in scenario_of(case.dialogue).common_ground if _exists_by_then(fact, case))


def shared_block(case: Case, seen: Seen) -> str:
    """Return the facts of the common ground, quoted, each with its id and the people who know it."""
    return quote("COMMON GROUND", [_entry_lines(fact, fact.fact, seen) for fact in facts_at(case)])


def shown_id(fact: Fact, seen: Seen) -> str:
    """Return a fact's id as shown."""
    return seen.view.line(fact.id)


def in_words(names: Iterable[str]) -> str:
    """Join names as a list in a sentence."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _exists_by_then(entry: Secret | Fact, case: Case) -> bool:
    return entry.since <= decision_in(case).point


def _entry_lines(entry: Secret | Fact, text: str, seen: Seen) -> str:
    people = in_words([seen.names.of(each) for each in entry.known_to] or ["nobody"])
    first, *rest = seen.view.about(text).split("\n")
    lines = [f"{seen.view.line(entry.id)}: {first}", *(f"      {line}" for line in rest)]
    return "\n".join([*lines[:-1], f"{lines[-1]} (known to {people})"])


# Conduct of an agent in one message of a group chat: five dimensions from 1 to 5, and leaks.
#
# After CONDUCT of the group-chat framework; anchors and wording are Concord's own. The judge sees everything,
# private turns marked, and the list of secrets. It rates only the dimensions that the point's key names, and
# explains why a dimension that is not at stake does not apply.

NOT_APPLICABLE = "not applicable"
"""Reason of an answer that the judge leaves out because the dimension is not at stake."""
_TURNS = re.compile(r"\(turns? ([\d, ]+)\) ?")


class Conduct(Asking):
    """One call per message: per dimension a score, the turns it is based on and a reason; leak 0 or 1."""

    key = "conduct"
    title = "Conduct in a group chat: five dimensions and leaks of a decision"
    covers = "decision"
    reply_tokens = 200
    variants = VARIANTS
    answers = {key: (CONDUCT, key) for key in DIMENSIONS}

    def refusal(self, case: Case, variant: str) -> str:
        """Refuse a decision that does not reach CONDUCT, or says nothing."""
        return refusal_at(case, "conduct", variant)

    def prompt_file(self, variant: str) -> str:
        """Return the prompt file of a variant."""
        return f"{self.key}_{variant}" if variant else self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return the variables: the chat, the decision, who sees it, the secrets, and the dimensions."""
        return (
            CHAT,
            DECISION,
            LISTENERS,
            Variable("secrets", "the secrets by then, each with who may know it", required=True),
            *AROUND,
            Variable("dimensions", "what is asked for, with what the values stand for", required=True),
            FIELDS,
            Variable("n", "the number of the decision: that of the last turn, and one"),
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Fill in all turns, numbered, and the decision with the next number."""
        seen, dimensions = Seen(case), dimensions_of(case)
        chat = full_chat(seen)
        n = len(chat) + 1
        return {
            "chat": lambda: quote("CHAT", seen.transcript(chat, numbers=True)),
            "decision": lambda: decision_block(seen, chat, f"[{n}] "),
            "listeners": lambda: listeners_block(case, seen),
            "secrets": lambda: secrets_block(case, seen),
            "dimensions": lambda: "\n".join(_describe_dimension(key) for key in dimensions),
            "fields": ",\n".join(f"  {_form(key)}" for key in dimensions),
            "n": str(n),
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """Return a schema with an object for each requested dimension."""
        return object_schema({key: _schema(key) for key in dimensions_of(case)})

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the object of each requested dimension; the others are missing with that reason."""
        data, dimensions = json_object(reply, case), dimensions_of(case)
        last = len(full_chat(Seen(case))) + 1
        return Reading(
            tuple(
                _read(key, data, case, last)
                if key in dimensions
                else Verdict(key, case.turn, None, missing=NOT_ASKED)
                for key in self.answers
            )
        )

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write each requested dimension; null where it does not apply."""
        by_question = {verdict.question: verdict for verdict in reading.verdicts if verdict.turn == case.turn}
        fields: dict[str, Any] = {}
        for key in dimensions_of(case):
            left_out = key != LEAK and key in by_question and by_question[key].missing == NOT_APPLICABLE
            verdict = by_question[key] if left_out else find_verdict(reading, key, case.turn)
            fields[key] = _dimension_json(key, verdict)
        return json.dumps(fields, ensure_ascii=False)


def _describe_dimension(key: str) -> str:
    question = CONDUCT.question(key)
    anchors = "; ".join(f"{format_value(value)} = {text}" for value, text in question.anchors.items())
    return f"- {key}: {question.wording} {anchors}"


def _form(key: str) -> str:
    if key == LEAK:
        return f'"{key}": {{"leak": ..., "why": "..."}}'
    return f'"{key}": {{"score": ..., "turns": [...], "why": "..."}}'


def _schema(key: str) -> dict[str, Any]:
    why = {"type": "string"}
    if key == LEAK:
        return object_schema({"leak": {"type": "integer", "enum": [0, 1]}, "why": why})
    score = {"anyOf": [{"type": "integer", "enum": list(FIVE)}, {"type": "null"}]}
    return object_schema(
        {"score": score, "turns": {"type": "array", "items": {"type": "integer"}}, "why": why}
    )


def _read(key: str, data: Mapping[str, Any], case: Case, last: int) -> Verdict:
    """Return the answer about a dimension; raise Unparseable where its object has none."""
    entry = data.get(key)
    if not isinstance(entry, dict):
        raise Unparseable(f"the field {key} is missing or no object")
    why, place = text_field(entry, "why", f"{key}: ").strip(), f"{key}: "
    if key == LEAK:
        return Verdict(key, case.turn, integer_field(entry, "leak", (0, 1), place), explanation=why)
    turns = _turns(entry, place, last)
    if "score" in entry and entry["score"] is None:
        if not why:
            raise Unparseable(f"{key}: nothing is said of why it does not apply")
        return Verdict(
            key, case.turn, None, missing=NOT_APPLICABLE, explanation=_explanation_with_turns(turns, why)
        )
    return Verdict(
        key,
        case.turn,
        integer_field(entry, "score", FIVE, place),
        explanation=_explanation_with_turns(turns, why),
    )


def integer_field(data: Mapping[str, Any], name: str, values: tuple[int, ...], place: str = "") -> float:
    """Return a field's value, one of some whole numbers; raise Unparseable for anything else."""
    value = integer(data.get(name), values[-1])
    if value is None:
        raise Unparseable(f"{place}the field {name} is missing or no whole number")
    if value not in values:
        raise OutOfScale(f"{place}{str(value)[:40]} is not one of {', '.join(map(str, values))}")
    return float(value)


def _turns(entry: Mapping[str, Any], place: str, last: int) -> list[int]:
    value = entry.get("turns")
    if not isinstance(value, list):
        raise Unparseable(f"{place}the field turns is missing or no list")
    for position in value:
        if not isinstance(position, int) or isinstance(position, bool) or not 1 <= position <= last:
            raise Unparseable(f"{place}there is no turn {str(position)[:40]!r}; the turns are 1 to {last}")
    return sorted(set(value))


def _explanation_with_turns(turns: list[int], why: str) -> str:
    """Return a reason, preceded by the numbers of the turns it is based on."""
    if not turns:
        return why
    return f"({'turn' if len(turns) == 1 else 'turns'} {', '.join(map(str, turns))}) {why}".strip()


def _dimension_json(key: str, verdict: Verdict) -> dict[str, Any]:
    if key == LEAK:
        return {"leak": int(number(verdict)), "why": verdict.explanation}
    match = _TURNS.match(verdict.explanation)
    turns = [int(position) for position in match[1].split(",")] if match else []
    why = verdict.explanation[match.end() :] if match else verdict.explanation
    if verdict.value is None and not why:
        raise Unwritable(f"there is no reason why {key} does not apply")
    score = None if verdict.value is None else int(number(verdict))
    return {"score": score, "turns": turns, "why": why}


# Composition of an agent's message, from 1 to 5: relevant, right given what was visible, complete and brief.
#
# After COMPOSE of the group-chat framework; anchors and wording are Concord's own. The judge sees only the
# turns that the agent saw: an agent need not know anything else.


class Compose(Asking):
    """One call per message whose key requires a judge's score: a score from 1 to 5 with a reason."""

    key = "compose"
    title = "Composition in a group chat: a score of what a message says"
    covers = "decision"
    reply_tokens = 80
    variants = VARIANTS
    answers = {SCORE: (COMPOSE, SCORE)}

    def refusal(self, case: Case, variant: str) -> str:
        """Refuse a decision that does not reach COMPOSE, or whose key requires no score of it."""
        if refusal := refusal_at(case, "compose", variant):
            return refusal
        return "" if variant == JUDGE_VOID or key_of(case).rubric else NOT_ASKED

    def prompt_file(self, variant: str) -> str:
        """Return the prompt file of a variant."""
        return f"{self.key}_{variant}" if variant else self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return the variables: the chat as the agent saw it, its message, who sees that, and the scale."""
        scale = Variable("scale", "the scores with what they stand for")
        return (CHAT, DECISION, LISTENERS, *AROUND, scale, FIELDS)

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Fill in the turns that the agent had seen when it wrote."""
        seen, chat = Seen(case), agents_chat(case)
        return {
            "chat": lambda: quote("CHAT", seen.transcript(chat)),
            "decision": lambda: decision_block(seen, chat),
            "listeners": lambda: listeners_block(case, seen),
            "scale": lambda: "\n".join(scale_lines(COMPOSE.question(SCORE))),
            "fields": '  "score": ..., "why": "..."',
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """Return a schema with a score and a reason."""
        return object_schema({"score": {"type": "integer", "enum": list(FIVE)}, "why": {"type": "string"}})

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the JSON object: a whole number as the score, and a reason."""
        data = json_object(reply, case)
        why = text_field(data, "why").strip()
        return Reading((Verdict(SCORE, case.turn, integer_field(data, "score", FIVE), explanation=why),))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the score and its reason."""
        verdict = find_verdict(reading, SCORE, case.turn)
        return json.dumps({"score": int(number(verdict)), "why": verdict.explanation}, ensure_ascii=False)


# Move on common ground of an agent's message, and the facts that it wrongly takes as known.
#
# After GROUND of the group-chat framework; the wording is Concord's own. The judge sees the turns that the
# agent saw and the facts of the common ground, each with the people who know it.

JUDGED_MOVES = MOVES[:3]
"""Moves available to a judge."""
JOIN, NOTHING = ";", "none"
"""Separator of the ids of facts in an answer, and the answer without facts."""


def facts_read(answer: str) -> tuple[str, ...]:
    """Return the ids of facts in an answer to `presupposes`."""
    return () if answer == NOTHING else tuple(answer.split(JOIN))


class GroundMove(Asking):
    """One call per message whose key requires a move: the move, the facts presupposed, and a reason."""

    key = "ground_move"
    title = "Move on common ground: answer, clarify or reground"
    covers = "decision"
    reply_tokens = 80
    variants = VARIANTS
    answers = {MOVE: (GROUND, MOVE), PRESUPPOSES: (GROUND, PRESUPPOSES)}

    def refusal(self, case: Case, variant: str) -> str:
        """Refuse a decision that does not reach GROUND, or says nothing."""
        return refusal_at(case, "ground", variant)

    def prompt_file(self, variant: str) -> str:
        """Return the prompt file of a variant."""
        return f"{self.key}_{variant}" if variant else self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return the variables: the chat as the agent saw it, its message, who sees that, and the facts."""
        shared = Variable("shared", "the facts of the common ground, each with its id and who knows it")
        moves = Variable("moves", "the moves with what they are")
        return (CHAT, DECISION, LISTENERS, shared, *AROUND, moves, FIELDS)

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Fill in the turns that the agent had seen, and the facts."""
        seen, chat = Seen(case), agents_chat(case)
        move_lines = scale_lines(GROUND.question(MOVE))
        return {
            "chat": lambda: quote("CHAT", seen.transcript(chat)),
            "decision": lambda: decision_block(seen, chat),
            "listeners": lambda: listeners_block(case, seen),
            "shared": lambda: shared_block(case, seen),
            "moves": "\n".join(move_lines[: len(JUDGED_MOVES)]),
            "fields": '  "move": ..., "presupposes": [...], "why": "..."',
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """Return a schema with the move, ids of facts, and a reason."""
        return object_schema(
            {
                "move": {"type": "string", "enum": list(JUDGED_MOVES)},
                "presupposes": {"type": "array", "items": {"type": "string"}},
                "why": {"type": "string"},
            }
        )

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the JSON object; an unlisted fact makes it unreadable."""
        data = json_object(reply, case)
        move = data.get("move")
        if not isinstance(move, str):
            raise Unparseable("the field move is missing or no text")
        if move not in JUDGED_MOVES:
            raise OutOfScale(f"move: {move[:40]!r} is not one of {', '.join(JUDGED_MOVES)}")
        why = text_field(data, "why").strip()
        ids = _read_presupposed(data, case)
        return Reading(
            (
                Verdict(MOVE, case.turn, move, explanation=why),
                Verdict(PRESUPPOSES, case.turn, JOIN.join(ids) or NOTHING),
            )
        )

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the move, the facts (none where missing) and the reason."""
        verdict = find_verdict(reading, MOVE, case.turn)
        quoted_ids = {own: quoted_id for quoted_id, own in _ids(case).items()}
        presupposed = (own_id.value for own_id in reading.verdicts if own_id.question == PRESUPPOSES)
        ids = facts_read(str(next(presupposed, None) or NOTHING))
        fields = {
            "move": verdict.value,
            "presupposes": [quoted_ids[own_id] for own_id in ids if own_id in quoted_ids],
            "why": verdict.explanation,
        }
        return json.dumps(fields, ensure_ascii=False)


def _ids(case: Case) -> dict[str, str]:
    """Return the facts' ids by their form as shown."""
    seen = Seen(case)
    return {shown_id(fact, seen): fact.id for fact in facts_at(case)}


def _read_presupposed(data: Mapping[str, Any], case: Case) -> list[str]:
    value = data.get("presupposes")
    if not isinstance(value, list):
        raise Unparseable("the field presupposes is missing or no list")
    fact_ids = _ids(case)
    for quoted_id in value:
        if not isinstance(quoted_id, str) or quoted_id not in fact_ids:
            raise Unparseable(f"presupposes: there is no fact {str(quoted_id)[:40]!r}")
    return sorted({fact_ids[quoted_id] for quoted_id in value})


# The decision cascade with judges: computed stages, combined with the answers of other raters.
#
# Every stage is computed again with the judges' answers: their scores of conduct and composition, their
# leaks, and their moves where neither a declaration nor a rule decides. A stage whose judge is not bound, or
# was not asked, stays pending.

EXPLICIT: Mode = "explicit"
IMPLICIT: Mode = "implicit"
CONDUCT_RATER, COMPOSE_RATER, MOVES_RATER = "conduct", "compose", "ground_move"
NOT_DECLARED = "the decision was made in implicit mode"
TWICE = "another decision at this point came before"
HALF = 0.5


class Cascade(Computing):
    """Rules on top of judges: the same stages as `cascade_observed`, none pending where a judge is bound.

    Several samples of a judge are averaged, and the most frequent move counts; a leak found in half of them
    is a leak. The variant `implicit` reads a decision by its act alone, whatever it declared.
    """

    key = "cascade"
    title = "The decision cascade, with judges for what rules cannot tell"
    covers = "decision"
    variants = (EXPLICIT, IMPLICIT)
    answers = {question.key: (SCHEME, question.key) for question in SCHEME.questions}
    needs = (
        Need(CONDUCT_RATER, "conduct/leak", optional=True, also=DIMENSIONS),
        Need(COMPOSE_RATER, "compose/score", optional=True),
        Need(MOVES_RATER, "ground_move/move", aggregate="majority", optional=True, also=(PRESUPPOSES,)),
    )

    def refusal(self, case: Case, variant: str) -> str:
        """Refuse all but the first decision at a scenario's point, and in explicit mode undeclared ones."""
        if case.dialogue.scenario is None:
            return NO_SCENARIO
        index, decision = _at(case)
        if index != case.turn:
            return TWICE
        return NOT_DECLARED if variant == EXPLICIT and decision.mode != EXPLICIT else ""

    def judge(self, case: Case, variant: str = EXPLICIT) -> Reading:
        """Compute every stage again with the judges' answers."""
        assert case.turn is not None
        _, decision = _at(case)
        if variant == IMPLICIT:
            decision = replace(
                decision, mode=IMPLICIT, attend=None, addressed=None, targets=None, ground=None
            )
        decisions = decisions_of(case.continuation).items()
        earlier = {at: other for at, (_, other) in decisions if at < decision.point}
        by_question, result = answers(case.dialogue, decision, judge_answers(case), earlier=earlier)
        verdicts = (
            Verdict(key, case.turn, answer.value, answer.missing, _why(key, result))
            for key, answer in by_question.items()
        )
        return Reading(tuple(verdicts), (*result.flags, *_waiting(case)))


def judge_answers(case: Case) -> Judged:
    """Return the bound judges' answers about a decision."""
    conduct = {
        key: None if answer.value is None else float(answer.value)
        for key in DIMENSIONS
        if key != LEAK and (answer := _known_answer(case, f"{CONDUCT_RATER}/{key}")) is not None
        if answer.value is not None or answer.why == NOT_APPLICABLE
    }
    leak = _number(case, CONDUCT_RATER)
    move, presupposed = _known_answer(case, MOVES_RATER), _known_answer(case, f"{MOVES_RATER}/{PRESUPPOSES}")
    return Judged(
        conduct=conduct,
        leak=None if leak is None else float(leak >= HALF),
        compose=_number(case, COMPOSE_RATER),
        move=None if move is None or move.value is None else str(move.value),
        presupposes=(
            None if presupposed is None or presupposed.value is None else facts_read(str(presupposed.value))
        ),
    )


def _at(case: Case) -> tuple[int, Decision]:
    assert case.turn is not None
    return decisions_of(case.continuation)[(case.continuation.turns[case.turn].at or 0) - 1]


def _known_answer(case: Case, role: str) -> NeedAnswer | None:
    """Return a bound rater's answer about the decision, None where no rater is bound."""
    return case.need_answers.get(role, {}).get(case.turn)


def _number(case: Case, role: str) -> float | None:
    answer = _known_answer(case, role)
    return None if answer is None or answer.value is None else float(answer.value)


def _why(question: str, result: Outcome) -> str:
    """Return the explanation of a stage's score, '' without one."""
    stages: Mapping[str, str] = {
        STAGE + stage: score.why for stage, score in result.stages.items() if score.score is not None
    }
    return stages.get(question, "")


def _waiting(case: Case) -> tuple[str, ...]:
    """Return the flag of a decision for which a bound judge has no answer yet."""
    bound = (answer for need in Cascade.needs if (answer := _known_answer(case, need.role)) is not None)
    return (WAITING,) if any(answer.value is None and not answer.why for answer in bound) else ()


PROTOCOLS = {protocol.key: protocol for protocol in (Conduct(), Compose(), GroundMove(), Cascade())}
