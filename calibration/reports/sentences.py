"""Sentences of a report: its answers first, then its limits, and bounds over unanswered items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.schemes.cocoeval import BEHAVIOUR_COUNTS as COUNTS
from annotation.text.display import number, percent
from calibration.reports import designs
from calibration.reports.figures import (
    HUMAN,
    JUDGE,
    METRIC,
    QuestionFigures,
    crowd,
    figures,
    in_order,
    leading_question,
    ok,
    worded,
)
from calibration.reports.results import Figure, PreferenceSheet
from calibration.reports.snapshot import Snapshot
from calibration.reports.unanswered import of_failures
from calibration.reports.wording import counted, in_words, interval, join_names, units
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.core.resampling import FEW_CLUSTERS, MODERATE_CLUSTERS
from jobs.fake_models import MARK

# The answers in sentences, with which a report without verdicts begins.

WIN_RATE = "preference_win_rate"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a question in words, its figure with interval (empty if there is none), a sentence."""

    title: str
    figure: str
    interval: str
    text: str


def lede(result: Snapshot) -> list[Answer]:
    """Return how well people agree, and which system is preferred; empty if there are verdicts."""
    if result.verdicts:
        return []
    answers = [answer for answer in (_people(figures(result)),) if answer]
    return [*answers, *_preferred(result)]


def _preferred(result: Snapshot) -> list[Answer]:
    """Name the system with most wins, by the first voters of the first question that compares responses."""
    systems, best = preferred_systems(result)
    sheet = _systems_sheet(result)
    if best is None or sheet is None:
        return []
    text = (
        f"{join_names(systems)} {'has' if len(systems) == 1 else 'share'} the highest win rate of "
        f"{len(sheet.rows)} systems, by the votes of {sheet.of} on "
        f"{units(result.preferences[0].item_kind, best.n_items)}."
    )
    return [Answer("Which system is preferred?", percent(best.point, 1), _percent_interval(best), text)]


def preferred_systems(result: Snapshot) -> tuple[list[str], Figure | None]:
    """Return the systems with the highest win rate, several if tied, and that rate; None without votes."""
    sheet = _systems_sheet(result)
    rows = sheet.rows if sheet else ()
    rates = [(row.about, c) for row in rows for c in row.cells if c and c.name == WIN_RATE and c.ok]
    best = max((rate for _, rate in rates), key=lambda rate: rate.point, default=None)
    return [system for system, rate in rates if best and rate.point == best.point], best


def _systems_sheet(result: Snapshot) -> PreferenceSheet | None:
    """Return the systems by the first voters of the first question that compares responses."""
    sheets = [sheet for table in result.preferences[:1] for sheet in table.sheets if sheet.key == "systems"]
    return next(iter(sheets), None)


def _answer(title: str, entry: Figure, symbol: str, text: str) -> Answer:
    value = f"{symbol} {number(entry.point, 3)}".strip()
    return Answer(title, value, interval(entry), text)


def _undefined(title: str, entry: Figure) -> Answer:
    return Answer(title, "", "", f"No value: {entry.reason}.")


def _people(questions: Sequence[QuestionFigures]) -> Answer | None:
    several_people = [q for q in questions if len(q.people) > 1]
    question = leading_question(several_people)
    if question is None:
        return None
    title = f"How well do {question.crowd.many} agree?"
    entry = question.among("krippendorff_alpha")
    if entry is None:
        return None
    if not ok(entry):
        agreement = question.among("percent_agreement")
        if agreement is None or not ok(agreement):
            return _undefined(title, entry)
        text = (
            f"Share of pairs of ratings that agree on {question.title}, over {_units(question, agreement)}."
        )
        text += f" Krippendorff’s alpha has no value: {entry.reason}."
        return Answer(title, percent(agreement.point), _percent_interval(agreement), text)
    text = (
        f"Krippendorff’s alpha of {question.among_whom(entry)} on {question.title}, over "
        f"{_units(question, entry)}.{_range(several_people)}"
    )
    return _answer(title, entry, worded("krippendorff_alpha").symbol, text)


