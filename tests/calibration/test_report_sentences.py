"""Every sentence of a report holds: its numbers are those of the ratings, its claims follow from its figures.

The ratings are read from the database again, and figures are computed by other libraries or by brute force. A
sentence that no rule knows fails the test: it needs a rule, or has to be an explanation without figures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.corpora import comparisons
from annotation.models import Item, Label, Rater
from calibration.reports import sentences, tables, view
from calibration.reports.results import Figure, Question
from calibration.reports.snapshot import Snapshot
from calibration.reports.wording import NUMBERS
from jobs.models import Call
from tests.calibration import bias_sentences, system_sentences
from tests.calibration.report_facts import Facts, Values
from tests.calibration.report_shapes import ALT_TEST, FIGURES, MADE, STUDIES, fed, from_alt_test, from_figures

pytestmark = pytest.mark.django_db


def _shared(group: Mapping[str, Values]) -> list[list[Any]]:
    """Return the answers to each item that two raters or more answered."""
    by_item: dict[int, list[Any]] = {}
    for own in group.values():
        for item, value in own.items():
            by_item.setdefault(item, []).append(value)
    return [values for values in by_item.values() if len(values) > 1]


def _int(text: str) -> int:
    """Read a count in digits or in words."""
    return NUMBERS.index(text) if text in NUMBERS else int(text.replace(",", ""))


def _float(text: str) -> float:
    return float(text.replace("−", "-"))


def _names(text: str) -> list[str]:
    """Return the names of `a, b and c`, without the count of those that are not named."""
    return [name for name in re.split(", | and ", text) if not name.endswith(" more")]


def _pairs(question: Question, facts: Facts, rater: str) -> tuple[list[Any], list[Any]]:
    """Return a rater's answers beside each person's, one pair per person and item."""
    own = facts.answers[question.ref][rater]
    both = [
        (value, own[i]) for person in facts.of(question).values() for i, value in person.items() if i in own
    ]
    return [a for a, _ in both], [b for _, b in both]


def _kappa(question: Question, people: Sequence[Any], own: Sequence[Any]) -> float:
    grid = sorted({*people, *own}) if question.level == "nominal" else list(question.values)
    codes = [[grid.index(value) for value in values] for values in (people, own)]
    weights = "quadratic" if question.level == "ordinal" else None
    return float(cohen_kappa_score(*codes, labels=list(range(len(grid))), weights=weights))


def _alpha(question: Question, people: Mapping[str, Values]) -> float:
    if question.level == "interval":
        return _interval_alpha(_shared(people))
    items = sorted({item for own in people.values() for item in own})
    grid = sorted({value for own in people.values() for value in own.values()})
    coded = question.level == "nominal"
    rows = [
        [
            np.nan if item not in own else grid.index(own[item]) if coded else float(own[item])
            for item in items
        ]
        for own in people.values()
    ]
    level: Any = {"binary": "nominal"}.get(question.level, question.level)
    return float(krippendorff.alpha(reliability_data=np.array(rows, dtype=float), level_of_measurement=level))


def _interval_alpha(shared: Sequence[Sequence[float]]) -> float:
    """Return 1 - D_o / D_e of squared differences; the library compares all pairs of distinct values."""
    values = np.concatenate([np.asarray(answers, dtype=float) for answers in shared])
    within = sum(2 * len(a) / (len(a) - 1) * len(a) * np.var(a) for a in shared) / len(values)
    return float(1 - within / (2 * len(values) / (len(values) - 1) * np.var(values)))


def _with_interval(question: Question) -> list[Figure]:
    """Return a question's figures with an interval: of people and judges, of pairs if there are no others."""
    figures = [*question.panel, *question.gaps, *question.replacement]
    means = [figure for figure in question.pairs if any(name.startswith("mean(") for name in figure.raters)]
    figures += means or ([] if figures else list(question.pairs))
    return [figure for figure in figures if figure.low is not None]


# Rules of the sentences that begin a report.


def headline(facts: Facts, judges: str, verb: str) -> bool:
    kind = "judge" if verb == "agree with" else "metric"
    present = {name for q in facts.result.questions if facts.of(q) for name in facts.of(q, kind)}
    return bool(present) and set(_names(judges)) <= present


