"""Optional parts of `agree`: plans, scores in people's terms, raters one by one, and CoCoEval's table 7."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from annotation.text.display import p_value
from calibration.agree.report import Additions, Block, Section, section_of, title_of
from calibration.reports.behaviours import stored_tags, table_seven
from calibration.reports.tables import Table
from calibration.reports.wording import PEOPLE as CROWD
from calibration.statistics.analysis import Analysis, Entry, analyse
from calibration.statistics.cocoeval import OVERALL, Policy, Row, TagTable, tables_of
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import Ratings
from calibration.statistics.core.resampling import Plan
from calibration.statistics.corrected_systems import ASSUMPTIONS, systems_of_ratings
from calibration.statistics.planning import people_of
from calibration.statistics.rater_panel import RaterPanel, rater_panel
from calibration.statistics.repeats import repeats_of, right_answers
from calibration.statistics.score_calibration import FOLDS
from calibration.statistics.scores import MAPS, RULES, Mapped, Marks, Probabilities, ScoreAnalysis, of_scores
from calibration.statistics.sets import ALPHA_MASI, set_ratings
from calibration.studies.plan_texts import cautions, headings, rows, sentences
from calibration.studies.plans import PEOPLE, PLANNED, Goal, PlanAnswer, plan_for

# `agree --plan-width` and `--plan-power`: number of further double-rated dialogues that a study needs.


def computed_plans(title: str, ratings: Ratings, plan: Plan, options: dict[str, Any]) -> list[PlanAnswer]:
    """Return the requested plans for a question: for people together, and for each judge and metric."""
    targets: list[tuple[Goal, str]] = []
    if options["plan_width"] is not None:
        targets += [("width", rater) for rater in _raters(ratings)]
    if options["plan_power"] is not None:
        targets += [("power", ratings.raters[column]) for column in ratings.of_kind("judge")]
    empty = PlanAnswer(
        study="",
        corpus="this file",
        part="all",
        goal="width",
        question=title,
        title=title or "this question",
        item_kind="",
        pooled=False,
        rater="",
        raters=(),
        crowd=CROWD.many if any(ratings.kinds) else "raters",
        statistic="",
        target=None,
        level=plan.level,
        resamples=plan.resamples,
        seed=plan.seed,
        epsilon=options["epsilon"],
    )
    statistics = {"width": options["plan_statistic"] or "", "power": "alt_test_winning_rate"}
    return [
        plan_for(
            replace(
                empty, goal=goal, rater=rater, target=options[f"plan_{goal}"], statistic=statistics[goal]
            ),
            ratings,
            plan,
        )
        for goal, rater in targets
    ]


def _raters(ratings: Ratings) -> Iterator[str]:
    if len(people_of(ratings)) > 1:
        yield PEOPLE
    for kind in ("judge", "metric"):
        yield from (ratings.raters[column] for column in ratings.of_kind(kind))


def plan_section(answer: PlanAnswer, ratings: Ratings) -> Section:
    """Return a plan as a section of the report: its sentences, then a line per number of dialogues."""
    raters = "people" if answer.rater == PEOPLE else answer.rater
    head = headings(answer)
    lines = [f"{head[0]} {n}: {head[1].lower()} {expected} ({span})." for n, expected, span in rows(answer)]
    return Section(
        f"Plan, {raters} on {answer.title}",
        ratings,
        Analysis(),
        tuple(lines),
        tuple(sentences(answer)),
        (),
        tuple(cautions(answer)),
    )


# `agree --threshold` and `--scale-maps`: metric scores mapped to people's answers, cross-fitted by cluster.

HOW = (
    f"Cross-fitted: the clusters are dealt into {FOLDS} folds, and each item is read by what the other folds "
    "teach."
)


def score_section(title: str, ratings: Ratings, scores: ScoreAnalysis) -> Section:
    """Return a question's scores as a section of the report: one block per score and type of mapping."""
    rows = [(_heading(reading), score_entries(reading, title)) for reading in readings(scores)]
    blocks = tuple(Block(heading, entries) for heading, entries in rows if entries)
    reasons = tuple(
        f"{_heading(reading)}: {reading.reason}." for reading in readings(scores) if reading.reason
    )
    every = tuple(entry for block in blocks for entry in block.entries)
    name = f"Scores in people’s terms: {title}" if title else "Scores in people’s terms"
    return Section(name, ratings, Analysis(panel=every), (HOW,), reasons, blocks, ())


