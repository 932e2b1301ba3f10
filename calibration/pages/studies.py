"""Studies: the list, a new study, and one with its definition and snapshots.

For researchers; for a campaign's study also those who manage the campaign.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.corpora import splits
from annotation.corpora.exclusion import HELP, LABEL, LONGEST
from annotation.corpora.splits import TRAINING
from annotation.models import Campaign, Corpus
from annotation.schemes.definitions import UNSCALED
from calibration import access
from calibration.access import place_of, study_researcher_only
from calibration.errors import CalibrationError, MapError
from calibration.models import Study
from calibration.ratings.definitions import (
    COUNTS,
    LEVEL_KEYS,
    LEVELS,
    MOST_RESAMPLES,
    MOST_SEED,
    PREFERENCE_KEYS,
    SHARES,
    Definition,
    ScaleMap,
    parse,
)
from calibration.ratings.levels import condition_keys
from calibration.ratings.scope import Census, offered, question_choices, scope_of
from calibration.ratings.subsets import MOST_VALUES, Value, condition_values, system_names
from calibration.ratings.votes import comparing
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.core.engine import Family
from calibration.statistics.panels import RULES
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from calibration.statistics.table import described
from calibration.studies import study_actions as studies
from config.permissions import researcher_only, user_of
from judges.access import run_set

# Fields of a study's form for levels above items.

LEVEL_NAMES = {
    "turn": "turns",
    "dialogue": "dialogues: the mean of a continuation’s turns, or its label",
    "system": "systems: the mean over all turns, or all dialogues, of a system",
}
DATE = forms.DateInput(attrs={"type": "date"})
ATTRIBUTES = [("model", "model"), ("protocol", "protocol"), ("kind", "kind of rater")]


class LevelFields(forms.Form):
    """Levels of a study's correlations, their units, and the layout of the table."""

    levels = forms.MultipleChoiceField(
        required=False,
        choices=[(level, LEVEL_NAMES[level]) for level in LEVELS],
        widget=forms.CheckboxSelectMultiple,
        label="Correlate at the level of",
        help_text="None ticked: agreement on the items alone.",
    )
    reference = forms.ChoiceField(required=False, label="Correlate with")
    unit = forms.ChoiceField(
        required=False,
        choices=[
            ("continuation", "a continuation"),
            ("dialogue_system", "all continuations of one system for one dialogue"),
        ],
        label="A dialogue’s score belongs to",
    )
    missing = forms.ChoiceField(
        required=False,
        choices=[
            ("skip", "leave out the turn"),
            ("whole", "leave out the continuation"),
        ],
        label="Where a turn has no value",
    )
    system_score = forms.ChoiceField(
        required=False,
        choices=[
            ("all_turns", "mean over all its turns, or dialogues"),
            ("mean_of_dialogues", "mean over the means of its dialogues"),
        ],
        label="A system’s score",
    )
    by = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="What makes a system, beside its name",
        help_text="Ticked, each combination with the system counts as a system of its own.",
    )
    p = forms.ChoiceField(
        required=False,
        choices=[
            ("clustered", "by exchanging systems and dialogues"),
            ("item", "the usual test, as papers print it"),
        ],
        label="p-values",
    )
    shared_dialogues = forms.BooleanField(
        required=False, label="Only the dialogues that all systems answered"
    )
    row_samples = forms.MultipleChoiceField(
        required=False,
        choices=[("first", "the first answer"), ("mean", "the mean of all answers")],
        widget=forms.CheckboxSelectMultiple,
        label="Rows of a judge that was asked several times",
        help_text="Both ticked: a judge asked several times has a row for each.",
    )
    heading = forms.ChoiceField(
        required=False, choices=[("source", "what scores come from"), *ATTRIBUTES], label="Group rows by"
    )
    best_per = forms.ChoiceField(
        required=False, choices=[("", "none"), *ATTRIBUTES], label="Underline the best for each"
    )

    def clean(self) -> dict[str, Any]:
        """Refuse a policy on missing turns without named questions."""
        data: dict[str, Any] = super().clean() or {}
        named_questions = data.get("questions") or data.get("answered")
        if data.get("levels") and data.get("missing") == "whole" and not named_questions:
            self.add_error("missing", "Tick the questions that this is for.")
        return data

    def levels_written(self) -> dict[str, Any]:
        """Return the level keys of the definition; none if no level is ticked."""
        data = self.cleaned_data
        if not data["levels"]:
            return {}
        level_keys = {key: data[key] for key in sorted(LEVEL_KEYS) if data[key]}
        if data["row_samples"]:
            level_keys["samples"] = data["row_samples"]
        return {"level": data["levels"]} | level_keys


