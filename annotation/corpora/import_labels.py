"""Placement of imported labels: on their items, for their questions, by their raters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.corpora import comparisons, import_staging
from annotation.corpora.import_names import QuestionReference, Resolver, Tidying, staged_questions
from annotation.corpora.import_staging import (
    NOTHING,
    ImportResult,
    derived_table,
    execute,
    fetch,
    filled_table,
)
from annotation.formats.source import Faults, ImportProblem
from annotation.models import Import, Question, Rater
from annotation.models.corpora import Corpus
from annotation.schemes.cocoeval import BEHAVIOUR_COUNTS as COUNTS
from annotation.schemes.definitions import RANKING, Value, describe_bounds, values_text
from annotation.work import labels

# Placement of staged labels: on their items, for their questions, by their raters; misfits are refused.
#
# Every step is one statement over the whole file. Misfits are reported line by line.

# Raters in a file: those of the corpus, and accounts and machines of the same kind and name.
#
# In a file exported here, people with accounts have their pseudonyms and are matched by these, too.
#
# A file never adds labels in an account's or a machine's name: it only matches their existing labels. New
# labels are by raters of the corpus.

STAGED_RATERS = """
SELECT rater_kind, rater_name, bool_and(identified), bool_or(identified), min(line)
  FROM import_label GROUP BY 1, 2 ORDER BY 1, 2
"""
MISSING_RATERS = """
SELECT DISTINCT r.n, r.kind, r.name, r.identified FROM import_rater r JOIN import_placed p ON p.rater = r.n
 WHERE r.rater_id IS NULL ORDER BY r.n
"""
SET_RATER = "UPDATE import_rater SET rater_id = %(rater)s WHERE n = %(n)s"
RATER_COLUMNS = {
    "n": "int4",
    "kind": "text",
    "name": "text",
    "identified": "bool",
    "rater_id": "int8",
    "shared_id": "int8",
}


def find_raters(corpus: Corpus, faults: Faults) -> None:
    """Fill the table `import_rater` with the file's raters and their stored data."""
    staged = fetch(STAGED_RATERS)
    stored = _stored(corpus, [name for _, name, *_ in staged])
    rows = []
    for number, (kind, name, always, ever, line) in enumerate(staged):
        mine = stored.get((corpus.pk, kind, name))
        if always != ever or (mine is not None and mine.identified != always):
            reason = f"{name!r} is identified in one place and not in another"
            faults.add(ImportProblem(reason, field="identified", line=line))
        shared = stored.get((None, kind, name))
        rows.append((number, kind, name, always, mine and mine.pk, shared and shared.pk))
    filled_table("import_rater", RATER_COLUMNS, rows)


def _stored(corpus: Corpus, names: list[str]) -> dict[tuple[int | None, str, str], Rater]:
    mine = Rater.objects.filter(corpus=corpus, name__in=names)
    # A draft of a judge answers for itself alone, whatever name a file's rater has.
    shared = Rater.objects.filter(corpus=None, name__in=names).exclude(spec__has_key="draft")
    raters = {(rater.corpus_id, rater.kind, rater.name): rater for rater in [*mine, *shared]}
    for name, rater in labels.raters_by_pseudonym(names, corpus.pk).items():  # a file that Concord exported
        raters.setdefault((None, rater.kind, name), rater)
    return raters


def create_raters(corpus: Corpus) -> None:
    """Create the corpus's raters that labels still need."""
    for number, kind, name, identified in fetch(MISSING_RATERS):
        rater = labels.imported_rater(corpus=corpus, kind=kind, name=name, identified=identified)
        execute(SET_RATER, {"rater": rater.pk, "n": number})


WORDS = ("nominal", "text", RANKING)
"""Levels whose answers are texts."""
QUESTION_COLUMNS = {
    "kind": "text",
    "key": "text",
    "scheme": "text",
    "id": "int8",
    "words": "bool",
    "level": "text",
    "values": "jsonb",
    "numbers": "jsonb",
}