def readings(scores: ScoreAnalysis) -> Sequence[Marks | Probabilities | Mapped]:
    """Return every mapping of every score."""
    return (*scores.marks, *scores.probabilities, *scores.mapped)


def _heading(reading: Marks | Probabilities | Mapped) -> str:
    if isinstance(reading, Probabilities):
        return f"{reading.rater} as a probability, {reading.method}"
    if isinstance(reading, Mapped):
        return f"{reading.rater} on people’s scale, {MAPS[reading.map]}"
    if reading.threshold is None:
        return f"{reading.rater}, threshold by {RULES[reading.rule].name}"
    sign = "at least" if reading.threshold.rising else "at most"
    return f"{reading.rater} {sign} {reading.threshold.value:.4g}, by {RULES[reading.rule].name}"


def score_entries(reading: Marks | Probabilities | Mapped, question: str) -> tuple[Entry, ...]:
    """Return the figures of one mapping of a score, with its name as a prefix."""
    return tuple(
        Entry(replace(result, name=f"{_prefix(reading)}_{result.name}"), (reading.rater,), question)
        for result in reading.results
    )


def _prefix(reading: Marks | Probabilities | Mapped) -> str:
    if isinstance(reading, Probabilities):
        return reading.method
    return f"map_{reading.map}" if isinstance(reading, Mapped) else f"threshold_{reading.rule}"


def scores_as_json(scores: ScoreAnalysis, question: str) -> dict[str, list[dict[str, Any]]]:
    """Return the scores as plain JSON: `thresholds`, `probabilities` with their bins, and `scale_maps`."""
    return {
        "thresholds": [
            _scores_json(reading, question)
            | {
                "rule": reading.rule,
                "threshold": reading.threshold.value if reading.threshold else None,
                "rising": reading.threshold.rising if reading.threshold else None,
                "least": reading.least,
                "most": reading.most,
                "n_ties": reading.n_ties,
            }
            for reading in scores.marks
        ],
        "probabilities": [
            _scores_json(reading, question) | {"method": reading.method, "bins": _bins(reading)}
            for reading in scores.probabilities
        ],
        "scale_maps": [_scores_json(reading, question) | {"map": reading.map} for reading in scores.mapped],
    }


def _scores_json(reading: Marks | Probabilities | Mapped, question: str) -> dict[str, Any]:
    figures = {result.name: result.as_dict() for result in reading.results}
    return {
        "question": question,
        "rater": reading.rater,
        "n_learned": reading.n_learned,
        "reason": reading.reason,
        "figures": figures,
    }


def _bins(probabilities: Probabilities) -> list[dict[str, Any]]:
    return [
        {"low": b.low, "high": b.high, "n": b.n, "predicted": b.predicted, "observed": b.observed.as_dict()}
        for b in (probabilities.calibration.curve if probabilities.calibration else ())
    ]


# `agree --each-rater`: each rater of a question, in one table per figure, in ascending order.

REPEATED = "Answering alike is not answering right: a rater can repeat its mistakes."
NOTES = {
    "rater_difference": "The rest are the people other than the rater; where there are none, all others.",
    "rater_severity": (
        "Least squares of value = item + rater: each rater is taken to be off by the same amount on every "
        "item. 0 is the average person, each by the number of ratings; below 0 a rater is severe."
    ),
    "rater_misfit": "Above 1 a rater is less predictable than the others once severity is allowed for.",
    "rater_spread": "Below 1 a rater keeps to the middle of the scale, above 1 to its ends.",
    "rater_alpha_gain": "Below 0 the rater pulls alpha down.",
}


def raters(ratings: Ratings, analysis: Analysis, plan: Plan) -> list[Block]:
    """Return a table per figure; a single note if there are no figures for any rater."""
    panel = rater_panel(ratings, plan=plan)
    if not panel.rows:
        return [Block("Raters, one by one", (), note=f"Nobody is described: {panel.reason}.")]
    blocks = _tables((row.rater, row.figures) for row in panel.rows)
    blocks = [_noted(block, panel) for block in blocks]
    if panel.over is not None:
        people = tuple(row.rater for row in panel.rows if row.kind == "human")
        entry = Entry(panel.over, people)
        note = "The interval says what other people would have given on these items."
        blocks.append(Block("Pairs of people, over people", (entry,), note=note))
    return blocks