def people_alone(facts: Facts) -> bool:
    return set(facts.kind.values()) == {"human"}


def judges_alone(facts: Facts) -> bool:
    return set(facts.kind.values()) == {"judge"}


def people_agree(
    facts: Facts,
    value: str,
    who: str,
    title: str,
    n: str,
    several: str,
    low: str,
    worst: str,
    high: str,
    best: str,
) -> bool:
    question = next(q for q in facts.titled(title) if q.n_items and len(_shared(facts.of(q))) == _int(n))
    people = facts.of(question)
    assert _float(value) == pytest.approx(_alpha(question, people), abs=6e-4)
    assert _int(who) == len(people)
    if several:
        alphas = {(q.title, round(_alpha(q, facts.of(q)), 2)) for q in facts.result.questions}
        assert len(alphas) >= _int(several) - 1
        assert (worst, _float(low)) in alphas
        assert (best, _float(high)) in alphas
        assert {a for _, a in alphas} <= {a for _, a in alphas if _float(low) <= a <= _float(high)}
    return True


def people_agree_in_percent(facts: Facts, value: str, title: str, n: str, reason: str) -> bool:
    shared = _shared(facts.of(facts.question(title)))
    pairs = [a == b for values in shared for a, b in combinations(values, 2)]
    return len(shared) == _int(n) and round(100 * np.mean(pairs)) == _int(value)


def too_few_dialogues(facts: Facts, low: str, high: str, least: str, how: str) -> bool:
    figures = [figure for question in facts.result.questions for figure in _with_interval(question)]
    counts = [figure.n_clusters for figure in figures]
    assert (min(counts), max(counts)) == (_int(low), _int(high or low))
    assert max(counts) <= len(set(facts.cluster.values()))
    floor = {"too": 0, "somewhat too": 50}[how]
    return {"too": 50, "somewhat too": 150}[how] == _int(least) and floor <= min(counts) <= max(
        counts
    ) < _int(least)


def some_on_few_dialogues(facts: Facts, least: str, how: str, subjects: str) -> bool:
    counts = {figure.n_clusters for question in facts.result.questions for figure in _with_interval(question)}
    numbers = [_int(number) for number in re.findall(r"\d+", subjects)]
    assert any(count >= _int(least) or count < _int(least) - 100 for count in counts)
    return set(numbers) <= counts and all(number < _int(least) for number in numbers)


def one_dialogue(facts: Facts) -> bool:
    figures = [figure for question in facts.result.questions for figure in question.figures]
    return len(set(facts.cluster.values())) == 1 and all(
        figure.low is None for figure in figures if figure.ok
    )


def same_answer(facts: Facts, titles: str, names: str) -> bool:
    answers = [
        facts.answers[q.ref][name] for t in _names(titles) for q in facts.titled(t) for name in _names(names)
    ]
    return all(len(own) > 1 and len(set(own.values())) == 1 for own in answers)


def one_answer_prevails(facts: Facts, titles: str) -> bool:
    def share(group: Mapping[str, Values]) -> float:
        values = Counter(value for answers in _shared(group) for value in answers)
        return max(values.values()) / values.total() if values else 0.0

    return all(any(share(g) >= 0.9 for q in facts.titled(t) for g in facts.groups(q)) for t in _names(titles))


def few_of_the_rarer(facts: Facts, titles: str) -> bool:
    def events(group: Mapping[str, Values]) -> float:
        shared = _shared(group)
        if not shared:
            return np.inf
        if len(group) == 2:
            items = set.intersection(*(set(own) for own in group.values()))
            return min(
                sum(own[item] == value for item in items) for own in group.values() for value in (0, 1)
            )
        per_item = float(np.mean([len(answers) for answers in shared]))
        return min(sum(answers.count(value) for answers in shared) / per_item for value in (0, 1))

    return all(any(events(g) < 30 for q in facts.titled(t) for g in facts.groups(q)) for t in _names(titles))


def missing(facts: Facts, n: str, of: str) -> bool:
    return (_int(n), _int(of)) == (facts.n_missing, facts.n_labels)


def without_split(facts: Facts) -> bool:
    return facts.result.split is None and "judge" in facts.kind.values()


