"""Dev and test by cluster: drawn from a seed, fixed at first use, every look at test logged.

The seed and a cluster's name alone determine its place between 0 and 1. A draw puts the clusters with the
lowest places into test, up to the test share. Clusters added to a corpus later are test where their place
is below the share. Neither depends on the order in which dialogues were added.

The first split of a corpus is its lock: another split with some of its test clusters in dev is a look at
test. While a corpus has none, benches show dev of a split of their own, which nothing else reads; its dev
clusters are dev in every split that is drawn later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotation.errors import SplitRefused
from annotation.models import Item, JudgeOpening, SplitCluster, TestLook
from annotation.models.corpora import Corpus, Dialogue, Split
from annotation.models.labels import Rater
from annotation.text import display
from config.models import Event

# Part of a benchmark that a dialogue is in: any part not named training is outside it.

TRAINING, EVALUATION = Dialogue.Part.TRAINING.value, Dialogue.Part.EVALUATION.value
LONGEST_PURPOSE = 500
MOST_SEED = 2**31 - 1
BOUNDS = "the seed is a whole number of 0 or more, the share lies between 0 and 1"
BENCHES = "workbench"
"""Name of the split that benches have while their corpus has none."""
TRAINING_CHOICES = [(TRAINING, TRAINING)]
"""The part that a selection may name, as in the API's document."""
METADATA_KEY = "part"
"""Metadata entry that names a dialogue's part."""
WORDS = {"train": TRAINING, "training": TRAINING, "evaluation": EVALUATION}
"""Words in the metadata, in any case, and their parts; other words mean none."""


def part_in(metadata: Mapping[str, Any]) -> str:
    """Return the part that a dialogue's metadata name; empty where they name none."""
    word = metadata.get(METADATA_KEY)
    return WORDS.get(word.strip().casefold(), "") if isinstance(word, str) else ""


def of_dialogues(part: str = "", prefix: str = "") -> Q:
    """Return the condition that a dialogue is selected: in training for that part, else outside it.

    `prefix` leads from the rows to the dialogue, such as `dialogue__`.
    """
    is_training = Q(**{f"{prefix}part": TRAINING})
    return is_training if part == TRAINING else ~is_training


def sizes(corpus: Corpus) -> dict[str, int]:
    """Return the number of dialogues in each part of a corpus; empty where its dialogues name none."""
    rows = corpus.dialogues.exclude(part="").order_by().values_list("part").annotate(n=Count("pk"))
    counts = dict(rows)
    return {part: counts[part] for part in (TRAINING, EVALUATION) if part in counts}


# Opening of test for judges: once each, on purpose, with a reason.
#
# Each fingerprint is a judge; another version of its prompt, or other parameters, is another judge of the
# same family. Opening test for a second judge of a family is not forbidden, but it is counted, and every
# report that shows test says so.


@dataclass(frozen=True, slots=True)
class Opened:
    """An opening, and its number within its family, counted from 1."""

    opening: JudgeOpening
    number: int

    def sentence(self) -> str:
        """Describe the opening in one line, without its date."""
        opening = self.opening
        again = f" (opening {self.number} of the family {opening.family})" if self.number > 1 else ""
        by, judge = opening.by or "unknown", opening.rater.title
        return f"{by}: {judge}{again}: {opening.reason}"


def family_of(rater: Rater) -> str:
    """Return the family key of a judge's versions: protocol and prompt; for an external judge its name."""
    protocol = str(rater.spec.get("protocol", ""))
    if not protocol:
        return rater.name[:300]
    prompt = str(rater.spec.get("prompt") or "").partition("@")[0]
    return " ".join(dict.fromkeys(filter(None, (protocol, prompt))))[:300]


def unopened_raters(split: Split, raters: Iterable[Rater]) -> list[Rater]:
    """Return the judges among raters for which test was not opened, in order."""
    judges = [rater for rater in raters if rater.kind == Rater.Kind.JUDGE]
    opened = set(JudgeOpening.objects.filter(split=split, rater__in=judges).values_list("rater", flat=True))
    return [judge for judge in judges if judge.pk not in opened]


@transaction.atomic
def open_for(*, split: Split, raters: Collection[Rater], by: User | None, reason: str) -> list[JudgeOpening]:
    """Open test for those judges among raters that it was not opened for; return the new openings.

    Raises SplitRefused without a reason.
    """
    if not reason.strip():
        raise SplitRefused("say what test is opened for: it is printed on every report that shows it")
    Split.objects.select_for_update().get(pk=split.pk)  # each opening sees those before it
    new_openings = []
    for rater in unopened_raters(split, raters):
        family = family_of(rater)
        new_openings.append(
            JudgeOpening.objects.create(split=split, rater=rater, family=family, by=by, reason=reason.strip())
        )
        number = JudgeOpening.objects.filter(split=split, family=family).count()
        detail: dict[str, Any] = {"judge": rater.name, "fingerprint": rater.fingerprint, "family": family}
        subject = f"{split.name} of {split.corpus.name}"
        detail |= {"opening": number, "reason": reason.strip()}
        Event.objects.create(by=by, verb="open test for a judge", subject=subject, detail=detail)
    return new_openings