def repeats(ratings: Ratings, samples: Ratings, plan: Plan) -> list[Block]:
    """Return each rater's self-agreement; in `samples` each repeated answer is a rater of its own."""
    blocks: list[Block] = []
    for column, name in enumerate(ratings.raters):
        mine = [j for j, other in enumerate(samples.raters) if other.rpartition("#")[0] == name]
        if len(mine) > 1 and ratings.identified[column]:
            right = right_answers(ratings, name)
            repeated = repeats_of(samples.take(mine), name, "samples", reference=right, plan=plan)
            entries = tuple(Entry(figure, (name,)) for figure in repeated.figures)
            heading = f"How consistently {name} answers, {repeated.n_answers} samples of an item"
            blocks.append(Block(heading, entries, note=REPEATED))
    return blocks


def _tables(figures_by_rater: Iterable[tuple[str, Sequence[Result]]]) -> list[Block]:
    by_name: dict[str, list[Entry]] = {}
    for rater, figures in figures_by_rater:
        for figure in figures:
            by_name.setdefault(figure.name, []).append(Entry(figure, (rater,)))
    return [
        Block(title_of(name), tuple(sorted(entries, key=_value)), each=True)
        for name, entries in by_name.items()
    ]


def _value(entry: Entry) -> tuple[bool, float]:
    return entry.result.value is None, entry.result.value or 0.0


def _noted(block: Block, panel: RaterPanel) -> Block:
    """Return a table with notes on its figure's meaning, and on raters that cannot be compared."""
    name = block.entries[0].result.name
    notes = [NOTES.get(name, "")]
    if name == "rater_severity" and panel.groups:
        groups = "; ".join(", ".join(group) for group in panel.groups)
        notes.append(f"Groups that share no item, each with a zero of its own: {groups}.")
    if name == "rater_severity" and panel.through_judges:
        notes.append("People are joined by the items that judges rated, not by items of their own.")
    return Block(block.heading, block.entries, note=" ".join(filter(None, notes)), each=True)


# Questions that are answered with sets: a group of yes/no questions, and the sets as one answer.

OF_SETS = "An answer is the set of values that a rater chose, compared by the MASI distance."


def set_sections(
    groups: Mapping[str, Mapping[str, Ratings]], plan: Plan, cluster: str | None
) -> list[Section]:
    """Return a section for each group of yes/no questions: agreement on the sets of a rater's answers."""
    sections = []
    for group, questions in groups.items():
        ratings = set_ratings(questions)
        analysis = analyse(ratings, question=group, statistics=[ALPHA_MASI.key], plan=plan)
        sections.append(
            section_of(f"{group}, as sets", ratings, analysis, cluster, [OF_SETS], is_guess=False)
        )
    return sections


# `agree --table7`: CoCoEval's table 7 for the file's binary questions, each a behaviour.


def tag_tables(questions: Mapping[str, Ratings], policy: Policy, plan: Plan) -> Additions:
    """Compare each judge's tags with people's. Raises ValueError if tags, people or judges are missing."""
    tags = {name: ratings for name, ratings in questions.items() if ratings.level == "binary"}
    if not tags:
        raise ValueError("--table7 needs binary questions: --scale binary, or a column level that says so")
    tables = tables_of(tags, policies=[policy], plan=plan)
    if not tables:
        raise ValueError(
            "--table7 compares judges with people: the column kind must say judge of one rater and human of "
            "another, and both must have answered every question"
        )
    rows = [(row, table) for table in tables for row in table.rows]
    titles = {name: name for name in tags} | {OVERALL: "Overall"}
    return Additions(
        tables=[_table_seven(table, titles) for table in tables],
        lists={"table7": [_tags_json(row, table) for row, table in rows]},
        entries=[entry.as_dict() for row, table in rows for entry in tag_entries(row, table)],
    )


def _table_seven(table: TagTable, titles: Mapping[str, str]) -> Table:
    """Return a judge's table, with how its intervals were made and why some are missing."""
    own = table_seven(stored_tags(table, titles), CROWD, percent=False, among_people=True)
    marked = [row.detected_by_judge for row in table.rows]
    methods = (part for result in marked for part in result.method.split("; ") if "interval" in part)
    how = [f"Intervals over {marked[0].n_clusters:,} clusters: {method}." for method in islice(methods, 1)]
    cells = [cell for row in own.rows for cell in row.cells if cell and cell.ok and cell.low is None]
    reasons = dict.fromkeys(cell.reason.removeprefix("no interval: ") for cell in cells if cell.reason)
    return replace(own, remarks=(*own.remarks, *how, *(f"No interval: {reason}." for reason in reasons)))


