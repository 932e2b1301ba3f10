"""Who is to answer what: from a protocol or a metric to a rater, its questions and its queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.labels import raters
from annotation.models import Campaign, Rater, SchemeVersion
from annotation.scheme_versions import store as scheme_store
from annotation.schemes.base import SchemeDefinition
from annotation.text import views
from jobs.endpoints import parameters
from jobs.fake_models import marked
from jobs.models import Endpoint, Run
from judges.errors import JudgeError
from judges.prompt_versions import listing, picking
from judges.prompt_versions.listing import Version
from judges.protocols import PROTOCOLS, Asking, Protocol
from judges.rating import bound_schemes
from judges.rating.needs import bind_needs

MOST_SAMPLES = 50
LEAST_BUDGET = 1000
WHOLE = "continuation"
"""What a call covers that is about no single item."""


@dataclass(frozen=True, slots=True)
class RaterPlan:
    """What a run needs to know of its rater: `covers` says what one call is about (an item of a kind, or a
    whole continuation), in which `parts`; `item_kinds` what its questions are about, `kind` names its run.
    `reasks` is how often it asks again after a reply that cannot be read.
    """

    rater: Rater
    queue: str
    covers: str
    questions: Mapping[str, int]
    scheme_version: SchemeVersion
    item_kinds: tuple[str, ...]
    endpoint: Endpoint | None = None
    kind: str = "judge"
    parts: tuple[str, ...] = ("",)
    reasks: int = 1


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge as somebody sets it up. `parameters` are those of `jobs.endpoints.parameters`, where given.

    `shows` is what it sees beside the turns and the usual (`annotation.text.views`); over a campaign it sees
    what the campaign's people see. `budget` limits the characters of a prompt. `needs` names, per role, the
    judge or metric whose answers the protocol reads. `prompt` refers to a version of a prompt
    (`name@number`), whose protocol and variant it then has; without one it asks in the protocol's own words.
    `scheme` (`key` or `key@version`) is what a protocol asks that takes any scheme; over a campaign, and with
    a prompt for a scheme, it need not be named.
    A draft (`judges.drafts`) names its bench as `draft` and its stored text as `wording` instead.
    """

    protocol: str = ""
    variant: str = ""
    endpoint: Endpoint | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    shows: tuple[str, ...] = ()
    budget: int | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    prompt: str = ""
    wording: str = ""
    draft: int | None = None
    search: int | None = None
    scheme: str = ""

    def plan(self, campaign: Campaign | None = None) -> RaterPlan:
        """Return the plan; raise JudgeError for what does not fit together."""
        own = self._own_prompt()
        template, variant = self._protocol_and_variant(own)
        scheme = bound_schemes.version_for(template, self.scheme, own, campaign)
        protocol = bound_schemes.bind_protocol(template, scheme, variant)
        endpoint = self.endpoint if protocol.network else None
        if protocol.network and endpoint is None:
            raise JudgeError(f"{protocol.key} asks a model: choose an endpoint.")
        spec = protocol.fingerprint(variant) | self._text(own) | self._seen(campaign)
        spec |= bound_schemes.spec_of(scheme)
        if endpoint:
            needed = protocol.parameters(variant) if isinstance(protocol, Asking) else {}
            sent = parameters.checked({**needed, **self.parameters})
            spec |= {"model": endpoint.answering_model, **endpoint.server, "parameters": sent}
        bound, read = bind_needs(protocol, self.needs, drafts=self.draft is not None)
        if bound:
            spec |= {"needs": bound}
        title = f"draft of {protocol.key}"
        if self.draft is None:
            title = _title(protocol, variant, own, scheme)
        name = _told_apart(self._name(title, protocol, read), endpoint)
        rater = raters.machine(kind=Rater.Kind.JUDGE, name=name, spec=spec)
        versions, questions = questions_of(protocol, campaign, scheme)
        main = next(iter(protocol.answers.values()))[0].key
        return RaterPlan(
            rater=rater,
            queue=Run.Queue.CALLS,
            covers=protocol.covers,
            questions=questions,
            scheme_version=versions[main],
            item_kinds=protocol.item_kinds(),
            endpoint=endpoint,
            parts=protocol.parts(variant),
            kind="judge" if self.draft is None else "draft",
            reasks=protocol.reasks,
        )

    def asks(self, campaign: Campaign | None = None) -> Protocol:
        """Return the protocol that it asks, over its scheme where it takes one. Raises JudgeError."""
        own = self._own_prompt()
        template, variant = self._protocol_and_variant(own)
        return bound_schemes.bind_protocol(
            template, bound_schemes.version_for(template, self.scheme, own, campaign), variant
        )

    def usual_samples(self) -> int:
        """Return how many samples are asked for where nobody says. Raises JudgeError."""
        protocol, variant = self._protocol_and_variant(self._own_prompt())
        return protocol.samples_of(variant)

    def _own_prompt(self) -> Version | None:
        """Return the version of a prompt that it asks with, None for the protocol's own text."""
        version = listing.find(self.prompt) if self.prompt else None
        if version is None:
            return None
        if version.row is not None and version.row.is_open:
            raise JudgeError(f"{version.ref} is a proposal that nobody has adopted yet: adopt it first.")
        picking.refuse_test_items(version.wording)
        if self.protocol not in ("", version.protocol) or self.variant not in ("", version.variant):
            said = " ".join(part for part in (version.protocol, version.variant) if part)
            raise JudgeError(f"The prompt {version.ref} is for {said}: name that, or the prompt alone.")
        return version

    def _protocol_and_variant(self, own: Version | None) -> tuple[Protocol, str]:
        key = own.protocol if own else self.protocol
        if key not in PROTOCOLS:
            raise JudgeError(f"There is no judge protocol {key!r}; there are {', '.join(PROTOCOLS)}.")
        protocol = PROTOCOLS[key]
        variant = own.variant if own else self.variant or protocol.variants[0]
        if variant not in protocol.variants:
            known = ", ".join(filter(None, protocol.variants)) or "none"
            raise JudgeError(f"{protocol.key} has no variant {variant!r}; it has {known}.")
        return protocol, variant

    def _text(self, own: Version | None) -> dict[str, Any]:
        """Return what the spec says of its text, and that it is a draft where it is one."""
        if self.draft is not None:
            of = {} if self.search is None else {"search": self.search}
            return {"draft": self.draft, "wording": self.wording, **of}
        return _text_of(own)

    def _seen(self, campaign: Campaign | None) -> dict[str, Any]:
        """Return what is shown where it is not the usual, and the budget where there is one."""
        if campaign and self.shows:
            raise JudgeError("Over a campaign a judge sees what the campaign shows: choose nothing more.")
        if self.budget is not None and self.budget < LEAST_BUDGET:
            raise JudgeError(f"A prompt needs a budget of at least {LEAST_BUDGET:,} characters.")
        try:
            shows = views.checked(campaign.shows if campaign else (*views.DEFAULT, *self.shows))
        except ValueError as error:
            raise JudgeError(str(error)) from None
        seen = {} if shows == views.DEFAULT else {"shows": list(shows)}
        return seen if self.budget is None else seen | {"budget": self.budget}

    def _name(self, title: str, protocol: Protocol, read: Sequence[Rater]) -> str:
        below = f" on {', '.join(rater.name for rater in read)}" if read else ""
        if self.endpoint is None or not protocol.network:
            return f"{title.replace('_', '-')}{below}"[:180]
        settings = parameters.named(parameters.checked(self.parameters))
        return f"{marked(self.endpoint.answering_model)} {title}{settings}{below}"[:180]


