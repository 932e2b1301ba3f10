"""JSON of the reports that compare systems: one declaration serves files, routes and the API's document."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api.corpora_serializers import LeftOutDialoguesSerializer
from calibration.comparisons.counts import Counts, facts
from calibration.renderings import json_text
from calibration.statistics.core.engine import STATUSES, Result
from calibration.statistics.counts import Cell, Difference
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from calibration.statistics.preferences import SETUPS

Plain = serializers.Serializer[Any]


def json_writer(serializer: type[Plain]) -> Callable[[Any], str]:
    """Return the writer of a report's JSON file, with every figure in full."""
    return lambda report: json_text(serializer(report).data)


def _number(source: str | None = None) -> serializers.FloatField:
    return serializers.FloatField(allow_null=True, source=source)


def _text(source: str | None = None) -> serializers.CharField:
    """Return a text field that may be empty."""
    return serializers.CharField(allow_blank=True, source=source)


def _texts(source: str | None = None) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), source=source)


class LookSerializer(Plain):
    """A look at test."""

    by = serializers.CharField(allow_null=True)
    at = serializers.SerializerMethodField()
    purpose = serializers.CharField()

    def get_at(self, look: Any) -> str:
        """Return the time of the look."""
        return str(look.at.isoformat())


# Counts and scores by system and condition.


class FigureSerializer(Plain):
    """A value with its interval; null where there is none, and `reason` says why."""

    value = _number()
    low = _number()
    high = _number()
    method = _text()
    n = serializers.IntegerField(source="n_items")
    n_clusters = serializers.IntegerField()
    reason = _text()
    flags = _texts()


class CorrectedSerializer(FigureSerializer):
    """A value corrected for the judge's errors."""

    def to_representation(self, instance: Result) -> Any:
        """Leave out a figure without a value."""
        return None if instance.value is None else super().to_representation(instance)


class DifferenceSerializer(FigureSerializer):
    """A cell minus people's over the dialogues that both have, with its p-value."""

    p = serializers.FloatField()
    p_holm = serializers.FloatField()

    def to_representation(self, instance: Difference) -> Any:
        """Add the p-values to the figure; leave out a figure without a value."""
        if instance.result.value is None:
            return None
        return super().to_representation(vars(instance.result) | {"p": instance.p, "p_holm": instance.p_holm})


class CellSerializer(Plain):
    """One column of one row."""

    value = _number("result.value")
    low = _number("result.low")
    high = _number("result.high")
    lowest = _number()
    highest = _number()
    corrected = CorrectedSerializer(allow_null=True)
    difference = DifferenceSerializer(allow_null=True)
    raw = _number()
    n = serializers.IntegerField(source="result.n_items")
    n_clusters = serializers.IntegerField(source="result.n_clusters")
    n_missing = serializers.IntegerField(source="result.n_missing")
    method = _text("result.method")
    reason = _text("result.reason")
    flags = _texts("result.flags")
    not_corrected = serializers.SerializerMethodField()
    no_difference = serializers.SerializerMethodField()

    def get_not_corrected(self, cell: Cell) -> str:
        """Return the reason why an attempted correction gave no value."""
        return _reason(cell.corrected)

    def get_no_difference(self, cell: Cell) -> str:
        """Return the reason why an attempted difference gave no value."""
        return _reason(cell.difference.result if cell.difference else None)


def _reason(result: Result | None) -> str:
    return result.reason if result is not None and result.value is None else ""


class DistanceSerializer(Plain):
    """Distance between two distributions."""

    tv = FigureSerializer()
    js = FigureSerializer()
    amount = FigureSerializer()


class RowSerializer(Plain):
    """The continuations of one condition, or people's."""

    by = serializers.DictField()
    human = serializers.BooleanField(source="figures.human")
    fake_model = serializers.BooleanField()
    n_continuations = serializers.IntegerField(source="figures.n_continuations")
    n_clusters = serializers.IntegerField(source="figures.n_clusters")
    n_missing = serializers.IntegerField(source="figures.n_missing")
    cells = serializers.DictField(child=CellSerializer())
    distance = DistanceSerializer(allow_null=True, source="figures.distance")


