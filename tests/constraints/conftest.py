"""A small corpus, and an attempt to break a constraint with SQL alone."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from tests.constraints.sql import execute


@pytest.fixture
def refused() -> Callable[..., None]:
    """Assert that the database refuses a statement, naming the constraint."""

    def check(rule: str, sql: str, *values: Any) -> None:
        with pytest.raises(DatabaseError, match=rule), transaction.atomic():
            execute(sql, *values)

    return check


@pytest.fixture
def world(db) -> SimpleNamespace:
    """Create a dialogue with a continuation by a system, another corpus, two people and a rater."""
    from annotation.models import Item, Rater
    from tests import factories

    corpus, other = factories.corpus(), factories.corpus()
    dialogue = factories.dialogue(corpus, "d", turns=2)
    lines = [{"text": "given", "given": True}, {"text": "answer"}]
    continuation = factories.continuation(dialogue, "x", system="model-x", turns=lines)
    elsewhere = factories.dialogue(other, "d", turns=2)
    own = dialogue.continuations.get(key="self")
    turn_questions = factories.scheme_version("comperdial_turn")
    return SimpleNamespace(
        corpus=corpus,
        other=other,
        dialogue=dialogue,
        continuation=continuation,
        own=own,
        elsewhere=elsewhere,
        turn_item=Item.objects.get(continuation=continuation, kind="turn"),
        dialogue_item=Item.objects.get(continuation=continuation, kind="dialogue"),
        other_item=Item.objects.filter(continuation__dialogue=elsewhere, kind="turn").first(),
        version=turn_questions,
        overall=turn_questions.questions.get(),
        rater=Rater.objects.create(kind="human", name="r1"),
        ana=factories.user("ana"),
        ben=factories.user("ben"),
    )
