"""Benches for running drafts, with their sample of dev items, drawn once in one order for all drafts."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import splits
from annotation.errors import SplitRefused
from annotation.kinds import COMPARING
from annotation.models import Campaign, Corpus, Item, Label, Question
from annotation.models.corpora import ITEM_CLUSTER
from annotation.models.labels import Rater
from annotation.text.references import item_key
from config.models import Event
from jobs import job_actions
from jobs.endpoints.parameters import MOST_WHOLE, PARAMETERS, Parameter, checked
from jobs.models import Call, Job, Run
from judges.errors import JudgeError
from judges.models import Bench, BenchTarget, Draft, PromptVersion, Trial
from judges.prompts import versions
from judges.prompts.examples import Pick, pick
from judges.prompts.versions import Version
from judges.protocols import PROTOCOLS, Asking
from judges.protocols.rubric import base_of
from judges.protocols.wording import Wording
from judges.runs import plans
from judges.runs.plans import CONTINUATION, questions_of
from judges.runs.selection import Selection, continuations, items

# Search for better texts: a job continues it whenever one of its runs has ended.

SEARCH = "search"
"""Kind of the jobs that continue searches (`calibration.workbench.search_job`)."""


def go_on(search: int, *, after: str = "its start") -> Job:
    """Queue the job that continues a search.

    The subject names the preceding step, so that a job which is just ending does not swallow its successor.
    """
    subject = f"search {search}, after {after}"
    return job_actions.start(kind=SEARCH, subject=subject, by=None, params={"search": search})


def settled(run: Run) -> None:
    """Continue the search that a run belongs to, if any."""
    if SEARCH in run.scope:
        done = run.calls.exclude(state=Call.State.CANCELLED).count()
        go_on(run.scope[SEARCH], after=f"{done} calls of run {run.pk}")


LONGEST_NAME = 100
SEED = Parameter("seed", "whole", "Seed", "Decides which dev items come first.", 0, MOST_WHOLE)
Target = tuple[int, int | None]
"""Ids of a continuation and of one of its items, None for the whole continuation."""


@transaction.atomic
def open_bench(
    *,
    by: User | None,
    name: str,
    protocol: str,
    corpus: Corpus,
    campaign: Campaign | None = None,
    seed: int = 0,
    scheme: str = "",
    variant: str = "",
    include_self: bool = False,
) -> Bench:
    """Open a bench for drafts of a protocol on the dev part of a corpus, or of a campaign's coverage.

    A protocol that takes any scheme is bound to `scheme` (`key` or `key@version`; default for a campaign: its
    own scheme), asked by `variant`. `include_self`: also the original turns of dialogues that have
    continuations by others. Fixes the corpus's split; where there is none, benches have one of their own
    (`splits.of_benches`). Raises JudgeError for a name in use, a protocol without a text, a scheme that it
    cannot ask, a corpus that cannot be split, and a dev part without targets for the protocol.
    """
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise JudgeError(f"A bench needs a name of up to {LONGEST_NAME} characters.")
    SEED.checked(seed)
    if Bench.objects.filter(name=name).exists():
        raise JudgeError(f"There is already a bench {name!r}: choose another name.")
    over = plans.scheme_version_for(asking(protocol), scheme.strip(), None, campaign)
    variant = _variant(asking(protocol), variant)
    bound = plans.bind_protocol(asking(protocol), over, variant)
    if bound.covers in COMPARING:
        raise JudgeError(f"{protocol} compares responses; benches are for judges of turns and dialogues.")
    _, questions = questions_of(bound, campaign, over)
    try:
        split = splits.of_benches(corpus=corpus, by=by)
    except SplitRefused as error:
        raise JudgeError(f"Drafts are tried on dev alone, and {error}.") from error
    bench = Bench.objects.create(
        name=name,
        corpus=corpus,
        campaign=campaign,
        split=split,
        protocol=protocol,
        scheme_version=over,
        variant=variant,
        questions=questions,
        seed=seed,
        include_self=include_self,
        created_by=by,
    )
    if not available(bench):
        raise JudgeError(f"Dev of {corpus.name} has nothing that {protocol} could judge.")
    detail = {"protocol": protocol, "corpus": corpus.name, "seed": seed} | plans.scheme_spec(over)
    Event.objects.create(by=by, verb="open bench", subject=name, detail=detail)
    return bench


def asking(protocol: str) -> Asking:
    """Return a protocol that takes a text. Raises JudgeError for an unknown one."""
    asking_protocol = PROTOCOLS.get(protocol)
    if not isinstance(asking_protocol, Asking):
        names = ", ".join(key for key, candidate in PROTOCOLS.items() if isinstance(candidate, Asking))
        raise JudgeError(f"There is no protocol {protocol!r} that takes a text; there are {names}.")
    return asking_protocol


def _variant(protocol: Asking, variant: str) -> str:
    """Return the variant of a protocol that takes any scheme, '' for others: their drafts may use any
    variant.
    """
    if not protocol.takes_scheme:
        return ""
    if variant and variant not in protocol.variants:
        raise JudgeError(f"{protocol.key} has no variant {variant!r}; it has {', '.join(protocol.variants)}.")
    return variant or protocol.variants[0]


def protocol_of(bench: Bench, variant: str = "") -> Asking:
    """Return a bench's protocol, over its scheme if it has one: in its own variant, or in another."""
    bound = plans.bind_protocol(asking(bench.protocol), bench.scheme_version, variant or bench.variant)
    assert isinstance(bound, Asking)
    return bound


