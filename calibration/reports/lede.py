"""The answers in sentences, which a report begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibration.reports.figures import (
    HUMAN,
    JUDGE,
    METRIC,
    SYMBOLS,
    TITLES,
    Entry,
    QuestionFigures,
    figures,
    in_order,
    lead,
    ok,
)
from calibration.reports.wording import in_words, interval, listed, number, signed, units
from calibration.statistics.one_more import verdict

MOST_JUDGES = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a question in words, its figure with interval (empty where there is none), a sentence."""

    title: str
    figure: str
    interval: str
    text: str


def lede(result: dict[str, Any]) -> list[Answer]:
    """Return the answers of a report, those that its labels allow."""
    questions = figures(result)
    answers = [answer for answer in (_people(questions),) if answer]
    judges = in_order(questions, JUDGE)
    for judge in judges[:MOST_JUDGES]:
        answers += [a for a in (_judge(questions, judge), _stand_in(questions, judge)) if a]
    if metric := _metric(questions):
        answers.append(metric)
    return answers


def _answer(title: str, entry: Entry, symbol: str, text: str) -> Answer:
    value = f"{symbol} {number(entry['value'], 3)}".strip()
    return Answer(title, value, interval(entry), text)


def _undefined(title: str, entry: Entry) -> Answer:
    return Answer(title, "", "", f"No figure: {entry['reason']}.")


def _people(questions: Sequence[QuestionFigures]) -> Answer | None:
    asked = [q for q in questions if len(q.people) > 1]
    question = lead(asked)
    if question is None:
        return None
    title = "Do the people agree?"
    entry = question.among("krippendorff_alpha")
    if entry is None:
        return None
    if not ok(entry):
        agreement = question.among("percent_agreement")
        if agreement is None or not ok(agreement):
            return _undefined(title, entry)
        text = f"of pairs agree on {question.title}. {_sentence(entry['reason'])}"
        return Answer(title, f"{100 * agreement['value']:.0f}%", _percent_interval(agreement), text)
    text = (
        f"Krippendorff’s alpha among {in_words(len(question.people))} people on {question.title}, "
        f"{_units(question, entry)}.{_range(asked)}"
    )
    return _answer(title, entry, "α", text)


def _range(questions: Sequence[QuestionFigures]) -> str:
    """Say between which questions agreement runs, where there are several."""
    found = [(q, q.among("krippendorff_alpha")) for q in questions if not q.data["pooled"]]
    values = sorted(((e["value"], q.title) for q, e in found if e and ok(e)), key=lambda pair: pair[0])
    if len(values) < 2:
        return ""
    (low, worst), (high, best) = values[0], values[-1]
    return f" Over {len(values)} questions it runs from {number(low)} ({worst}) to {number(high)} ({best})."


def _judge(questions: Sequence[QuestionFigures], judge: str) -> Answer | None:
    title = f"{judge} with people"
    for question in _by_importance(questions, judge):
        statistic = question.headline
        entry = question.with_people(statistic, judge)
        if entry is not None and ok(entry):
            text = f"{TITLES[statistic]} on {question.title}, {_units(question, entry)}. "
            return _answer(title, entry, SYMBOLS[statistic], text + _beside(question, statistic, judge))
        entry = question.with_mean(judge)
        if entry is not None and ok(entry):
            return _answer(title, entry, "ρ", _rank_sentence(question, judge, entry))
    return None


def _by_importance(questions: Sequence[QuestionFigures], judge: str) -> list[QuestionFigures]:
    first = lead([q for q in questions if q.people], judge)
    rest = [q for q in questions if q is not first and q.people]
    return [first, *rest] if first else rest


def _beside(question: QuestionFigures, statistic: str, judge: str) -> str:
    people, gap = question.people_beside(statistic, judge), question.gap(statistic, judge)
    if people is None or gap is None or not ok(people) or not ok(gap):
        return "There are no two people on these items to compare it with."
    said = f"People with each other reach {number(people['value'], 3)} ({interval(people)}). "
    difference = f"{signed(gap['value'])} ({interval(gap)})"
    return said + _verdict(gap, question.margin(statistic, judge), difference)


def _verdict(gap: Entry, margin: Entry | None, difference: str) -> str:
    """Say more or less only of a gap that one more person would hardly have."""
    if gap["low"] is None or margin is None:
        return f"The difference is {difference}."
    shown = verdict(gap["value"], gap["low"], gap["high"], margin["value"])
    if shown == "not shown":
        return f"A difference is not shown: {difference}."
    if shown == "unknown":
        return f"The difference is {difference}; {margin['reason']}."
    if shown == "within":
        up_to = f"up to {number(margin['value'])}"
        return f"The difference, {difference}, may be that of one more person ({up_to})."
    return f"It agrees with people {shown} than they do with each other: {difference}."


def _rank_sentence(question: QuestionFigures, judge: str, entry: Entry) -> str:
    samples = question.rater(judge)["samples"]
    who = f"the mean of its {in_words(samples)} samples" if samples > 1 else "its answers"
    people = "the people’s mean" if len(question.people) > 1 else question.people[0]
    return f"Rank correlation of {who} with {people} on {question.title}, {_units(question, entry)}."


def _stand_in(questions: Sequence[QuestionFigures], judge: str) -> Answer | None:
    """The alternative annotator test, where there are three people or more."""
    for question in _by_importance(questions, judge):
        entry = question.replacement(judge)
        if entry is None or not ok(entry):
            continue
        passed = entry["value"] >= 0.5
        text = (
            f"{'Passed' if passed else 'Not shown'} on {question.title}: the share of the "
            f"{in_words(entry['n_raters'] - 1)} people whom it can replace by the alternative annotator test "
            f"(at least 0.5 is wanted).{_flattered(question)}"
        )
        return _answer(f"Can {judge} stand in for a person?", entry, "ω", text)
    return None


def _flattered(question: QuestionFigures) -> str:
    """Say what accuracy hides where one answer is common."""
    if question.data["level"] not in ("binary", "nominal"):
        return ""
    return " Its score is accuracy, which a rare answer flatters: read kappa beside it."


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
    name, entry = max(good, key=lambda pair: abs(pair[1]["value"]))
    chosen = f" The strongest of {len(good)} metrics, so a little flattered." if len(good) > 1 else ""
    text = (
        f"Rank correlation of {name} with the people’s mean on {question.title}, "
        f"{_units(question, entry)}.{chosen}"
    )
    return _answer("Does a metric follow people?", entry, "ρ", text)


def headline_question(result: dict[str, Any]) -> str:
    """Return the question a report answers, as its title."""
    questions = figures(result)
    judges, metrics = in_order(questions, JUDGE), in_order(questions, METRIC)
    people = in_order(questions, HUMAN)
    if judges and people:
        return f"{'Does' if len(judges) == 1 else 'Do'} {listed(judges, 3)} agree with the people?"
    if metrics and people:
        return f"{'Does' if len(metrics) == 1 else 'Do'} {listed(metrics, 2)} follow the people?"
    if people:
        return "Do the people agree with each other?"
    return "Do the judges agree with each other?" if judges else str(result["study"])


def _units(question: QuestionFigures, entry: Entry) -> str:
    return units(question.data["item_kind"], entry["n_items"], pooled=question.data["pooled"])


def _percent_interval(entry: Entry) -> str:
    if entry["low"] is None:
        return "no interval"
    return f"{100 * entry['low']:.0f}% to {100 * entry['high']:.0f}%"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
