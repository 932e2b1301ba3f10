"""Plans of runs: from a protocol or metric to a rater, and from a judge's spec to its asker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from annotation import scheme_store
from annotation import scheme_store as store
from annotation.models import Rater
from annotation.models.campaigns import Campaign
from annotation.models.schemes import SchemeVersion
from annotation.schemes.definitions import SHORT_NAME, SchemeDefinition
from annotation.text import views
from annotation.work import labels
from jobs.endpoints import parameters
from jobs.fake_models import marked
from jobs.models import Endpoint, Run
from jobs.models.run import MOST_SAMPLES
from jobs.prompt import Tokens, Unparseable
from judges.errors import JudgeError
from judges.prompts import examples
from judges.prompts import versions as listing
from judges.prompts import versions as texts
from judges.prompts.examples import ranked
from judges.prompts.versions import Version
from judges.protocols import PROTOCOLS, Case, Prompt, Reading, Unfit, Wording
from judges.protocols.protocol import Asking, Protocol
from judges.protocols.quoting import within
from judges.runs.material import bind_needs

# Binding protocols to schemes, by the scheme's name or from a judge's spec.


def scheme_version_for(
    protocol: Protocol, scheme_name: str, own: Version | None, campaign: Campaign | None
) -> SchemeVersion | None:
    """Return the scheme version that a judge asks: the named one (`key` or `key@version`), else that of its
    prompt, else the campaign's. None for a protocol with questions of its own. Raises JudgeError."""
    prompts = own.scheme_version if own else None
    if not protocol.takes_scheme:
        if scheme_name:
            raise JudgeError(f"{protocol.key} has questions of its own: name no scheme.")
        return None
    if scheme_name:
        version = store.find(scheme_name)
        if version is None:
            raise JudgeError(f"There is no scheme {scheme_name!r}.")
        if prompts is not None and own is not None and prompts != version:
            raise JudgeError(f"The prompt {own.ref} is for {scheme_ref(prompts)}: name that, or no scheme.")
        return version
    version = prompts or (campaign.scheme_version if campaign else None)
    if version is None:
        raise JudgeError(f"{protocol.key} asks the questions of a scheme: name one.")
    return version


def bind_protocol(protocol: Protocol, version: SchemeVersion | None, variant: str) -> Protocol:
    """Return the protocol bound to a scheme version, or unchanged without one. Raises JudgeError."""
    if version is None:
        return protocol
    try:
        return protocol.over(store.definition_of(version), variant)
    except Unfit as unfit:
        raise JudgeError(f"{unfit}.") from None


def scheme_spec(version: SchemeVersion | None) -> dict[str, str]:
    """Return the entries of a judge's spec for the scheme that it asks."""
    return {} if version is None else {"scheme": scheme_ref(version), "scheme_hash": version.content_hash}


def scheme_ref(version: SchemeVersion) -> str:
    """Return a version's reference, `key@version`."""
    return f"{version.scheme.key}@{version.version}"


def protocol_of_spec(protocol: Protocol, variant: str, scheme: str, scheme_hash: str) -> Protocol:
    """Return the protocol of a judge's spec. Raises JudgeError if its scheme is not stored."""
    if not scheme:
        return protocol
    version = store.find(scheme)
    if version is None or version.content_hash != scheme_hash:
        raise JudgeError(f"The scheme {scheme} of this judge is not stored here as it was asked.")
    return bind_protocol(protocol, version, variant)


def scheme_of_spec(spec: Mapping[str, Any]) -> tuple[str, str]:
    """Return a spec's scheme and its content hash, both '' if it has none."""
    return spec.get("scheme", ""), spec.get("scheme_hash", "")


# Plans: from a protocol or a metric to a rater, its questions and its queue.

LEAST_BUDGET = 1000
SAMPLE_COUNT = parameters.Parameter(
    "samples",
    "whole",
    "Samples",
    "How often each question is asked. Empty: once, by a pairwise judge once in each order, by G-Eval with "
    "samples 20 times.",
    1,
    MOST_SAMPLES,
)
BUDGET = parameters.Parameter(
    "budget",
    "whole",
    "Most characters of a prompt",
    "Empty: nothing is cut. Else the longest texts lose their middle, and the call is flagged.",
    LEAST_BUDGET,
    2**31 - 1,
)
CONTINUATION = "continuation"
"""Scope of calls that are not about a single item."""


