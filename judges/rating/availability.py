"""What each metric needs, and whether a corpus (and this machine) has it: said before a run, not after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db.models import BooleanField, F, Func

from annotation.kinds.table import KINDS
from annotation.models import Continuation, Corpus, Rater
from annotation.records import SELF
from judges.metrics import DEFAULT_MODEL, METRICS, Metric, aspects
from judges.metrics.kit.base import ALWAYS_MET, NEEDS
from judges.metrics.kit.languages import is_made_for, languages_of

_HAS_PROFILE = Func(
    F("participants"),
    function="jsonb_path_exists",
    template="%(function)s(%(expressions)s, '$[*].profile[*]')",
    output_field=BooleanField(),
)
_MODELS = frozenset({"embeddings", "language_model"})


@dataclass(frozen=True, slots=True)
class Availability:
    """A metric over a corpus: `needs` in words, `obstacle` why it gives no value there, `warning` why the
    values may mean little; both '' where there is nothing to say."""

    metric: Metric
    needs: tuple[str, ...]
    obstacle: str = ""
    warning: str = ""

    @property
    def group(self) -> str:
        """The heading under which it is listed: kind of item, then aspect."""
        return f"{KINDS[self.metric.kind].heading}: {self.metric.aspect.heading.lower()}"

    @property
    def rank(self) -> tuple[int, int]:
        """Where it stands in a list: turns before conversations, aspects in the papers' order."""
        return list(KINDS).index(self.metric.kind), aspects().index(self.metric.aspect)


def availability(corpus: Corpus) -> dict[str, Availability]:
    """Return every metric by key, with what stands in its way in a corpus; a handful of queries."""
    look = cache(lambda need: _LACKS[need](corpus))
    warning = language_warning(corpus)
    return {key: _of(metric, look, warning) for key, metric in METRICS.items()}


def language_warning(corpus: Corpus) -> str:
    """Return which languages of a corpus the embedding model is not made for, '' where there are none."""
    model = settings.EMBEDDING_MODEL or DEFAULT_MODEL
    spoken = corpus.dialogues.exclude(language="").values_list("language", flat=True).distinct()
    foreign = sorted(language for language in spoken if not is_made_for(model, language))
    if not foreign:
        return ""
    made_for, spoken_here = ", ".join(sorted(languages_of(model))), ", ".join(foreign[:8])
    return (
        f"The embedding model {model} is made for {made_for}; dialogues here are in {spoken_here}. "
        "Name another model in CONCORD_EMBEDDING_MODEL."
    )


def has_model(rater: Rater) -> bool:
    """Whether a rater is a metric that loads a model before its first value."""
    metric = METRICS.get(rater.spec.get("metric", ""))
    return metric is not None and bool(metric.needs & _MODELS)


def _of(metric: Metric, look: Callable[[str], str], warning: str) -> Availability:
    needs = tuple(NEEDS[need] for need in NEEDS if need in metric.needs and need not in ALWAYS_MET)
    obstacles = [look(need) for need in NEEDS if need in metric.needs and need in _LACKS]
    if "language_model" in metric.needs:
        obstacles.append(_absent_model(metric))
    return Availability(
        metric,
        needs,
        next(filter(None, obstacles), ""),
        warning if "embeddings" in metric.needs else "",
    )


def _no_agenda(corpus: Corpus) -> str:
    return "" if corpus.dialogues.filter(agenda__isnull=False).exists() else "no dialogue here has an agenda"


def _no_profile(corpus: Corpus) -> str:
    return "" if corpus.dialogues.filter(_HAS_PROFILE).exists() else "no participant here has a profile"


def _no_reference(corpus: Corpus) -> str:
    static = Continuation.objects.filter(dialogue__corpus=corpus, mode=Continuation.Mode.STATIC)
    if static.exclude(key=SELF).exists():
        return ""
    return "no response here has a reference (name one with against=ID)"


_LACKS: dict[str, Callable[[Corpus], str]] = {
    "agenda": _no_agenda,
    "profile": _no_profile,
    "reference": _no_reference,
}


def _absent_model(metric: Metric) -> str:
    """Say which model of the hub a metric needs that is not on this machine."""
    parameter = metric.all_parameters().get("model")
    name = str(parameter.default) if parameter else ""
    return f"the model {name} is not on this machine" if name and not _is_here(name) else ""


@cache
def _is_here(name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return Path(name).is_dir() or isinstance(try_to_load_from_cache(name, "config.json"), str)
