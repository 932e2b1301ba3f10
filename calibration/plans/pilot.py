"""The pilot of a plan: the ratings of one question of a study, as its report reads them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from calibration.errors import PlanRefused
from calibration.models import Study
from calibration.reading.census import Census, RaterInfo, census, offered
from calibration.reading.definitions import Definition, parse
from calibration.reading.ratings import load, places
from calibration.reading.scope import Scope, of_study
from calibration.reading.subjects import Subject, rater_names, subjects_of
from calibration.statistics import RatingError, Ratings
from calibration.studies.computing import ALL_TAGS, pooled
from calibration.studies.computing import POOLED as POOLED_RATERS
from calibration.studies.inputs import clusters_of, split_of
from calibration.studies.raters import in_sets


@dataclass(frozen=True)
class Asked:
    """A question that a plan may be about; one that pools the tags of a scheme has several subjects."""

    ref: str
    title: str
    subjects: tuple[Subject, ...]

    @property
    def is_pooled(self) -> bool:
        """Whether it is the tags of a scheme read as one."""
        return len(self.subjects) > 1


class Choices:
    """What a study's labels offer a plan. `exact` counts machines' answers in a campaign, slowly."""

    def __init__(self, study: Study, *, exact: bool = True) -> None:
        self.study = study
        self.scope: Scope = of_study(study)
        self.definition: Definition = parse(study.definition)
        self.counted: Census = (census if exact else offered)(self.scope)
        self.subjects = subjects_of(self.definition, self.counted)

    @cached_property
    def questions(self) -> list[Asked]:
        """The questions, those that pool tags first, as reports have them."""
        alone = [Asked(s.question.ref, s.question.title, (s,)) for s in self.subjects]
        together = [
            Asked(f"{members[0].question.scheme}/{POOLED_RATERS}", ALL_TAGS, tuple(members))
            for members in in_sets(self.subjects, lambda subject: subject.question)
        ]
        return together + alone

    def question(self, ref: str) -> Asked:
        """Return the question named, else the one a report leads with. Raises PlanRefused."""
        if not self.questions:
            raise PlanRefused(
                "no question was answered by two raters, so nothing says how far dialogues differ: "
                "have a few dialogues rated twice first"
            )
        if ref:
            found = next((asked for asked in self.questions if asked.ref == ref), None)
            if found is None:
                known = ", ".join(asked.ref for asked in self.questions)
                raise PlanRefused(f"this study has no question {ref!r}; there are {known}")
            return found
        by_itself = [a for a in self.questions if not a.is_pooled]
        overall = [a for a in by_itself if a.subjects[0].question.key == "overall"]
        others = [a for a in by_itself if not a.subjects[0].question.group]
        return next(iter((*overall, *others, *self.questions)))

    def raters(self, kinds: tuple[str, ...] = ("judge", "metric")) -> list[RaterInfo]:
        """Return the raters of some kinds that answer any of the questions, by name, each once."""
        only = set(self.definition.raters)
        found: dict[str, RaterInfo] = {}
        for subject in self.subjects:
            for (_, rater), info in rater_names(subject, self.counted).items():
                if info.kind in kinds and (not only or self.counted.raters[rater].name in only):
                    found[info.name] = info
        return sorted(found.values(), key=lambda info: (kinds.index(info.kind), info.id, info.name))

    def n_labels(self, asked: Asked) -> int:
        """Return how many labels a question has in the whole scope."""
        wanted = {number for subject in asked.subjects for number in subject.question_ids}
        return sum(n for (question, _), (n, _) in self.counted.counts.items() if question in wanted)

    def ratings(self, asked: Asked, part: str) -> Ratings:
        """Read the ratings of a question on a part. Raises PlanRefused where they are off their scale."""
        clusters = clusters_of(split_of(self.study), part)
        where = places(self.scope, {s.question.item_kind for s in asked.subjects}, clusters)
        only = frozenset(self.definition.raters)
        loaded = [load(self.scope, subject, self.counted, where, only) for subject in asked.subjects]
        data = pooled(loaded)[0] if asked.is_pooled else loaded[0]
        try:
            return data.ratings(self.definition.samples)
        except RatingError as error:
            raise PlanRefused(str(error)) from error