@dataclass(frozen=True, slots=True)
class RaterPlan:
    """A rater as a run needs it: `covers` is the scope of a call (an item of a kind, or a whole
    continuation), asked in `parts`; `item_kinds` are the kinds that its questions are about, `kind` is the
    kind of its run. `reasks` is the number of times that it asks again after an unreadable reply.
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
    """Settings of a judge. `parameters` are those of `jobs.endpoints.parameters` that were given.

    `shows` lists material shown besides the turns and the defaults (`annotation.text.views`); over a campaign
    a judge sees the same material as people. `budget` limits the characters of a prompt. `needs` names, per
    role, the judge or metric whose answers the protocol reads. `prompt` refers to a version of a prompt
    (`name@number`), which determines protocol and variant; without it the protocol's own text is used.
    `scheme` (`key` or `key@version`) is the scheme for a protocol that takes any; it is optional over a
    campaign, and with a prompt for a scheme. A draft (`judges.drafts`) names its bench as `draft` and its
    stored text as `wording` instead.
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
        """Return the plan; raise JudgeError for inconsistent settings, and for worked examples of test."""
        own = self._own_prompt()
        if self.draft is not None:
            examples.refuse_test_items(texts.of_digest(self.wording))
        template, variant = self._protocol_and_variant(own)
        scheme = scheme_version_for(template, self.scheme, own, campaign)
        protocol = bind_protocol(template, scheme, variant)
        endpoint = self.endpoint if protocol.network else None
        if protocol.network and endpoint is None:
            raise JudgeError(f"{protocol.key} asks a model: choose an endpoint.")
        spec = protocol.fingerprint(variant) | self._text(own) | self._seen(campaign)
        spec |= scheme_spec(scheme)
        if endpoint:
            needed = protocol.parameters(variant) if isinstance(protocol, Asking) else {}
            sent = parameters.checked({**needed, **self.parameters})
            spec |= {"model": endpoint.answering_model, **endpoint.server, "parameters": sent}
        bound, read = bind_needs(protocol, self.needs, drafts=self.draft is not None)
        if bound:
            spec |= {"needs": bound}
        title, short_name = f"draft of {protocol.key}", ""
        if self.draft is None:
            title = _title(protocol, variant, own, scheme)
            short_name = _short_name(protocol, variant, own, scheme)
        name = _distinct_name(self._name(title, protocol, read), endpoint)
        rater = labels.machine_rater(kind=Rater.Kind.JUDGE, name=name, spec=spec, short_name=short_name)
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
        """Return the protocol, bound to the scheme if it takes one. Raises JudgeError."""
        own = self._own_prompt()
        template, variant = self._protocol_and_variant(own)
        return bind_protocol(template, scheme_version_for(template, self.scheme, own, campaign), variant)

    def usual_samples(self) -> int:
        """Return the default number of samples. Raises JudgeError."""
        protocol, variant = self._protocol_and_variant(self._own_prompt())
        return protocol.samples_of(variant)

    def at(self, endpoints: Sequence[Endpoint]) -> list[Judge]:
        """Return the judge at each of some endpoints, or itself without any if it asks no model. Raises
        JudgeError."""
        protocol, _ = self._protocol_and_variant(self._own_prompt())
        if not protocol.network:
            return [replace(self, endpoint=None)]
        return [replace(self, endpoint=endpoint) for endpoint in endpoints] or [self]

    def _own_prompt(self) -> Version | None:
        """Return the version of the prompt, None for the protocol's own text."""
        version = listing.find(self.prompt) if self.prompt else None
        if version is None:
            return None
        if version.row is not None and version.row.is_open:
            raise JudgeError(f"{version.ref} is a proposal that nobody has adopted yet: adopt it first.")
        examples.refuse_test_items(version.wording)
        if self.protocol not in ("", version.protocol) or self.variant not in ("", version.variant):
            purpose = " ".join(part for part in (version.protocol, version.variant) if part)
            raise JudgeError(f"The prompt {version.ref} is for {purpose}: name that, or the prompt alone.")
        return version

    def _protocol_and_variant(self, own: Version | None) -> tuple[Protocol, str]:
        key = own.protocol if own else self.protocol
        if key not in PROTOCOLS:
            raise JudgeError(f"There is no judge protocol {key!r}; there are {', '.join(PROTOCOLS)}.")
        protocol = PROTOCOLS[key]
        variant = own.variant if own else self.variant or protocol.variants[0]
        if variant not in protocol.variants:
            variants = ", ".join(filter(None, protocol.variants)) or "none"
            raise JudgeError(f"{protocol.key} has no variant {variant!r}; it has {variants}.")
        return protocol, variant

    def _text(self, own: Version | None) -> dict[str, Any]:
        """Return the spec's entries for the text, and for being a draft."""
        if self.draft is not None:
            of = {} if self.search is None else {"search": self.search}
            return {"draft": self.draft, "wording": self.wording, **of}
        return _text_of(own)

    def _seen(self, campaign: Campaign | None) -> dict[str, Any]:
        """Return the spec's entries for non-default material and for the budget."""
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
        settings = parameters.name_suffix(parameters.checked(self.parameters))
        return f"{marked(self.endpoint.answering_model)} {title}{settings}{below}"[:180]


def _distinct_name(name: str, endpoint: Endpoint | None) -> str:
    """Return a judge's name, with its endpoint if a judge at another server already has the name."""
    first = Rater.objects.filter(corpus=None, kind=Rater.Kind.JUDGE, name=name).first()
    if endpoint is None or first is None:
        return name
    server = {part: first.spec[part] for part in ("address", "revision") if part in first.spec}
    return name if server == endpoint.server else f"{name[:130]} at {endpoint.name[:60]}"