def slots(facts: Facts) -> bool:
    return any(not facts.identified[name] for name, kind in facts.kind.items() if kind == "human")


def pairs_left_out(facts: Facts, n: str, of: str, few: str, title: str) -> bool:
    answers = facts.answers[facts.question(title).ref]
    shared = [len(set(answers[a]) & set(answers[b])) for a, b in combinations(answers, 2)]
    enough = sum(number >= 10 for number in shared)
    return (_int(n), _int(of), _int(few)) == (enough, sum(map(bool, shared)), sum(0 < s < 10 for s in shared))


# Rules of the remarks under tables.


def unanswered(
    facts: Facts, rater: str, n: str, of: str, title: str, low: str, high: str, value: str
) -> bool:
    question = facts.question(title)
    items = {item for answers in facts.of(question).values() for item in answers}
    own = facts.answers[question.ref][rater]
    assert (_int(n), _int(of)) == (len(items - set(own)), len(items))
    assert _float(value) == pytest.approx(_kappa(question, *_pairs(question, facts, rater)), abs=6e-3)
    random = np.random.default_rng(1)
    try:
        for _ in range(40):
            share = random.random()
            filled = own | {item: float(random.random() < share) for item in items - set(own)}
            facts.answers[question.ref][rater] = filled
            kappa = _kappa(question, *_pairs(question, facts, rater))
            assert _float(low) - 6e-3 <= kappa <= _float(high) + 6e-3
    finally:
        facts.answers[question.ref][rater] = own
    return True


def not_passed(facts: Facts, rater: str, title: str, reasons: str) -> bool:
    question = facts.question(title)
    return all(_reason_holds(facts, question, rater, reason) for reason in reasons.split("; "))


def _reason_holds(facts: Facts, question: Question, rater: str, reason: str) -> bool:
    people, own = facts.of(question), facts.answers[question.ref][rater]
    if found := re.fullmatch(
        r"its .+ with people could be chance: (\S+) \((?:(\S+) to \S+|no interval)\)", reason
    ):
        value, low = found.groups()
        kappa = _kappa(question, *_pairs(question, facts, rater))
        return abs(_float(value) - kappa) < 6e-4 and (low is None or _float(low) <= 0)
    pattern = r"answering (\S+) to every item does as well \(accuracy (\S+) against (\S+) of the judge\)"
    if found := re.fullmatch(pattern, reason):
        shares = {"constant": [], "judge": []}  # type: ignore[var-annotated]
        for item, value in own.items():
            others = [answers[item] for answers in people.values() if item in answers]
            if len(others) > 1:
                shares["constant"].append(np.mean([other == _float(found[1]) for other in others]))
                shares["judge"].append(np.mean([other == value for other in others]))
        constant, judge = np.mean(shares["constant"]), np.mean(shares["judge"])
        assert (_float(found[2]), _float(found[3])) == pytest.approx((constant, judge), abs=6e-4)
        return bool(constant >= judge - 1e-9)
    if found := re.fullmatch(r"it can replace (\d+) of (\d+) people, fewer than half", reason):
        return _int(found[1]) * 2 < _int(found[2]) <= len(people)
    found = re.fullmatch(r"(\S+) gave one value throughout, so it cannot pass", reason)
    return found is not None and found[1] == rater and len(set(own.values())) == 1


def passed(facts: Facts, rater: str, won: str, of: str, untested: str, everybody: str) -> bool:
    assert _int(won) * 2 >= _int(of) >= 3
    people = facts.of(facts.result.questions[0])
    return not untested or (_int(of) + _int(untested), _int(everybody)) == (len(people), len(people))


def people_counted(facts: Facts, n: str, kind: str) -> bool:
    anonymous = [not facts.identified[name] for name, of in facts.kind.items() if of == "human"]
    return len(anonymous) == _int(n) and all(anonymous) == (kind == "anonymous slots")


def judges_counted(facts: Facts, n: str) -> bool:
    return judges_alone(facts) and len(facts.kind) == _int(n)


def two_people(facts: Facts) -> bool:
    """Without one of two people, a single person is left to agree with."""
    return any(len(facts.of(question)) <= 2 for question in facts.result.questions)


