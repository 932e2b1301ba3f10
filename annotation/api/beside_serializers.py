"""What the API of notes, messages and own submissions takes and gives."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.messages.actions import TEXT_LIMIT
from annotation.notes.actions import COMMENT_LIMIT

ID = 2**63 - 1
LINES = 10**6


class NewNote(serializers.Serializer[Any]):
    """What is to be noted on a line of a task (counted from 1); what is left out or null stays as it is."""

    line = serializers.IntegerField(min_value=1, max_value=LINES)
    comment = serializers.CharField(allow_blank=True, allow_null=True, default=None, max_length=COMMENT_LIMIT)
    flagged = serializers.BooleanField(allow_null=True, default=None)
    bookmarked = serializers.BooleanField(allow_null=True, default=None)


class NoteSerializer(serializers.Serializer[Any]):
    """All that one noted on a line of a task."""

    line = serializers.IntegerField()
    comment = serializers.CharField()
    flagged = serializers.BooleanField()
    bookmarked = serializers.BooleanField()


class TurnNoteSerializer(serializers.Serializer[Any]):
    """What an annotator noted on a turn, as researchers read it."""

    campaign = serializers.CharField()
    annotator = serializers.CharField()
    dialogue = serializers.CharField()
    continuation = serializers.CharField()
    turn = serializers.IntegerField(help_text="0-based index within the continuation")
    turn_number = serializers.IntegerField()
    item = serializers.CharField()
    flagged = serializers.BooleanField()
    comment = serializers.CharField()
    at = serializers.DateTimeField()
    assignment = serializers.IntegerField()


class MessageSerializer(serializers.Serializer[Any]):
    """One message; `mine` says whether the reader wrote it."""

    by = serializers.CharField()
    mine = serializers.BooleanField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class ThreadSerializer(serializers.Serializer[Any]):
    """A thread between an annotator and researchers: about a turn of a task, a task, or the campaign."""

    thread = serializers.IntegerField()
    campaign = serializers.IntegerField()
    annotator = serializers.CharField(help_text="their pseudonym; to themselves, their user name")
    assignment = serializers.IntegerField(allow_null=True)
    line = serializers.IntegerField(allow_null=True, help_text="the line of the task, counted from 1")
    unread = serializers.IntegerField(help_text="messages that the annotator has not seen")
    waits = serializers.BooleanField(help_text="whether the last word is the annotator's")
    closed = serializers.BooleanField()
    messages = MessageSerializer(many=True)


class Question(serializers.Serializer[Any]):
    """What an annotator asks: about a line of a task of theirs, about the task, or about the campaign."""

    campaign = serializers.IntegerField(min_value=1, max_value=ID)
    assignment = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=ID)
    line = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=LINES)
    text = serializers.CharField(max_length=TEXT_LIMIT)


class NewMessage(serializers.Serializer[Any]):
    """What a researcher writes: to annotators by pseudonym, or about a task (a line of it) to its holder."""

    to = serializers.ListField(child=serializers.CharField(max_length=150), default=list, max_length=1_000)
    everybody = serializers.BooleanField(default=False)
    assignment = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=ID)
    line = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=LINES)
    text = serializers.CharField(max_length=TEXT_LIMIT)


class Answer(serializers.Serializer[Any]):
    """What is said in a thread; null only notes that it was seen."""

    text = serializers.CharField(max_length=TEXT_LIMIT, allow_null=True, default=None)


class ThreadVerb(serializers.Serializer[Any]):
    """What a researcher does with a thread: answer with a text, close it, or open it again."""

    verb = serializers.ChoiceField(choices=["answer", "close", "open"], default="answer")
    text = serializers.CharField(max_length=TEXT_LIMIT, allow_blank=True, default="")


class OwnSubmission(serializers.Serializer[Any]):
    """One's own submission; `closed` says why it cannot be revised, empty where it can."""

    assignment = serializers.IntegerField()
    campaign = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.CharField()
    submitted_at = serializers.DateTimeField()
    excerpt = serializers.CharField()
    answers = serializers.ListField(child=serializers.CharField())
    n_answers = serializers.IntegerField()
    comment = serializers.CharField()
    flagged = serializers.BooleanField()
    notes = serializers.ListField(child=serializers.CharField())
    bookmarks = serializers.IntegerField()
    closed = serializers.CharField()
    reason = serializers.CharField()
