"""What can be asked for as a file: labels, notes, gold, packages, transcripts, examples for fine-tuning.

An order says what, of which corpus and part, in which form; it is written at once or by a job, which keeps it
as plain JSON.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any

from django.contrib.auth.models import User

from annotation.models import Campaign, Corpus, Split, Turn
from calibration.errors import CalibrationError, ExportRefused
from calibration.exports import labels as label_export
from calibration.exports import notes as note_export
from calibration.exports.bundle import Hashed, Zip
from calibration.exports.labels import Download
from calibration.exports.packages import PACKAGES, Contents
from calibration.exports.parts import Taken
from calibration.exports.transcripts.collecting import Sheet, of_part, sheet
from calibration.exports.transcripts.forms import FORMS
from calibration.exports.tuning import LABELS_AN_EXAMPLE, Tuning
from calibration.exports.writing import ExportQuery, Written, write, write_blocks
from calibration.gold import difference as gold_difference
from calibration.gold import export as gold_export
from calibration.models import Gold
from calibration.reading.scope import scope_of
from jobs.errors import JobRefused

LABELS, NOTES, GOLD, TRANSCRIPTS, SFT = "labels", "notes", "gold", "transcripts", "sft"
ZIP = "zip"
TITLES = {
    LABELS: "labels",
    NOTES: "notes",
    GOLD: "gold",
    TRANSCRIPTS: "transcripts",
    SFT: "examples for fine-tuning",
} | {key: package.title for key, package in PACKAGES.items()}
"""What can be ordered, and what pages call it."""


@dataclass(frozen=True)
class Order:
    """A file that was asked for. `choice` narrows it: questions of a package; continuations and raters; the
    named part and the generator's settings of examples.

    With an `other` gold it is the two side by side.
    """

    what: str
    corpus: Corpus
    campaign: Campaign | None
    taken: Taken
    form: str
    gold: Gold | None = None
    choice: Mapping[str, Any] = field(default_factory=dict)
    other: Gold | None = None

    def params(self) -> dict[str, Any]:
        """Return the order as a job keeps it."""
        return {
            "what": self.what,
            "corpus": self.corpus.pk,
            "campaign": self.campaign.pk if self.campaign else None,
            "gold": self.gold.pk if self.gold else None,
            "other": self.other.pk if self.other else None,
            "split": self.taken.split.pk if self.taken.split else None,
            "part": self.taken.part,
            "form": self.form,
            "choice": dict(self.choice),
        }

    def about(self) -> dict[str, Any]:
        """Return what the record of a download says of it."""
        told = self.params()
        return {
            "what": told["what"],
            "corpus_id": told["corpus"],
            "campaign_id": told["campaign"],
            "gold_id": told["gold"],
            "part": self.choice.get("part") or told["part"],
        }

    def most(self) -> int:
        """Return about how many rows it holds, at most."""
        if self.gold is not None:
            return self.gold.n + (self.other.n if self.other else 0)
        if self.what == TRANSCRIPTS:
            return Turn.objects.filter(continuation__in=self._sheet().continuations).count()
        if self.what == SFT:
            return self.tuning().most()
        scope = scope_of(self.corpus, self.campaign, self.taken.part)
        return note_export.most(scope) if self.what == NOTES else scope.most()

    def weight(self) -> int:
        """Return about how many labels it weighs, at most."""
        return self.most() * (LABELS_AN_EXAMPLE if self.what == SFT else 1)

    def check(self) -> None:
        """Raise ExportRefused where it cannot be written, as far as that is known without writing it."""
        if self.what == TRANSCRIPTS:
            self._sheet()
        if self.gold is not None and self.other is not None:
            gold_difference.shared_questions(self.gold, self.other)

    def write(self, file: IO[bytes]) -> Written:
        """Write it into a file. Raises ExportRefused where there is nothing to write."""
        if self.what == TRANSCRIPTS:
            return write_blocks(FORMS[self.form][1](self._sheet()), file)
        if self.what == SFT:
            return write_blocks(self.tuning().blocks(), file)
        if self.what in PACKAGES:
            return self._package(file)
        return write(self.query(), self.form, file)

    def query(self) -> ExportQuery:
        """Return the query of an order of labels, notes or gold."""
        if self.gold is not None and self.other is not None:
            return gold_difference.query(self.gold, self.other, self.taken)
        if self.gold is not None:
            return gold_export.query(self.gold, self.taken)
        scope = scope_of(self.corpus, self.campaign, self.taken.part)
        read = note_export.notes if self.what == NOTES else label_export.labels
        return read(scope, self.taken)

    def _package(self, file: IO[bytes]) -> Written:
        hashed = Hashed(file)
        bundle = Zip(hashed)  # type: ignore[arg-type]
        try:
            rows = self.fill(bundle)
            bundle.close()
        except BaseException:
            bundle.abandon()
            raise
        return Written(rows, hashed.size, hashed.sha256)

    def fill(self, bundle: Any) -> int:
        """Add a package's files and its manifest to a bundle; return how many labels they hold."""
        scope = scope_of(self.corpus, self.campaign, self.taken.part)
        questions = tuple(self.choice.get("questions", ()))
        rows = PACKAGES[self.what].write(Contents(scope, self.taken, questions), bundle)
        campaign = self.campaign.name if self.campaign else None
        facts = {"package": self.what, "corpus": self.corpus.name, "campaign": campaign}
        bundle.finish(facts | {"part": self.taken.part or "all", "rows": rows})
        return rows

    def _sheet(self) -> Sheet:
        scope = scope_of(self.corpus, self.campaign, self.taken.part)
        chosen = self.choice.get("continuations") or of_part(scope, self.taken)
        return sheet(scope, self.taken, continuations=chosen, raters=self.choice.get("raters", ()))

    def tuning(self) -> Tuning:
        """Return what is written of an order of examples."""
        settings = {name: value for name, value in self.choice.items() if name != "part"}
        return Tuning(self.corpus, self.taken, self.choice.get("part", ""), settings)

    @property
    def name(self) -> str:
        """How browsers save it, without its ending."""
        if self.gold is not None:
            return f"gold-{self.gold.pk}" + (f"-and-{self.other.pk}" if self.other else "")
        place = f"campaign-{self.campaign.pk}" if self.campaign else f"corpus-{self.corpus.pk}"
        return f"{self.what}-{place}"


