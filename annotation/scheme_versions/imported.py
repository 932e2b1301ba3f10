"""The questions that a corpus's files brought, as a scheme that people can be asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotation.errors import SchemeRefused
from annotation.importing.own_scheme import own_key
from annotation.kinds.table import KINDS
from annotation.models import Corpus, Label, SchemeVersion
from annotation.scheme_versions import store
from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.schemes.problems import Problem, named
from annotation.schemes.rules import KEY, LONGEST_KEY

MOST_NAMES = 30
"""Different texts that are values to choose from; more are answers in words."""
MOST_STEPS = 10
"""How far apart whole numbers may be to be a scale."""


def imported_definition(corpus: Corpus, kind: str, *, key: str, title: str = "") -> SchemeDefinition:
    """Return a definition of a corpus's imported questions about a kind of items, under a new key.

    What files do not say is taken from the answers: a question answered by 2 to 30 different texts is nominal
    with these values, else it is answered in words; one whose answers are whole numbers at most 10 apart has
    all whole numbers between them for values; any other takes any number. Raises SchemeRefused where the
    corpus has no such questions.
    """
    if kind not in KINDS:
        told = f"There is no kind of item {named(kind)}: write {' or '.join(KINDS)}."
        raise SchemeRefused([Problem(("item_kind",), told, "item_kind")])
    version = SchemeVersion.objects.filter(scheme__key=own_key(corpus, kind)).order_by("-version").first()
    if version is None:
        told = (
            f"The files of {named(corpus.name)} brought no questions of their own about {KINDS[kind].plural}."
        )
        raise SchemeRefused([Problem((), told)])
    made = store.definition_of(version)
    ids = dict(version.questions.values_list("key", "pk"))
    return replace(
        made,
        key=key,
        version=1,
        title=title.strip() or made.title,
        introduction="",
        source=f"Imported with {corpus.name}",
        questions=tuple(_questions(made.questions, ids)),
    )


def _questions(
    imported: Iterable[QuestionDefinition], ids: Mapping[str, int]
) -> Iterator[QuestionDefinition]:
    """Yield imported questions as people can be asked them, each with a key of its own."""
    taken: set[str] = set()
    for number, one in enumerate(imported, start=1):
        key = _key(one.key)
        if not key or key in taken:
            key = f"question_{number}"
        taken.add(key)
        yield replace(_asked(one, ids[one.key]), key=key)


def _asked(question: QuestionDefinition, pk: int) -> QuestionDefinition:
    if question.level == "binary":
        return replace(question, values=(0, 1), positive=1)
    if question.values or question.level == "text":
        rises = question.level in ("ordinal", "interval", "ratio")
        return replace(question, values=tuple(sorted(question.values))) if rises else question
    if question.level == "nominal":
        return _of_texts(question, pk)
    return _of_numbers(question, pk)


def _key(name: str) -> str:
    """Return a name as a key: small letters and digits, anything else between them one _."""
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in name.lower()).split()
    key = "_".join(words)[:LONGEST_KEY].strip("_")
    return key if KEY.fullmatch(key) else ""


def _of_texts(question: QuestionDefinition, pk: int) -> QuestionDefinition:
    texts = _answers(pk, "text", MOST_NAMES)
    names = sorted({" ".join(text.split()) for text in texts} - {""})
    if 2 <= len(names) <= MOST_NAMES:
        return replace(question, values=tuple(names))
    return replace(question, level="text")


def _of_numbers(question: QuestionDefinition, pk: int) -> QuestionDefinition:
    found = sorted(_answers(pk, "number", MOST_STEPS + 1))
    low, high = (found[0], found[-1]) if found else (0.0, 0.0)
    if 0 < high - low <= MOST_STEPS and all(value == int(value) for value in found):
        return replace(question, values=tuple(range(int(low), int(high) + 1)))
    if question.level == "ratio" and low >= 0:
        return replace(question, minimum=0)
    return replace(question, level="interval")


def _answers(pk: int, column: str, most: int) -> list[Any]:
    """Return the different answers to a question, at most one more than can be used."""
    rows = Label.objects.filter(question=pk, superseded_at__isnull=True, **{f"{column}__isnull": False})
    return list(rows.order_by().values_list(column, flat=True).distinct()[: most + 1])
