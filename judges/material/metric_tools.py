"""What metrics need of this process: models, loaded at first need, and embeddings kept in the database."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from judges.material.embedding_store import DatabaseStore
from judges.metrics import DEFAULT_MODEL, Embedder, Tools


@cache
def tools() -> Tools:
    """Return this process's tools: models load at first need, embeddings are kept in the database."""
    return Tools(embed=Embedder(settings.EMBEDDING_MODEL or DEFAULT_MODEL, store=DatabaseStore()))