def tag_entries(row: Row, table: TagTable) -> tuple[Entry, ...]:
    """Return the figures of a behaviour, named `table7_...`, each with the compared raters."""
    everyone = (table.judge, *table.people)
    entries = [
        _entry(row.detected_by_people, "", everyone, row),
        _entry(row.detected_by_judge, "", everyone, row),
        *(_entry(result, "judge_", everyone, row) for result in row.judge.values()),
        *(_entry(result, "people_", everyone, row) for result in row.people.values()),
    ]
    return tuple(entries)


def _entry(result: Result, side: str, raters: Sequence[str], row: Row) -> Entry:
    return Entry(replace(result, name=f"table7_{side}{result.name}"), tuple(raters), row.behaviour)


def _tags_json(row: Row, table: TagTable) -> dict[str, Any]:
    """Return a judge's figures on a behaviour as plain JSON; null for a missing figure.

    `intervals` has low and high by figure.
    """
    by_name = {
        "detected_people": row.detected_by_people,
        "detected_judge": row.detected_by_judge,
        **row.judge,
        **{f"people_{name}": result for name, result in row.people.items()},
    }
    people = {f"people_{name}": None for name in row.judge} if not row.people else {}
    return {
        "question": row.behaviour,
        "judge": table.judge,
        "policy": table.policy,
        **{name: result.value for name, result in by_name.items()},
        **people,
        "intervals": {name: [result.low, result.high] for name, result in by_name.items()},
        "reasons": {name: result.reason for name, result in by_name.items() if not result.ok},
        "n_items": table.n_items,
        "n_dropped": table.n_dropped,
        "n_clusters": row.detected_by_judge.n_clusters,
    }


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options to the parser."""
    parser.add_argument(
        "--threshold",
        action="store_true",
        help="also learn of binary questions the threshold of each metric's score, and read it as a "
        "probability, cross-fitted by cluster",
    )
    parser.add_argument(
        "--scale-maps",
        action="store_true",
        help="also map each metric's score to people's scale, with its error, cross-fitted by cluster",
    )
    parser.add_argument(
        "--plan-width",
        type=float,
        metavar="W",
        help="also say how many clusters make the interval (high less low) this narrow",
    )
    parser.add_argument(
        "--plan-statistic", choices=PLANNED, metavar="KEY", help="of this statistic (the level's own)"
    )
    parser.add_argument(
        "--plan-power",
        type=float,
        metavar="P",
        help="also say how many clusters let each judge pass the alternative annotator test, with this power",
    )


def computed(sections: Sequence[Section], plan: Plan, options: dict[str, Any]) -> Additions:
    """Compute the parts requested by options. Raises ValueError if no question has the required ratings."""
    if options["plan_statistic"] and options["plan_width"] is None:
        raise ValueError("--plan-statistic goes with --plan-width")
    list_names = (
        *(("thresholds", "probabilities") if options["threshold"] else ()),
        *(("scale_maps",) if options["scale_maps"] else ()),
        *(("plans",) if options["plan_width"] is not None or options["plan_power"] is not None else ()),
    )
    out = Additions(lists={name: [] for name in list_names})
    scored: list[ScoreAnalysis] = []
    planned: list[PlanAnswer] = []
    for section in sections:
        if (scores := _scores(section.ratings, plan, options)) is not None:
            scored.append(scores)
            _add_scores(section, scores, out)
        for answer in computed_plans(section.title, section.ratings, plan, options):
            planned.append(answer)
            out.sections.append(plan_section(answer, section.ratings))
            out.lists["plans"].append(answer.as_dict())
    _check(scored, {answer.goal for answer in planned}, options)
    if (options["threshold"] or options["scale_maps"]) and not scored:
        needs = "binary questions" if not options["scale_maps"] else "questions"
        raise ValueError(
            f"--threshold and --scale-maps read scores of metrics beside people: {needs} whose column kind "
            "says metric of one rater and human of another"
        )
    return out


def _check(scored: Sequence[ScoreAnalysis], goals: Collection[str], options: dict[str, Any]) -> None:
    """Raise ValueError for a requested plan or score mapping that no question allows."""
    if options["plan_width"] is not None and "width" not in goals:
        raise ValueError("--plan-width needs two people, or a judge or metric beside people (column kind)")
    if options["plan_power"] is not None and "power" not in goals:
        raise ValueError("--plan-power needs a judge: the column kind, or --judges, says who is one")
    if options["scale_maps"] and scored and not any(scores.mapped for scores in scored):
        raise ValueError("--scale-maps needs a question on an ordered scale with a metric beside people")
    if options["threshold"] and scored and not any(scores.marks for scores in scored):
        raise ValueError("--threshold needs a binary question with a metric beside people")


def _scores(ratings: Ratings, plan: Plan, options: dict[str, Any]) -> ScoreAnalysis | None:
    """Return the requested mappings of a question's scores; None if there are none."""
    if not (options["threshold"] or options["scale_maps"]):
        return None
    scores = of_scores(ratings, plan=plan)
    selected = replace(
        scores,
        marks=scores.marks if options["threshold"] else (),
        probabilities=scores.probabilities if options["threshold"] else (),
        mapped=scores.mapped if options["scale_maps"] else (),
    )
    return selected if selected else None