class JudgedSystemSerializer(Plain):
    """A question's share or mean in one row: by the judge alone, corrected, and by people."""

    question = serializers.CharField()
    by = serializers.DictField()
    human = serializers.BooleanField()
    n_items = serializers.IntegerField()
    n_rated = serializers.IntegerField()
    judge = FigureSerializer()
    corrected = FigureSerializer(help_text="prediction-powered")
    confusion = FigureSerializer(help_text="by the confusion matrix: Rogan-Gladen for yes and no")
    people = FigureSerializer(help_text="people alone, on the items that they rated")


class JudgedPairSerializer(Plain):
    """A question's difference of two rows, first less second: by the judge alone, and corrected."""

    question = serializers.CharField()
    first = serializers.DictField()
    second = serializers.DictField()
    judge = FigureSerializer()
    corrected = FigureSerializer(help_text="prediction-powered")
    p = _number()
    p_holm = _number()


class CountsSerializer(Plain):
    """The table: people's row first."""

    corpus = serializers.CharField(source="query.corpus.name")
    campaign = serializers.CharField(allow_null=True, source="query.campaign.name")
    part = serializers.CharField(source="part.name")
    computed_at = serializers.SerializerMethodField(help_text="null: of the labels of now")
    labels_since = serializers.BooleanField(help_text="whether labels have come since it was computed")
    calls_since = serializers.BooleanField(
        help_text="whether calls of judges or metrics have ended since it was computed"
    )
    rater = serializers.CharField(source="selection.name")
    kind = serializers.CharField(source="selection.kind")
    simulated = serializers.BooleanField(source="selection.simulated")
    questions = _texts("selection.refs")
    by = _texts("query.by")
    strata = serializers.SerializerMethodField()
    n_strata = serializers.IntegerField(source="table.n_strata")
    per_turns = serializers.IntegerField(allow_null=True, source="query.per_turns")
    resamples = serializers.IntegerField(source="query.plan.resamples")
    seed = serializers.IntegerField(source="query.plan.seed")
    level = serializers.FloatField(source="query.plan.level")
    rows = RowSerializer(many=True)
    systems = serializers.SerializerMethodField(help_text="empty unless people rated some of a judge's items")
    pairs = serializers.SerializerMethodField(help_text="empty unless there are several rows of systems")
    halves = DistanceSerializer(allow_null=True, source="table.halves")
    no_differences = _text("table.no_differences")
    no_distance = _text("table.no_distance")
    notes = serializers.SerializerMethodField()
    looks_at_test = LookSerializer(many=True, source="part.looks")
    excluded = LeftOutDialoguesSerializer(allow_null=True, source="query.left_out")

    def get_computed_at(self, counts: Counts) -> str | None:
        """Return when a cached table was computed."""
        return counts.computed_at.isoformat() if counts.computed_at else None

    def get_strata(self, counts: Counts) -> str | None:
        """Return the key of the dialogues' metadata, null without strata."""
        return counts.query.strata or None

    @extend_schema_field(JudgedSystemSerializer(many=True))
    def get_systems(self, counts: Counts) -> Any:
        """Return each row's share or mean as people would have given it, by question."""
        by = {row.figures.code: row for row in counts.rows}
        rows = [
            {
                "question": question.key,
                "by": by[row.system].by,
                "human": by[row.system].figures.human,
                "n_items": row.n_items,
                "n_rated": row.n_rated,
                "corrected": row.figures["prediction_powered"],
                **{name: row.figures[name] for name in ("judge", "confusion", "people")},
            }
            for question in counts.systems
            for row in question.result.systems
        ]
        return JudgedSystemSerializer(rows, many=True).data

    @extend_schema_field(JudgedPairSerializer(many=True))
    def get_pairs(self, counts: Counts) -> Any:
        """Return the differences of all pairs of rows, by question."""
        by = {row.figures.code: row.by for row in counts.rows}
        rows = [
            {
                "question": question.key,
                "first": by[pair.first],
                "second": by[pair.second],
                **{name: getattr(pair, name) for name in ("judge", "corrected", "p", "p_holm")},
            }
            for question in counts.systems
            for pair in question.result.pairs
        ]
        return JudgedPairSerializer(rows, many=True).data

    def get_notes(self, counts: Counts) -> list[str]:
        """Return sentences on the inputs of the table."""
        return facts(counts)


# Preferences between systems.


