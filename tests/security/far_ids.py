"""Database ids whose number reveals the table of their row, wherever a page or a response contains one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model

from annotation.models import (
    Assignment,
    CampaignMember,
    Continuation,
    Dialogue,
    Item,
    KeyTask,
    Label,
    Rater,
    Slot,
    Task,
    Turn,
)

FIRST, STEP = 1_000_000_000, 10_000_000
MODELS: list[type[Model]] = [
    *(User, CampaignMember, Rater, Assignment, Label),
    *(Item, Task, Slot, KeyTask, Turn, Continuation, Dialogue),
]
NUMBER = re.compile(r"(?<![0-9])1[0-9]{9}(?![0-9])")


@contextmanager
def far_ids() -> Iterator[None]:
    """Start the ids of each of MODELS in a range of its own; afterwards sequences continue as before."""
    with connection.cursor() as cursor:
        before = {}
        for place, model in enumerate(MODELS):
            cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", (model._meta.db_table,))
            (name,) = cursor.fetchone()
            cursor.execute(f"SELECT last_value FROM {name}")
            (before[name],) = cursor.fetchone()
            cursor.execute("SELECT setval(%s, %s)", (name, FIRST + place * STEP))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for name, value in before.items():
                cursor.execute("SELECT setval(%s, %s)", (name, value))


def models_in(text: str) -> set[type[Model]]:
    """Return the models whose ids occur in a text."""
    places = {(int(number) - FIRST) // STEP for number in NUMBER.findall(text)}
    return {MODELS[place] for place in places if place < len(MODELS)}
