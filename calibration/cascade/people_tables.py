"""Tables of what people say in the agent's place: the human ceiling, and keys for adjudication."""

from __future__ import annotations

from collections.abc import Callable

from calibration.cascade import figures
from calibration.cascade.parts import NOT_ASKED, Context
from calibration.cascade.tables import Cell, Line, Table

MAJORITY, CHANCE = "majority", "random"
TITLES = {
    "attend": "Is it for the agent",
    "speak": "What to do",
    "addressed": "Whom the message is for",
    "target": "Whom to speak to",
}


def people(context: Context) -> Table:
    """How often people in the agent's place meet the key, beside majority and chance: the human ceiling."""
    baselines = {row.name: row.decisions for row in context.baselines}

    def cells(question: str) -> tuple[Cell, ...]:
        others: list[Cell] = ["–", "–"]
        if question in ("attend", "speak", "addressed"):
            weigh = figures.is_right(question)
            others = [
                context.mean(question, baselines.get(name, []), weigh, NOT_ASKED)
                for name in (MAJORITY, CHANCE)
            ]
        return (context.people.agreement[question], *others)

    lines = tuple(Line(TITLES[question], cells(question)) for question in context.people.agreement)
    return Table(
        "people",
        f"People in the agent's place ({context.people.raters}), against the key",
        ("People", "Majority baseline", "Chance"),
        lines,
        ("What people reach is the ceiling: where they miss it together, look at the key.",) if lines else (),
    )


def contradicted(context: Context) -> Table:
    """Keys that most of at least three people contradict: for adjudication."""
    lines = tuple(
        Line(
            f"{one.scenario}, turn {one.point}: {one.question}",
            (one.key, one.answer, f"{one.n_answer} of {one.n_people}"),
        )
        for one in context.people.contradicted
    )
    return Table(
        "contradicted",
        "Keys that most people contradict",
        ("The key says", "Most of those who differ say", "People"),
        lines,
        ("Decide on these with people before the set is used: a corrected key is another rater.",),
    )


TABLES: tuple[Callable[[Context], Table], ...] = (people, contradicted)