def place_labels(
    *,
    corpus: Corpus,
    imported: Import,
    schemes: tuple[str, ...],
    fresh: bool,
    built_in: bool,
    tidying: Tidying,
    result: ImportResult,
    faults: Faults,
) -> None:
    """Turn the staged labels into labels of the corpus; existing ones stay as they are.

    `schemes` are those named with the import; a `fresh` corpus is created by this import; without
    `built_in`, questions never become those of built-in schemes by their names. All errors go to
    `faults`, which may already hold earlier ones: then nothing is stored in the end.
    """
    parameters = {"corpus": corpus.pk, "imported": imported.pk}
    _place_numbered(parameters, faults)
    _refuse_uncertain_count(parameters, faults)
    _refuse_unplaced(parameters, faults)
    result.items += comparisons.place(corpus, faults)
    if _count("SELECT count(evidence) FROM import_label"):
        _refuse_beyond(parameters, faults)
    derived_table("import_decided", import_staging.DECIDED_COLUMNS, import_staging.DECIDED, parameters)
    resolver = Resolver(corpus, schemes, fresh, faults, built_in)
    questions = resolver.resolve(staged_questions())
    _store_questions(questions)
    joined, notes = tidying.join_answers(questions)
    _join_spellings(joined)
    _refuse_doubtful(faults)
    find_raters(corpus, faults)
    derived_table("import_placed", import_staging.PLACED_COLUMNS, import_staging.PLACE, parameters)
    _refuse_off_scale({question.pk: question for question in questions.values()}, faults)
    _refuse_over_turns(faults)
    if not fresh:
        result.unchanged = execute(import_staging.DROP_UNCHANGED, parameters)
        _refuse_conflicts(faults)
    _refuse_repeated(faults)
    faults.refuse()
    create_raters(corpus)
    result.labels = execute(import_staging.INSERT, parameters)
    result.missing = _count("SELECT count(*) FROM import_placed WHERE missing <> ''")
    result.notes += [*notes, *resolver.notes]


def _count(statement: str) -> int:
    return int(fetch(statement)[0][0])


def _store_questions(questions: Mapping[QuestionReference, Question]) -> None:
    rows = (
        (
            *(
                reference.kind,
                reference.key,
                reference.scheme,
                question.pk,
                question.level in WORDS,
                question.level,
            ),
            *(question.values, _numbers_by_word(question)),
        )
        for reference, question in questions.items()
    )
    filled_table("import_question", QUESTION_COLUMNS, rows)


def _join_spellings(joined: Mapping[tuple[int, str], str]) -> None:
    """Spell staged answers as in `joined`, by question id and the file's spelling."""
    if not joined:
        return
    rows = ((*key, spelling) for key, spelling in joined.items())
    filled_table("import_spelling", {"question": "int8", "spelling": "text", "joined": "text"}, rows)
    execute(import_staging.JOIN_SPELLINGS)


def _numbers_by_word(question: Question) -> dict[str, float]:
    """Return the numbers of a scale's words; none for a question that is answered with texts."""
    if question.level in WORDS:
        return {}
    return {word: float(value) for value, word in question.anchors.items()}


def _place_numbered(parameters: Mapping[str, Any], faults: Faults) -> None:
    """Find the turns of labels that name them by the number annotators see."""
    if not _count("SELECT count(*) FROM import_label WHERE turn_number IS NOT NULL"):
        return
    derived_table("import_numbered", import_staging.NUMBERED_COLUMNS, import_staging.NUMBERED, parameters)
    rows = fetch(import_staging.MISNUMBERED)
    for _, line, *place in rows:
        faults.add(ImportProblem(_misnumbered(*place), field="turn_number", line=line))
    if rows:
        faults.refuse()
    execute(import_staging.PLACE_NUMBERED)


def _misnumbered(
    dialogue: str,
    continuation: str,
    position: int | None,
    number: int,
    positions: list[int] | None,
    low: int,
    high: int,
) -> str:
    where = f"the continuation {continuation!r} of {dialogue!r}"
    if positions is None:
        return f"there is no turn with the number {number} in {where}: its turns are {low} to {high}"
    if position is not None:
        return f"{number} is not the number of turn {position}, counted from 0, in {where}"
    choices = ", ".join(map(str, sorted(positions)))
    return (
        f"several turns of {where} have the number {number}: write `turn`, counted from 0, as one of "
        f"{choices}"
    )


def _refuse_uncertain_count(parameters: Mapping[str, Any], faults: Faults) -> None:
    """Refuse a file that never names the first turn, so that its `turn` may count from 0 or from 1."""
    ((line, fits_zero, fits_one),) = fetch(import_staging.COUNTS_FROM, parameters)
    if not fits_one:  # null: nothing is counted
        return
    reason = (
        "no row is about turn 0, though these dialogues have one: say whether `turn` counts from 0 or "
        "from 1, with --turns-from 0 or --turns-from 1 (the field `turns_from`)"
    )
    if not fits_zero:
        reason = (
            "if `turn` counts from 0, some rows name turns that are not there or not rated; if it counts "
            "from 1, all fit: then say --turns-from 1 (the field `turns_from`)"
        )
    faults.add(ImportProblem(reason, field="turn", line=line, of_file=True))
    faults.refuse()


