"""What the API of schemes takes and gives."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.kinds import KINDS
from annotation.schemes.rules import LONGEST, LONGEST_KEY
from annotation.text.yaml_tree import MOST_BYTES

LARGEST = 2**63 - 1
FIELDS = "The fields of a scheme's file as JSON: key, title, item_kind, unit, introduction, questions."


class SchemeSerializer(serializers.Serializer[Any]):
    """A scheme: one's own, or a built-in one."""

    key = serializers.CharField()
    title = serializers.CharField()
    item_kind = serializers.CharField()
    item_kinds = serializers.ListField(
        child=serializers.CharField(), help_text="All that its questions are about: its own kind first."
    )
    unit = serializers.CharField()
    built_in = serializers.BooleanField()
    newest = serializers.IntegerField(help_text="The number of its newest version.")
    versions = serializers.IntegerField(help_text="How many are stored.")
    questions = serializers.IntegerField(help_text="How many the newest version has.")
    archived = serializers.BooleanField()


class SchemeVersionSerializer(serializers.Serializer[Any]):
    """A version of a scheme. What an `id` names never changes."""

    id = serializers.IntegerField()
    ref = serializers.CharField(help_text="key@version")
    built_in = serializers.BooleanField()
    archived = serializers.BooleanField()
    used = serializers.BooleanField(help_text="Saving keeps it and makes the next one.")
    created_at = serializers.DateTimeField()
    definition = serializers.DictField(help_text=FIELDS)
    yaml = serializers.CharField(help_text="The same as a file.")


class WrittenSerializer(serializers.Serializer[Any]):
    """A scheme as JSON (`definition`) or as the text of a YAML or JSON file (`text`): one of the two."""

    definition = serializers.DictField(required=False, help_text=FIELDS)
    text = serializers.CharField(required=False, trim_whitespace=False, max_length=MOST_BYTES)


class SavedSerializer(WrittenSerializer):
    """A scheme to be saved as its newest version."""

    seen = serializers.IntegerField(
        min_value=1,
        max_value=LARGEST,
        help_text="The `id` of the newest version that you have seen: another one is not overruled.",
    )


class ProblemSerializer(serializers.Serializer[Any]):
    """A field that is at fault: the path to it with dots, the sentence, and the place in words."""

    path = serializers.CharField(allow_blank=True)
    sentence = serializers.CharField()
    place = serializers.CharField(allow_blank=True)


class CheckedSerializer(serializers.Serializer[Any]):
    """Whether a scheme can be asked, and if not, why."""

    ok = serializers.BooleanField()
    problems = ProblemSerializer(many=True)


class FromCorpusSerializer(serializers.Serializer[Any]):
    """A scheme to be made of the questions that a corpus's files brought."""

    corpus = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    key = serializers.CharField(max_length=LONGEST_KEY)
    title = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST["title"])


class SchemeArchivedSerializer(serializers.Serializer[Any]):
    """Whether a scheme is off the lists of what can be asked."""

    archived = serializers.BooleanField()


class SchemeChangeSerializer(serializers.Serializer[Any]):
    """A question was added, removed or moved, or a field changed (without `question`, the scheme's)."""

    kind = serializers.ChoiceField(choices=["added", "removed", "moved", "changed"])
    question = serializers.CharField(allow_blank=True)
    field = serializers.CharField(allow_blank=True)
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    sentence = serializers.CharField()


class SchemeDifferenceSerializer(serializers.Serializer[Any]):
    """What two versions differ by."""

    first = serializers.CharField()
    second = serializers.CharField()
    changes = SchemeChangeSerializer(many=True)