def openings(split: Split) -> list[Opened]:
    """Return all openings of a split, oldest first, each numbered within its family."""
    counted: dict[str, int] = {}
    numbered = []
    for opening in split.openings.select_related("rater", "by"):
        counted[opening.family] = counted.get(opening.family, 0) + 1
        numbered.append(Opened(opening, counted[opening.family]))
    return numbered


# Unit of resampling and splits: the dialogue's cluster, or an item's own, which is a script's session.


def within(clusters: Any, prefix: str = "") -> Q:
    """Return the condition that an item is in some clusters (a collection, or a query of them).

    `prefix` leads from the rows to the item, such as `item__`.
    """
    return Q(**{f"{prefix}cluster__in": clusters}) | Q(
        **{f"{prefix}cluster": None, f"{prefix}continuation__dialogue__cluster__in": clusters}
    )


def of_corpus(corpus: Corpus) -> frozenset[str]:
    """Return the clusters of a corpus that may be dev or test: those of its dialogues outside training.

    For scripts these are the clusters of their sessions.
    """
    rows = corpus.dialogues.filter(of_dialogues()).order_by()
    dialogues = rows.filter(script__isnull=True).values_list("cluster", flat=True)
    scripts = _sessions(rows.filter(script__isnull=False).values_list("key", "script"))
    return frozenset(dialogues.distinct()) | frozenset(scripts)


def of_script(dialogue: Dialogue) -> frozenset[str]:
    """Return the clusters of a dialogue's sessions; none where it is no script."""
    return frozenset(_sessions([(dialogue.key, dialogue.script)])) if dialogue.script else frozenset()


def of_item(item: Item) -> str:
    """Return the cluster of an item; it reads the dialogue, so use select_related."""
    return item.cluster or item.continuation.dialogue.cluster


def is_locked(dialogue: Dialogue, locked: Collection[str]) -> bool:
    """Whether a dialogue, or a script's session, is in one of the clusters."""
    own = of_script(dialogue) or {dialogue.cluster}
    return not own.isdisjoint(locked)


def _sessions(scripts: Any) -> set[str]:
    return {
        f"{key}/{session.get('season') or session['id']}"
        for key, script in scripts
        for session in script["sessions"]
    }


