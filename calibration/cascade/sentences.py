"""The sentences that stand with the tables of a Cascade report: what it rests on, and what it cannot show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import fmean

from annotation.scenarios.records import VISIBLE
from annotation.text.display import number
from calibration.cascade import figures
from calibration.cascade.badge import NOT_CALIBRATED
from calibration.cascade.parts import NOT_ASKED, Context
from calibration.cascade.reading import Material
from calibration.cascade.tables import Cell, Line, Table, interval
from calibration.reports.wording import counted

# Tables of what people say in the agent's place: the human ceiling, and keys for adjudication.

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


def facts(context: Context, found: Material, part: str, *, learnt_on_dev: bool) -> Iterator[str]:
    """Yield what a report rests on, in sentences."""
    scenarios = list(found.scenarios.values())
    families = {one.cluster for one in scenarios}
    yield (
        f"{counted(len(scenarios), 'scenario')} of {counted(len(families), 'family', 'families')}"
        f"{'' if part == 'all' else f', the {part} part'}; intervals are over families."
    )
    trials = [len({one.trial for one in row.decisions}) for row in context.rows]
    if trials:
        yield (
            f"Trials of each system: {min(trials)} to {max(trials)}."
            if min(trials) < max(trials)
            else (f"Trials of each system: {trials[0]}.")
        )
    else:
        yield "No system has decided at the points of these scenarios yet: the baselines stand alone."
    people = fmean(len(one.participants) - 1 for one in scenarios)
    yield f"On average {number(people, 1)} people beside the agent."
    yield (
        "Baselines that learn from keys learnt from the dev part."
        if learnt_on_dev
        else "Baselines that learn from keys learnt from all families but the scored one."
    )
    for judge in context.judges:
        if doubted := [one.dimension for one in context.badges if one.judge == judge and one.stands]:
            yield (
                f"{NOT_CALIBRATED.capitalize()}: {judge} on {', '.join(doubted)}. Its numbers of conduct "
                "are no result before a study compares them with people."
            )
    if not context.judges:
        yield "No judge was named: what needs one is missing, and conduct is told by canary and rule alone."


def guardrails(context: Context, found: Material) -> Iterator[str]:
    """Yield the limits that are printed with every report. `group_chat.md`, section 9."""
    yield "Synthetic talk: these are scripted scenarios, written for the purpose, and not people's own chats."
    natural = context.people.natural
    yield (
        "Naturalness: nobody has rated yet whether these scripts could be real chats."
        if natural.value is None
        else f"Naturalness: people rate these scripts at {number(natural.value)} of 5 "
        f"({interval(natural) or 'no interval'}), over {natural.n_items:,} scripts."
    )
    yield "The rubrics follow norms of English-speaking chats; other groups may find other conduct right."
    yield "What a judge told depends on that judge: read it with the judge's agreement with people."
    yield "Three scores stand side by side, and no mean of them is computed: each fails in its own way."
    yield "Reliability is pass^k. pass@k stands beside it in grey and is not reliability."
    marked = sum(one.scenario.addressees == VISIBLE for one in found.scenarios.values() if one.scenario)
    if marked:
        yield (
            f"Addressees shown: in {marked:,} of {len(found.scenarios):,} scenarios the channel marks to "
            "whom a message is addressed, so ATTEND and ADDRESS can be read off the mark."
        )
    alone = sum(len(one.scenario.keyed_by) < 2 for one in found.scenarios.values() if one.scenario)
    if alone:
        of = f"{alone:,} of {len(found.scenarios):,}"
        yield f"Author's key: in {of} scenarios fewer than two people agreed the keys."
    if context.people.contradicted:
        yield f"Most people contradict {len(context.people.contradicted):,} keys: decide on them first."
    if any(one.mode == "implicit" for row in context.rows for one in row.decisions):
        yield (
            "In implicit mode whoever is named in a message counts as its target, also where a name is only "
            "a topic: this rule errs there."
        )
