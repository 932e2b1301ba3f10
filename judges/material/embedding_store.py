"""Embeddings kept in the database, so that each distinct text is embedded once per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judges.models import Embedding

_BATCH = 1000


class DatabaseStore:
    """The store that metrics' embedder reads and fills: text hash to float32 little-endian bytes."""

    def load(self, model: str, hashes: Sequence[str]) -> Mapping[str, bytes]:
        """Return the vectors that are there."""
        found: dict[str, bytes] = {}
        for start in range(0, len(hashes), _BATCH):
            rows = Embedding.objects.filter(model=model, text_hash__in=hashes[start : start + _BATCH])
            found |= {
                text_hash: bytes(vector) for text_hash, vector in rows.values_list("text_hash", "vector")
            }
        return found

    def save(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors; one that somebody else kept first stays, since it is the same."""
        Embedding.objects.bulk_create(
            [Embedding(model=model, text_hash=key, vector=vector) for key, vector in sorted(vectors.items())],
            batch_size=_BATCH,
            ignore_conflicts=True,
        )
