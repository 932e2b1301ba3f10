"""Request and response bodies of the corpora API."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation import hooks
from annotation.corpora import exclusion, splits
from annotation.corpora.previews import PreparedImport, dialogue_json, rating_json
from annotation.corpora.table_readings import readings_json
from annotation.formats import FORMATS
from annotation.formats.corpus_format import MOST, SETTINGS, Setting
from annotation.formats.folders import MOST_FILES
from annotation.formats.profile import ColumnProfile
from annotation.models import Continuation, Corpus, Dialogue, Import, Item, ItemMember, Split, Turn, Upload
from annotation.work import labels as label_counts
from config import api
from config.refusals import SCHEMA


class TrainingPart(serializers.ChoiceField):
    """The part `training`, or none: unless named, the training part is excluded from work on a corpus."""

    def __init__(self, **options: Any) -> None:
        super().__init__(splits.TRAINING_CHOICES, default="", allow_blank=True, **options)


class CorpusSerializer(serializers.ModelSerializer[Corpus]):
    """A corpus with the counts of its imported content."""

    counts = serializers.SerializerMethodField()

    class Meta:
        model = Corpus
        fields = ("id", "name", "source", "licence", "has_marks", "created_at", "counts")

    def get_counts(self, corpus: Corpus) -> dict[str, int]:
        """Number of dialogues, turns, continuations and items."""
        counts: dict[int, dict[str, int]] = self.context["counts"]
        return counts[corpus.pk]


class ImportSerializer(serializers.ModelSerializer[Import]):
    """An imported file."""

    class Meta:
        model = Import
        fields = ("id", "format", "file_name", "content_hash", "options", "counts", "created_at")


class CorpusDetailSerializer(CorpusSerializer):
    """A corpus with its imports, its systems, its parts and the number of live labels."""

    imports = ImportSerializer(many=True)
    systems = serializers.SlugRelatedField[Any](many=True, read_only=True, slug_field="name")
    parts = serializers.SerializerMethodField()
    labels = serializers.SerializerMethodField()

    class Meta(CorpusSerializer.Meta):
        fields = (*CorpusSerializer.Meta.fields, "imports", "systems", "parts", "labels")  # type: ignore[assignment]

    def get_parts(self, corpus: Corpus) -> dict[str, int]:
        """Number of dialogues in each part: training, which is excluded unless named, and evaluation."""
        return splits.sizes(corpus)

    def get_labels(self, corpus: Corpus) -> int:
        """Number of live labels about the corpus."""
        return label_counts.count_labels(corpus)


class TurnSerializer(serializers.ModelSerializer[Turn]):
    """A turn of a continuation: its 0-based `position` there, and the number that annotators see."""

    turn_number = serializers.IntegerField(source="number", read_only=True)

    class Meta:
        model = Turn
        fields = ("position", "turn_number", "speaker", "text", "given", "at", "extra")


class MatchingTurnSerializer(TurnSerializer):
    """A turn in search results, with its dialogue, continuation and system."""

    dialogue = serializers.CharField(source="continuation.dialogue.key")
    dialogue_id = serializers.IntegerField(source="continuation.dialogue_id")
    continuation = serializers.CharField(source="continuation.key")
    system = serializers.CharField(source="continuation.system.name")

    class Meta(TurnSerializer.Meta):
        fields = (*TurnSerializer.Meta.fields, "dialogue", "dialogue_id", "continuation", "system")  # type: ignore[assignment]


class TurnSearchSerializer(serializers.Serializer[Any]):
    """Results of a search so far, and the address that continues it."""

    next = serializers.URLField(allow_null=True)
    results = MatchingTurnSerializer(many=True)


class ContinuationSerializer(serializers.ModelSerializer[Continuation]):
    """A continuation with its turns; `self` has the dialogue's own turns.

    For a script `turns` is empty, since there may be thousands: `turns_at` is the address that lists them in
    pages.
    """

    id = serializers.CharField(source="key")
    system = serializers.CharField(source="system.name")
    n_turns = serializers.IntegerField(read_only=True, min_value=0)
    turns = serializers.SerializerMethodField()
    turns_at = serializers.SerializerMethodField()

    class Meta:
        model = Continuation
        fields = ("id", "system", "mode", "trial", "condition", "n_turns", "turns", "turns_at")

    @extend_schema_field(TurnSerializer(many=True))
    def get_turns(self, part: Continuation) -> Any:
        """All turns in order; empty for a script."""
        return [] if hooks.own_pages(part.dialogue) else TurnSerializer(part.turns.all(), many=True).data

    @extend_schema_field({"type": "string", "format": "uri", "nullable": True})
    def get_turns_at(self, part: Continuation) -> str | None:
        """Address that lists a script's turns in pages, null where `turns` has them."""
        pages = hooks.own_pages(part.dialogue)
        if pages is None:
            return None
        address = reverse(pages.api_turns, args=[part.dialogue.corpus_id, part.dialogue_id])
        return str(
            self.context["request"].build_absolute_uri(f"{address}?{urlencode({'continuation': part.key})}")
        )


