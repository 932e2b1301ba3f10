"""What the API reads and writes about prompts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.api.corpora_serializers import TrainingPart
from annotation.text.yaml_tree import MOST_BYTES
from jobs.api.parameter_fields import given_parameters, parameter_fields
from judges.prompt_versions.picking import MOST_SHOWN, RULES
from judges.protocols.wording import LONGEST
from judges.rating.plans import LEAST_BUDGET

LARGEST = 2**31 - 1


def _text(**how: Any) -> serializers.CharField:
    return serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=LONGEST, **how)


class PromptSerializer(serializers.Serializer[Any]):
    """A prompt: one's own, or one that comes with Concord."""

    name = serializers.CharField()
    protocol = serializers.CharField()
    variant = serializers.CharField(allow_blank=True)
    built_in = serializers.BooleanField()
    newest = serializers.IntegerField(help_text="The number of its newest version.")
    versions = serializers.IntegerField(help_text="How many there are.")
    judges = serializers.IntegerField(help_text="How many judges use any of them.")
    archived = serializers.BooleanField()
    description = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField(allow_null=True)
    changed_at = serializers.DateTimeField(allow_null=True)


class VersionSerializer(serializers.Serializer[Any]):
    """A version of a prompt with its text."""

    ref = serializers.CharField(help_text="name@number")
    name = serializers.CharField()
    number = serializers.IntegerField()
    protocol = serializers.CharField()
    variant = serializers.CharField(allow_blank=True)
    built_in = serializers.BooleanField()
    digest = serializers.CharField(help_text="The SHA-256 of the text, as a judge's spec has it.")
    system = serializers.CharField(allow_blank=True)
    user = serializers.CharField()
    form = serializers.CharField(allow_blank=True)
    examples = serializers.ListField(child=serializers.DictField())
    examples_shown = serializers.IntegerField(help_text="How many of them stand in a call.")
    picking = serializers.DictField(help_text="How they were picked.")
    origin = serializers.CharField()
    parent = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    note = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField(allow_null=True)


class NewVersionSerializer(serializers.Serializer[Any]):
    """A text to be saved as the next version. `made_from` is the number of its parent (the newest)."""

    system = _text(required=False, default="")
    user = _text()
    form = serializers.CharField(required=False, allow_blank=True, max_length=40)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    made_from = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)
    keep_examples = serializers.BooleanField(
        required=False, default=True, help_text="Keep the worked examples of the parent."
    )


class NewPromptSerializer(serializers.Serializer[Any]):
    """A prompt to be made: the text of another one under a new name, changed where `system` or `user` is
    given."""

    name = serializers.CharField(max_length=99)
    description = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    copy_of = serializers.CharField(help_text="The version to begin with, as name@number or name.")
    system = _text(required=False)
    user = _text(required=False)
    form = serializers.CharField(required=False, allow_blank=True, max_length=40)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)


class ArchivedSerializer(serializers.Serializer[Any]):
    """Whether a prompt is off the lists of what can be run."""

    archived = serializers.BooleanField()


class ExamplesSerializer(serializers.Serializer[Any]):
    """How worked examples are picked."""

    corpus = serializers.CharField()
    rule = serializers.ChoiceField(choices=list(RULES))
    n = serializers.IntegerField(required=False, default=4, min_value=1, max_value=MOST_SHOWN)
    items = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, max_length=MOST_SHOWN
    )
    scheme = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Whose questions a rubric asks, where its prompt is for no scheme: key or key@version.",
    )
    judge = serializers.CharField(required=False, default="", allow_blank=True)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=LARGEST)
    whole_corpus = serializers.BooleanField(
        required=False, default=False, help_text="The corpus has no split, and all of it is for development."
    )
    part = TrainingPart(help_text="training, where examples come from it and not from dev")
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST,
        help_text="Whose text: the newest version's by default.",
    )
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)


class FileSerializer(serializers.Serializer[Any]):
    """A prompt's file as a text."""

    text = serializers.CharField(trim_whitespace=False, max_length=MOST_BYTES)
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=99)


class ImportedSerializer(serializers.Serializer[Any]):
    """The versions that an import made."""

    versions = serializers.ListField(child=serializers.CharField(), help_text="name@number of each")


class PromptDifferenceSerializer(serializers.Serializer[Any]):
    """What two versions differ by: per part its lines; `op` is same, skipped, removed, added or changed."""

    first = serializers.CharField()
    second = serializers.CharField()
    same = serializers.BooleanField()
    parts = serializers.DictField(child=serializers.ListField(child=serializers.DictField()))


class AskSerializer(serializers.Serializer[Any]):
    """About which item, and by whom, a request is shown: a version of a prompt (`prompt`), or a draft of it
    (`system`, `user`)."""

    prompt = serializers.CharField(help_text="name@number or name")
    system = _text(required=False)
    user = _text(required=False)
    corpus = serializers.CharField()
    item = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="The item's key; any item of dev without one."
    )
    endpoint = serializers.CharField(required=False, default="", allow_blank=True)
    budget = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=LEAST_BUDGET, max_value=LARGEST
    )
    shows = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    scheme = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Whose questions a rubric asks, where its prompt is for no scheme: key or key@version.",
    )
    needs = serializers.DictField(child=serializers.CharField(), required=False, default=dict)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the parameters against each other."""
        return attrs | {"parameters": given_parameters(attrs)}

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields above, and one for each sampling parameter."""
        return super().get_fields() | parameter_fields()


class RequestSerializer(serializers.Serializer[Any]):
    """A request as it would be sent; `unasked` says why none would be."""

    item = serializers.CharField()
    part = serializers.CharField(allow_blank=True)
    body = serializers.DictField(allow_null=True)
    exact = serializers.CharField(allow_blank=True, help_text="The body to the byte as it is sent.")
    flags = serializers.ListField(child=serializers.CharField())
    unasked = serializers.CharField(allow_blank=True)
    job = serializers.IntegerField(
        allow_null=True, help_text="the job that looks for the nearest examples first"
    )
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    tokens_counted = serializers.CharField(help_text="How tokens are counted.")
    cost = serializers.FloatField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)