def _refuse_unplaced(parameters: Mapping[str, Any], faults: Faults) -> None:
    rows = fetch(import_staging.UNPLACED, parameters)
    for place in dict.fromkeys(row[1:] for row in rows):
        faults.add(_unplaced(*place))
    if rows:
        execute("DELETE FROM import_label WHERE n = ANY(%(rows)s)", {"rows": [row[0] for row in rows]})


def _unplaced(
    line: int | None,
    field: str,
    dialogue: str,
    continuation: str,
    position: int | None,
    record_kind: str | None,
    record_key: str | None,
    has_dialogue: int | None,
    has_continuation: int | None,
    has_turn: int | None,
) -> ImportProblem:
    if not has_dialogue:
        reason = f"there is no dialogue {dialogue!r} in the corpus"
    elif record_kind and has_continuation:
        reason = f"the dialogue {dialogue!r} has no {record_kind} {record_key!r}"
    elif not has_continuation:
        reason = f"the dialogue {dialogue!r} has no continuation {continuation!r}"
    elif not has_turn:
        reason = f"there is no turn {position} in the continuation {continuation!r} of {dialogue!r}"
    else:
        reason = f"turn {position} of {continuation!r} in {dialogue!r} is given: it is context and not rated"
    key = "turn" if has_continuation else "continuation" if has_dialogue else "dialogue"
    return ImportProblem(reason, field=_sibling(field, key), line=line)


def _refuse_beyond(parameters: Mapping[str, Any], faults: Faults) -> None:
    """Refuse evidence at turns that do not exist, or beyond their text."""
    for line, field, index, continuation, turn, end, is_there, length in fetch(
        import_staging.BEYOND, parameters
    ):
        reason = f"there is no turn {turn} in the continuation {continuation!r}"
        if is_there:
            reason = f"turn {turn} of {continuation!r} has {length} characters, so nothing ends at {end}"
        place = f"{field.removesuffix('value')}evidence[{index}]" if "value" in field else "evidence"
        faults.add(ImportProblem(reason, field=place, line=line))


def _sibling(field: str, key: str) -> str:
    """Return the path of a field beside a label's value; a ratings file has one field for the whole place."""
    return field.removesuffix("value") + key if field.startswith("labels") else "item"


def _refuse_doubtful(faults: Faults) -> None:
    """Refuse words for no answer, and misspelt numbers, where no scale has them."""
    for line, field, text, doubt in fetch(import_staging.DOUBTFUL):
        answer = repr(text[:40])
        reason = f"{answer} is not written as a number: write digits with one decimal point, like 3.5"
        if doubt == NOTHING:
            word = text.partition(" (")[0]
            advice = f"--missing={word} takes it as missing; listed in `values` it is an answer"
            reason = f"{answer} looks like no answer: {advice}"
        faults.add(ImportProblem(reason, field=field, line=line))


def _refuse_off_scale(questions: Mapping[int, Question], faults: Faults) -> None:
    for line, field, number, text, question_id in fetch(import_staging.OFF_SCALE):
        question = questions[question_id]
        answer = repr(text) if number is None else f"{number:g}"
        scheme = question.version.scheme.key
        reason = f"{answer} is not on the scale of {question.key} in {scheme}: {_scale(question)}"
        faults.add(ImportProblem(reason, field=field, line=line))


def _refuse_over_turns(faults: Faults) -> None:
    """Refuse counts of turns that exceed the number of turns."""
    for line, field, number, turns in fetch(import_staging.OVER_TURNS, {"scheme": COUNTS.key}):
        reason = f"{number:g} turns are counted in a continuation of {turns}"
        faults.add(ImportProblem(reason, field=field, line=line))


def _scale(question: Question) -> str:
    values: list[Value] = question.values
    if values:
        return values_text(values)
    if question.level == RANKING:
        return "an order of all that are compared, best first, such as 2>0=1"
    return "any text" if question.level in WORDS else describe_bounds(question)


def _refuse_repeated(faults: Faults) -> None:
    for first, line, field in fetch(import_staging.REPEATED):
        where = "" if first is None or first == line else f", first on line {first}"
        reason = f"this rater answers this question about this item twice with the same sample{where}"
        faults.add(ImportProblem(reason, field=field, line=line))


def _refuse_conflicts(faults: Faults) -> None:
    for line, field, rater, before, missing in fetch(import_staging.CONFLICTS):
        answer = "no answer" if missing else before
        reason = f"the corpus has another answer of {rater!r} there already: {answer}"
        faults.add(ImportProblem(reason, field=field, line=line))