# Fields of a study's form for its subset.


class SubsetFields(forms.Form):
    """Systems, conditions and dates to which a study is narrowed, and dialogues that it leaves out."""

    systems = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all."
    )
    conditions = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Several values of one condition: any of them. None ticked: all. Conditions with more than "
        f"{MOST_VALUES} values: by definition, with the command or the API.",
    )
    first_day = forms.DateField(required=False, widget=DATE, label="Labels from")
    last_day = forms.DateField(
        required=False, widget=DATE, label="Labels to", help_text="Including this day, in UTC."
    )
    exclude = forms.CharField(required=False, max_length=LONGEST, label=LABEL, help_text=HELP)

    def clean(self) -> dict[str, Any]:
        """Refuse a last day before the first."""
        data: dict[str, Any] = super().clean() or {}
        if data.get("first_day") and data.get("last_day") and data["last_day"] < data["first_day"]:
            self.add_error("last_day", "Choose the same day as the first, or a later one.")
        return data

    def subset_written(self) -> dict[str, Any]:
        """Return the `subset` of the definition; nothing if the study is not narrowed."""
        data = self.cleaned_data
        conditions: dict[str, list[Value]] = {}
        for key, value in map(json.loads, data["conditions"]):
            conditions.setdefault(key, []).append(value)
        subset = {
            "systems": data["systems"],
            "conditions": conditions,
            "from": data["first_day"] and data["first_day"].isoformat(),
            "to": data["last_day"] and data["last_day"].isoformat(),
            "exclude": data["exclude"],
        }
        subset = {key: value for key, value in subset.items() if value}
        return {"subset": subset} if subset else {}


def _condition_choices(corpus: Corpus) -> list[tuple[str, str]]:
    """Return each condition with each of its values, as `key = value`."""
    return [
        (json.dumps([key, value]), f"{key} = {value if isinstance(value, str) else json.dumps(value)}")
        for key, values in condition_values(corpus).items()
        if len(values) <= MOST_VALUES
        for value in values
    ]


# Form of a new study. Unchanged, it gives the automatic study under another name.

TEXT = "text"
DEFAULT = Definition()
MAPS = [("rank", "order only"), ("identity", "same scale"), ("linear", "linear, with ranges")]


def _families() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return all statistics that a study may compute, grouped by family."""
    groups: dict[str, list[tuple[str, str]]] = {family: [] for family in get_args(Family)}
    for key, statistic in described().items():
        groups[statistic.family].append((key, statistic.title))
    return list(groups.items())


def _share(name: str, label: str, help_text: str) -> forms.FloatField:
    """Return the field of a threshold of the verdict's rule."""
    initial = getattr(DEFAULT.verdict, name)
    return forms.FloatField(
        min_value=0, max_value=1, initial=initial, required=False, label=label, help_text=help_text
    )


def _count(name: str, label: str) -> forms.IntegerField:
    """Return the field of a number that the verdict's rule needs."""
    least, most = COUNTS[name]
    initial = getattr(DEFAULT.verdict, name)
    return forms.IntegerField(min_value=least, max_value=most, initial=initial, required=False, label=label)


GROUPS = (
    ("Only some systems, conditions or dates", "", "systems conditions first_day last_day split exclude"),
    ("A question asked differently", "", "answering answered map ranges"),
    (
        "Levels: turns, dialogues, systems",
        "Pearson’s r, ρ and τ-b of judges and metrics with people, at each level ticked.",
        "levels reference unit missing system_score by p shared_dialogues row_samples heading best_per",
    ),
    ("Preferences: pairs and rankings", "", "ties both_bad anchor"),
    ("Panels of judges, baselines", "", "panel members least no_baselines"),
    (
        "When to trust a judge",
        "A verdict in the report follows from these thresholds. The defaults suit most studies.",
        "gap agreement coverage people clusters events ignore_length alternative_test",
    ),
    (
        "Statistics and intervals",
        "",
        "statistics samples leave_out interval resamples seed confidence epsilon",
    ),
)
"""Fields that fold: title, note and names of each group."""


