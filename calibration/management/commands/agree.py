"""Agreement and correlation statistics with intervals, from a ratings file; needs no database."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast

from django.core.management.base import BaseCommand, CommandError

from annotation.formats.folders import one_path
from annotation.formats.mapping import entries_of_options
from annotation.formats.source import ImportProblem
from annotation.formats.table_file import ENCODING, SHEET
from annotation.text.table_cells import judges_of, words_of
from calibration.agree import extras, judges, levels, renderings
from calibration.agree.forms import describe_form, open_forms
from calibration.agree.options import add_to, is_table_7_alone, with_defaults, without_effect
from calibration.agree.ratings_file import JOIN, KEEP, Part, RatingsFile, read_ratings
from calibration.agree.readings import (
    Numbered,
    RatingsFileError,
    Reading,
    Scale,
    UncertainReading,
    describe_file,
    open_first,
)
from calibration.agree.report import (
    Additions,
    Block,
    Section,
    left_out_of,
    section_of,
    verdict_payloads,
    verdicts_of,
)
from calibration.reports import requirements
from calibration.reports.wording import join_names
from calibration.statistics import Analysis, Plan, analyse
from calibration.statistics.core.engine import second_opinions
from calibration.statistics.core.ratings import Collector, Level, Ratings, default_samples
from calibration.statistics.level_scores import aggregate

UNCERTAIN = 2
"""Exit status where the file can be read in several ways."""


class Command(BaseCommand):
    """`manage.py agree RATINGS`: read and check a table of ratings, and report agreement."""

    help = (
        "Agreement and correlation of raters, with intervals, from a table of ratings: CSV, Excel, Parquet, "
        "JSON lines. What its columns are is guessed and printed (--describe only does that); where several "
        "readings are possible, nothing is computed, and the options that decide are printed (exit "
        "status 2). No database is needed."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options."""
        add_to(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, analyse and print; an error in the file or the options is one line on stderr."""
        try:
            with one_path(options["ratings"]) as path:
                several = {} if path in options["ratings"] else {"ratings": [path]}
                self._report(options | {"files": options["ratings"]} | several)
        except ImportProblem as problem:
            raise CommandError(f"{options['ratings'][0].name}: {problem}") from None

    def _report(self, options: dict[str, Any]) -> None:
        try:
            options = with_defaults(options)
            required = requirements.requested(options)
            plan = _plan(options)
            if options["describe"]:
                self.stdout.write(_description(options))
                return
            if options["levels"]:
                self.stdout.write(_by_level(plan, options))
                return
            file = read_ratings(options["ratings"], _reading(options), _progress)
            with second_opinions() if options["verify"] else nullcontext() as opinions:
                sections, entries, beside = _analyse_parts(file, plan, options)
            if opinions is not None:
                sections[0] = _with_facts(sections[0], [_verification_fact(opinions.n_requested)])
            is_alone = _is_table_7_alone(options)
            if options["csv"] or options["latex"]:  # these formats hold figures only
                self.stderr.write("".join(f"{line}\n" for line in _notes(sections)), ending="")
            additions = [
                _table_seven(file, sections, plan, options),
                beside,
                extras.computed(sections[-len(file.parts) :], plan, options),
                *([extras.corrected_lists(sections[-len(file.parts) :], plan)] if options["json"] else []),
            ]
            tables = additions[0].tables
        except UncertainReading as error:
            if error.table is not None:
                self.stdout.write(describe_file(error.path, error.table, options["files"]))
            raise CommandError(str(error), returncode=UNCERTAIN) from None
        except (RatingsFileError, ValueError, OSError) as error:
            raise CommandError(str(error)) from None
        verdicts, figures = [line for section in sections for line in verdict_payloads(section)], entries
        if is_alone:
            tables[0] = replace(tables[0], remarks=(*tables[0].remarks, *_facts_of_file(file, sections)))
            sections, entries, additions = [], [], additions[:1]
        if options["json"]:
            document = {
                "input": _describe_input(file, sections),
                "statistics": entries,
                "stand_in": _stand_ins(sections),
                "verdicts": verdicts,
            }
            for added in additions:
                document |= added.lists
            content = json.dumps(document, allow_nan=False)
        elif options["csv"]:
            others = (line for added in additions[1:] for line in added.entries)
            content = renderings.as_csv([*additions[0].entries, *entries, *others])
        else:
            sections += [section for added in additions for section in added.sections]
            form = next((form for form in renderings.WRITERS if options.get(form)), "text")
            if form == "text" and sections and not options["full"]:
                n_own = len(sections) - sum(len(added.sections) for added in additions)
                screen, further = sections[:n_own], sections[n_own:]
                content = renderings.as_screen(file.name, file.sentence, screen, tables)
                content += renderings.as_text(file.name, further) if further else ""
            else:
                content = renderings.WRITERS[form](file.name, sections, tables)
        self.stdout.write(content)
        requirements.require(options, required, verdicts=verdicts, statistics=figures, name=file.name)


def _description(options: dict[str, Any]) -> str:
    """Return what the first file holds."""
    paths, reading = options["ratings"], _reading(options)
    if form := open_forms(paths[:1], reading):
        return describe_form(form[0])
    return describe_file(*open_first(paths[0], reading), options["files"])


def _by_level(plan: Plan, options: dict[str, Any]) -> str:
    """Return the tables of `--levels` in the requested format."""
    level_query = levels.query_of(options)
    reading = _reading(options)
    if reading.questions and level_query.reference_question:
        reading = replace(reading, questions=(*reading.questions, level_query.reference_question))
    file = read_ratings(options["ratings"], reading, _progress)
    derived_raters, missed = _derived_raters(options), dict[str, str]()

    def ratings_of(part: Part) -> Ratings:
        ratings = file.ratings(part, **_value_settings(file, part, options))
        return judges.at_levels(ratings, part.question, derived_raters, missed)

    tables = levels.tables(file, level_query, plan, ratings_of, _progress, options["by"])
    if without := [why for why in missed.values() if why]:
        raise ValueError(without[0].rstrip("."))
    form = next((form for form in ("json", "csv", "latex", "html") if options[form]), "text")
    return renderings.render_levels(file, tables, form)


def _plan(options: dict[str, Any]) -> Plan:
    if not 0 <= options["epsilon"] < float("inf") or options["seed"] < 0:
        raise ValueError("--epsilon and --seed must be numbers of 0 or more")
    return Plan(
        options["resamples"], options["seed"], options["level"], options["interval"], options["resample"]
    )


def _reading(options: dict[str, Any]) -> Reading:
    if options["cluster"] and options["no_cluster"]:
        raise ValueError("--cluster and --no-cluster exclude each other")
    if options["values"] and not options["scale"]:
        raise ValueError("--values goes with --scale: say on what level these values are")
    try:
        mapping = entries_of_options(options["map"], options["map_file"])
    except ImportProblem as problem:
        raise ValueError(f"--map: {problem.reason}") from None
    return Reading(
        questions=_names(options["questions"]),
        cluster=options["cluster"] or "",
        no_cluster=options["no_cluster"],
        by=options["by"] or "",
        missing=words_of(",".join(options["missing"])),
        scale=Scale(options["scale"] or "", tuple(_values(options) or ())),
        raters=_names(options["raters"]),
        judges=judges_of(options["judges"] or ""),
        item=options["item"] or "",
        names={"yes": JOIN, "no": KEEP}.get(options["fold_names"], ""),
        mapping=mapping,
        settings={name: options[name] for name in (SHEET, ENCODING) if options[name]},
    )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, (text or "").split(","))))


def _values(options: dict[str, Any]) -> list[str] | None:
    return [v.strip() for v in options["values"].split(",")] if options["values"] else None


def _scale(file: RatingsFile, part: Part, options: dict[str, Any]) -> tuple[str, list[Any] | None]:
    """Return a part's level and values: from the options, the file, or its answers."""
    level = options["scale"] or part.declared.level
    if not level:
        raise ValueError(f"--scale is needed: {part.question or file.name} has no answers to guess it from")
    own = list(part.declared.values) if level == part.declared.level else []
    return level, _values(options) or own or None


def _progress(rows: Iterable[Numbered]) -> Iterable[Numbered]:
    from tqdm import tqdm

    quiet = not sys.stderr.isatty()
    return tqdm(rows, unit=" rows", disable=quiet, delay=1, file=sys.stderr)


def _analyse_parts(
    file: RatingsFile, plan: Plan, options: dict[str, Any]
) -> tuple[list[Section], list[dict[str, Any]], Additions]:
    sections, entries, idle, repeated = [], [], list(options["more"] or ()), False
    beside, derived_raters = judges.Beside(plan, options), _derived_raters(options)
    for part in file.parts:
        facts = [*file.notes_of(part), *file.notes()]
        again = any(m.repeats for m in options["more"] or ()) and not options["aggregate"]
        samples = _read_repeats(file, part, options) if again else None
        repeated |= part.collector.repeated
        how = _value_settings(file, part, options)
        ratings = judges.with_key(file.ratings(part, **how, keep=True), options["key"])
        readings = judges.readings(file, part, ratings, how)
        facts = [*_repeat_facts(part, ratings, options), *facts]
        part.collector = Collector()
        ratings, of_panels = judges.with_panels(ratings, part.question, derived_raters)
        readings = readings.beside(ratings)
        facts += of_panels
        against = options["against"]
        if against is not None and against not in ratings.raters:
            raise ValueError(f"--against: no rater {against!r}; there are {', '.join(ratings.raters)}")
        if options["aggregate"]:
            ratings = aggregate(ratings, options["aggregate"])
        analysis = (
            Analysis()
            if _is_table_7_alone(options)
            else analyse(
                ratings,
                question=part.question,
                against=against,
                plan=plan,
                epsilon=options["epsilon"],
                few_pairs=not options["full"],
            )
        )
        if analysis.left_out and not options["full"]:
            facts.append("--full compares all pairs of raters.")
        stratum = f"{options['by']} {part.stratum}" if options["by"] else ""
        title = ", ".join(filter(None, [part.question, stratum]))
        more_blocks: list[Block] = []
        for option in options["more"] or ():
            blocks = list(option.blocks(ratings, analysis, plan))
            if option.repeats and samples is not None:
                blocks += option.repeats(ratings, samples, plan)
            more_blocks += blocks
            idle = [other for other in idle if other is not option or not blocks]
        more_blocks += judges.floor(ratings, part.question, derived_raters, plan)
        verdicts = [] if against else verdicts_of(ratings, analysis, plan, file.cluster)
        is_guess = part.declared.is_guess and not options["scale"]
        sections.append(
            section_of(
                title, ratings, analysis, file.cluster, facts, more_blocks, verdicts, is_guess=is_guess
            )
        )
        marked = {"stratum": part.stratum} if options["by"] else {}
        beside.add(part.question, title, readings, marked)
        more = [replace(entry, question=part.question) for block in more_blocks for entry in block.entries]
        entries += [entry.as_dict() | marked for entry in (*analysis.entries, *more)]
    beside.check()
    if not (options["against"] or options["by"] or _is_table_7_alone(options)):
        grouped = extras.set_sections(_groups(file, sections), plan, file.cluster)
        entries = [entry.as_dict() for section in grouped for entry in section.analysis.entries] + entries
        sections = [*grouped, *sections]
    sections[0] = _with_facts(sections[0], without_effect(options, sections, idle, repeated=repeated))
    return sections, entries, beside.additions


def _groups(file: RatingsFile, sections: Sequence[Section]) -> dict[str, dict[str, Ratings]]:
    """Return the yes/no questions of each group that is one question answered with sets."""
    groups: dict[str, dict[str, Ratings]] = {}
    for part, section in zip(file.parts, sections, strict=True):
        if part.group:
            groups.setdefault(part.group, {})[part.question] = section.ratings
    return {group: questions for group, questions in groups.items() if len(questions) > 1}


def _with_facts(section: Section, facts: Sequence[str]) -> Section:
    return replace(section, facts=(*section.facts, *facts))


def _verification_fact(count: int) -> str:
    if not count:
        return "--verify: there was no kappa or MCC of two raters to compute again."
    return f"--verify: {count:,} values were computed by scikit-learn as well, and none differs."


def _notes(sections: Sequence[Section]) -> list[str]:
    """Return notes on options without effect or figures, and on omitted pairs."""
    return [
        fact
        for section in sections
        for fact in section.facts
        if fact.startswith("--") or fact in left_out_of(section.analysis)
    ]


def _derived_raters(options: dict[str, Any]) -> judges.JudgeOptions:
    """Return the requested panels and baselines, with the dev ratings if a file is given."""
    panels = judges.panels_of(options)
    if not options["dev"]:
        return judges.JudgeOptions(panels, options["baselines"], None)
    file = read_ratings([options["dev"]], _reading(options), _progress)
    dev = {part.question: file.ratings(part, **_value_settings(file, part, options)) for part in file.parts}
    return judges.JudgeOptions(panels, options["baselines"], dev)


def _value_settings(file: RatingsFile, part: Part, options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings for reading a part's values and repeated answers."""
    level, values = _scale(file, part, options)
    return {
        "level": cast(Level, level),
        "values": values,
        "positive": options["positive"],
        "samples": options["samples"],
    }


def _read_repeats(file: RatingsFile, part: Part, options: dict[str, Any]) -> Ratings | None:
    """Return a part's ratings with each repeated answer as a rater; None if there are no repeated answers."""
    how = _value_settings(file, part, options)
    return file.samples(part, level=how["level"], values=how["values"], positive=how["positive"])


def _table_seven(
    file: RatingsFile, sections: list[Section], plan: Plan, options: dict[str, Any]
) -> Additions:
    if not options["table7"]:
        return Additions()
    if options["by"] or options["aggregate"] or options["against"]:
        raise ValueError("--table7 does not go with --by, --aggregate or --against")
    parts = zip(file.parts, sections[-len(file.parts) :], strict=True)
    questions = {part.question or "value": section.ratings for part, section in parts}
    return extras.tag_tables(questions, options["policy"], plan)


def _is_table_7_alone(options: dict[str, Any]) -> bool:
    """Whether no other section is printed; the JSON has the statistics in any case."""
    return is_table_7_alone(options) and not options["json"]


def _facts_of_file(file: RatingsFile, sections: list[Section]) -> list[str]:
    """Return the facts that qualify a table without its questions' sections."""
    facts = [fact for section in sections for fact in section.facts]
    return [*file.notes(), *dict.fromkeys(f for f in facts if f.startswith(("--", "Repeated answers")))]


def _repeat_facts(part: Part, ratings: Ratings, options: dict[str, Any]) -> list[str]:
    """Return a sentence on the treatment of repeated answers, if there are any."""
    if not part.collector.repeated:
        return []
    policy = options["samples"] or default_samples(ratings.level)
    phrases = {"mean": "their mean is taken", "first": "the first is taken", "separate": "each is a rater"}
    sentence = f"Repeated answers of a rater: {phrases[policy]}"
    if ratings.firsts:
        names = join_names(list(ratings.firsts))
        sentence += f"; agreement, which needs an answer on the scale, reads the first one of {names}"
    return [f"{sentence}."]


def _stand_ins(sections: list[Section]) -> list[dict[str, Any]]:
    """Return whether each judge may replace a person, in the wording of the report."""
    return [
        {
            "question": section.title,
            "rater": stand_in.rater,
            "state": stand_in.state,
            "reasons": list(stand_in.reasons),
        }
        for section in sections
        for stand_in in section.analysis.stand_ins
    ]


def _describe_input(file: RatingsFile, sections: list[Section]) -> dict[str, Any]:
    """Return how the file was interpreted, so that nothing is guessed silently."""
    return {
        "file": file.name,
        "shape": file.shape,
        "cluster": file.cluster,
        "questions": [{"title": s.title, "facts": list(s.facts)} for s in sections],
    }