def differing(facts: Facts, counts: str) -> bool:
    """Correct the p-values of every family again, and count those that stay below 0.05."""
    expected = set()
    for question in facts.result.compared:
        families: dict[tuple[str, str], list[float]] = {}
        for pair in question.pairs:
            if pair.p.ok:
                families.setdefault((pair.statistic, pair.reference), []).append(pair.p.point)
        texts = []
        for p in families.values():
            corrected = np.maximum.accumulate([min(1.0, (len(p) - at) * v) for at, v in enumerate(sorted(p))])
            texts.append(f"{sum(corrected <= 0.05)} of {len(p)}")
        expected.add("; ".join(texts))
    return "; ".join(re.findall(r"\d+ of \d+", counts)) in expected


def few_dialogues_each(facts: Facts, n: str) -> bool:
    counts = {
        sum(
            len(facts.dialogues(own)) < 10
            for name, own in facts.answers[q.ref].items()
            if facts.kind[name] != "metric"
        )
        for q in facts.result.questions
    }
    return _int(n) in counts


def groups_of_raters(facts: Facts, n: str, joined: str, alone: str) -> bool:
    answers = facts.answers[facts.result.questions[0].ref]
    groups = [{name} for name in answers]
    for a, b in combinations(answers, 2):
        if set(answers[a]) & set(answers[b]):
            both = [group for group in groups if group & {a, b}]
            groups = [group for group in groups if group not in both] + [set().union(*both)]
    single = {name for group in groups if len(group) == 1 for name in group}
    return len(groups) == _int(n) and set(_names(alone)) == single and not joined


def over_people(facts: Facts, value: str, low: str, high: str) -> bool:
    question = facts.result.questions[0]
    kappas, people = [], facts.of(question)
    for a, b in combinations(people.values(), 2):
        items = sorted(set(a) & set(b))
        kappas.append(_kappa(question, [a[i] for i in items], [b[i] for i in items]) if items else np.nan)
    assert _float(value) == pytest.approx(np.nanmean(kappas), abs=0.02)
    return _float(low) <= _float(value) <= _float(high)


def no_figures_per_rater(facts: Facts, titles: str) -> bool:
    return all(
        not any(facts.identified[n] for n in facts.of(q)) for t in _names(titles) for q in facts.titled(t)
    )


def labelled(facts: Facts, n: str) -> bool:
    question = facts.result.questions[0]
    people = {item for own in facts.of(question).values() for item in own}
    (judge,) = facts.of(question, "judge").values()
    return len(people & set(judge)) == _int(n) and len(judge) > _int(n)


def tags_compared(facts: Facts, n: str, judge: str, people: str) -> bool:
    raters = [judge, *facts.of(next(q for q in facts.result.questions if q.pooled))]
    items = [set(facts.answers[ref][rater]) for ref in facts.tags() for rater in raters]
    return (_int(n), _int(people)) == (len(set.intersection(*items)), len(raters) - 1)


def single_person(facts: Facts) -> bool:
    return list(facts.kind.values()).count("human") == 1


