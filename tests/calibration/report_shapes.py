"""Ratings of every shape that reports meet: sparse, lopsided, constant, without people, on long scales."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from annotation.models import Corpus, Label
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration import test_coverage, test_preferences, test_unanswered
from tests.calibration.levels_world import static
from tests.calibration.rated_world import SYSTEMS, Rated
from tests.calibration.world import World, world

TITLE = "Quality"
Place = tuple[int, int]
"""A turn: the numbers of its dialogue and of the turn in it."""
Answers = Mapping[Place, Any]
FIGURES = {
    "coin_rare": "binary",
    "judge_missing_hard": "binary",
    "one_person": "ordinal",
    "negative_metric": "ordinal",
    "ppi_three_people": "binary",
    "ppi_one_person": "binary",
    "rated_twice": "ordinal",
    "rated_twice_half": "ordinal",
    "lev_within": "interval",
    "lev_opposite": "interval",
    "lev_usr": "ordinal",
    "ds_usr_persona": "ordinal",
}
"""Ratings files of the shared cases, with the level of their question."""
ALT_TEST = {"lesion": ("ordinal", 30), "framing": ("nominal", 15), "cebab_stars": ("ordinal", 120)}
"""Data sets of the alternative annotator test: level, and the number of clusters that are read."""


@dataclass
class Shape:
    """Ratings of turns of one question: the answers of each rater, None for an answer that is missing."""

    level: str
    values: Sequence[Any]
    answers: dict[str, Answers]
    kinds: Mapping[str, str] = field(default_factory=dict)
    identified: bool = True
    systems: Sequence[str] = ("human",)

    def kind(self, rater: str) -> str:
        """Return the kind of a rater, a person unless it is named."""
        return self.kinds.get(rater, "human")

    def report(self, **definition: Any) -> Snapshot:
        """Compute the report of a study of these ratings."""
        built = self._world()
        linked = [{"question": "score@1/score", "map": "rank"}] if "metric" in self.kinds.values() else []
        question = {"question": "quality@1/quality", "answered_by": linked}
        settings = {"resamples": 100, "questions": [question]} | definition
        study = studies.create(name=TITLE, corpus=built.corpus, definition=settings, by=None)
        return snapshot_of(studies.compute(study=study, part="all", by=None))

    def _world(self) -> World:
        places = {place for answers in self.answers.values() for place in answers}
        turns = 1 + max(turn for _, turn in places)
        dialogues = 1 + max(dialogue for dialogue, _ in places)
        built = world(dialogues=dialogues, turns=turns, systems=self.systems)
        built.ask("quality", self.level, self.values, wording=TITLE)
        built.ask("score", "interval")
        for name, answers in self.answers.items():
            kind = self.kind(name)
            items = {
                built.turns[dialogue * turns + turn]: value for (dialogue, turn), value in answers.items()
            }
            asked = "score" if kind == "metric" else "quality"
            built.say(name, asked, items, kind=kind, identified=self.identified)
        return built


def _places(dialogues: int, turns: int) -> list[Place]:
    return [(dialogue, turn) for dialogue in range(dialogues) for turn in range(turns)]


def _rated(
    places: Sequence[Place],
    scale: Sequence[Any],
    raters: Mapping[str, str],
    *,
    seed: int = 7,
    error: float = 0.3,
) -> dict[str, Answers]:
    """Return answers of raters who give the true value, or with a probability any other."""
    random = np.random.default_rng(seed)
    truth = random.integers(len(scale), size=len(places))
    answers: dict[str, Answers] = {}
    for name in raters:
        wrong = random.random(len(places)) < error
        chosen = np.where(wrong, random.integers(len(scale), size=len(places)), truth)
        answers[name] = {place: scale[at] for place, at in zip(places, chosen.tolist(), strict=True)}
    return answers


PEOPLE = {"ann": "human", "ben": "human", "cid": "human"}
JUDGED = PEOPLE | {"gpt": "judge"}
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def _on(
    level: str, scale: Sequence[Any], *, raters: Mapping[str, str] = JUDGED, size: Place = (12, 4)
) -> Shape:
    return Shape(level, scale, _rated(_places(*size), scale, raters), raters)


def sixty_sparse_raters() -> Shape:
    """Sixty people with ten turns each, and a judge of all turns."""
    names = {f"rater {chr(97 + n // 10)}{chr(97 + n % 10)}": "human" for n in range(60)} | {"gpt": "judge"}
    shape = _on("ordinal", FIVE, raters=names, size=(30, 4))
    places = _places(30, 4)
    for n, name in enumerate(list(names)[:-1]):
        own = [places[(n * 2 + step) % len(places)] for step in range(10)]
        shape.answers[name] = {place: shape.answers[name][place] for place in own}
    return shape


def one_person() -> Shape:
    """One person beside a judge and a metric."""
    raters = {"ann": "human", "gpt": "judge", "bleu": "metric"}
    shape = _on("ordinal", FIVE, raters=raters)
    shape.answers["bleu"] = {place: value * 1.5 + 0.25 for place, value in shape.answers["bleu"].items()}
    return shape


def no_people() -> Shape:
    """Two judges alone."""
    return _on("ordinal", FIVE, raters={"gpt": "judge", "llama": "judge"})


def one_dialogue() -> Shape:
    """Twelve turns of one dialogue."""
    return _on("ordinal", FIVE, size=(1, 12))


def no_overlap() -> Shape:
    """Two people and a judge, none of whom shares an item with another."""
    shape = _on("ordinal", FIVE, raters={"ann": "human", "ben": "human", "gpt": "judge"}, size=(12, 3))
    for turn, name in enumerate(shape.answers):
        shape.answers[name] = {place: v for place, v in shape.answers[name].items() if place[1] == turn}
    return shape


def all_ties() -> Shape:
    """Everybody gives the same value to everything."""
    answers = {name: dict.fromkeys(_places(12, 4), 3.0) for name in JUDGED}
    return Shape("ordinal", FIVE, dict(answers), JUDGED)


def forty_categories() -> Shape:
    """A question with forty categories."""
    return _on("nominal", [f"act {chr(97 + n // 8)}{chr(97 + n % 8)}" for n in range(40)])


def zero_to_ten() -> Shape:
    """A scale from 0 to 10."""
    return _on("ordinal", [float(n) for n in range(11)])


def one_to_a_hundred() -> Shape:
    """Numbers from 1 to 100."""
    return _on("interval", [float(n) for n in range(1, 101)])


def a_guess_at_a_rare_answer() -> Shape:
    """Three people who rarely say yes, and a judge that guesses as often."""
    places, random = _places(60, 5), np.random.default_rng(3)
    truth = random.random(300) < 0.04
    answers: dict[str, Answers] = {}
    for name in PEOPLE:
        answers[name] = dict(zip(places, (truth ^ (random.random(300) < 0.01)).astype(float), strict=True))
    answers["gpt"] = dict(zip(places, (random.random(300) < 0.04).astype(float), strict=True))
    return Shape(
        "binary", [0, 1], {r: {p: float(v) for p, v in a.items()} for r, a in answers.items()}, JUDGED
    )


def a_judge_that_skips() -> Shape:
    """A judge without an answer to each third turn, and one that always answers alike."""
    raters = JUDGED | {"never": "judge"}
    shape = _on("binary", [0, 1], raters=raters, size=(40, 3))
    skipped = {place: None if place[1] == 2 else value for place, value in shape.answers["gpt"].items()}
    shape.answers["gpt"], shape.answers["never"] = skipped, dict.fromkeys(_places(40, 3), 0)
    return shape


def anonymous_slots() -> Shape:
    """Three anonymous slots and a judge."""
    shape = _on("ordinal", FIVE, raters=PEOPLE)
    shape.identified = False
    return shape


def an_answer_key() -> Shape:
    """Two people, two judges and an answer key."""
    raters = {"ann": "human", "ben": "human", "gpt": "judge", "llama": "judge", "answers": "key"}
    return _on("binary", [0, 1], raters=raters, size=(20, 3))


def a_metric_of_a_tag() -> Shape:
    """Four people, who may tie, and a metric that rises with their answers."""
    raters = dict.fromkeys(("ann", "ben", "cid", "dee"), "human") | {"bleu": "metric"}
    shape = _on("binary", [0, 1], raters=raters, size=(20, 4))
    scores = np.random.default_rng(5).normal(size=80).tolist()
    own = shape.answers["bleu"]
    shape.answers["bleu"] = {place: own[place] + score for place, score in zip(own, scores, strict=True)}
    return shape


def systems_partly_rated() -> Shape:
    """Three systems, of which the judge likes the second and people the third; people rated a third."""
    random, places = np.random.default_rng(3), _places(90, 2)
    system = np.array([dialogue % 3 for dialogue, _ in places])
    truth = np.where(system == 2, 3.4, 2.4) + random.normal(0, 0.6, len(places))

    def answers(values: np.ndarray, n: int) -> Answers:
        return dict(zip(places[:n], np.clip(np.round(values), 1, 5).tolist()[:n], strict=True))

    people = {name: answers(truth + random.normal(0, 0.3, len(places)), 60) for name in ("ann", "ben")}
    judge = truth + np.where(system == 1, 0.9, 0.1) + random.normal(0, 0.4, len(places))
    rated = people | {"gpt": answers(judge, len(places))}
    return Shape("ordinal", FIVE, rated, {"gpt": "judge"}, systems=("a", "b", "c"))


def categories_of_systems() -> Shape:
    """Two systems of which one gives an answer of the first category more often; people rated half."""
    random, places = np.random.default_rng(4), _places(80, 2)
    first = np.array([dialogue % 2 for dialogue, _ in places]) == 0
    truth = np.where(random.random(len(places)) < np.where(first, 0.8, 0.3), "x", "y")
    said = np.where(random.random(len(places)) < 0.1, "y", truth)
    answers: dict[str, Answers] = {
        "ann": dict(zip(places[:80], truth.tolist()[:80], strict=True)),
        "gpt": dict(zip(places, said.tolist(), strict=True)),
    }
    return Shape("nominal", ["x", "y"], answers, {"gpt": "judge"}, systems=("a", "b"))


MADE: dict[str, Callable[[], Shape]] = {
    shape.__name__: shape
    for shape in (
        sixty_sparse_raters,
        one_person,
        no_people,
        one_dialogue,
        no_overlap,
        all_ties,
        forty_categories,
        zero_to_ten,
        one_to_a_hundred,
        a_guess_at_a_rare_answer,
        a_judge_that_skips,
        anonymous_slots,
        an_answer_key,
        a_metric_of_a_tag,
        systems_partly_rated,
        categories_of_systems,
    )
}


def from_figures(cases: Path, name: str) -> Shape:
    """Read a ratings file of the shared cases: its last question, each rater's first answers."""
    with (cases / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    rows = [row for row in rows if row["question"] == rows[-1]["question"]]
    clusters = {key: n for n, key in enumerate(dict.fromkeys(row["cluster"] for row in rows))}
    items: dict[str, Place] = {}
    for row in rows:
        cluster = clusters[row["cluster"]]
        items.setdefault(row["item"], (cluster, sum(place[0] == cluster for place in items.values())))
    answers: dict[str, dict[Place, Any]] = {}
    for row in rows:
        value = float(row["value"]) if row["value"] else None
        answers.setdefault(row["rater"], {}).setdefault(items[row["item"]], value)
    kinds = {row["rater"]: row["kind"] for row in rows}
    level = FIGURES[name]
    people = {v for r, own in answers.items() if kinds[r] != "metric" for v in own.values() if v is not None}
    values = {"binary": [0, 1], "interval": []}.get(level, sorted(people))
    return Shape(level, values, dict(answers), kinds)


def from_alt_test(shared: Path, name: str) -> Shape:
    """Read the first clusters of a data set of the alternative annotator test, with three of its judges."""
    level, n_clusters = ALT_TEST[name]
    answers: dict[str, dict[Place, Any]] = {}
    kinds: dict[str, str] = {}
    clusters: dict[str, int] = {}
    items: dict[str, Place] = {}
    for kind, file in (("human", "human"), ("judge", "llm")):
        stored = json.loads((shared / "alttest" / name / f"{file}_annotations.json").read_text())
        for rater, own in list(stored.items())[: 3 if kind == "judge" else None]:
            kinds[rater] = kind
            for item, value in own.items():
                cluster = clusters.setdefault(item.rsplit("__", 1)[0], len(clusters))
                if cluster >= n_clusters or str(value).startswith("n/a"):
                    continue
                items.setdefault(item, (cluster, sum(place[0] == cluster for place in items.values())))
                answers.setdefault(rater, {})[items[item]] = value if level == "nominal" else float(value)
    values = {value for own in answers.values() for value in own.values()}
    return Shape(level, sorted(values), dict(answers), kinds)


def fed(shared: Path) -> Snapshot:
    """Compute the report of FED with GPT-4."""
    from annotation.corpora.import_file import import_path

    import_path(path=shared / "fed/fed_data.json", format="fed", corpus="fed", into=False, by=None)
    scores = shared / "fed_gpt4_judge/fed_gpt4_annotations.json"
    import_path(path=scores, format="fed_gpt4", corpus="fed", into=True, by=None)
    study = studies.create(
        name="FED", corpus=Corpus.objects.get(name="fed"), definition={"resamples": 100}, by=None
    )
    return snapshot_of(studies.compute(study=study, part="all", by=None))


def _tags(**marked: dict[int, str]) -> Snapshot:
    return snapshot_of(test_coverage.report_of(test_coverage.built(**marked)))


def _levels() -> Snapshot:
    rated = Rated(static(systems=SYSTEMS[:5], turns=3))
    definition = {
        "resamples": 30,
        "statistics": ["spearman"],
        "level": ["turn", "dialogue", "system"],
        "questions": ["comperdial_turn@1/overall"],
    }
    study = studies.create(name="levels", corpus=rated.corpus, definition=definition, by=None)
    return snapshot_of(studies.compute(study=study, part="all", by=None))


def _preferences() -> Snapshot:
    corpus = test_preferences.world()
    question = Label.objects.filter(item__corpus=corpus)[0].question
    ref = f"{question.version.scheme.key}@1/{question.key}"
    study = studies.create(
        name="pairs", corpus=corpus, definition={"resamples": 50, "questions": [ref]}, by=None
    )
    return snapshot_of(studies.compute(study=study, part="all", by=None))


def _panel() -> Snapshot:
    return an_answer_key().report(panels=[{"name": "jury", "rule": "majority"}])


STUDIES: dict[str, Callable[[], Snapshot]] = {
    "tags of two people": lambda: _tags(ann={3: ""}, ben={}, gpt={5: "x"}),
    "tags of one person": lambda: _tags(ann={}, gpt={}),
    "failed calls": lambda: snapshot_of(test_unanswered.report(test_unanswered.rated())),
    "levels": _levels,
    "a panel": _panel,
    "preferences": _preferences,
}
"""Reports that have more than one question, calls, levels, a panel or pairs."""