def place(seed: int, cluster: str) -> float:
    """Return a cluster's place between 0 (inclusive) and 1, from the seed and its name."""
    digest = hashlib.sha256(f"{seed}\0{cluster}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64


def choose(
    clusters: Iterable[str], *, seed: int, test_share: float, seen: Collection[str] = ()
) -> dict[str, str]:
    """Return the part (dev or test) of each cluster; with two clusters or more no part is empty.

    Those that benches have `seen` are dev, so test is smaller than its share where they leave too few.
    """
    ordered = sorted(set(clusters), key=lambda cluster: (cluster in seen, place(seed, cluster), cluster))
    test_count = round(test_share * len(ordered))
    most = min(len(ordered) - 1, sum(cluster not in seen for cluster in ordered))
    tests = min(max(test_count, 1), most) if len(ordered) > 1 else 0
    return {cluster: "test" if index < tests else "dev" for index, cluster in enumerate(ordered)}


def splits_of(corpus: Corpus) -> QuerySet[Split]:
    """Return the splits drawn of a corpus, oldest first, without the one of its benches."""
    return corpus.splits.exclude(name=BENCHES).order_by("pk")


def lock_of(corpus: Corpus) -> Split | None:
    """Return the split that locks a corpus's test part, its first; None where none is drawn."""
    return splits_of(corpus).first()


def seen_by_benches(corpus: Corpus) -> frozenset[str]:
    """Return the dev clusters of the benches' own split of a corpus; none where they have none."""
    rows = SplitCluster.objects.filter(split__corpus=corpus, split__name=BENCHES, part="dev")
    return frozenset(rows.values_list("cluster", flat=True))


def unopened(corpus: Corpus) -> QuerySet[SplitCluster]:
    """Return the test clusters of a corpus's lock while nobody has opened it; none once a look is logged.

    Pages for researchers show no answers about these.
    """
    lock = lock_of(corpus)
    if lock is None or lock.looks.exists():
        return SplitCluster.objects.none()
    return lock.clusters.filter(part="test")


@transaction.atomic
def draw(
    *,
    corpus: Corpus,
    by: User | None,
    seed: int = 0,
    test_share: float = 0.5,
    name: str = "main",
    purpose: str = "",
) -> Split:
    """Draw a split of a corpus, replacing an unused one of that name.

    A split beside the first one with some of the first one's test clusters in dev is a look at test: it is
    logged with its `purpose` and fixes the first split.

    Raises SplitRefused where the corpus has fewer than two clusters, benches have seen them all, the share is
    not between 0 and 1, the split is already fixed, its name is taken by another part, or it would open test
    without a purpose.
    """
    if not 0 < test_share < 1 or not 0 <= seed <= MOST_SEED:
        raise SplitRefused(BOUNDS)
    if name == TRAINING:
        raise SplitRefused("training is no split: it is the part that dialogues came with")
    if name == BENCHES:
        raise SplitRefused(f"{BENCHES} is the split of benches: choose another name")
    Corpus.objects.select_for_update().get(pk=corpus.pk)  # one draw after the other: each sees the lock
    return _draw(corpus, name, seed, test_share, purpose, by)


@transaction.atomic
def of_benches(*, corpus: Corpus, by: User | None) -> Split:
    """Return the split whose dev part benches show, fixed: the corpus's, or while it has none one of their
    own, half of the clusters by seed 0, which is drawn at its first use.

    Raises SplitRefused where the corpus has fewer than two clusters.
    """
    Corpus.objects.select_for_update().get(pk=corpus.pk)
    split = lock_of(corpus) or corpus.splits.filter(name=BENCHES).first()
    split = split or _draw(corpus, BENCHES, 0, 0.5, "", by)
    fix(split=split, by=by)
    return split


def _draw(corpus: Corpus, name: str, seed: int, test_share: float, purpose: str, by: User | None) -> Split:
    seen = seen_by_benches(corpus)
    parts = choose(of_corpus(corpus), seed=seed, test_share=test_share, seen=seen)
    if len(parts) < 2:
        raise SplitRefused(f"the corpus {corpus.name} has fewer than two clusters: there is nothing to split")
    if seen.issuperset(parts):
        raise SplitRefused(f"benches have seen all of {corpus.name}: import dialogues for test first")
    before = Split.objects.select_for_update().filter(corpus=corpus, name=name).first()
    if before and before.fixed_at:
        used = display.day(timezone.localtime(before.fixed_at))
        raise SplitRefused(f"the split {name} was used on {used}: it is fixed")
    _look_through(corpus, name, parts, purpose, by)
    if before:
        before.delete()
    split = Split.objects.create(corpus=corpus, name=name, seed=seed, test_share=test_share, created_by=by)
    SplitCluster.objects.bulk_create(
        SplitCluster(split=split, cluster=cluster, part=part) for cluster, part in parts.items()
    )
    detail = {"seed": seed, "test_share": test_share, "clusters": len(parts)}
    _log(by, "draw split", split, **detail)
    return split


def _look_through(corpus: Corpus, name: str, parts: dict[str, str], purpose: str, by: User | None) -> None:
    """Log a look at the locked test part where a draw moves some of it into dev."""
    lock = splits_of(corpus).exclude(name=name).first()
    if lock is None:
        return
    opened = sum(parts.get(cluster) == "dev" for cluster in clusters(split=lock, part="test"))
    if not opened:
        return
    if not purpose.strip():
        raise SplitRefused(
            f"{opened} test clusters of the split {lock.name} would be dev in {name}: that opens test, "
            "so say what for; it is logged as a look at test"
        )
    open_test(split=lock, by=by, purpose=f"drawing the split {name}: {purpose.strip()}")


def fix(*, split: Split, by: User | None) -> None:
    """Fix a split at its first use: from then on no cluster changes its part. Idempotent."""
    fixed = Split.objects.filter(pk=split.pk, fixed_at__isnull=True).update(fixed_at=timezone.now())
    if fixed:
        _log(by, "fix split", split)
    split.refresh_from_db(fields=["fixed_at"])


@transaction.atomic
def grow(*, corpus: Corpus) -> int:
    """Assign the clusters added to a corpus to a part in each of its splits; return how many were new.

    The split of benches takes over nothing once another one is drawn: what that one keeps for test stays
    unseen.
    """
    added = 0
    lock = lock_of(corpus)
    for split in splits_of(corpus) if lock else corpus.splits.all():
        assigned = set(split.clusters.values_list("cluster", flat=True))
        rows = [
            SplitCluster(split=split, cluster=cluster, part=_part(split, cluster))
            for cluster in sorted(of_corpus(corpus) - assigned)
        ]
        added += len(SplitCluster.objects.bulk_create(rows))
    return added


def _part(split: Split, cluster: str) -> str:
    return "test" if place(split.seed, cluster) < split.test_share else "dev"


@transaction.atomic
def open_test(*, split: Split, by: User | None, purpose: str, raters: Collection[Rater] = ()) -> TestLook:
    """Log a look at the test part, with the person and purpose; this fixes the split.

    It also opens test for the judges among `raters`, whose results are looked at, and names them.
    """
    if not purpose.strip():
        raise SplitRefused("say what test is opened for: it is printed on every report that shows it")
    fix(split=split, by=by)
    judges = [rater.name for rater in raters if rater.kind == Rater.Kind.JUDGE]
    look = TestLook.objects.create(split=split, by=by, purpose=purpose.strip(), judges=judges)
    _log(by, "open test", split, purpose=look.purpose, judges=judges)
    open_for(split=split, raters=raters, by=by, reason=purpose)
    return look


def _log(by: User | None, verb: str, split: Split, **detail: Any) -> None:
    Event.objects.create(by=by, verb=verb, subject=f"{split.name} of {split.corpus.name}", detail=detail)


def clusters(*, split: Split, part: str) -> frozenset[str]:
    """Return the clusters of a part."""
    return frozenset(split.clusters.filter(part=part).values_list("cluster", flat=True))
