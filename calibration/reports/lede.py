"""The answers in sentences, which a report begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.text.display import number, percent
from calibration.reports.figures import (
    HUMAN,
    JUDGE,
    METRIC,
    QuestionFigures,
    crowd,
    figures,
    in_order,
    lead,
    ok,
    replaced,
    won,
    worded,
)
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.wording import Crowd, in_words, interval, listed, signed, units
from calibration.statistics.gaps import beyond_one_more, direction, unknown_of_one_more

MOST_JUDGES = 3
WIN_RATE = "preference_win_rate"
NO_FIGURE = -2.0  # below every correlation and kappa


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a question in words, its figure with interval (empty where there is none), a sentence."""

    title: str
    figure: str
    interval: str
    text: str


def lede(result: Snapshot) -> list[Answer]:
    """Return the answers of a report, those that its labels allow."""
    questions, epsilon = figures(result), result.definition.epsilon
    answers = [answer for answer in (_people(questions),) if answer]
    judges = in_order(questions, JUDGE)
    if len(judges) > MOST_JUDGES:
        judges = ranked(questions, judges)
        answers += _ranking(questions, judges)
    for judge in judges[:MOST_JUDGES]:
        answers += [a for a in (_judge(questions, judge), _stand_in(questions, judge, epsilon)) if a]
    if metric := _metric(questions):
        answers.append(metric)
    return [*answers, *_preferred(result)]


def _preferred(result: Snapshot) -> list[Answer]:
    """Return which system wins most, by the first voters of the first question that compares responses."""
    for table in result.preferences[:1]:
        for sheet in [sheet for sheet in table.sheets if sheet.key == "systems"][:1]:
            rates = [(row, c) for row in sheet.rows for c in row.cells if c and c.name == WIN_RATE and c.ok]
            if rates:
                row, best = max(rates, key=lambda pair: pair[1].point)
                text = (
                    f"Win rate of {row.about} by {sheet.of}, the highest of {len(sheet.rows)} systems, on "
                    f"{units(table.item_kind, best.n_items)}."
                )
                shown = percent(best.point, 1)
                return [Answer("Which system is preferred?", shown, _percent_interval(best), text)]
    return []


def _answer(title: str, entry: Figure, symbol: str, text: str) -> Answer:
    value = f"{symbol} {number(entry.point, 3)}".strip()
    return Answer(title, value, interval(entry), text)


def _undefined(title: str, entry: Figure) -> Answer:
    return Answer(title, "", "", f"No figure: {entry.reason}.")


def _people(questions: Sequence[QuestionFigures]) -> Answer | None:
    asked = [q for q in questions if len(q.people) > 1]
    question = lead(asked)
    if question is None:
        return None
    title = f"Do the {question.crowd.many} agree?"
    entry = question.among("krippendorff_alpha")
    if entry is None:
        return None
    if not ok(entry):
        agreement = question.among("percent_agreement")
        if agreement is None or not ok(agreement):
            return _undefined(title, entry)
        text = f"Share of pairs that agree on {question.title}, {_units(question, agreement)}."
        text += f" There is no alpha: {entry.reason}."
        return Answer(title, percent(agreement.point), _percent_interval(agreement), text)
    text = (
        f"Krippendorff’s alpha among {question.among_whom(entry)} on {question.title}, "
        f"{_units(question, entry)}.{_range(asked)}"
    )
    return _answer(title, entry, worded("krippendorff_alpha").symbol, text)


def _range(questions: Sequence[QuestionFigures]) -> str:
    """Say between which questions agreement runs, where there are several."""
    found = [(q, q.among("krippendorff_alpha")) for q in questions if not q.data.pooled]
    values = sorted(((e.point, q.title) for q, e in found if e and ok(e)), key=lambda pair: pair[0])
    if len(values) < 2:
        return ""
    (low, worst), (high, best) = values[0], values[-1]
    return f" Over {len(values)} questions it runs from {number(low)} ({worst}) to {number(high)} ({best})."