def from_params(told: Mapping[str, Any]) -> Order:
    """Return the order that a job keeps. Raises JobRefused where what it speaks of was deleted."""
    corpus = Corpus.objects.filter(pk=told["corpus"]).first()
    campaign = Campaign.objects.select_related("corpus").filter(pk=told["campaign"]).first()
    gold = Gold.objects.select_related("corpus", "campaign").filter(pk=told["gold"]).first()
    split = Split.objects.filter(pk=told["split"]).first()
    other = Gold.objects.filter(pk=told.get("other") or 0).first()
    found = {"campaign": campaign, "gold": gold, "other": other, "split": split}
    if corpus is None or any(told.get(name) and found[name] is None for name in found):
        raise JobRefused("what it was to be written from was deleted")
    what = told.get("what") or (GOLD if gold else LABELS)
    taken = Taken(split, told["part"])
    return Order(what, corpus, campaign, taken, told["form"], gold, told.get("choice") or {}, other)


def send(*, order: Order, by: User | None) -> Download:
    """Write an order, ready for download; it is recorded once all of it was sent. Raises ExportRefused."""
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        try:
            written = order.write(file)
        except ExportRefused:
            raise
        except CalibrationError as refused:
            raise ExportRefused(str(refused)) from refused
        stack.pop_all()
    file.seek(0)
    return Download(file, written, order.form, order.about() | {"created_by": by})
