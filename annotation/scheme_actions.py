"""Editing schemes: create, save the next version, derive from a corpus's questions, archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation import scheme_store
from annotation.corpora.import_names import own_key
from annotation.errors import SchemeRefused
from annotation.kinds import KINDS
from annotation.models import Label, Question, Scheme
from annotation.models.corpora import Corpus
from annotation.models.schemes import SchemeVersion
from annotation.scheme_store import is_used
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.schemes.rules import KEY, LONGEST_KEY, Problem, place, problems, quoted
from config.models import Event

# A corpus's imported questions as a scheme for people.

MOST_NAMES = 30
"""Maximum number of different texts for a question with choices; with more, its answers are free text."""
MOST_STEPS = 10
"""Maximum range of whole numbers that form a scale."""


def imported_definition(corpus: Corpus, kind: str, *, key: str, title: str = "") -> SchemeDefinition:
    """Return a definition of a corpus's imported questions about a kind of items, under a new key.

    Information missing in the files is taken from the answers: a question answered by 2 to 30 different texts
    is nominal with these values; with more or fewer texts, its answers are free text. A question answered by
    whole numbers at most 10 apart has all whole numbers in that range as values; any other takes any number.
    Raises SchemeRefused where the corpus has no such questions.
    """
    if kind not in KINDS:
        message = f"There is no kind of item {quoted(kind)}: write {' or '.join(KINDS)}."
        raise SchemeRefused([Problem(("item_kind",), message, "item_kind")])
    version = SchemeVersion.objects.filter(scheme__key=own_key(corpus, kind)).order_by("-version").first()
    if version is None:
        message = (
            f"The files of {quoted(corpus.name)} brought no questions of their own "
            f"about {KINDS[kind].plural}."
        )
        raise SchemeRefused([Problem((), message)])
    definition = scheme_store.definition_of(version)
    ids = dict(version.questions.values_list("key", "pk"))
    return replace(
        definition,
        key=key,
        version=1,
        title=title.strip() or definition.title,
        introduction="",
        source=f"Imported with {corpus.name}",
        questions=tuple(_questions(definition.questions, ids)),
    )


def _questions(
    imported: Iterable[QuestionDefinition], ids: Mapping[str, int]
) -> Iterator[QuestionDefinition]:
    """Yield imported questions in a form for people, each with a unique key."""
    used_keys: set[str] = set()
    for number, question in enumerate(imported, start=1):
        key = _key(question.key)
        if not key or key in used_keys:
            key = f"question_{number}"
        used_keys.add(key)
        yield replace(_make_askable(question, ids[question.key]), key=key)


def _make_askable(question: QuestionDefinition, pk: int) -> QuestionDefinition:
    if question.level == "binary":
        return replace(question, values=(0, 1), positive=1)
    if question.values or question.level == "text":
        rises = question.level in ("ordinal", "interval", "ratio")
        return replace(question, values=tuple(sorted(question.values))) if rises else question
    if question.level == "nominal":
        return _of_texts(question, pk)
    return _of_numbers(question, pk)


def _key(name: str) -> str:
    """Convert a name to a key: lower-case letters and digits, joined by single underscores."""
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
    numbers = sorted(_answers(pk, "number", MOST_STEPS + 1))
    low, high = (numbers[0], numbers[-1]) if numbers else (0.0, 0.0)
    if 0 < high - low <= MOST_STEPS and all(value == int(value) for value in numbers):
        return replace(question, values=tuple(range(int(low), int(high) + 1)))
    if question.level == "ratio" and low >= 0:
        return replace(question, minimum=0)
    return replace(question, level="interval")


def _answers(pk: int, column: str, most: int) -> list[Any]:
    """Return the different answers to a question, at most `most` + 1."""
    rows = Label.objects.filter(question=pk, superseded_at__isnull=True, **{f"{column}__isnull": False})
    return list(rows.order_by().values_list(column, flat=True).distinct()[: most + 1])


# Custom schemes: create, save as the next version, archive. Built-in ones cannot be changed.


@transaction.atomic
def create(*, by: User | None, definition: SchemeDefinition) -> SchemeVersion:
    """Store a new scheme as version 1. Raises SchemeRefused with all problems."""
    _check(definition)
    if definition.key in SCHEMES:
        message = f"{quoted(definition.key)} is a built-in scheme: choose another key (copy and edit)."
        raise _refused("key", message)
    scheme, created = _scheme(definition)
    if not created:
        raise _refused("key", f"There is a scheme {quoted(definition.key)} already: choose another key.")
    version = scheme_store.add(scheme=scheme, number=1, definition=replace(definition, version=1))
    _log(by, "create", version)
    return version


@transaction.atomic
def save(*, by: User | None, definition: SchemeDefinition, seen: int | None) -> SchemeVersion:
    """Save a definition as the newest version of its scheme, and return that version.

    `seen` is the id of the newest version that the author has seen; where another version is the newest by
    now, SchemeRefused is raised and nothing is saved (None: overwrite the newest version in any case). An
    identical definition changes nothing. One that differs in short names alone renames the questions of the
    newest version, used or not, because raters are asked the wording. Any other change replaces an unused
    version under the same number; a used version is kept and gets a successor. Either way the saved version
    has a new id: what raters see of an id never changes.
    """
    _check(definition)
    scheme, newest = _newest(definition.key)
    if seen is not None and newest.pk != seen:
        message = f"Somebody saved version {newest.version} meanwhile: look at it, then save again."
        raise SchemeRefused([Problem((), message)])
    if _same(scheme_store.definition_of(newest), definition):
        return newest
    if _same(_unnamed(scheme_store.definition_of(newest)), _unnamed(definition)):
        for question in definition.questions:
            newest.questions.filter(key=question.key).update(short_name=question.short_name)
        _log(by, "rename questions", newest)
        return newest
    number = newest.version
    list(Question.objects.select_for_update().filter(version=newest).values_list("pk"))
    if is_used(newest):
        number += 1
    else:
        newest.delete()
    if scheme.title != definition.title:
        scheme.title = definition.title
        scheme.save(update_fields=["title"])
    version = scheme_store.add(scheme=scheme, number=number, definition=replace(definition, version=number))
    _log(by, "save", version)
    return version


@transaction.atomic
def archive(*, by: User | None, scheme: Scheme, archived: bool = True) -> Scheme:
    """Archive or restore a scheme; existing uses continue."""
    if not scheme.own:
        raise _refused("key", f"{quoted(scheme.key)} was not made here and cannot be archived.")
    scheme = Scheme.objects.select_for_update().get(pk=scheme.pk)
    if archived != (scheme.archived_at is not None):
        scheme.archived_at = timezone.now() if archived else None
        scheme.save(update_fields=["archived_at"])
        verb = "archive" if archived else "restore"
        _event(by, verb, scheme.key)
    return scheme


@transaction.atomic
def create_from_corpus(
    *, by: User | None, corpus: Corpus, kind: str, key: str, title: str = ""
) -> SchemeVersion:
    """Create a scheme from a corpus's imported questions about items of a kind.

    Raises SchemeRefused where the corpus has no such questions, or these form no valid scheme.
    """
    return create(by=by, definition=imported_definition(corpus, kind, key=key, title=title))


def _check(definition: SchemeDefinition) -> None:
    if faults := problems(definition):
        raise SchemeRefused(faults)


def _scheme(definition: SchemeDefinition) -> tuple[Scheme, bool]:
    try:
        with transaction.atomic():
            return Scheme.objects.get_or_create(
                key=definition.key, defaults={"title": definition.title, "own": True}
            )
    except IntegrityError:  # somebody created it at the same moment
        return Scheme.objects.get(key=definition.key), False


def _newest(key: str) -> tuple[Scheme, SchemeVersion]:
    """Return a custom scheme with its newest version, both locked until the transaction ends.

    FOR UPDATE, so that no use of the version can begin in the meantime: inserting a foreign key to it waits.
    """
    if key in SCHEMES:
        raise _refused(
            "key", f"{quoted(key)} comes with Concord and cannot change: copy it under another key."
        )
    scheme = Scheme.objects.select_for_update().filter(key=key).first()
    versions = SchemeVersion.objects.select_for_update(of=("self",)).filter(scheme=scheme)
    newest = versions.order_by("-version").first() if scheme else None
    if scheme is None or newest is None:
        raise _refused("key", f"There is no scheme {quoted(key)}: create it first.")
    if not scheme.own:
        message = f"{quoted(key)} was not made here and cannot change: copy it under another key."
        raise _refused("key", message)
    newest.scheme = scheme
    return scheme, newest


def _same(stored: SchemeDefinition, submitted: SchemeDefinition) -> bool:
    """Whether two definitions are equal; unlike hashes, this equates 1 with 1.0 and compares flags."""
    return replace(stored, version=1) == replace(submitted, version=1)


def _unnamed(definition: SchemeDefinition) -> SchemeDefinition:
    """Return a definition without the short names of its questions."""
    questions = tuple(replace(question, short_name="") for question in definition.questions)
    return replace(definition, questions=questions)


def _refused(field: str, sentence: str) -> SchemeRefused:
    return SchemeRefused([Problem((field,), sentence, place((field,)))])


def _log(by: User | None, verb: str, version: SchemeVersion) -> None:
    _event(by, verb, version.ref, content_hash=version.content_hash)


def _event(by: User | None, verb: str, subject: str, **detail: Any) -> None:
    Event.objects.create(by=by, verb=f"scheme: {verb}", subject=subject[:300], detail=detail)
