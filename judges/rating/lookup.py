"""Finding what a command, a page or the API names: corpora, campaigns, endpoints."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.corpora.parts import TRAINING
from annotation.models import Campaign, Corpus, Split, System
from jobs.endpoints.actions import sync_environment
from jobs.models import Endpoint
from judges.errors import JudgeError
from judges.rating.selection import Selection

PARTS = ("dev", "test", TRAINING)


def selection_of(
    *,
    corpus: str = "",
    campaign: str = "",
    systems: Sequence[str] = (),
    include_self: bool = False,
    samples: int = 1,
    part: str = "",
) -> Selection:
    """Return the selection that names describe: exactly one of corpus and campaign, and systems of it.

    `part` is dev or test of the corpus's split, training, or empty for all of it but training.
    """
    if bool(corpus) == bool(campaign):
        raise JudgeError("Name either a corpus or a campaign.")
    chosen = _campaign(campaign) if campaign else None
    found = chosen.corpus if chosen else corpus_named(corpus)
    known = set(System.objects.filter(corpus=found, name__in=systems).values_list("name", flat=True))
    if unknown := sorted(set(systems) - known):
        raise JudgeError(f"The corpus {found.name} has no system {', '.join(unknown)}.")
    split = split_for(found, part)
    return Selection(found, chosen, tuple(systems), include_self, samples, split, part)


def split_for(corpus: Corpus, part: str) -> Split | None:
    """Return the split that a part is of, the corpus's first; None where no part is named, or training is."""
    if not part:
        return None
    if part not in PARTS:
        raise JudgeError(f"There is no part {part!r}: parts are {', '.join(PARTS)}.")
    if part == TRAINING:
        if not corpus.has_training:
            raise JudgeError(f"No dialogue of {corpus.name} is in training.")
        return None
    split = corpus.splits.order_by("pk").first()
    if split is None:
        raise JudgeError(f"The corpus {corpus.name} has no split: draw one on its page.")
    return split


def part_choices(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the parts that a page offers of a corpus; none where it has neither a split nor training."""
    is_split, training = corpus.splits.exists(), corpus.has_training
    choices = [("", "dev and test")] if is_split else [("", "all but training")] if training else []
    if is_split:
        choices += [("dev", "dev only"), ("test", "test only")]
    return [*choices, (TRAINING, "training only")] if training else choices


def endpoint_named(name: str) -> Endpoint:
    """Return an active endpoint by its name, also one that the environment declares since."""
    sync_environment()
    found = Endpoint.objects.filter(name=name, active=True).first()
    if found is None:
        names = ", ".join(Endpoint.objects.filter(active=True).values_list("name", flat=True))
        raise JudgeError(f"There is no endpoint {name!r}; there are: {names or 'none yet'}.")
    return found


def corpus_named(name: str) -> Corpus:
    """Return a corpus by its name."""
    found = Corpus.objects.filter(name=name).first()
    if found is None:
        raise JudgeError(f"There is no corpus {name!r}.")
    return found


def _campaign(name: str) -> Campaign:
    found = Campaign.objects.select_related("corpus", "scheme_version__scheme").filter(name=name).first()
    if found is None:
        raise JudgeError(f"There is no campaign {name!r}.")
    return found