class DialogueSerializer(serializers.ModelSerializer[Dialogue]):
    """A dialogue without its turns."""

    class Meta:
        model = Dialogue
        fields = ("id", "key", "cluster", "part", "language", "summary", "participants", "metadata", "agenda")


class DialogueDetailSerializer(DialogueSerializer):
    """A dialogue with all its continuations."""

    corpus = serializers.CharField(source="corpus.name")
    continuations = ContinuationSerializer(many=True)

    class Meta(DialogueSerializer.Meta):
        fields = (*DialogueSerializer.Meta.fields, "corpus", "continuations")  # type: ignore[assignment]


class MemberSerializer(serializers.ModelSerializer[ItemMember]):
    """A compared member of an item, in the item's own order."""

    continuation = serializers.CharField(source="continuation.key")
    system = serializers.CharField(source="continuation.system.name")
    turn = serializers.IntegerField(source="position", allow_null=True)

    class Meta:
        model = ItemMember
        fields = ("number", "continuation", "system", "turn")


class ItemSerializer(serializers.ModelSerializer[Item]):
    """An item with its key, which identifies it in files and in the API, and its turn's displayed number."""

    key = serializers.SerializerMethodField()
    turn_number = serializers.IntegerField(
        source="turn.number", default=None, allow_null=True, read_only=True
    )
    system = serializers.SerializerMethodField()
    cluster = serializers.SerializerMethodField()
    part = serializers.CharField(source="continuation.dialogue.part", read_only=True)
    members = MemberSerializer(many=True)

    class Meta:
        model = Item
        fields = ("id", "key", "turn_number", "kind", "system", "cluster", "part", "members")

    def get_key(self, item: Item) -> str:
        """`dialogue/continuation/turn`, without a turn for a whole continuation, with `/+/` between members;
        `dialogue//fact/key` for a record."""
        return item.key

    def get_cluster(self, item: Item) -> str:
        """Unit of resampling: the dialogue's cluster, or its own (of a script, the session or season)."""
        return splits.of_item(item)

    @extend_schema_field({"type": "string", "nullable": True})
    def get_system(self, item: Item) -> str | None:
        """System of the item; null for a record, and for a comparison, whose `members` have the systems."""
        return item.system_name or None


def _setting(setting: Setting) -> serializers.Field[Any, Any, Any, Any]:
    """Return the field for a file setting."""
    if setting.kind == "choice":
        return serializers.ChoiceField(
            choices=list(setting.choices),
            required=False,
            allow_blank=True,
            default="",
            help_text=setting.help,
        )
    if setting.kind == "count":
        return serializers.IntegerField(
            allow_null=True, default=None, min_value=1, max_value=MOST, help_text=setting.help
        )
    return api.optional_text(max_length=setting.limit, help_text=setting.help)


class FileRequest(serializers.Serializer[Any]):
    """A file with how it is read: its format, the mapping of its columns, and settings."""

    file = serializers.FileField()
    format = serializers.ChoiceField(
        choices=list(FORMATS), default="", help_text="found from the content where absent"
    )
    mapping = serializers.JSONField(
        default=dict,
        help_text='roles of a table\'s columns, like {"dialogue": "conv_id", "label:Helpful@ann1": "h1"}',
    )
    more = serializers.ListField(
        child=serializers.FileField(),
        default=list,
        max_length=MOST_FILES,
        help_text="further files: one a rater, or the other parts of a data set",
    )
    name = serializers.CharField(default="", max_length=Corpus.name.field.max_length)
    into = serializers.CharField(default="", max_length=Corpus.name.field.max_length)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["format"].choices = list(FORMATS)  # type: ignore[attr-defined]
        for setting in SETTINGS.values():
            self.fields[setting.key] = _setting(setting)