def variants(bench: Bench) -> list[str]:
    """Return the variants allowed for a bench's drafts: those that answer its questions on its targets."""
    template = asking(bench.protocol)
    if bench.scheme_version is None:
        return list(template.variants)
    return [name for name in template.variants if _is_alike(bench, name)]


def _is_alike(bench: Bench, variant: str) -> bool:
    own = protocol_of(bench)
    try:
        other = protocol_of(bench, variant)
    except JudgeError:
        return False
    return (own.covers, _question_keys(own)) == (other.covers, _question_keys(other))


def _question_keys(protocol: Asking) -> dict[str, tuple[str, str]]:
    return {name: (scheme.key, key) for name, (scheme, key) in protocol.answers.items()}


def scheme_ref(bench: Bench) -> str:
    """Return the scheme of a bench's drafts, `key@version`; '' if the protocol has its own."""
    return plans.scheme_ref(bench.scheme_version) if bench.scheme_version else ""


def unit(bench: Bench) -> tuple[str, str]:
    """Return the name of a bench's target: singular and plural."""
    covers = protocol_of(bench).covers
    return covers, f"{covers}s"


def selection(bench: Bench) -> Selection:
    """Return the dev part from which a bench draws."""
    return Selection(
        bench.corpus, bench.campaign, include_self=bench.include_self, split=bench.split, part="dev"
    )


def available(bench: Bench) -> int:
    """Return the number of targets in dev."""
    return len(_pool(bench))


def _pool(bench: Bench) -> dict[Target, tuple[str, str]]:
    """Return every target of dev with its cluster and key."""
    protocol, selected = protocol_of(bench), selection(bench)
    if protocol.covers == CONTINUATION:
        kinds = protocol.item_kinds()
        continuation_rows = continuations(selected).filter(items__kind__in=kinds).distinct().order_by("pk")
        return {
            (pk, None): (cluster, item_key(dialogue, key, None))
            for pk, cluster, dialogue, key in continuation_rows.values_list(
                "pk", "dialogue__cluster", "dialogue__key", "key"
            )
        }
    rows = items(selected, protocol.covers).order_by("pk").annotate(own=ITEM_CLUSTER)
    columns = rows.values_list(
        "continuation_id", "pk", "own", "continuation__dialogue__key", "continuation__key", "turn__position"
    )
    return {
        (continuation, pk): (cluster, item_key(dialogue, key, turn))
        for continuation, pk, cluster, dialogue, key, turn in columns
    }


def order(pool: Iterable[tuple[Target, tuple[str, str]]], seed: int) -> list[Target]:
    """Return targets, each with its cluster and key, in drawing order.

    First one target of every cluster, then a second of each, and so on. The seed and the keys decide the
    order of clusters, and of targets within a cluster, so the same corpus gives the same draw wherever it is
    loaded.
    """
    by_cluster: dict[str, list[tuple[str, Target]]] = defaultdict(list)
    for target, (cluster, key) in pool:
        by_cluster[cluster].append((_place(seed, key), target))
    clusters = sorted(by_cluster, key=lambda cluster: _place(seed, cluster))
    within = [[target for _, target in sorted(by_cluster[name], key=itemgetter(0))] for name in clusters]
    longest = max(map(len, within), default=0)
    return [targets[turn] for turn in range(longest) for targets in within if turn < len(targets)]