def another_behaviour(
    facts: Facts,
    rater: str,
    verb: str,
    n: str,
    of: str,
    share: str,
    low: str,
    high: str,
    none: str,
    most: str,
) -> bool:
    """Hold a share of turns against Wilson's formula."""
    answers = facts.answers["tags@1/another_behaviour"]
    own = (
        [answers[rater]]
        if rater in answers
        else [a for name, a in answers.items() if facts.kind[name] == "human"]
    )
    items = {item for given in own for item in given}
    marked = {item for given in own for item, value in given.items() if value == 1}
    size, p, z = len(items), len(marked) / len(items), 1.959964
    middle = (p + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(p * (1 - p) / size + z**2 / (4 * size**2))
    if none:
        return not marked and _int(none) == size and abs(_float(most) - 100 * (middle + half)) < 6e-3
    printed = [_int(n), _int(of), _float(share), _float(low), _float(high)]
    expected = [len(marked), size, 100 * p, 100 * (middle - half), 100 * (middle + half)]
    return printed == pytest.approx(expected, abs=6e-3)


def failed_calls(facts: Facts, n: str, of: str, rater: str, kinds: str, rest: str) -> bool:
    calls = Call.objects.filter(rater__name=rater)
    failed = Counter(calls.filter(state=Call.State.FAILED).values_list("error_kind", flat=True))
    assert (_int(n), _int(of)) == (failed.total(), calls.count())
    assert {(int(count), kind) for count, kind in re.findall(r"(\d+) ([a-z]+)", kinds)} == {
        (count, kind) for kind, count in failed.items()
    }
    (row,) = facts.result.bounds
    return rest.startswith(f"Cohen’s kappa on {row.title} could be anywhere from ")


def levels_compared(facts: Facts, turns: str, n: str, dialogues: str, systems: str, people: str) -> bool:
    (question,) = [q for q in facts.result.questions if q.item_kind == "turn"]
    items = {item for own in facts.of(question).values() for item in own}
    placed = Item.objects.filter(pk__in=items)
    expected = [len(items)] + [
        placed.values(key).distinct().count()
        for key in ("continuation", "continuation__dialogue", "continuation__system")
    ]
    assert [_int(turns), _int(n), _int(dialogues), _int(systems)] == expected
    return _int(people) == len(facts.of(question))


def resampled(facts: Facts, level: str, n: str, seed: str) -> bool:
    plan = facts.result.definition.plan
    return (_int(level), _int(n), _int(seed)) == (round(100 * plan.level), plan.resamples, plan.seed)


def few_systems(facts: Facts, n: str) -> bool:
    (question,) = [q for q in facts.result.questions if q.item_kind == "turn"]
    items = {item for own in facts.of(question).values() for item in own}
    return Item.objects.filter(pk__in=items).values("continuation__system").distinct().count() == _int(n) < 10


def panel_of(facts: Facts, n: str) -> bool:
    judges = list(facts.kind.values()).count("judge")
    return _int(n) == judges // 2 + 1


def majority_of_people(facts: Facts, ties: str) -> bool:
    question = facts.result.questions[0]
    answers = _shared(facts.of(question))
    return not ties or sum(2 * sum(values) == len(values) for values in answers) == _int(ties)


def read_as_an_answer(facts: Facts, link: str, ref: str) -> bool:
    """Whoever answers a linked question takes part in the one that it is linked to."""
    by_title = {q.title: q.ref for r in facts.result.answered for q in r.questions}
    by_title |= {question.title: question.ref for question in facts.result.questions}
    linked, target = (by_title.get(text) or text.rpartition("(")[2].rstrip(")") for text in (link, ref))
    return bool(facts.answers[linked]) and set(facts.answers[linked]) <= set(facts.answers[target])


def preferred(facts: Facts) -> bool:
    rated = [question for question in facts.result.questions if len(facts.of(question)) > 1]
    return bool(facts.result.preferences) and not rated


def highest_win_rate(facts: Facts, rate: str, system: str, n: str, pairs: str) -> bool:
    """Count the wins of every system over all its pairs."""
    won: dict[str, list[float]] = {}
    for label in Label.objects.filter(text__in=("first", "second")):
        members = comparisons.members_of([label.item_id])[label.item_id]
        for place, member in zip(("first", "second"), members, strict=True):
            won.setdefault(member.continuation.system.name, []).append(float(label.text == place))
    rates = {name: float(np.mean(wins)) for name, wins in won.items()}
    assert (len(rates), max(rates, key=lambda name: rates[name]), len(won[system])) == (
        _int(n),
        system,
        _int(pairs),
    )
    return round(100 * rates[system], 1) == _float(rate)


def votes(facts: Facts, raters: str, first: str, second: str) -> bool:
    counts = Counter(Label.objects.values_list("text", flat=True))
    return (_int(raters), _int(first), _int(second)) == (len(facts.kind), counts["first"], counts["second"])


def never_lost(facts: Facts, system: str, others: str) -> bool:
    for label in Label.objects.filter(text__in=("first", "second")):
        members = comparisons.members_of([label.item_id])[label.item_id]
        names = {
            place: m.continuation.system.name for place, m in zip(("first", "second"), members, strict=True)
        }
        pair = set(names.values())
        if system in pair and pair <= {system, *others.split(", ")} and names[str(label.text)] != system:
            return False
    return True


def too_few_folds(facts: Facts, n: str) -> bool:
    return len(facts.dialogues(facts.cluster)) == _int(n) < 5


def folds(facts: Facts, n: str) -> bool:
    return facts.result.scores is not None and facts.result.scores.folds == _int(n)


# Rules of the reasons why a figure has no value.


def one_value(facts: Facts, name: str) -> bool:
    if name not in facts.kind:
        return name in (
            *("majority", "median", "mean", "length in words", "length in characters"),
            *("the rater", "the rest", "the people’s mean", "people", "the baseline majority"),
        )
    others = {
        i for q in facts.result.questions for n, own in facts.answers[q.ref].items() if n != name for i in own
    }
    values = [facts.answers[q.ref].get(name, {}) for q in facts.result.questions]
    return any(len({value for item, value in own.items() if item in others}) == 1 for own in values)


def no_variation(facts: Facts, value: str) -> bool:
    return any(
        {v for values in _shared(group) for v in values} == {float(value)}
        for q in facts.result.questions
        for group in facts.groups(q)
    )


def no_shared_item(facts: Facts) -> bool:
    return any(not _shared(group) for q in facts.result.questions for group in facts.groups(q))


def too_few_people(facts: Facts, n: str) -> bool:
    return len(facts.of(facts.result.questions[0])) == _int(n) < 3


def too_few_tested(facts: Facts, n: str, of: str) -> bool:
    question = facts.result.questions[0]
    people = facts.of(question)
    numbers = set()
    for judge in facts.of(question, "judge").values():
        shared = [
            sum(any(i in other for key, other in people.items() if key != name) for i in own if i in judge)
            for name, own in people.items()
        ]
        numbers.add(sum(number >= 30 for number in shared))
    return _int(n) in numbers and _int(of) == len(people) and _int(n) < 3


WORDS = "|".join(NUMBERS)
N = rf"([\d,]+|{WORDS})"
VALUE = r"(−?[\d.]+)"
NAME = r"(\S+)"
RULES: list[tuple[str, Callable[..., bool]]] = [
    *bias_sentences.RULES,
    *system_sentences.RULES,
    (r"Do(?:es)? (.+) (agree with|follow) people\?", headline),
    (r"Do people agree with each other\?", people_alone),
    (r"Do the judges agree with each other\?", judges_alone),
    (
        rf"α {VALUE} — Krippendorff’s alpha of (?:ratings in )?{N} (?:people|anonymous slots) on (.+), over "
        rf"{N} (?:turns|dialogues|answers about turns)\.(?: Over {N} questions, alpha runs from {VALUE} "
        rf"\((.+)\) to {VALUE} \((.+)\)\.)?",
        people_agree,
    ),
    (
        rf"{N}% — Share of pairs of ratings that agree on (.+), over {N} turns\. Krippendorff’s alpha has "
        r"no value: (.+)\.",
        people_agree_in_percent,
    ),
    (r" — No value: no item was rated by two of the raters\.", no_shared_item),
    (
        rf"With {N}(?: to {N})? dialogues \(fewer than {N}\), the intervals are (too|somewhat too) narrow\.",
        too_few_dialogues,
    ),
    (
        rf"With fewer than {N} dialogues, intervals are (too|somewhat too) narrow\. This concerns (.+)\.",
        some_on_few_dialogues,
    ),
    (r"All ratings are of one dialogue, so there are no intervals: rate more dialogues\.", one_dialogue),
    (
        r"On (.+), (.+?)(?: each)? gave the same answer to every item, which says nothing about agreement\.",
        same_answer,
    ),
    (r"On (.+), one answer has 90% of the ratings or more\. This lowers agreement .+", one_answer_prevails),
    (r"On (.+), some figures rest on fewer than 30 items with the rarer answer, so .+", few_of_the_rarer),
    (rf"{N} of {N} answers (?:is|are) missing; each figure uses the answers that exist\.", missing),
    (
        r"The corpus has no split: a judge tuned on these dialogues will do worse on new dialogues\.",
        without_split,
    ),
    (r"Anonymous slots do not say which person gave a rating\. .+", slots),
    (
        rf"{N} of {N} pairs of raters who share items are compared one by one and in means over pairs: {N} "
        r"share fewer than 10 items \((.+)\)\.",
        pairs_left_out,
    ),
    (
        rf"{NAME} left {N} of {N} items unanswered \((?:no answer with a reason|failed calls): [\d,]+\)\. "
        rf"With all items answered, Cohen’s kappa on (.+) could be anywhere from {VALUE} to {VALUE} "
        rf"\(reported without them: {VALUE}\)\.",
        unanswered,
    ),
    (rf"{NAME} does not pass on (.+?): (.+)\.", not_passed),
    (
        rf"{NAME}: passed, for {N} of {N} people(?: tested \({N} of {N} shares? too few items, fewer than "
        rf"30\))?",
        passed,
    ),
    (rf"{N} (people|anonymous slots)", people_counted),
    (r"Pairs that differ at 0\.05 after Holm’s correction: (.+)\.", differing),
    (rf"{N} raters? answered in fewer than 10 dialogues: .+ far too narrow\.", few_dialogues_each),
    (
        rf"The raters form {N} groups that share no item with each other( \(.+\))?; (.+) shares? no item "
        r"with anybody\. Compare severities only within a group: each group has its own zero\.",
        groups_of_raters,
    ),
    (
        rf"Cohen’s kappa.* is {VALUE} on average over pairs of people; with other people on the same items "
        rf"it could be {VALUE} to {VALUE}\.",
        over_people,
    ),
    (r"There are no figures per rater on (.+): its raters are anonymous slots, .+", no_figures_per_rater),
    (r"(?:majority|median|mean): all ratings lie in one cluster, and a baseline .+", one_dialogue),
    (rf"Shares of items with the behaviour, .+ \(at least {N}\)\.", labelled),
    (
        rf"Figures are over {N} turns that (\S+) and {N} (?:person|people) answered\. Policy "
        r"“(?:consistent|cocoeval)”: [^\d]+(?:counts as 0)?[^\d]+",
        tags_compared,
    ),
    (r"Only one person answered: for agreement among people, at least two are needed\.", single_person),
    (
        rf"(One annotator or more|No annotator|\S+) marked (another|no other) behaviour in (?:{N} of {N} "
        rf"turns \({VALUE}%; {VALUE}% to {VALUE}%, Wilson\)|{N} turns \(at most {VALUE}%, Wilson\))\.",
        another_behaviour,
    ),
    (
        rf"{N} of {N} calls of (\S+) failed and gave no answer \((.+?)\)\. With all items answered, (.+)\.",
        failed_calls,
    ),
    (
        rf"{N} labelled turns, {N} continuations, {N} dialogues, {N} systems, the mean of {N} people as "
        rf"reference\. .+",
        levels_compared,
    ),
    (
        rf"Below each figure: its {N}% interval \({N} resamples of dialogues and systems, seed {N}\)\.",
        resampled,
    ),
    (
        rf"With only {N} systems \(fewer than 10\), even a high correlation of systems may be chance\.",
        few_systems,
    ),
    (rf"A panel answers an item that at least {N} of its members answered\. .+", panel_of),
    (rf"The reference is the majority of people\.(?: .+ \(up to {N} items\)\.)?", majority_of_people),
    (r"Which system is preferred\?", preferred),
    (
        r"(.+) is read as an answer to (.+), (?:by order only|on the same scale|.+ read linearly as .+)",
        read_as_an_answer,
    ),
    (
        rf"{VALUE}% — (\S+) has the highest win rate of {N} systems, by the votes of people on {N} pairs\.",
        highest_win_rate,
    ),
    (rf"people \({N}\): {N} first, {N} second\.", votes),
    (r"(\S+) never lost a point to (.+): the strength that fits best is infinite", never_lost),
    (rf"5 folds need 5 clusters or more; there are {N}", too_few_folds),
    (rf".*Cross-fitted over {N} folds of dialogues: .+", folds),
    (r"(.+) gave one value throughout(?:, so it cannot pass)?", one_value),
    (r"no variation: every rating is (\S+); read percent agreement instead", no_variation),
    (
        r"no item was rated by (?:two of the raters|the judge and by two others|a person as well)|"
        r"no item that others rated, too|shares no item with another rater",
        no_shared_item,
    ),
    (r"fewer than two raters", two_people),
    (rf"{N} judges", judges_counted),
    (rf"the test needs 3 people, and {N} answered", too_few_people),
    (
        rf"the test needs 3 people who share 30 items or more with the judge and another of them; {N} of "
        rf"{N} do(?:es)?",
        too_few_tested,
    ),
]
EXPLANATIONS = (
    "α gained: ",
    "The answer to a group is the set of tags ",
    "Agreement and error are over ",
    "A judge is useful only above the baselines",
    "“The rest” of a rater are ",
    "Severity: below 0",
    "Spread: standard deviation ",
    "The same answer is not always the right answer",
    "The prediction-powered share is unbiased ",
    "Each figure is over the answered items. ",
    "Bounds of shares, means, kappa and MCC are sharp",
    "First and second: mean agreement ",
    "No significant difference does not prove ",
    "A map is useful if its error is below ",
    "the raters differ by the same amount on every item",
    "Among equally good thresholds",
    "Strengths: Bradley-Terry",
    "Strength: 1000 is the mean of all systems; 400 points are odds of ten to one.",
    "If position does not matter, half ",
    "no other rater answered it",
    "Brier score = ",
    "Figures are over items that both ",
    "Balanced accuracy: ",
    "Less best baseline: ",
    "Baseline “majority” gives ",
    "Each figure is the mean over people, with each of them ",
    "Wilson’s intervals assume ",
    "Star: not significant ",
    "Each point is a system",
    "length in characters scores all systems alike",
    "length in words scores all systems alike",
    *bias_sentences.EXPLANATIONS,
    *system_sentences.EXPLANATIONS,
)
FIXED = {"0", "1", "30", "400", "1000", "95%", "2,000", "0.05"}
"""Numbers of the methods, which explanations may name."""


def _texts(result: Snapshot) -> Iterator[str]:
    """Yield every sentence of a report, those of its verdicts apart."""
    yield sentences.headline_question(result)
    for answer in sentences.lede(result):
        if answer.title.startswith(("How well do", "Which system")):
            yield f"{answer.figure} — {answer.text}"
    yield from sentences.caveats(result)
    for table in tables.agreement(result):
        yield from (*table.remarks, *table.notes)
        yield from (row.compared for row in table.rows)
    yield from (*view.links(result), *view.how_asked(result))
    for section in view.SECTIONS:
        for shown in section.views(result, None):
            yield from (*shown.remarks, *shown.table.notes)


def check(result: Snapshot) -> None:
    """Hold every sentence of a report against its rule."""
    facts, names = Facts(result), set(Rater.objects.values_list("name", flat=True))
    names |= {panel.name for panel in result.definition.panels}
    for text in dict.fromkeys(_texts(result)):
        if (
            re.fullmatch(r"(\S+)(: not passed|: cannot say| with people)?", text)
            and text.split(":")[0].split()[0] in names
        ):
            continue
        rules = [(found, rule) for pattern, rule in RULES if (found := re.fullmatch(pattern, text))]
        if rules:
            found, rule = rules[0]
            assert rule(facts, *found.groups()), text
        else:
            assert text.startswith(EXPLANATIONS), f"no rule for: {text}"
            assert set(re.findall(r"\d[\d,.]*\d%?|\d", text)) <= FIXED, text


@pytest.mark.parametrize("name", MADE)
def test_every_sentence_about_ratings_of_a_shape_holds(name: str) -> None:
    check(MADE[name]().report())


@pytest.mark.parametrize("name", STUDIES)
def test_every_sentence_of_a_study_of_tags_calls_levels_or_pairs_holds(name: str) -> None:
    check(STUDIES[name]())


@pytest.mark.exhaustive
@pytest.mark.shared
@pytest.mark.parametrize("name", FIGURES)
def test_every_sentence_about_a_case_that_was_once_told_wrongly_holds(name: str, shared_data: Path) -> None:
    check(from_figures(shared_data.parent / "cases" / "figures", name).report())


@pytest.mark.exhaustive
@pytest.mark.shared
@pytest.mark.parametrize("name", ALT_TEST)
def test_every_sentence_about_many_people_and_real_judges_holds(name: str, shared_data: Path) -> None:
    check(from_alt_test(shared_data, name).report())


@pytest.mark.exhaustive
@pytest.mark.shared
def test_every_sentence_about_fed_holds(shared_data: Path) -> None:
    check(fed(shared_data))