class ImportPreviewRequest(FileRequest):
    """A file to preview, as a new corpus, or as a part of the corpus `into`."""


class ImportRequest(FileRequest):
    """A file to import as the new corpus `name`, or `into` an existing corpus."""

    scheme = serializers.CharField(default="", max_length=Upload.scheme.field.max_length)
    source = serializers.CharField(default="")  # type: ignore[assignment]
    licence = serializers.CharField(default="", max_length=Corpus.licence.field.max_length)
    sha256 = serializers.CharField(
        default="",
        max_length=Upload.sha256.field.max_length,
        help_text="of the file's bytes; other content is refused",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one of `name` and `into`."""
        if bool(attrs["name"]) == bool(attrs["into"]):
            raise serializers.ValidationError("Name a new corpus with name, or an existing one with into.")
        return attrs


class ImportAnswer(serializers.Serializer[Any]):
    """Counts of an import; `created` is false where all content existed already.

    `format` is the format as which the file was read.
    """

    format = serializers.CharField()
    corpus = serializers.CharField()
    dialogues = serializers.IntegerField()
    turns = serializers.IntegerField()
    continuations = serializers.IntegerField()
    items = serializers.IntegerField()
    labels = serializers.IntegerField()
    missing = serializers.IntegerField()
    created = serializers.BooleanField()
    unchanged = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="rows that did not fit, with `skip_bad_rows`")
    mapping = serializers.DictField(help_text="roles and scales of a table's columns: yours, else the guess")
    notes = serializers.ListField(child=serializers.CharField())


PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What is wrong with a file, and where.",
    "properties": {
        "file": {"type": "string", "description": "which file of several; else empty"},
        "line": {
            "type": "integer",
            "nullable": True,
            "description": "from 1; null where none is meant",
        },
        "field": {
            "type": "string",
            "description": "such as turns[3].text; or empty",
        },
        "reason": {"type": "string"},
    },
    "required": ["file", "line", "field", "reason"],
}


class ColumnSerializer(serializers.Serializer[ColumnProfile]):
    """What the cells of a column look like: `n` of `n_rows` have a text."""

    name = serializers.CharField()
    looks_like = serializers.CharField()
    n = serializers.IntegerField()
    n_rows = serializers.IntegerField()
    n_different = serializers.IntegerField()
    examples = serializers.ListField(child=serializers.CharField())
    values = serializers.ListField(child=serializers.CharField())
    missing = serializers.ListField(child=serializers.CharField())
    separator = serializers.CharField()
    wording = serializers.CharField()


class ReadingSerializer(serializers.Serializer[Any]):
    """Something that a table can be, with its mapping and what is missing for it."""

    key = serializers.CharField()
    sentence = serializers.CharField()
    mapping = serializers.DictField()
    missing = serializers.ListField(child=serializers.CharField())
    doubts = serializers.ListField(child=serializers.CharField(), help_text="what is not clear from the file")
    certain = serializers.BooleanField()


class EarlierSerializer(serializers.ModelSerializer[Import]):
    """An earlier import of a table with the same columns."""

    corpus = serializers.CharField(source="corpus.name")

    class Meta:
        model = Import
        fields = ("id", "corpus", "file_name", "mapping", "file_settings", "created_at")


class ImportPreviewSerializer(serializers.Serializer[Any]):
    """What a file is, and its first records as an import would store them.

    `columns`, `readings`, `mapping`, `missing` and `earlier` are those of a table. `counts` are of the part
    that was read: of the whole file where it `is_complete`. Dialogues are in the native format.
    """

    format = serializers.CharField()
    sheets = serializers.ListField(child=serializers.CharField())
    columns = ColumnSerializer(many=True)
    readings = ReadingSerializer(many=True)
    mapping = serializers.DictField()
    settings = serializers.DictField()
    missing = serializers.ListField(child=serializers.CharField())
    earlier = EarlierSerializer(allow_null=True)
    counts = serializers.DictField(child=serializers.IntegerField())
    is_complete = serializers.BooleanField()
    speakers = serializers.DictField(child=serializers.BooleanField(), help_text="whether they are rated")
    raters = serializers.DictField(child=serializers.CharField(), help_text="their kinds")
    dialogues = serializers.ListField(child=serializers.DictField())
    labels = serializers.ListField(child=serializers.DictField(), help_text="of a file without dialogues")
    problems = serializers.ListField(child=serializers.DictField(), help_text="the first 20")
    n_problems = serializers.IntegerField()
    n_left_out = serializers.IntegerField(help_text="rows left out, with skip_bad_rows")
    notes = serializers.ListField(child=serializers.CharField())


def preview_payload(prepared: PreparedImport) -> dict[str, Any]:
    """Return a prepared import as `ImportPreviewSerializer` describes it."""
    outline, preview = prepared.outline, prepared.preview
    profile = outline.profile
    return {
        "format": outline.format,
        "sheets": outline.sheets,
        "columns": profile.columns if profile else (),
        "readings": readings_json(profile) if profile else [],
        "mapping": prepared.mapping.entries(),
        "settings": prepared.settings,
        "missing": prepared.missing,
        "earlier": prepared.earlier,
        "counts": {
            "dialogues": preview.n_dialogues,
            "turns": preview.n_turns,
            "labels": preview.n_labels,
        },
        "n_problems": preview.n_problems,
        "n_left_out": preview.n_left_out,
        "is_complete": preview.is_complete,
        "speakers": preview.speakers,
        "raters": preview.raters,
        "dialogues": [dialogue_json(dialogue) for dialogue in preview.dialogues],
        "labels": [rating_json(rating) for rating in preview.ratings],
        "problems": [problem.as_dict() for problem in preview.problems],
        "notes": [*outline.notes, *preview.notes],
    }


REFUSED_FILE: dict[str, Any] = SCHEMA | {
    "description": (
        "A file that is refused (`import_refused`) is told by its first problem; `problems` lists the "
        "first 20 of `total`, if there are several. A table without a mapping that can be read in several "
        "ways has its `readings`. What else was sent is refused as everywhere."
    ),
    "properties": SCHEMA["properties"]
    | PROBLEM["properties"]
    | {
        "problems": {"type": "array", "items": PROBLEM},
        "total": {"type": "integer"},
        "readings": {"type": "array", "items": {"type": "object"}},
    },
}
"""Response to a refused import, for errors in its file or in the other fields."""


class DeletionRequest(serializers.Serializer[Any]):
    """A deletion, confirmed with the corpus's name."""

    confirmation = serializers.CharField()


class SplitSerializer(serializers.ModelSerializer[Split]):
    """A split of a corpus, with the number of clusters in each part."""

    dev = serializers.SerializerMethodField()
    test = serializers.SerializerMethodField()

    class Meta:
        model = Split
        fields = ("id", "name", "seed", "test_share", "fixed_at", "dev", "test")

    def get_dev(self, split: Split) -> int:
        """Number of clusters in dev."""
        return split.clusters.filter(part="dev").count()

    def get_test(self, split: Split) -> int:
        """Number of clusters in test."""
        return split.clusters.filter(part="test").count()


class DrawRequest(serializers.Serializer[Any]):
    """Settings for drawing a split."""

    seed = serializers.IntegerField(default=0, min_value=0, max_value=splits.MOST_SEED)
    test_share = serializers.FloatField(default=0.5, min_value=0.0, max_value=1.0)
    name = serializers.CharField(default="main", max_length=Split.name.field.max_length)
    purpose = serializers.CharField(default="", max_length=splits.LONGEST_PURPOSE, allow_blank=True)


# Dialogues left out by people's answers.


def exclude_field() -> serializers.CharField:
    """Return the field of an exclusion of dialogues by people's answers."""
    return api.optional_text(
        max_length=exclusion.LONGEST,
        help_text="Leave out dialogues by people's answers, such as `objection>=1`, as of now.",
    )


class LeftOutDialogueSerializer(serializers.Serializer[Any]):
    """A dialogue that is left out."""

    dialogue = serializers.CharField()
    state = serializers.ChoiceField(choices=[exclusion.OBJECTED, exclusion.NOT_CHECKED])
    reason = serializers.CharField()


class LeftOutDialoguesSerializer(serializers.Serializer[Any]):
    """Dialogues that an exclusion leaves out, with the numbers of `dialogues` and of those in each state.

    Dialogues in a test part that nobody has opened are counted as `hidden` and in nothing else.
    """

    exclude = serializers.CharField()
    dialogues = serializers.IntegerField()
    objected = serializers.IntegerField(help_text="At least one answer of a person meets the condition.")
    not_checked = serializers.IntegerField(help_text="None does, but fewer people answered than are to.")
    hidden = serializers.IntegerField()
    sentence = serializers.CharField()
    left_out = LeftOutDialogueSerializer(many=True)