def _answered(bench: Bench) -> set[Target]:
    """Return the targets with answers by people or keys, on any version of the bench's schemes."""
    questions = Question.objects.filter(pk__in=bench.questions.values())
    keys = questions.values_list("version__scheme__key", flat=True)
    scheme_keys = {name for key in keys for name in (key, base_of(key))}
    labels = Label.objects.filter(
        question__version__scheme__key__in=scheme_keys,
        item__in=Item.objects.filter(continuation__in=continuations(selection(bench))),
        rater__kind__in=[Rater.Kind.HUMAN, Rater.Kind.KEY],
        superseded_at=None,
    )
    if bench.campaign is not None:
        labels = labels.filter(campaign=bench.campaign)
    rows = labels.values_list("item__continuation", "item").distinct()
    if protocol_of(bench).covers == CONTINUATION:
        return {(continuation, None) for continuation, _ in rows}
    return set(rows)


def _place(seed: int, name: str) -> str:
    return hashlib.sha256(f"bench {seed}\0{name}".encode()).hexdigest()


def grow(bench: Bench, count: int | None) -> list[BenchTarget]:
    """Return the first `count` targets of a bench (None: all of dev), drawing missing ones.

    Targets answered by people or keys come first. Drawn targets keep their position, even if the corpus has
    grown. Call it in a transaction.
    """
    Bench.objects.select_for_update().get(pk=bench.pk)
    targets = list(bench.targets.order_by("position"))
    if count is not None and len(targets) >= count:
        return targets[:count]
    drawn_places = {(target.continuation_id, target.item_id) for target in targets}
    pool, answered = _pool(bench), _answered(bench)
    first = [(target, known_by) for target, known_by in pool.items() if target in answered]
    rest = [(target, known_by) for target, known_by in pool.items() if target not in answered]
    ordered = [*order(first, bench.seed), *order(rest, bench.seed)]
    fresh = [target for target in ordered if target not in drawn_places]
    missing = len(fresh) if count is None else count - len(targets)
    rows = [
        BenchTarget(bench=bench, position=len(targets) + index, continuation_id=continuation, item_id=item)
        for index, (continuation, item) in enumerate(fresh[:missing])
    ]
    return targets + BenchTarget.objects.bulk_create(rows)


# Starting points of a draft: a draft of its bench, a version of a prompt, or Concord's own text.

PARTS = ("system", "user", "form")
"""Parts of a text that may be replaced."""
OWN_OPTIONS = ("budget", "needs")
"""Settings of a draft besides its text, variant, endpoint, samples and sampling parameters."""


def text_of(bench: Bench, ref: str) -> Version:
    """Return the text from which a draft starts, as a version, and its variant: a draft of the bench
    (`draft-3`), a version (`name@2`), or without a reference Concord's own text.

    Raises JudgeError for an unknown reference, and for a version of another protocol or scheme.
    """
    draft = _draft(bench, ref)
    if draft is None:
        return _version(bench, ref)
    wording = versions.wording_of(draft.text)
    return Version(ref, draft.number, bench.protocol, draft.variant, wording, bench.scheme_version)


def begun_from(bench: Bench, ref: str) -> dict[str, Any]:
    """Return the form's initial values: text, variant and, for a draft, its endpoint and settings.

    Raises JudgeError as `text_of` does.
    """
    begun = text_of(bench, ref)
    wording = begun.wording
    fields = {"system": wording.system, "user": wording.user, "form": wording.form, "variant": begun.variant}
    draft = _draft(bench, ref)
    if draft is None:
        return fields | {"begin": begun.ref}
    options = draft.options
    settings = {"endpoint": draft.endpoint_id, "samples": draft.samples, "budget": options.get("budget")}
    read = {f"need_{role}": name for role, name in options.get("needs", {}).items()}
    return fields | {"begin": ref} | settings | options.get("parameters", {}) | read


def options_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a draft's options from the values of a form, API call or command: sampling parameters by name,
    the budget, and the raters whose answers it reads (`needs`). Raises JobError for invalid parameters.
    """
    sent = checked({name: values.get(name) for name in PARAMETERS})
    return {"parameters": sent} | {name: values.get(name) for name in OWN_OPTIONS}


def parent_of(bench: Bench, ref: str) -> str:
    """Return the version from which a draft descends."""
    draft = _draft(bench, ref)
    if draft is not None:
        return draft.kept or draft.parent
    return _version(bench, ref).ref


def versions_for(bench: Bench) -> list[Version]:
    """Return the versions from which a draft of a bench may start: Concord's, then users' own, newest
    first.
    """
    rows = PromptVersion.objects.select_related("prompt__scheme_version__scheme", "text").filter(
        prompt__protocol=bench.protocol, prompt__archived=False
    )
    own = [versions.version_of(row) for row in rows.order_by("prompt__name", "-number")]
    allowed = variants(bench)
    every = [*(version for version in versions.built_in() if version.protocol == bench.protocol), *own]
    fitting = [version for version in every if version.variant in allowed and not _foreign(bench, version)]
    return sorted(fitting, key=lambda version: not (version.is_built_in and version.variant == bench.variant))


def _foreign(bench: Bench, version: Version) -> bool:
    """Whether a version is for another scheme than the bench's."""
    return version.scheme_version not in (None, bench.scheme_version)


