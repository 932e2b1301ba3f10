"""Writing schemes: a new one, the next version, one from a corpus's questions, archiving."""

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
from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.schemes.rules import KEY, LONGEST_KEY, Problem, place, problems, quoted
from config.models import Event

# The questions that a corpus's files brought, as a scheme that people can be asked.

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
    """Yield imported questions as people can be asked them, each with a key of its own."""
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
    numbers = sorted(_answers(pk, "number", MOST_STEPS + 1))
    low, high = (numbers[0], numbers[-1]) if numbers else (0.0, 0.0)
    if 0 < high - low <= MOST_STEPS and all(value == int(value) for value in numbers):
        return replace(question, values=tuple(range(int(low), int(high) + 1)))
    if question.level == "ratio" and low >= 0:
        return replace(question, minimum=0)
    return replace(question, level="interval")


def _answers(pk: int, column: str, most: int) -> list[Any]:
    """Return the different answers to a question, at most one more than can be used."""
    rows = Label.objects.filter(question=pk, superseded_at__isnull=True, **{f"{column}__isnull": False})
    return list(rows.order_by().values_list(column, flat=True).distinct()[: most + 1])


# Schemes of one's own: made, saved as the next version, archived. Built-in ones stay as they are.


@transaction.atomic
def create(*, by: User | None, definition: SchemeDefinition) -> SchemeVersion:
    """Store a new scheme as its version 1. Raises SchemeRefused with every problem."""
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

    `seen` is the id of the newest version that whoever saves has seen; where another one is the newest by
    now, SchemeRefused says so and nothing is saved (None: whatever is the newest). The same definition again
    changes nothing. A version that nothing uses is replaced by one of the same number, a used one is kept and
    gets a successor. Either way what was saved has a new id: what an id names never changes.
    """
    _check(definition)
    scheme, newest = _newest(definition.key)
    if seen is not None and newest.pk != seen:
        message = f"Somebody saved version {newest.version} meanwhile: look at it, then save again."
        raise SchemeRefused([Problem((), message)])
    if _same(scheme_store.definition_of(newest), definition):
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
    """Take a scheme off the lists of what can be asked, or put it back; what uses it goes on."""
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
    """Make a scheme of the questions about items of a kind that a corpus's files brought.

    Raises SchemeRefused where it has none, or they cannot be asked like that.
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
    except IntegrityError:  # somebody made it at the same moment
        return Scheme.objects.get(key=definition.key), False


def _newest(key: str) -> tuple[Scheme, SchemeVersion]:
    """Return a scheme of one's own with its newest version, both locked until the transaction ends.

    FOR UPDATE, so that nothing can begin to use the version meanwhile: a foreign key to it would wait.
    """
    if key in SCHEMES:
        raise _refused(
            "key", f"{quoted(key)} comes with Concord and stays as it is: copy it under another key."
        )
    scheme = Scheme.objects.select_for_update().filter(key=key).first()
    versions = SchemeVersion.objects.select_for_update(of=("self",)).filter(scheme=scheme)
    newest = versions.order_by("-version").first() if scheme else None
    if scheme is None or newest is None:
        raise _refused("key", f"There is no scheme {quoted(key)}: create it first.")
    if not scheme.own:
        message = f"{quoted(key)} was not made here and stays as it is: copy it under another key."
        raise _refused("key", message)
    newest.scheme = scheme
    return scheme, newest


def _same(stored: SchemeDefinition, submitted: SchemeDefinition) -> bool:
    """Whether two definitions say the same: hashes tell 1 from 1.0 apart, and know no flags."""
    return replace(stored, version=1) == replace(submitted, version=1)


def _refused(field: str, sentence: str) -> SchemeRefused:
    return SchemeRefused([Problem((field,), sentence, place((field,)))])


def _log(by: User | None, verb: str, version: SchemeVersion) -> None:
    _event(by, verb, version.ref, content_hash=version.content_hash)


def _event(by: User | None, verb: str, subject: str, **detail: Any) -> None:
    Event.objects.create(by=by, verb=f"scheme: {verb}", subject=subject[:300], detail=detail)