def _title(protocol: Protocol, variant: str, own: Version | None, scheme: SchemeVersion | None) -> str:
    over = f" {scheme_ref(scheme)}" if scheme else ""
    if own is not None and not own.is_built_in:
        return f"{own.ref}{over}"
    form = f" {variant.replace('_', ' ')}" if variant and len(protocol.variants) > 1 else ""
    return f"{protocol.key}{over}{form}"


def _short_name(protocol: Protocol, variant: str, own: Version | None, scheme: SchemeVersion | None) -> str:
    """Return `support v3` for a prompt of one's own, else `Rubric v1: Politeness`, by protocol and scheme."""
    if own is not None and not own.is_built_in:
        return f"{own.name[: SHORT_NAME - 10]} v{own.number}"
    form = f" {variant.replace('_', ' ')}" if variant and len(protocol.variants) > 1 else ""
    over = f": {scheme.name}" if scheme else ""
    return f"{protocol.title.partition(':')[0]}{form} v{protocol.version}{over}"[:SHORT_NAME].rstrip()


def _text_of(own: Version | None) -> dict[str, str]:
    """Return a judge's spec entries for its text; empty for a built-in text."""
    if own is None or own.is_built_in:
        return {}
    return {"prompt": own.ref, "wording": own.wording.digest()}


def questions_of(
    protocol: Protocol, campaign: Campaign | None, bound_to: SchemeVersion | None = None
) -> tuple[dict[str, SchemeVersion], dict[str, int]]:
    """Return the stored scheme versions that a protocol answers, by key, and its questions' ids, by name."""
    versions = _store(protocol.answers.values(), campaign, bound_to)
    question_ids = {
        name: _question(versions[scheme.key], key) for name, (scheme, key) in protocol.answers.items()
    }
    return versions, question_ids


def settings_of_judge(values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert named settings to arguments of `Judge`: sampling parameters in one mapping."""
    sampling = {name: values[name] for name in parameters.PARAMETERS if values.get(name) is not None}
    rest = {name: value for name, value in values.items() if name not in parameters.PARAMETERS}
    return {"parameters": sampling, **rest}


def _store(
    answers: Iterable[tuple[SchemeDefinition, str]],
    campaign: Campaign | None,
    bound_to: SchemeVersion | None,
) -> dict[str, SchemeVersion]:
    """Return the stored version of each scheme: the one that the protocol is bound to, or the campaign's."""
    versions = {}
    for scheme in {scheme.key: scheme for scheme, _ in answers}.values():
        own = bound_to or (campaign.scheme_version if campaign else None)
        same = own is not None and own.scheme.key == scheme.key
        versions[scheme.key] = own if own is not None and same else scheme_store.store(definition=scheme)
    return versions


def _question(version: SchemeVersion, key: str) -> int:
    question = version.questions.filter(key=key).first()
    if question is None:
        raise JudgeError(f"The campaign's version of {version.scheme.key} has no question {key!r}.")
    return question.pk


# Askers: from a judge's spec to its protocol, its variant, and its text if that is not the protocol's own.


@dataclass(frozen=True, slots=True)
class Asker:
    """A protocol with a judge's settings; `wording` None is the protocol's own text."""

    protocol: Protocol
    variant: str = ""
    wording: Wording | None = None
    budget: int | None = None

    def parts(self) -> tuple[str, ...]:
        """Return the parts, each asked in its own call."""
        return self.protocol.parts(self.variant)

    def prompt(self, case: Case, *, near: bool = True) -> tuple[Prompt, tuple[str, ...]]:
        """Return the prompt for a case, and flags; raise TooLong if it cannot fit the budget.

        Without `near`, the nearest examples are not searched: a prompt of similar length, for estimates.
        """
        assert isinstance(self.protocol, Asking)
        text = ranked(self.wording, case) if near and self.wording else self.wording
        return within(self.protocol, case, self.variant, self.budget, text)

    def read(self, reply: str, tokens: Tokens, case: Case) -> Reading:
        """Parse the answers of a reply; raise Unparseable if it does not answer."""
        assert isinstance(self.protocol, Asking)
        return self.protocol.read(reply, tokens, case, self.variant, self.wording)

    def given_up(self, error: Unparseable, case: Case) -> Reading | None:
        """Return the reading to use after the last unreadable reply, None if there is none."""
        assert isinstance(self.protocol, Asking)
        return self.protocol.given_up(error, case)

    def whole_prompt(self, case: Case) -> Prompt:
        """Return the prompt for a case without the budget's cuts."""
        assert isinstance(self.protocol, Asking)
        return self.protocol.prompt(case, self.variant, self.wording)


def asker_of(spec: Mapping[str, Any]) -> Asker:
    """Return the asker of a judge with this spec."""
    scheme = scheme_of_spec(spec)
    return _asker(
        spec["protocol"], spec.get("variant", ""), spec.get("wording", ""), spec.get("budget"), *scheme
    )


@lru_cache(maxsize=256)
def _asker(
    protocol: str, variant: str, wording: str, budget: int | None, scheme: str, scheme_hash: str
) -> Asker:
    bound_protocol = protocol_of_spec(PROTOCOLS[protocol], variant, scheme, scheme_hash)
    return Asker(bound_protocol, variant, texts.of_digest(wording) if wording else None, budget)
