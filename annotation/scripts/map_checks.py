"""What may be wrong with a name map, in sentences for whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.records import Dialogue
from annotation.scripts.records import ANONYMISED, SWAPPED, NameMap
from annotation.scripts.rewriting import texts_of
from annotation.text.tokens import fold, words


def checked(names: NameMap, dialogue: Dialogue | None = None) -> NameMap:
    """Return a name map that is right; raise ValueError with all that is wrong."""
    if wrong := problems(names, dialogue):
        raise ValueError(" ".join(wrong))
    return names


def problems(names: NameMap, dialogue: Dialogue | None = None) -> list[str]:
    """Return what is wrong with a name map; with a script, also whether new names are in it already."""
    wrong = [*_lengths(names), *_twice(names), *_kept(names)]
    if names.kind == SWAPPED:
        wrong += _open_swaps(names)
    if names.kind == ANONYMISED:
        wrong += _people(names)
        wrong += _in_use(names, dialogue) if dialogue else ()
    return wrong


def _lengths(names: NameMap) -> Iterator[str]:
    for old, new in names.pairs:
        if not old.strip() or not new.strip():
            yield f"{old!r} to {new!r}: a name is empty."
        elif len(old.split()) != len(new.split()):
            yield f"{old!r} has {len(old.split())} words, {new!r} has {len(new.split())}."


def _twice(names: NameMap) -> Iterator[str]:
    olds: dict[str, str] = {}
    news: dict[str, str] = {}
    for old, new in names.pairs:
        if fold(old) in olds:
            yield f"{old!r} is mapped twice."
        elif fold(new) in news:
            yield f"{news[fold(new)]!r} and {old!r} both become {new!r}."
        olds[fold(old)] = news[fold(new)] = old
        if fold(old) == fold(new):
            yield f"{old!r} becomes itself."


def _kept(names: NameMap) -> Iterator[str]:
    mapped = {old for old, _ in names.pairs}
    for spelling in names.kept:
        if spelling in mapped:
            yield f"{spelling!r} is both mapped and kept."


def _open_swaps(names: NameMap) -> Iterator[str]:
    """Yield names of a swap that nobody gives up: then two people are called the same."""
    olds = {fold(old) for old, _ in names.pairs}
    for old, new in names.pairs:
        if fold(new) not in olds:
            yield f"{old!r} becomes {new!r}, which itself is not swapped."


def _people(names: NameMap) -> Iterator[str]:
    """Yield new names that are mapped themselves: they are another person's."""
    olds = {fold(old) for old, _ in names.pairs}
    for old, new in names.pairs:
        if fold(new) in olds and fold(old) != fold(new):
            yield f"{old!r} becomes {new!r}, which is the name of another person."


def _in_use(names: NameMap, dialogue: Dialogue) -> Iterator[str]:
    """Yield new names that the script holds: nobody could tell who is meant, or lead back."""
    there = {" ".join(words(text)) for text in texts_of(dialogue)}
    spoken = {word for text in there for word in text.split()}
    for old, new in names.pairs:
        sought = " ".join(words(new))
        if set(sought.split()) <= spoken and any(f" {sought} " in f" {text} " for text in there):
            yield f"{old!r} becomes {new!r}, which stands in the script already."