def _range(questions: Sequence[QuestionFigures]) -> str:
    """Give the range of agreement over questions, if there are several."""
    entries = [(q, q.among("krippendorff_alpha")) for q in questions if not q.data.pooled]
    values = sorted(((e.point, q.title) for q, e in entries if e and ok(e)), key=lambda pair: pair[0])
    if len(values) < 2:
        return ""
    (low, worst), (high, best) = values[0], values[-1]
    return (
        f" Over {len(values)} questions, alpha runs from {number(low)} ({worst}) to {number(high)} ({best})."
    )


def headline_question(result: Snapshot) -> str:
    """Return the title of a report: the question that it answers."""
    questions = figures(result)
    judges, metrics = in_order(questions, JUDGE), in_order(questions, METRIC)
    people, people_name = in_order(questions, HUMAN), crowd(questions).many
    if judges and people:
        return f"{'Does' if len(judges) == 1 else 'Do'} {join_names(judges, 3)} agree with {people_name}?"
    if metrics and people:
        return f"{'Does' if len(metrics) == 1 else 'Do'} {join_names(metrics, 2)} follow {people_name}?"
    if any(len(question.people) > 1 for question in questions):
        return f"Do {people_name} agree with each other?"
    if result.preferences and not judges:
        return "Which system is preferred?"
    return "Do the judges agree with each other?" if judges else str(result.study)


def _units(question: QuestionFigures, entry: Figure) -> str:
    return units(question.data.item_kind, entry.n_items, pooled=question.data.pooled)


def _percent_interval(entry: Figure) -> str:
    if entry.low is None:
        return "no interval"
    return f"{percent(entry.low)} to {percent(entry.high)}"


# Limits of a report: each said once, where the reader needs it, with its numbers.

ENOUGH = 30  # number of answers that suffice to call a rater constant


def caveats(result: Snapshot) -> list[str]:
    """Return the sentences of a report's note, the weightiest first; empty if nothing limits it."""
    questions = figures(result)
    sentences = [
        _fake_systems(result),
        _fake_models(result),
        *_clusters(result, questions),
        *_calls(result),
        _without_turns(questions),
        _missing(result),
        _unidentified(questions),
        _prevalence(questions),
        _constant(questions),
        _events(questions),
        _refused(questions),
        _not_preferred(result),
        _repeated(questions),
        *designs.caveats(result),
        *_pairs_left_out(questions),
        _occasions(result),
        _left_out(result),
        _split(result),
    ]
    return [sentence for sentence in sentences if sentence]


def _fake_models(result: Snapshot) -> str:
    names = [rater.name for rater in result.answered if MARK in rater.name]
    if not names:
        return ""
    is_fake, its = ("is a fake model", "its") if len(names) == 1 else ("are fake models", "their")
    return (
        f"{join_names(names)} {is_fake}: {its} answers are planted in the texts, so these figures are only "
        "for trying out."
    )


def _fake_systems(result: Snapshot) -> str:
    names = result.fake_systems
    if not names:
        return ""
    return (
        f"A fake model, which understands nothing, wrote the continuations by {join_names(list(names))}: "
        "these figures are only for trying out."
    )


UNITS = {"clusters": "dialogues", "items": "items", "systems": "systems"}
TOO_FEW = (
    ("few_clusters", FEW_CLUSTERS, "too narrow"),
    ("moderate_clusters", MODERATE_CLUSTERS, "somewhat too narrow"),
)


