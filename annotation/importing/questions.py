"""Which question of which scheme a file's labels answer, decided once for the whole file.

In this order: the scheme that a label itself names; the schemes given with the import; a scheme that labels
or campaigns of the corpus use; the built-in scheme for that kind of item that has the question (where
several have it, the one that has most of the file's questions); else the corpus's own scheme.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Exists, OuterRef, Q

from annotation.formats import FORMATS, Faults, ImportProblem
from annotation.importing import sql
from annotation.importing.own_scheme import OWN, Asked, own_questions
from annotation.models import Campaign, Corpus, Label, Question, Scheme, asks_about
from annotation.scheme_versions import store as scheme_store
from annotation.schemes import SCHEMES
from annotation.schemes.cocoeval_counts import PAPER_NAMES

ELSEWHERE = ("corpus:", "metric:")
"""How schemes are called whose questions a corpus may take for its own: they come with other data."""

ASKED = f"""
SELECT {sql.KIND} AS kind, question, scheme, min(line),
       bool_or(number IS NOT NULL AND text IS NULL), bool_or(number IS NULL AND text IS NOT NULL),
       max(level), max(values::text)
  FROM import_label l GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""  # noqa: S608  (keys of ours)


def asked_questions() -> list[Asked]:
    """Return the distinct questions of the staged labels."""
    with connection.cursor() as cursor:
        cursor.execute(ASKED)
        return [Asked(*row) for row in cursor.fetchall()]


@dataclass(slots=True)
class Resolver:
    """Finds stored questions for the questions of a file. A `fresh` corpus uses no scheme yet."""

    corpus: Corpus
    given: tuple[str, ...]
    fresh: bool
    faults: Faults
    notes: list[str] = field(default_factory=list)

    def resolve(self, asked: Iterable[Asked]) -> dict[Asked, Question]:
        """Return the question that each is, storing built-in and own schemes where that is needed.

        Those that cannot be told are noted and left out.
        """
        asked = list(asked)
        found: dict[Asked, Question] = {}
        own: list[Asked] = []
        for one in asked:
            try:
                question = self._find(one, asked)
            except ImportProblem as problem:
                self.faults.add(problem)
                continue
            if question is None:
                own.append(one)
            else:
                found[one] = question
        try:
            found.update(own_questions(self.corpus, own))
        except ImportProblem as problem:
            self.faults.add(problem)
        self.notes = [_note(one, question) for one, question in found.items()]
        return found

    def _find(self, one: Asked, asked: list[Asked]) -> Question | None:
        if one.scheme:
            return self._named(one)
        for key in self.given:
            if key != OWN and (question := _of_scheme(key, one)):
                return question
        if OWN in self.given:
            return None
        return (None if self.fresh else self._used(one)) or self._built_in(one, asked)

    def _named(self, one: Asked) -> Question | None:
        """Return the question of the scheme that the labels name; None for one that the corpus must own."""
        question = _of_scheme(one.scheme, one)
        if question is None and not one.level and not one.scheme.startswith(ELSEWHERE):
            raise one.problem(f"the scheme {one.scheme!r} has no question {one.key!r} about {one.kind} items")
        return question

    def _used(self, one: Asked) -> Question | None:
        """Return the question as labels or campaigns of this corpus ask it already."""
        labels = Label.objects.filter(question=OuterRef("pk"), item__corpus=self.corpus)
        campaigns = Campaign.objects.filter(scheme_version=OuterRef("version"), corpus=self.corpus)
        used = Question.objects.filter(asks_about(one.kind), key=one.key).select_related("version__scheme")
        found = list(used.filter(Exists(labels)).order_by("-version")) or list(
            used.filter(Exists(campaigns)).order_by("-version")
        )
        self._refuse_several(one, {question.version.scheme.key for question in found})
        return found[0] if found else None

    def _built_in(self, one: Asked, asked: list[Asked]) -> Question | None:
        claimed = {key for format in FORMATS.values() for key in format.schemes}
        keys = {other.key for other in asked if other.kind == one.kind}
        scores: dict[str, int] = {}
        for scheme in SCHEMES.values():
            mine = {question.key for question in scheme.questions}
            if scheme.item_kind == one.kind and one.key in mine and scheme.key not in claimed:
                scores[scheme.key] = len(mine & keys)
        best = {key for key, score in scores.items() if score == max(scores.values())}
        self._refuse_several(one, best)
        return _of_scheme(best.pop(), one) if best else None

    def _refuse_several(self, one: Asked, schemes: set[str]) -> None:
        if len(schemes) > 1:
            listed = ", ".join(sorted(schemes))
            raise one.problem(
                f"{one.key!r} about {one.kind} items is in several schemes ({listed}): choose with --scheme"
            )


def known_scheme(key: str) -> bool:
    """Whether a scheme of this key is built in or stored, or it asks for the corpus's own."""
    return key == OWN or key in SCHEMES or Scheme.objects.filter(key=key.partition("@")[0]).exists()


def _of_scheme(key: str, one: Asked) -> Question | None:
    """Return the question of a scheme (`key` or `key@version`); a built-in one is stored at first use."""
    name, _, version = key.partition("@")
    wanted = asks_about(one.kind) & Q(
        version__scheme__key=name, key=PAPER_NAMES.get((name, one.key), one.key)
    )
    stored = Question.objects.filter(wanted).select_related("version__scheme").order_by("-version__version")
    number = int(version) if version.isascii() and version.isdigit() else 0
    if number and (exact := stored.filter(version__version=number).first()):
        return exact
    definition = SCHEMES.get(name)
    if definition and one.kind in definition.item_kinds:
        scheme_version = scheme_store.store(definition=definition)
        if question := stored.filter(version=scheme_version).first():
            return question
    return stored.first()


def _note(one: Asked, question: Question) -> str:
    version = question.version
    scale = f", one of {', '.join(f'{value}' for value in question.values)}" if question.values else ""
    return f"{one.kind} question {one.key}: {version.scheme.key} v{version.version}, {question.level}{scale}"
