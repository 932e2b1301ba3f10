"""What limits a report: said where the reader needs it, once, with its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotation.schemes.cocoeval import BEHAVIOUR_COUNTS as COUNTS
from calibration.reports.bound_words import of_failures
from calibration.reports.figures import JUDGE, METRIC, QuestionFigures, crowd, figures
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.wording import counted, in_words, listed
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.core.intervals import FEW_CLUSTERS, MODERATE_CLUSTERS
from jobs.fake_models import MARK

ENOUGH = 30  # answers that say whether a rater is constant


def caveats(result: Snapshot) -> list[str]:
    """Return the sentences of a report's note, the weightiest first; none where nothing limits it."""
    questions = figures(result)
    found = [
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
        *_pairs_left_out(questions),
        _occasions(result),
        _left_out(result),
        _split(result),
    ]
    return [sentence for sentence in found if sentence]


def _fake_models(result: Snapshot) -> str:
    names = [rater.name for rater in result.answered if MARK in rater.name]
    if not names:
        return ""
    verb, its = ("asks", "its") if len(names) == 1 else ("ask", "their")
    return (
        f"{listed(names)} {verb} a fake model, which reads what stands in braces in the texts and errs as "
        f"it was told: {its} figures are for trying out and are no results."
    )


def _fake_systems(result: Snapshot) -> str:
    names = result.fake_systems
    if not names:
        return ""
    return (
        f"Continuations by {listed(list(names))} were written by a fake model, which understands nothing: "
        "what is measured here is for trying out and is no result."
    )


UNITS = {"clusters": "dialogues", "items": "items", "systems": "systems"}
TOO_FEW = (
    ("few_clusters", FEW_CLUSTERS, "too narrow"),
    ("moderate_clusters", MODERATE_CLUSTERS, "somewhat too narrow"),
)


def _clusters(result: Snapshot, questions: list[QuestionFigures]) -> Iterable[str]:
    """Say of which figures the intervals rest on few dialogues; a figure's own, not those of the corpus."""
    scheme = result.definition.plan.scheme
    units = UNITS.get(scheme, "dialogues or systems")
    rested = [(subject, figures) for question in questions for subject, figures in _resting(question)]
    single = [subject for subject, found in rested if any(e.ok and e.n_clusters == 1 for e in found)]
    if scheme == "clusters" and single:
        where = "Everything" if len(single) == len(rested) else f"All that is known of {listed(single)}"
        yield f"{where} is of one dialogue, so nothing has an interval: more dialogues are needed."
    drawn = [(subject, [e for e in found if e.low is not None]) for subject, found in rested]
    drawn = [(subject, found) for subject, found in drawn if found]
    for flag, least, how in TOO_FEW:
        found = [(subject, [e for e in of if flag in e.flags]) for subject, of in drawn]
        found = [(subject, of) for subject, of in found if of]
        counts = {e.n_clusters for _, of in found for e in of}
        if not found:
            continue
        if scheme == "clusters" and len(counts) == 1 and len(found) == len(drawn):
            yield f"With {in_words(counts.pop())} {units}, fewer than {least}, the intervals are {how}."
            continue
        where = listed([f"{subject}{_spread(of) if scheme == 'clusters' else ''}" for subject, of in found])
        yield f"With fewer than {least} {units} intervals are {how}: {where}."


def _spread(found: Sequence[Figure]) -> str:
    low, high = min(e.n_clusters for e in found), max(e.n_clusters for e in found)
    return f" ({low:,})" if low == high else f" ({low:,} to {high:,})"


def _resting(question: QuestionFigures) -> list[tuple[str, Sequence[Figure]]]:
    """Return what a question's figures speak of, each with its figures: people together, a judge with them.

    Pairs of raters speak for themselves alone; they count where nothing else was computed.
    """
    data = question.data
    of: dict[str, list[Figure]] = {}
    for entry in (*data.panel, *data.gaps, *data.replacement):
        is_judge = entry.raters[0] in question.judging and len(entry.raters) > 1
        judged = is_judge and set(entry.raters[1:]) <= set(question.people)
        who = f"{entry.raters[0]} with {question.crowd.many}" if judged else ""
        of.setdefault(who, []).append(entry)
    means = [e for e in data.pairs if MEAN_OF_PEOPLE in e.raters]
    for entry in means or (() if of else data.pairs):
        other = [name for name in entry.raters if name != MEAN_OF_PEOPLE]
        who = f"{other[0]} with {question.crowd.many}" if len(other) == 1 else " with ".join(other)
        of.setdefault(who, []).append(entry)
    if len({e.n_clusters for found in of.values() for e in found}) == 1:
        return [(question.title, [e for found in of.values() for e in found])]
    return [(f"{question.title}, {who}" if who else question.title, found) for who, found in of.items()]


def _calls(result: Snapshot) -> Iterable[str]:
    for row in result.calls:
        if row.failed:
            calls = counted(row.calls, "call")
            kinds = listed([f"{n:,} {kind}" for kind, n in row.kinds])
            why = f" ({kinds})" if kinds else ""
            moved = of_failures(result, row.rater)
            yield f"{row.failed:,} of {calls} of {row.rater} failed and gave no label{why}.{moved}"
        if row.doubtful:
            yield (
                f"{row.rater} can hardly read {row.doubtful:,} of {row.calls:,} conversations "
                f"({row.why}): what it says of them means little."
            )