def _clusters(result: Snapshot, questions: list[QuestionFigures]) -> Iterable[str]:
    """Name the figures whose intervals rest on few dialogues: the figure's own, not the corpus's."""
    scheme = result.definition.plan.scheme
    units = UNITS.get(scheme, "dialogues or systems")
    rested = [(subject, figures) for question in questions for subject, figures in _resting(question)]
    single = [subject for subject, entries in rested if any(e.ok and e.n_clusters == 1 for e in entries)]
    if scheme == "clusters" and single:
        on = "" if len(single) == len(rested) else f" on {join_names(single)}"
        yield f"All ratings{on} are of one dialogue, so there are no intervals: rate more dialogues."
    with_interval = [(subject, [e for e in entries if e.low is not None]) for subject, entries in rested]
    with_interval = [(subject, entries) for subject, entries in with_interval if entries]
    for flag, least, how in TOO_FEW:
        flagged = [(subject, [e for e in of if flag in e.flags]) for subject, of in with_interval]
        flagged = [(subject, of) for subject, of in flagged if of]
        if not flagged:
            continue
        if scheme == "clusters" and flagged == with_interval:
            counts = [e.n_clusters for _, of in flagged for e in of]
            low, high = in_words(min(counts)), in_words(max(counts))
            n = low if low == high else f"{low} to {high}"
            yield f"With {n} {units} (fewer than {least}), the intervals are {how}."
            continue
        where = join_names(
            [f"{subject}{_spread(of) if scheme == 'clusters' else ''}" for subject, of in flagged]
        )
        yield f"With fewer than {least} {units}, intervals are {how}. This concerns {where}."


def _spread(entries: Sequence[Figure]) -> str:
    low, high = min(e.n_clusters for e in entries), max(e.n_clusters for e in entries)
    return f" ({low:,})" if low == high else f" ({low:,} to {high:,})"


def _resting(question: QuestionFigures) -> list[tuple[str, Sequence[Figure]]]:
    """Group a question's figures by subject: people together, a judge with them.

    Pairs of raters count only if nothing else was computed.
    """
    data = question.data
    of: dict[str, list[Figure]] = {}
    for entry in (*data.panel, *data.gaps, *data.replacement):
        is_judge = entry.raters[0] in question.judging and len(entry.raters) > 1
        judged = is_judge and set(entry.raters[1:]) <= set(question.people)
        subject = f"{entry.raters[0]} with {question.crowd.many}" if judged else ""
        of.setdefault(subject, []).append(entry)
    means = [e for e in data.pairs if MEAN_OF_PEOPLE in e.raters]
    for entry in means or (() if of else data.pairs):
        other = [name for name in entry.raters if name != MEAN_OF_PEOPLE]
        subject = f"{other[0]} with {question.crowd.many}" if len(other) == 1 else " with ".join(other)
        of.setdefault(subject, []).append(entry)
    if len({e.n_clusters for entries in of.values() for e in entries}) == 1:
        return [(question.title, [e for entries in of.values() for e in entries])]
    return [
        (f"{question.title}, {subject}" if subject else question.title, entries)
        for subject, entries in of.items()
    ]


def _calls(result: Snapshot) -> Iterable[str]:
    for row in result.calls:
        if row.failed:
            calls = counted(row.calls, "call")
            kinds = join_names([f"{n:,} {kind}" for kind, n in row.kinds])
            why = f" ({kinds})" if kinds else ""
            moved = of_failures(result, row.rater)
            yield f"{row.failed:,} of {calls} of {row.rater} failed and gave no answer{why}.{moved}"
        if row.doubtful:
            yield (
                f"{row.rater} is unreliable on {row.doubtful:,} of {row.calls:,} conversations, whose text "
                f"it can hardly read ({row.why})."
            )


def _without_turns(questions: list[QuestionFigures]) -> str:
    counts = [question for question in questions if question.data.scheme.partition("@")[0] == COUNTS.key]
    names = dict.fromkeys(rater.name for question in counts for rater in question.data.raters)
    if not names:
        return ""
    verb, name = ("counts", "names") if len(names) == 1 else ("count", "name")
    return (
        f"{join_names(list(names))} {verb} behaviours per continuation and {name} no turns. MCC, kappa, "
        "precision and recall compare turn by turn, so they are missing; counts are compared by continuation."
    )


def _missing(result: Snapshot) -> str:
    missing, labels = result.counts.missing, result.counts.labels
    if not missing:
        return ""
    verb = "is" if missing == 1 else "are"
    return (
        f"{missing:,} of {counted(labels, 'answer')} {verb} missing; each figure uses the answers that exist."
    )


def _unidentified(questions: list[QuestionFigures]) -> str:
    if not any(q.unidentified for q in questions):
        return ""
    people = crowd(questions)
    return (
        f"Anonymous slots do not say which {people.one} gave a rating. So statistics of single raters are "
        f"missing: no kappa, no correlation and no matrix of pairs of {people.many}."
    )


