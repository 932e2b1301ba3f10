"""Packages of labels in other tools' formats, in one table, including the alternative annotator test's."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibration.exports.hugging_face import HUGGING_FACE
from calibration.exports.label_studio import LABEL_STUDIO
from calibration.exports.package_contents import Contents, Package, file_name
from calibration.exports.writing import Bundle
from calibration.ratings.ratings import Subject, automatic, load, places
from calibration.ratings.scope import census
from calibration.statistics import RatingError, Ratings

# Labels for the alternative annotator test's own tool: a dictionary of people, one of judges.
#
# Per question `human_annotations.json` {annotator: {item: label}} and `llm_annotations.json` {judge: {item:
# label}}, as Calderon, Reichart and Dror (2025) publish theirs. They hold the data that the test of a report
# compares: repeated answers are combined (their mean on ordered scales, else the first), and linked questions
# share one scale. People in anonymous slots are left out: the test leaves out one person at a time, and a
# slot's person is unknown.

LEAST = 2
"""Fewest people for the test."""
INDEX = "questions.json"


def write(contents: Contents, bundle: Bundle) -> int:
    """Add the dictionaries of each question, and why others have none; return the number of labels."""
    counted = census(contents.scope)
    subjects = [
        s for s in automatic(counted) if not contents.questions or s.question.ref in contents.questions
    ]
    if missing := set(contents.questions) - {subject.question.ref for subject in subjects}:
        available = ", ".join(subject.question.ref for subject in automatic(counted)) or "none"
        raise contents.refused(
            f"no {sorted(missing)[0]} that people and judges answered; there are {available}"
        )
    clusters = contents.export_part.clusters
    where = places(
        contents.scope,
        {s.question.item_kind for s in subjects},
        None if clusters is None else frozenset(clusters),
    )
    total, entries = 0, []
    for number, subject in enumerate(subjects, start=1):
        data = load(contents.scope, subject, counted, where)
        try:
            dictionaries = _dictionaries(
                data.ratings(), {record.item: record.cluster for record in data.records}
            )
        except RatingError as error:
            dictionaries = str(error)
        entry = _described(subject)
        if isinstance(dictionaries, str):
            entries.append(entry | {"left_out": dictionaries})
            continue
        folder = f"{number:02d}-{file_name(subject.question.ref)}"
        total += _add(bundle, folder, *dictionaries)
        entries.append(
            entry | {"folder": folder, "people": list(dictionaries[0]), "judges": list(dictionaries[1])}
        )
    if not total:
        reasons = "; ".join(sorted({row["left_out"] for row in entries})) or "nothing was answered"
        raise contents.refused(f"no question has what the test needs: {reasons}")
    bundle.add_json(INDEX, entries)
    return total


Answers = dict[str, dict[str, Any]]


def _add(bundle: Bundle, folder: str, people: Answers, judges: Answers, clusters: dict[str, str]) -> int:
    total = 0
    for name, answers in (("human_annotations", people), ("llm_annotations", judges)):
        count = sum(len(mine) for mine in answers.values())
        bundle.add_json(f"{folder}/{name}.json", answers, rows=count)
        total += count
    bundle.add_json(f"{folder}/clusters.json", clusters)
    return total


def _described(subject: Subject) -> dict[str, Any]:
    question = subject.question
    return {
        "question": question.ref,
        "wording": question.wording,
        "level": question.level,
        "values": question.values,
    }


def _dictionaries(
    ratings: Ratings, clusters: dict[str, str]
) -> tuple[Answers, Answers, dict[str, str]] | str:
    """Return people's and judges' answers and the items' clusters, or the reason why there is no test."""
    if ratings.problem:
        return ratings.problem
    answered = {c for c in range(len(ratings.raters)) if not np.isnan(ratings.values[:, c]).all()}
    people = [c for c in ratings.of_kind("human") if ratings.identified[c] and c in answered]
    ordered = ratings.level not in ("binary", "nominal")
    judges = [c for c in ratings.of_kind("judge") if (ratings.on_scale[c] or ordered) and c in answered]
    if len(people) < LEAST:
        return f"fewer than {LEAST} people who are known answered it"
    if not judges:
        return "no judge answered it"
    return _answers(ratings, people), _answers(ratings, judges), clusters


def _answers(ratings: Ratings, columns: list[int]) -> Answers:
    return {
        ratings.raters[column]: {
            ratings.items[row]: _label(ratings, float(value))
            for row, value in enumerate(ratings.values[:, column])
            if not np.isnan(value)
        }
        for column in columns
    }


def _label(ratings: Ratings, value: float) -> Any:
    """Return a value in the tool's notation: a category's name, or a number."""
    if ratings.names:
        return ratings.names[int(value)]
    return int(value) if value.is_integer() else value


ALT_TEST = Package(
    key="alt-test",
    title="Alternative annotator test",
    hint="Per question a dictionary of people's answers and one of judges', as the test's tool reads them.",
    write=write,
    by_question=True,
)


# The packages, one file each, in one table.

PACKAGES: dict[str, Package] = {package.key: package for package in (LABEL_STUDIO, HUGGING_FACE, ALT_TEST)}