def _without_turns(questions: list[QuestionFigures]) -> str:
    counts = [question for question in questions if question.data.scheme.partition("@")[0] == COUNTS.key]
    names = dict.fromkeys(rater.name for question in counts for rater in question.data.raters)
    if not names:
        return ""
    gave = "gives" if len(names) == 1 else "give"
    return (
        f"{listed(list(names))} {gave} counts of whole continuations without saying which turns they are "
        "about: MCC, kappa, precision and recall compare turn by turn, so there are none for these; counts "
        "are compared by continuation."
    )


def _missing(result: Snapshot) -> str:
    missing, labels = result.counts.missing, result.counts.labels
    if not missing:
        return ""
    verb = "is" if missing == 1 else "are"
    return (
        f"{missing:,} of {labels:,} answers {verb} missing with a reason; each figure uses the items it has."
    )


def _unidentified(questions: list[QuestionFigures]) -> str:
    if not any(q.unidentified for q in questions):
        return ""
    who = crowd(questions)
    return (
        f"The {who.many} are unidentified: a slot is not one {who.one} across items. So only statistics that "
        "treat raters as exchangeable are shown for them, and no kappa, correlation or matrix of pairs."
    )


def _prevalence(questions: list[QuestionFigures]) -> str:
    titles = _with_flag(questions, "prevalence")
    if not titles:
        return ""
    return (
        f"On {listed(titles)} one answer has 90% of the ratings or more: chance-corrected agreement is "
        "depressed there, so read percent agreement beside it."
    )


def _constant(questions: list[QuestionFigures]) -> str:
    found: dict[str, list[str]] = {}
    for question in questions:
        if names := _constant_raters(question):
            found.setdefault(listed(names), []).append(question.title)
    return " ".join(
        f"On {listed(titles)} {names} gave one answer throughout, which says nothing about agreement."
        for names, titles in found.items()
    )


def _constant_raters(question: QuestionFigures) -> list[str]:
    """Return who gave a single answer, of those who answered half of the items, or 30: few may be alike."""
    enough = min(ENOUGH, question.data.n_items / 2)
    raters = [r for r in question.data.raters if r.kind != METRIC and r.constant]
    return [r.name for r in raters if r.n >= enough]


def _events(questions: list[QuestionFigures]) -> str:
    titles = _with_flag(questions, "few_events")
    if not titles:
        return ""
    return (
        f"On {listed(titles)} figures rest on fewer than 30 of the rarer answer: their intervals may hold "
        "the truth less often than they say."
    )


def _with_flag(questions: list[QuestionFigures], flag: str) -> list[str]:
    """Return the questions whose figures raise a flag about all that they were computed from.

    Pairs speak for themselves alone: named where nothing else was computed, left out where something was.
    """
    found = []
    for question in questions:
        whole = question.data.panel + question.data.gaps
        if any(entry.ok and flag in entry.flags for entry in whole):
            found.append(question.title)
        elif not question.data.gaps:
            pairs = [e.raters for e in question.data.pairs if e.ok and flag in e.flags]
            named = dict.fromkeys(" with ".join(raters) for raters in pairs)
            found += [f"{question.title} ({listed(list(named))})"] if named else []
    return found


def _refused(questions: list[QuestionFigures]) -> str:
    return " ".join(f"{q.title} was not computed: {q.data.problem}." for q in questions if q.data.problem)


def _not_preferred(result: Snapshot) -> str:
    refused = [table for table in result.preferences if table.problem]
    return " ".join(f"Preferences on {one.title} were not computed: {one.problem}." for one in refused)


def _repeated(questions: list[QuestionFigures]) -> str:
    repeated = sum(q.data.repeated for q in questions)
    if not repeated:
        return ""
    answers = counted(repeated, "answer")
    return f"{answers} repeat what the same rater said in another campaign; the first of each was kept."


def _pairs_left_out(questions: list[QuestionFigures]) -> Iterable[str]:
    """Say of each crowd which of its pairs were not compared."""
    for question in questions:
        if said := question.data.pairs_left_out:
            yield f"{said} ({question.title})."


def _left_out(result: Snapshot) -> str:
    """Return who is left out, and why; somebody may be so in several campaigns."""
    if not result.left_out:
        return ""
    n = len({sentence.partition(" in ")[0] for sentence in result.left_out})
    people, are = ("person", "is") if n == 1 else ("people", "are")
    return f"{in_words(n).capitalize()} {people} {are} left out, as of gold: {listed(result.left_out)}."


def _occasions(result: Snapshot) -> str:
    special = [name for name in result.occasions if name not in ("main", "imported")]
    return f"These labels were given on a special occasion: {listed(special)}." if special else ""


def _split(result: Snapshot) -> str:
    if result.definition.is_of_training:
        return "These dialogues are for training: what was fitted on them does worse on others."
    if result.split is not None or not any(q.names(JUDGE) for q in figures(result)):
        return ""
    return "The corpus has no split: a judge tuned on these dialogues will do worse on new ones."