def _prevalence(questions: list[QuestionFigures]) -> str:
    titles = _with_flag(questions, "prevalence")
    if not titles:
        return ""
    return (
        f"On {join_names(titles)}, one answer has 90% of the ratings or more. This lowers agreement beyond "
        "chance, such as kappa: read percent agreement beside it."
    )


def _constant(questions: list[QuestionFigures]) -> str:
    titles_by_raters: dict[str, list[str]] = {}
    for question in questions:
        if names := _constant_raters(question):
            each = " each" if len(names) > 1 else ""
            titles_by_raters.setdefault(f"{join_names(names)}{each}", []).append(question.title)
    return " ".join(
        f"On {join_names(titles)}, {names} gave the same answer to every item, which says nothing about "
        "agreement."
        for names, titles in titles_by_raters.items()
    )


def _constant_raters(question: QuestionFigures) -> list[str]:
    """Return raters who gave a single answer throughout, among those with half of the items or 30."""
    enough = min(ENOUGH, question.data.n_items / 2)
    raters = [r for r in question.data.raters if r.kind != METRIC and r.constant]
    return [r.name for r in raters if r.n >= enough]


def _events(questions: list[QuestionFigures]) -> str:
    titles = _with_flag(questions, "few_events")
    if not titles:
        return ""
    return (
        f"On {join_names(titles)}, some figures rest on fewer than 30 items with the rarer answer, so their "
        "intervals may be too narrow: rate more such items."
    )


def _with_flag(questions: list[QuestionFigures], flag: str) -> list[str]:
    """Return the questions whose aggregate figures raise a flag.

    Pairs of raters are named only if nothing else was computed.
    """
    titles = []
    for question in questions:
        aggregate = question.data.panel + question.data.gaps
        if any(entry.ok and flag in entry.flags for entry in aggregate):
            titles.append(question.title)
        elif not question.data.gaps:
            pairs = [e.raters for e in question.data.pairs if e.ok and flag in e.flags]
            flagged_pairs = dict.fromkeys(" with ".join(raters) for raters in pairs)
            titles += [f"{question.title} ({join_names(list(flagged_pairs))})"] if flagged_pairs else []
    return titles


def _refused(questions: list[QuestionFigures]) -> str:
    return " ".join(
        f"There are no figures on {q.title}: {q.data.problem}." for q in questions if q.data.problem
    )


def _not_preferred(result: Snapshot) -> str:
    refused = [table for table in result.preferences if table.problem]
    return " ".join(f"There are no preferences on {table.title}: {table.problem}." for table in refused)


def _repeated(questions: list[QuestionFigures]) -> str:
    repeated = sum(q.data.repeated for q in questions)
    if not repeated:
        return ""
    answers, repeat = counted(repeated, "answer"), "repeats" if repeated == 1 else "repeat"
    return f"{answers} {repeat} an answer of the same rater in another campaign; only the first counts."


def _pairs_left_out(questions: list[QuestionFigures]) -> Iterable[str]:
    """Name the pairs of each crowd that were not compared."""
    for question in questions:
        if reason := question.data.pairs_left_out:
            yield f"{reason} ({question.title})."


def _left_out(result: Snapshot) -> str:
    """Count the people left out, with the reasons; a person may be left out of several campaigns."""
    if not result.left_out:
        return ""
    n = len({sentence.partition(" in ")[0] for sentence in result.left_out})
    people, are = ("person", "is") if n == 1 else ("people", "are")
    return f"{in_words(n).capitalize()} {people} {are} left out, as in gold: {join_names(result.left_out)}."


def _occasions(result: Snapshot) -> str:
    special = [name for name in result.occasions if name not in ("main", "imported")]
    return f"Answers from outside the main work count here, too: {join_names(special)}." if special else ""


def _split(result: Snapshot) -> str:
    if result.definition.is_of_training:
        return "These dialogues are for training: a judge tuned on them will do worse on other dialogues."
    if result.split is not None or not any(q.names(JUDGE) for q in figures(result)):
        return ""
    return "The corpus has no split: a judge tuned on these dialogues will do worse on new dialogues."