def _add_scores(section: Section, scores: ScoreAnalysis, out: Additions) -> None:
    title = section.title
    out.sections.append(score_section(title, section.ratings, scores))
    for name, members in scores_as_json(scores, title).items():
        if name in out.lists:
            out.lists[name] += members
    out.entries += [
        entry.as_dict() for reading in readings(scores) for entry in score_entries(reading, title)
    ]


# Systems as people would have rated them, where a file has a column of systems.


def corrected_lists(sections: Sequence[Section], plan: Plan) -> Additions:
    """Return the corrected figures of all systems and pairs for the JSON; no list where there are none."""
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for section in sections:
        for judged in systems_of_ratings(section.ratings, plan):
            place = {"question": section.title, "rater": judged.judge}
            for row in judged.result.systems:
                figures = {name: result.as_dict() for name, result in row.figures.items()}
                figures["corrected"] = figures.pop("prediction_powered")
                rows.append(
                    place
                    | {
                        "system": judged.names[row.system],
                        "category": _category(section.ratings, row.category),
                    }
                    | {"n_items": row.n_items, "n_rated": row.n_rated}
                    | figures
                )
            pairs += [
                place
                | {"first": judged.names[pair.first], "second": judged.names[pair.second]}
                | {"category": _category(section.ratings, pair.category)}
                | {"judge": pair.judge.as_dict(), "corrected": pair.corrected.as_dict()}
                | {"p": pair.p, "p_holm": pair.p_holm}
                for pair in judged.result.pairs
            ]
    return Additions(lists={"corrected": rows, "corrected_pairs": pairs} if rows else {})


def system_blocks(ratings: Ratings, plan: Plan) -> list[Block]:
    """Return a block of corrected systems and one of their differences for each judge."""
    blocks = []
    for judged in systems_of_ratings(ratings, plan):
        entries = [
            Entry(result, (_with_category(judged.names[row.system], ratings, row.category),))
            for row in judged.result.systems
            for result in row.figures.values()
        ]
        heading = f"Systems, by {judged.judge} and corrected"
        blocks.append(Block(heading, tuple(entries), note=ASSUMPTIONS, each=True))
        differences = []
        for pair in judged.result.pairs:
            title = f"{judged.names[pair.first]} less {judged.names[pair.second]}"
            title = _with_category(title, ratings, pair.category)
            p = "" if pair.p_holm is None else f", p {p_value(pair.p_holm)}"
            differences += [Entry(pair.judge, (title,)), Entry(pair.corrected, (f"{title}{p}",))]
        if differences or judged.result.no_pairs:
            note = judged.result.no_pairs or "p: Student's t over clusters, corrected over all pairs (Holm)."
            heading = f"Differences of systems, by {judged.judge} and corrected"
            blocks.append(Block(heading, tuple(differences), note=note, each=True))
    return blocks


def _category(ratings: Ratings, category: float | None) -> str | None:
    return None if category is None else ratings.label(category)


def _with_category(name: str, ratings: Ratings, category: float | None) -> str:
    return name if category is None else f"{name}, {ratings.label(category)}"
