"""Whether a metric can read a text at all: tokens that its model does not know, words without letters.

Above a bound the value stands, with a flag that says so: an unknown token is the same vector whatever was
written, so two texts of unknown tokens look alike however different they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from annotation.text.tokens import words
from judges.metrics.kit.embedding import Embedder
from judges.metrics.kit.instrument import Instrument
from judges.metrics.kit.scene import Scene

MOST_UNKNOWN = 0.2
"""Share of a conversation's tokens that a model may not know. Plain English has none, with emoji some 2%."""
MOST_WITHOUT_LETTERS = 0.5
"""Share of a conversation's words (`annotation.text.tokens`) that may be digits or pictures alone."""


def flag(instrument: Instrument, scene: Scene, embed: Embedder) -> str:
    """Return what makes a scene's values of a metric doubtful, as a phrase; '' where nothing does.

    Counts the texts that the metric embeds, or the words that it compares. A model whose tokenizer knows
    every text (of bytes, say) or is not there is not flagged.
    """
    needs = instrument.metric.needs
    if "embeddings" in needs:
        texts = tuple(instrument.texts(scene))
        unknown, total = scene.once(("unknown", embed.name, texts), lambda: _counted(embed, texts))
        if total and unknown / total > MOST_UNKNOWN:
            return f"{unknown / total:.0%} of {total:,} tokens are unknown to the model {embed.name}"
    if "words" in needs:
        bare, total = scene.once(("without letters",), lambda: _without_letters(scene))
        if total and bare / total > MOST_WITHOUT_LETTERS:
            return f"{bare / total:.0%} of {total:,} words have no letter"
    return ""


def _counted(embed: Embedder, texts: Iterable[str]) -> tuple[int, int]:
    counts = [embed.unknown(text) for text in texts]
    return sum(unknown for unknown, _ in counts), sum(total for _, total in counts)


def _without_letters(scene: Scene) -> tuple[int, int]:
    counts = [_bare(turn.text) for turn in scene.turns]
    return sum(bare for bare, _ in counts), sum(total for _, total in counts)


@lru_cache(maxsize=4096)
def _bare(text: str) -> tuple[int, int]:
    found = words(text)
    return sum(not any(character.isalpha() for character in word) for word in found), len(found)