class PreferenceFigureSerializer(Plain):
    """A value with its interval; null where there is none, and `reason` says why."""

    value = _number()
    low = _number()
    high = _number()
    n_items = serializers.IntegerField()
    n_clusters = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    n_missing = serializers.IntegerField()
    method = _text()
    status = serializers.ChoiceField(choices=STATUSES)
    reason = _text()
    flags = _texts()


class StandingSerializer(Plain):
    """One system against all others."""

    system = serializers.CharField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    win_rate = PreferenceFigureSerializer()
    strength = PreferenceFigureSerializer()
    rank = PreferenceFigureSerializer()


class MeetingSerializer(Plain):
    """Two systems: the first system's wins, and those expected from the strengths."""

    first = serializers.CharField()
    second = serializers.CharField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    win_rate = PreferenceFigureSerializer()
    expected_win_rate = PreferenceFigureSerializer(source="expected")


class PositionSerializer(Plain):
    """How often the response shown first won; `both_orders` is null if no item was answered in both."""

    rater = serializers.CharField()
    shown_first = PreferenceFigureSerializer()
    both_orders = serializers.DictField(child=PreferenceFigureSerializer(), allow_null=True, source="swaps")


class VotersSerializer(Plain):
    """Raters whose answers count together: all people, or one judge."""

    name = serializers.CharField()
    kind = _text()
    raters = _texts()
    answers = serializers.DictField(child=serializers.IntegerField())
    n_missing = serializers.IntegerField()
    scale = serializers.CharField(source="standings.scale")
    systems = StandingSerializer(many=True, source="standings.systems")
    meetings = MeetingSerializer(many=True, source="standings.meetings")
    tie_parameter = PreferenceFigureSerializer(allow_null=True, source="standings.tie")
    position = PositionSerializer(allow_null=True)


class NamedFiguresField(serializers.DictField):
    """Figures by name."""

    child = PreferenceFigureSerializer()

    def to_representation(self, value: Result | Iterable[Result]) -> dict[str, Any]:
        """Return the figures in their order."""
        results = [value] if isinstance(value, Result) else value
        return super().to_representation({result.name: result for result in results})


class PairAgreementSerializer(Plain):
    """Agreement of two raters, or of all, in one setup."""

    raters = _texts()
    setup = serializers.ChoiceField(choices=list(SETUPS))
    figures = NamedFiguresField(source="results")


class RankingAgreementSerializer(Plain):
    """Agreement of two raters on rankings, or of all."""

    raters = _texts()
    figures = NamedFiguresField(source="result")


class PreferenceQuestionSerializer(Plain):
    """The report of one question."""

    question = serializers.CharField(source="key")
    title = serializers.CharField()
    ties = serializers.ChoiceField(choices=list(MODELS), source="figures.choices.model")
    both_bad = serializers.ChoiceField(choices=list(BOTH_BAD_POLICIES), source="figures.choices.both_bad")
    anchor = serializers.SerializerMethodField()
    resamples = serializers.IntegerField(source="figures.plan.resamples")
    seed = serializers.IntegerField(source="figures.plan.seed")
    level = serializers.FloatField(source="figures.plan.level")
    voters = VotersSerializer(many=True, source="figures.voters")
    positions = PositionSerializer(many=True, source="figures.positions")
    agreement = PairAgreementSerializer(many=True, source="figures.agreement")
    rankings = RankingAgreementSerializer(many=True, source="figures.rankings")

    def get_anchor(self, question: Any) -> str | None:
        """Return the system of strength 1000, null if that is the mean."""
        return question.figures.choices.anchor or None


class PreferencesSerializer(Plain):
    """The report of a corpus or campaign, question by question."""

    name = serializers.CharField()
    facts = _texts()
    questions = PreferenceQuestionSerializer(many=True)
    excluded = LeftOutDialoguesSerializer(allow_null=True)


# Turn vs. dialogue ratings.


class LineSerializer(Plain):
    """A continuation by both scores, and its ranks in its dialogue; 1 is best."""

    dialogue = serializers.CharField()
    continuation = serializers.CharField()
    system = serializers.CharField()
    n_turns = serializers.IntegerField()
    by_turns = serializers.FloatField()
    by_whole = serializers.FloatField()
    difference = _number()
    rank_by_turns = serializers.FloatField()
    rank_by_whole = serializers.FloatField()
    moved = serializers.FloatField()