def _judge(questions: Sequence[QuestionFigures], judge: str) -> Answer | None:
    title, missed = f"{judge} with {crowd(questions).many}", None
    for question in _by_importance(questions, judge):
        statistic = question.headline
        entry = question.with_people(statistic, judge)
        if entry is not None and ok(entry):
            text = f"{worded(statistic).name} on {question.title}, {_units(question, entry)}. "
            text = _answered(question, judge) + text + _beside(question, statistic, judge)
            return _answer(title, entry, worded(statistic).symbol, text)
        entry = question.with_mean(judge)
        if entry is not None and ok(entry):
            text = _answered(question, judge) + _rank_sentence(question, judge, entry)
            return _answer(title, entry, worded("spearman").symbol, text)
        missed = missed or question.with_people(question.headline, judge) or entry
    return _undefined(title, missed) if missed else None


def ranked(questions: Sequence[QuestionFigures], judges: Sequence[str]) -> list[str]:
    """Return the judges by their figure on the leading question, the highest first, those without last."""
    found = {judge: _figure(questions, judge) for judge in judges}
    return sorted(judges, key=lambda judge: -(entry.point if (entry := found[judge]) else NO_FIGURE))


def _figure(questions: Sequence[QuestionFigures], judge: str) -> Figure | None:
    """Return a judge's figure on the leading question of all: with people, else with their mean."""
    question = lead([q for q in questions if q.people])
    if question is None:
        return None
    found = (question.with_people(question.headline, judge), question.with_mean(judge))
    return next((entry for entry in found if entry is not None and ok(entry)), None)


def _ranking(questions: Sequence[QuestionFigures], judges: Sequence[str]) -> list[Answer]:
    """Return which of many judges come first and last on the leading question, and that this flatters."""
    found = [(judge, entry) for judge in judges if (entry := _figure(questions, judge))]
    question = lead([q for q in questions if q.people])
    if question is None or len(found) < 2:
        return []
    first = [f"{judge} {number(entry.point, 3)} ({interval(entry)})" for judge, entry in found[:MOST_JUDGES]]
    last, least = found[-1]
    text = (
        f"On {question.title}, of {len(found)} judges: {listed(first)}; last is {last} with "
        f"{number(least.point, 3)} ({interval(least)}). The first of many is flattered by the choice."
    )
    return [Answer(f"Which judge agrees with {question.crowd.many} most?", found[0][0], "", text)]


def _by_importance(questions: Sequence[QuestionFigures], judge: str) -> list[QuestionFigures]:
    first = lead([q for q in questions if q.people], judge)
    rest = [q for q in questions if q is not first and q.people]
    return [first, *rest] if first else rest


def _beside(question: QuestionFigures, statistic: str, judge: str) -> str:
    people, gap = question.people_beside(statistic, judge), question.gap(statistic, judge)
    if people is None or gap is None or not ok(people) or not ok(gap):
        return f"There are no two {question.crowd.many} on these items to compare it with."
    who = question.crowd.many
    said = f"{who.capitalize()} with each other reach {number(people.point, 3)} ({interval(people)}). "
    return said + _verdict(gap, question.margin(statistic, judge), question.crowd)


def _verdict(gap: Figure, margin: Figure | None, who: Crowd) -> str:
    """Say what the interval of a gap shows, and what these people do not show of one more.

    A mean over pairs has no margin and says neither more nor less.
    """
    difference = f"{signed(gap.point)} ({interval(gap)})"
    if gap.low is None or margin is None:
        return f"The difference is {difference}."
    shown = direction(gap.point, gap.low, gap.high)
    if shown is None:
        return f"A difference is not shown: {difference}."
    said = f"It agrees with {who.many} {shown} than they do with each other: {difference}"
    if beyond_one_more(gap.point, margin.value):
        return f"{said}, more than one more {who.one} would differ."
    return f"{said}; {unknown_of_one_more(len(gap.raters) - 1, who.many, who.one)}."


def _rank_sentence(question: QuestionFigures, judge: str, entry: Figure) -> str:
    samples = question.rater(judge).samples
    who = f"the mean of its {in_words(samples)} samples" if samples > 1 else "its answers"
    text = f"Rank correlation of {who} with {_people_mean(question)} on {question.title}, "
    return f"{text}{_units(question, entry)}."


def _people_mean(question: QuestionFigures) -> str:
    return f"the {question.crowd.own} mean" if len(question.people) > 1 else question.people[0]