def _draft(bench: Bench, ref: str) -> Draft | None:
    number = ref.removeprefix("draft-")
    if ref == number:
        return None
    is_number = number.isdecimal() and number.isascii() and len(number) < 10
    rows = bench.drafts.select_related("text", "endpoint")
    draft = rows.filter(number=int(number)).first() if is_number else None
    if draft is None:
        raise JudgeError(f"This bench has no {ref!r}.")
    return draft


def _version(bench: Bench, ref: str) -> Version:
    if not ref:
        key = (bench.protocol, bench.variant or variants(bench)[0])
        return next(
            candidate for candidate in versions.built_in() if (candidate.protocol, candidate.variant) == key
        )
    version = versions.find(ref)
    if version.protocol != bench.protocol:
        raise JudgeError(f"{version.ref} is a prompt for {version.protocol}, not for {bench.protocol}.")
    if _foreign(bench, version):
        raise JudgeError(f"{version.ref} is for another scheme than {scheme_ref(bench)}.")
    return version


def wording_from(bench: Bench, ref: str, parts: Mapping[str, Any]) -> Wording:
    """Return the text from which a draft starts, with some of its parts replaced."""
    base = text_of(bench, ref).wording
    changed_parts = {name: parts[name].replace("\r\n", "\n") for name in PARTS if name in parts}
    return replace(base, **changed_parts)


# Judges compared with people on the dev part of a split: each counts once, whatever its outcome.

# Worked examples of a draft: picked on its bench like those of a prompt version, from dev only.


def picked(bench: Bench, variant: str, wording: Wording, picking: Mapping[str, Any] | None) -> Wording:
    """Return a draft's text with examples picked by `picking`, the criteria of a `Pick` besides its corpus.

    Without a rule the text is unchanged. Raises JudgeError if there are no examples.
    """
    if not picking or not picking["rule"]:
        return wording
    return pick(
        protocol_of(bench, variant), variant, wording, Pick(bench.corpus, split=bench.split, **picking)
    )


def identity(spec: Mapping[str, Any]) -> str:
    """Return the hash of a judge's questions and identity: a draft's equals that of the version it
    becomes.
    """
    protocol = asking(spec["protocol"])
    rest = {
        name: value for name, value in spec.items() if name not in ("draft", "prompt", "search", "wording")
    }
    wording = spec.get("wording") or protocol.wording(spec.get("variant", "")).digest()
    if "needs" in rest:
        rest["needs"] = {role: need | {"rater": _read(need["rater"])} for role, need in rest["needs"].items()}
    text = json.dumps(rest | {"wording": wording}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(fingerprint: str) -> str:
    """Return the rater read by a judge: a draft and the judge that it becomes count as the same."""
    spec = Rater.objects.get(fingerprint=fingerprint).spec
    return identity(spec) if "protocol" in spec and "model" in spec else fingerprint


def family(bench: Bench) -> str:
    """Return the counting group: judges of one protocol, and of one scheme if it takes any."""
    if bench.scheme_version is None:
        return bench.protocol
    return f"{bench.protocol}:{bench.scheme_version.scheme_id}"


def note(*, bench: Bench, spec: Mapping[str, Any], name: str) -> None:
    """Record a judge as tried on the dev part of a bench's split; repeated calls change nothing."""
    Trial.objects.get_or_create(
        split=bench.split,
        protocol=family(bench),
        fingerprint=identity(spec),
        defaults={"name": name[:200]},
    )


def tried(bench: Bench) -> set[str]:
    """Return the identities of all judges of a bench's protocol and scheme ever tried on its corpus."""
    rows = Trial.objects.filter(split__corpus=bench.corpus_id, protocol=family(bench))
    return set(rows.values_list("fingerprint", flat=True))


def count(bench: Bench) -> int:
    """Return the number of these judges."""
    return len(tried(bench))