class InversionsSerializer(Plain):
    """The pairs of continuations of a dialogue that the two scores put in different orders."""

    dialogue = serializers.CharField()
    continuations = serializers.IntegerField(source="n_units")
    inversions = serializers.FloatField()
    pairs = serializers.IntegerField()
    share = _number()


class TurnVsDialogueSerializer(Plain):
    """The two questions, all dialogues, and the number of continuations left out."""

    corpus = serializers.CharField(source="pair.scope.corpus.name")
    campaign = serializers.CharField(allow_null=True, source="pair.scope.campaign.name")
    turns = serializers.CharField(source="pair.turns.ref")
    whole = serializers.CharField(source="pair.dialogues.ref")
    same_scale = serializers.BooleanField(source="pair.same_scale")
    people = serializers.IntegerField(source="pair.n_people")
    left_out = serializers.IntegerField()
    excluded = LeftOutDialoguesSerializer(allow_null=True)
    test_left_out = serializers.BooleanField(source="is_locked")
    inversions = serializers.FloatField()
    pairs = serializers.IntegerField()
    dialogues = InversionsSerializer(many=True)


# Continuations side by side, and the metric values of one continuation.


class MetricValueSerializer(Plain):
    """A metric's value of a turn or of the whole continuation, with its causes."""

    metric = serializers.CharField()
    turn = serializers.IntegerField(allow_null=True, help_text="null: the value is of the continuation")
    value = serializers.JSONField(allow_null=True, help_text="null: `missing` says why")
    missing = serializers.CharField()
    causes = _texts()
    turns = serializers.ListField(
        child=serializers.IntegerField(), help_text="the turns that caused it, numbered as `turn` is"
    )


class SharedContextSerializer(Plain):
    """A context that continuations share: `given` turns stand between the history and each of them."""

    at = serializers.IntegerField()
    given = serializers.IntegerField(source="n_given")
    continuations = _texts("names")


class SideBySideLineSerializer(Plain):
    """A turn: its number as annotators count it, the speaker, and events beside the text."""

    number = serializers.IntegerField()
    speaker = serializers.CharField()
    how = _text()
    text = _text()


class SideBySideColumnSerializer(Plain):
    """A continuation: the index of its turn here, and those shown of its `n_turns` turns from there on."""

    name = serializers.CharField(source="answer.name")
    id = serializers.IntegerField(source="answer.continuation.pk")
    continuation = serializers.CharField(source="answer.continuation.key")
    system = serializers.CharField(source="answer.continuation.system.name")
    human = serializers.BooleanField(
        source="answer.is_human", help_text="people's is one of several valid continuations"
    )
    fake_model = serializers.BooleanField(source="answer.continuation.fake_model")
    mode = serializers.CharField(source="answer.continuation.mode")
    condition = serializers.DictField(source="answer.continuation.condition")
    trial = serializers.IntegerField(source="answer.continuation.trial")
    turn = serializers.IntegerField(source="answer.position")
    turns = SideBySideLineSerializer(many=True, source="lines")
    n_turns = serializers.IntegerField(source="n_lines")


class SideBySideCellSerializer(Plain):
    """A metric's value in one column. Where it is null, `missing` says why."""

    column = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    missing = _text()
    difference = _number()
    causes = _texts()
    turns = serializers.ListField(
        child=serializers.IntegerField(), help_text="numbers of turns that caused it"
    )


class SideBySideRowSerializer(Plain):
    """A metric, with a cell for each column."""

    metric = serializers.CharField(source="metric.name")
    title = serializers.CharField(source="metric.metric.title")
    items = serializers.CharField(source="metric.metric.kind")
    aspect = serializers.CharField(source="metric.metric.aspect")
    direction = serializers.CharField(source="metric.metric.direction")
    cells = SideBySideCellSerializer(many=True)


class SideBySideSerializer(Plain):
    """The comparison. Of a long context, the last turns are shown."""

    corpus = serializers.CharField(source="dialogue.corpus.name")
    dialogue = serializers.CharField(source="dialogue.key")
    at = serializers.IntegerField(source="choice.context.at")
    contexts = SharedContextSerializer(many=True)
    before = SideBySideLineSerializer(many=True, source="context")
    n_before = serializers.IntegerField(source="n_context")
    columns = SideBySideColumnSerializer(many=True)
    against = serializers.CharField(source="against.answer.name")