def _stand_in(questions: Sequence[QuestionFigures], judge: str, epsilon: float) -> Answer | None:
    """The verdict of the alternative annotator test on the first question that people rated several times."""
    for question in _by_importance(questions, judge):
        verdict, entry, advantage = (
            question.stand_in(judge),
            question.replacement(judge),
            question.advantage(judge),
        )
        if verdict is None or entry is None:
            continue
        title = f"Can {judge} stand in for a {question.crowd.one}?"
        answered, about = _answered(question, judge), f"on {question.title}"
        if verdict.state == "cannot_say":
            return Answer(title, "", "", f"{answered}Cannot say {about}: {verdict.why}.")
        also = ""
        if advantage is not None and ok(advantage):
            also = f" Advantage probability {number(advantage.point, 3)} ({interval(advantage)})."
        if verdict.state == "not_passed":
            return Answer(title, "", "", f"{answered}Not passed {about}: {verdict.why}.{also}")
        text = (
            f"{answered}Passed {about}: by the alternative annotator test it can replace "
            f"{replaced(entry, question.crowd)} (at least half is wanted), with a margin ε of {epsilon:g}."
            f"{_over_judges(question, judge)}{also}"
        )
        return _answer(title, entry, worded("alt_test_winning_rate").symbol, text)
    return None


def _answered(question: QuestionFigures, rater: str) -> str:
    """Say how many of the items that people rated a rater answered, where it left out many; else ''."""
    counts = question.answered(rater)
    if counts is None:
        return ""
    n, of = counts
    items = units(question.data.item_kind, of, pooled=question.data.pooled)
    verb = "gave" if question.data.pooled else "rated"
    return f"{rater} answered {n:,} of the {items} that {question.crowd.many} {verb} ({percent(n / of)}). "


def _over_judges(question: QuestionFigures, judge: str) -> str:
    """Say what is left of the test where the judge is one of several to choose from."""
    entry = question.corrected(judge)
    if entry is None or not ok(entry):
        return ""
    passed = "passed" if entry.point >= 0.5 else "not shown"
    return f" Corrected over the judges tested: {passed}, {won(entry)} of {entry.n_raters - 1}."


def _metric(questions: Sequence[QuestionFigures]) -> Answer | None:
    """The metric that follows people best on the leading question, with how many it was chosen from."""
    asked = [q for q in questions if q.people and q.names(METRIC)]
    question = lead(asked)
    if question is None:
        return None
    found = [(name, question.with_mean(name)) for name in question.names(METRIC)]
    good = [(name, e) for name, e in found if e is not None and ok(e)]
    if not good:
        return None
    name, entry = max(good, key=lambda pair: abs(pair[1].point))
    chosen = f" The strongest of {len(good)} metrics, so a little flattered." if len(good) > 1 else ""
    falls = f" It falls where {question.crowd.many} rate higher." if entry.point < 0 else ""
    text = (
        f"{_answered(question, name)}Rank correlation of {name} with {_people_mean(question)} on "
        f"{question.title}, {_units(question, entry)}.{falls}{chosen}"
    )
    return _answer(f"Does a metric follow {question.crowd.many}?", entry, worded("spearman").symbol, text)


def headline_question(result: Snapshot) -> str:
    """Return the question a report answers, as its title."""
    questions = figures(result)
    judges, metrics = in_order(questions, JUDGE), in_order(questions, METRIC)
    people, who = in_order(questions, HUMAN), crowd(questions).many
    if judges and people:
        return f"{'Does' if len(judges) == 1 else 'Do'} {listed(judges, 3)} agree with the {who}?"
    if metrics and people:
        return f"{'Does' if len(metrics) == 1 else 'Do'} {listed(metrics, 2)} follow the {who}?"
    if people:
        return f"Do the {who} agree with each other?"
    if result.preferences and not judges:
        return "Which system is preferred?"
    return "Do the judges agree with each other?" if judges else str(result.study)


def _units(question: QuestionFigures, entry: Figure) -> str:
    return units(question.data.item_kind, entry.n_items, pooled=question.data.pooled)


def _percent_interval(entry: Figure) -> str:
    if entry.low is None:
        return "no interval"
    return f"{percent(entry.low)} to {percent(entry.high)}"