@dataclass(frozen=True)
class FieldGroup:
    """Fields of a study's form that fold, open where one is filled in or wrong."""

    title: str
    note: str
    fields: list[forms.BoundField]

    @property
    def is_open(self) -> bool:
        """Whether a field is wrong or is not as it is by default."""
        return any(
            row.errors or str(row.value() or "") != str(row.field.initial or "") for row in self.fields
        )


class StudyForm(LevelFields, SubsetFields):
    """Settings of a study: name, questions, raters, subset, a map of scales, statistics, intervals."""

    name = forms.CharField(
        max_length=studies.NAME_LIMIT, label="Name", help_text="For example: does the judge agree with us?"
    )
    questions = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: every question that two raters or more answered.",
    )
    raters = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all."
    )
    answering = forms.ChoiceField(
        required=False,
        label="This question of other raters",
        help_text="For a judge that answered another question, or on another scale; at levels dialogue and "
        "system also for labels of turns beside labels of whole dialogues.",
    )
    answered = forms.ChoiceField(required=False, label="answers this one")
    map = forms.ChoiceField(choices=MAPS, label="and their scales meet by", initial="rank")
    ranges = forms.RegexField(
        regex=r"^\s*\S+\s+to\s+\S+\s*=\s*\S+\s+to\s+\S+\s*$",
        required=False,
        help_text="For linear: 1 to 5 = 0 to 4",
        error_messages={"invalid": "Write the two ranges as: 1 to 5 = 0 to 4"},
    )
    statistics = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Each has a column in the report, where it applies to the scale and the raters.",
    )
    samples = forms.ChoiceField(
        required=False,
        choices=[
            ("", "by scale: mean where ordered, else first"),
            ("mean", "mean"),
            ("first", "first"),
            ("separate", "separate raters"),
        ],
        label="Repeated answers of one rater",
    )
    interval = forms.ChoiceField(choices=[("percentile", "percentile"), ("bca", "BCa")])
    resamples = forms.IntegerField(min_value=0, max_value=MOST_RESAMPLES, initial=DEFAULT.plan.resamples)
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=DEFAULT.plan.seed)
    confidence = forms.FloatField(
        min_value=0.5, max_value=0.999, initial=DEFAULT.plan.level, label="Confidence level"
    )
    epsilon = forms.FloatField(
        min_value=0,
        max_value=1,
        initial=DEFAULT.epsilon,
        required=False,
        label="Margin ε of the alternative annotator test",
        help_text="What a judge may do worse by and still pass: 0.2 beside experts, 0.15 beside trained "
        "people, 0.1 beside a crowd.",
    )

    panel = forms.ChoiceField(
        required=False,
        choices=[("", "none"), *((rule, rule) for rule in RULES)],
        label="Answers of several judges become one by",
        help_text="Weighted: by agreement with people on dev. A tie is no answer. More than one panel: by "
        "definition, with the command or the API.",
    )
    members = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Members of the panel",
        help_text="None ticked: all judges.",
    )
    least = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        label="Members who must answer",
        help_text="Left empty: more than half.",
    )
    leave_out = forms.BooleanField(
        required=False, label="Leave out the people who were left out of gold, in the campaigns concerned"
    )
    ties = forms.ChoiceField(required=False, choices=list(MODELS.items()), label="To strengths, a tie is")
    both_bad = forms.ChoiceField(
        required=False, choices=list(BOTH_BAD_POLICIES.items()), label="To win rates and strengths"
    )
    anchor = forms.CharField(
        required=False,
        max_length=300,
        label="System whose strength is 1000",
        help_text="Left empty: the mean of all.",
    )
    split = forms.ChoiceField(required=False, label="Split into dev and test")
    no_baselines = forms.BooleanField(required=False, label="Leave out the baselines")
    gap = _share(
        "gap", "Largest acceptable gap to people", "How much less than people with each other it may agree."
    )
    agreement = _share(
        "agreement", "Least agreement of people with each other", "Below it nobody can stand in."
    )
    coverage = _share("coverage", "Least share of items answered", "Of the items that people rated.")
    people = _count("people", "People needed")
    clusters = _count("clusters", "Dialogues needed")
    events = _count("events", "Items with another answer than the most frequent one, needed")
    ignore_length = forms.BooleanField(
        required=False, label="A judge may do no better than the length of the text"
    )
    alternative_test = forms.ChoiceField(
        label="Passing the alternative annotator test is",
        choices=[
            ("ignored", "not considered"),
            ("enough", "enough in place of the gap"),
            ("needed", "needed, too"),
        ],
        required=False,
    )

    def __init__(self, *args: Any, counted: Census, corpus: Corpus, part: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        raters = counted.raters.values()
        people = [(MEAN_OF_PEOPLE, "the mean of all people")]
        self._choices("reference", [*people, *((rater.name, rater.title) for rater in raters)])
        self._choices("by", [(key, key) for key in condition_keys(corpus)])
        self._choices("systems", [(name, name) for name in system_names(corpus)])
        self._choices("conditions", _condition_choices(corpus))
        names = list(splits.splits_of(corpus).values_list("name", flat=True))
        self._choices("split", [(name, name) for name in names])
        if len(names) < 2 or part:
            del self.fields["split"]
        comparable = [q for q in counted.questions.values() if q.level != TEXT]
        scaled = {q.ref for q in comparable if q.level not in UNSCALED}
        choices = question_choices(comparable)
        self._choices("questions", choices)
        questions = [(ref, title) for ref, title in choices if ref in scaled]
        if not comparing(counted):
            for name in PREFERENCE_KEYS:
                del self.fields[name]
        self._choices("answering", [("", "none"), *questions])
        self._choices("answered", [("", "none"), *questions])
        self._choices("raters", [(rater.name, rater.choice) for rater in raters])
        self._choices("members", [(rater.name, rater.choice) for rater in raters if rater.kind == "judge"])
        self._choices("statistics", _families())
        self.fields["statistics"].initial = list(DEFAULT.statistics)

    def _choices(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Refuse an incomplete link between questions, and a linear map without ranges."""
        data: dict[str, Any] = super().clean() or {}
        if bool(data.get("answering")) != bool(data.get("answered")):
            self.add_error("answering", "Choose both questions of the link, or neither.")
        if data.get("answering") and data.get("answering") == data.get("answered"):
            self.add_error("answering", "Choose two different questions.")
        if (data.get("members") or data.get("least")) and not data.get("panel"):
            self.add_error("panel", "Choose the rule of the panel whose members these are.")
        if len(data.get("members") or []) == 1:
            self.add_error("members", "A panel has two members or more.")
        if data.get("members") and (data.get("least") or 0) > len(data["members"]):
            self.add_error("least", f"There are only {len(data['members'])} members.")
        if data.get("answering") and data.get("map") == "linear" and "ranges" not in self.errors:
            try:
                self._map(data)
            except MapError as error:
                self.add_error("ranges", str(error))
        return data

    @staticmethod
    def _map(data: dict[str, Any]) -> ScaleMap:
        if data["map"] != "linear":
            return ScaleMap(data["map"])
        sides = [side.split(" to ") for side in (data.get("ranges") or "").split("=")]
        try:
            (a, b), (c, d) = [[float(end) for end in side] for side in sides]
        except ValueError as error:
            raise MapError("Write the two ranges as: 1 to 5 = 0 to 4") from error
        return ScaleMap.parse({"kind": "linear", "from": [a, b], "to": [c, d]})

    def groups(self) -> list[FieldGroup]:
        """Return the fields that fold, without those that have nothing to choose from."""
        return [
            FieldGroup(title, note, fields)
            for title, note, names in GROUPS
            if (fields := [self[name] for name in names.split() if self._has_choices(name)])
        ]

    def _has_choices(self, name: str) -> bool:
        field = self.fields.get(name)
        if name == "systems":
            return len(getattr(field, "choices", ())) > 1
        if name in ("least", "panel", "no_baselines"):
            return self._has_choices("members")
        return field is not None and bool(getattr(field, "choices", True))

    def definition(self) -> dict[str, Any]:
        """Return the study's definition, without settings left at their defaults."""
        data = self.cleaned_data
        definition: dict[str, Any] = {}
        if data["questions"] or data["answering"]:
            definition["questions"] = self._questions()
        for key in ("raters", "samples", "statistics"):
            if data[key]:
                definition[key] = data[key]
        if data["epsilon"] is not None:
            definition["epsilon"] = data["epsilon"]
        if data["panel"]:
            panel = {"rule": data["panel"], "members": data["members"], "least": data["least"] or 0}
            definition["panels"] = [panel]
        if data["no_baselines"]:
            definition["baselines"] = False
        if data["leave_out"]:
            definition["leave_out"] = True
        if "ties" in self.fields:
            definition["preferences"] = {name: data[name] for name in PREFERENCE_KEYS}
        if rule := self._rule():
            definition["verdict"] = rule
        if data.get("split"):
            definition["split"] = data["split"]
        rest = {key: data[key] for key in ("resamples", "seed", "confidence", "interval")}
        return definition | rest | self.levels_written() | self.subset_written()

    def _rule(self) -> dict[str, Any]:
        """Return the settings of the verdicts' rule that are not left at their defaults."""
        data, default = self.cleaned_data, asdict(DEFAULT.verdict)
        rule = {name: data[name] for name in (*SHARES, *COUNTS, "alternative_test")}
        rule["baselines"] = not data["ignore_length"]
        return {name: value for name, value in rule.items() if value not in (None, "", default[name])}

    def _questions(self) -> list[dict[str, Any]]:
        data = self.cleaned_data
        refs = list(data["questions"])
        if data["answered"] and data["answered"] not in refs:
            refs.append(data["answered"])
        link = (
            {"question": data["answering"], "map": self._map(data).as_dict()} if data["answering"] else None
        )
        missing = {"missing": data["missing"]} if data["levels"] and data["missing"] else {}
        return [
            {"question": ref, "answered_by": [link] if link and ref == data["answered"] else []} | missing
            for ref in refs
        ]


LINK = ("answering", "answered", "map")
"""URL parameters that preselect a map: a question read as an answer to another one."""


@researcher_only
def new(request: HttpRequest) -> HttpResponse:
    """Choose a corpus or campaign, then define the study."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return redirect("corpora")
    part = TRAINING if request.GET.get("part") == TRAINING else ""
    counted = offered(scope_of(corpus, campaign, part))
    link = {key: request.GET[key] for key in LINK if key in request.GET}
    form = StudyForm(request.POST or None, counted=counted, corpus=corpus, part=part, initial=link)
    if (
        request.method == "POST"
        and form.is_valid()
        and (study := _create_study(request, form, corpus, campaign, part))
    ):
        return redirect("report", study.pk)
    context = {"form": form, "corpus": corpus, "campaign": campaign, "counted": counted, "part": part}
    return render(request, "calibration/new_study.html", context, status=422 if form.errors else 200)


def _create_study(
    request: HttpRequest, form: StudyForm, corpus: Corpus, campaign: Campaign | None, part: str
) -> Study | None:
    user: Any = request.user
    name, definition = form.cleaned_data["name"], form.definition()
    definition |= {"split": part} if part else {}
    try:
        return studies.create(name=name, corpus=corpus, campaign=campaign, definition=definition, by=user)
    except CalibrationError as error:
        form.add_error(None, str(error))
        return None


@require_POST
@researcher_only
def run_set_report(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the report on the judges and metrics of a run set; its study is made on first use."""
    try:
        study = studies.of_run_set(run_set=run_set(pk), by=user_of(request))
    except CalibrationError as error:
        messages.error(request, f"{str(error)[0].upper()}{str(error)[1:]}.")
        return redirect("run-set", pk)
    return redirect("report", study.pk)


@require_GET
@study_researcher_only
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """A study: its definition with all defaults, and the snapshots of its report."""
    study = access.study(pk)
    reports = study.reports.select_related("created_by")
    definition = json.dumps(parse(study.definition).as_dict(), indent=2, ensure_ascii=False)
    return render(
        request,
        "calibration/study.html",
        {"study": study, "reports": reports, "definition": definition},
    )