def _told_apart(name: str, endpoint: Endpoint | None) -> str:
    """Return a judge's name, with its endpoint where a judge at another server has the name already."""
    first = Rater.objects.filter(corpus=None, kind=Rater.Kind.JUDGE, name=name).first()
    if endpoint is None or first is None:
        return name
    server = {part: first.spec[part] for part in ("address", "revision") if part in first.spec}
    return name if server == endpoint.server else f"{name[:130]} at {endpoint.name[:60]}"


def _title(protocol: Protocol, variant: str, own: Version | None, scheme: SchemeVersion | None) -> str:
    over = f" {bound_schemes.ref(scheme)}" if scheme else ""
    if own is not None and not own.is_built_in:
        return f"{own.ref}{over}"
    form = f" {variant.replace('_', ' ')}" if variant and len(protocol.variants) > 1 else ""
    return f"{protocol.key}{over}{form}"


def _text_of(own: Version | None) -> dict[str, str]:
    """Return what a judge's spec says of its text: nothing more where it comes with Concord."""
    if own is None or own.is_built_in:
        return {}
    return {"prompt": own.ref, "wording": own.wording.digest()}


def questions_of(
    protocol: Protocol, campaign: Campaign | None, bound_to: SchemeVersion | None = None
) -> tuple[dict[str, SchemeVersion], dict[str, int]]:
    """Return the stored scheme versions that a protocol answers, by key, and its questions' ids, by name."""
    versions = _store(protocol.answers.values(), campaign, bound_to)
    found = {name: _question(versions[scheme.key], key) for name, (scheme, key) in protocol.answers.items()}
    return versions, found


def settings_of_judge(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings, told by their names, as `Judge` takes them: sampling parameters in one mapping."""
    given = {name: told[name] for name in parameters.PARAMETERS if told.get(name) is not None}
    rest = {name: value for name, value in told.items() if name not in parameters.PARAMETERS}
    return {"parameters": given, **rest}


def _store(
    answers: Iterable[tuple[SchemeDefinition, str]],
    campaign: Campaign | None,
    bound_to: SchemeVersion | None,
) -> dict[str, SchemeVersion]:
    """Return the stored version of each scheme: that which the protocol is bound to, or a campaign's own."""
    versions = {}
    for scheme in {scheme.key: scheme for scheme, _ in answers}.values():
        own = bound_to or (campaign.scheme_version if campaign else None)
        same = own is not None and own.scheme.key == scheme.key
        versions[scheme.key] = own if own is not None and same else scheme_store.store(definition=scheme)
    return versions


def _question(version: SchemeVersion, key: str) -> int:
    found = version.questions.filter(key=key).first()
    if found is None:
        raise JudgeError(f"The campaign's version of {version.scheme.key} has no question {key!r}.")
    return found.pk
