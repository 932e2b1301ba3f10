"""Forms of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation import scheme_store
from annotation.corpora import exclusion, splits
from annotation.corpora.queries import showable
from annotation.corpora.splits import LONGEST_PURPOSE
from annotation.errors import ExclusionRefused
from annotation.models import Campaign, Corpus, SchemeVersion, System
from annotation.schemes import SCHEMES
from annotation.text.views import DEFAULT
from jobs import runs
from jobs.endpoints.ownership import usable_by
from jobs.endpoints.parameter_inputs import WithParameters, form_field, given_parameters
from jobs.errors import JobError
from jobs.models import Run
from jobs.models.endpoint import Endpoint
from jobs.runs import CAPS
from judges.metrics import METRICS, split_keys
from judges.metrics.kit.metric import ENDPOINT
from judges.prompts import versions
from judges.prompts.versions import Version
from judges.protocols import PROTOCOLS, Protocol, Unfit
from judges.protocols.rubric import EXPECTED_SCHEME, G_EVAL_SCHEME
from judges.runs.lookup import Availability, availability, part_choices, split_for
from judges.runs.material import machines
from judges.runs.plans import BUDGET, SAMPLE_COUNT, Judge
from judges.runs.plans import scheme_ref as ref
from judges.runs.run_sets import NAME_LIMIT
from judges.runs.selection import PlannedJudge, Selection

# Form fields for a protocol's bindings: the scheme that it asks, and the raters whose answers it reads.

NEED = "need_"
"""Prefix of the names of need fields, followed by the role."""
SAMPLES_OF = "samples:"
"""Prefix of the names of the fields for a judge's own number of samples, followed by its value."""
DERIVED = ("metric:", EXPECTED_SCHEME, G_EVAL_SCHEME)
"""Key prefixes of schemes for computed values, which cannot be asked."""
Choice = tuple[str, str]


def scheme_choices() -> list[tuple[str, Any]]:
    """Return the schemes whose questions a judge may ask: own ones, the newest first, then built-in ones."""
    built_in = [(key, f"{scheme.title} ({key})") for key, scheme in SCHEMES.items()]
    stored = SchemeVersion.objects.select_related("scheme").order_by("-pk")
    own = [
        (ref(version), f"{version.name} ({ref(version)})")
        for version in stored
        if version.scheme.key not in SCHEMES and not version.scheme.key.startswith(DERIVED)
    ]
    groups: list[Any] = [("Your schemes", own), ("Schemes that come with Concord", built_in)]
    return [("", "none"), *(groups if own else built_in)]


def scheme_choice(version: SchemeVersion) -> str:
    """Return the value of a scheme's version among `scheme_choices`."""
    return version.scheme.key if version.scheme.key in SCHEMES else ref(version)


def scheme_field(version: Version) -> forms.ChoiceField:
    """Return the field for a version's scheme; a version bound to a scheme has no other choice."""
    own = version.scheme_version
    if own is not None:
        return forms.ChoiceField(label="Scheme", choices=[(ref(own), ref(own))], initial=ref(own))
    choices = [("", "Choose a scheme"), *scheme_choices()[1:]]
    return forms.ChoiceField(label="Scheme", choices=choices, help_text="Whose questions it asks.")


def need_fields(protocol: Protocol, drafts: Iterable[Choice] = ()) -> dict[str, forms.Field]:
    """Return a field for every role that a protocol needs, with judges, metrics and drafts as choices."""
    if not protocol.needs:
        return {}
    read = [("", "nobody's"), *((rater.fingerprint, rater.title) for rater in machines())]
    groups: list[Any] = [*read, *([("Drafts", list(drafts))] if drafts else [])]
    return {
        f"{NEED}{need.role}": forms.ChoiceField(
            required=False,
            label=f"Whose {need.role.replace('_', ' ')}",
            choices=groups,
            help_text=f"It reads another rater's answers to {need.question}"
            f"{'; may be left out' if need.optional else ''}.",
        )
        for need in protocol.needs
    }


def needs_of(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the chosen rater by role."""
    return {name.removeprefix(NEED): value for name, value in data.items() if name.startswith(NEED)}


# Fields for a run's caps and mode.


class CapsForm(forms.Form):
    """Form with a run's caps; an empty cap means no limit."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update({name: form_field(cap) for name, cap in CAPS.items()})

    def caps(self) -> list[forms.BoundField]:
        """Return the fields for the caps."""
        return [self[name] for name in CAPS]

    def has_caps(self) -> bool:
        """Whether a cap is given or invalid."""
        return any(field.errors or field.value() for field in self.caps())


class RunForm(CapsForm, WithParameters):
    """Form that starts a run at an endpoint, with its sampling parameters, caps and mode."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["mode"] = forms.ChoiceField(
            required=False,
            choices=[("", "at once, or as the run is asked already"), *Run.Mode.choices],
            label="How it is asked",
            help_text="In batches the provider answers within a day, for a part of the price; only where the "
            "endpoint takes batches.",
        )

    def clean_mode(self) -> str:
        """Require endpoints that support the mode."""
        mode: str = self.cleaned_data["mode"]
        for endpoint in self.selected_endpoints():
            try:
                runs.put_mode(Run(endpoint=endpoint), mode or Run.Mode.AT_ONCE)
            except JobError as error:
                raise forms.ValidationError(str(error)) from None
        return mode

    def selected_endpoints(self) -> list[Endpoint | None]:
        """Return the chosen endpoints, as far as they are valid."""
        return [self.cleaned_data["endpoint"]] if "endpoint" in self.cleaned_data else []


class AdoptForm(forms.Form):
    """Choice of the provider's batch that a batch corresponds to."""

    provider_id = forms.CharField(max_length=200, label="Its id at the provider, such as batch_68a1f0")

    def __init__(self, data: Any = None, *, batch: int) -> None:
        super().__init__(data, auto_id=f"batch-{batch}-%s")
        self.batch = batch


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """A judge to choose: a version of a user's prompt, or a variant of a built-in protocol."""

    value: str
    label: str
    protocol: Protocol
    variant: str
    version: Version | None = None


def judge_value(version: Version) -> str:
    """Return a version's value among the judges to choose from, '' if it cannot be run."""
    if version.row is None:
        return f"{version.protocol}:{version.variant}"
    return "" if version.row.is_open or version.row.prompt.archived else version.ref


def judge_choices() -> list[JudgeChoice]:
    """Return users' prompts, the newest version of each first, then the protocols with their variants."""
    own = [
        JudgeChoice(
            version.ref,
            f"{version.ref} ({version.protocol})",
            PROTOCOLS[version.protocol],
            version.variant,
            version,
        )
        for version in versions.runnable()
        if version.protocol in PROTOCOLS
    ]
    built_in = []
    for protocol in PROTOCOLS.values():
        for variant in protocol.variants:
            form = f" ({variant.replace('_', ' ')})" if variant and len(protocol.variants) > 1 else ""
            label = f"{protocol.title}{form}"
            built_in.append(JudgeChoice(f"{protocol.key}:{variant}", label, protocol, variant))
    return [*own, *built_in]


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A judge to choose, with the field for its own number of samples, which the page shows with the values
    of `place`."""

    choice: JudgeChoice
    is_selected: bool
    samples: forms.BoundField
    place: str


@dataclass(frozen=True, slots=True)
class JudgeGroup:
    """Judges under one heading. `folded`: behind its heading."""

    title: str
    rows: list[JudgeRow]
    folded: bool = False


def metric_choices() -> list[tuple[str, str]]:
    """Return every metric by its key."""
    return [(key, f"{metric.title} ({key})") for key, metric in METRICS.items()]


def offer_parts(form: forms.Form, corpus: Corpus) -> None:
    """Offer the parts of a corpus in a form's field `part`; remove the field if there are none."""
    field = form.fields["part"]
    assert isinstance(field, forms.ChoiceField)
    field.choices = part_choices(corpus)
    if not field.choices:
        del form.fields["part"]


class ExclusionForm(forms.Form):
    """The exclusion of a corpus's dialogues by people's answers."""

    exclude = forms.CharField(
        required=False, max_length=exclusion.LONGEST, label=exclusion.LABEL, help_text=exclusion.HELP
    )
    corpus: Corpus

    def offer_exclusion(self, corpus: Corpus) -> None:
        """Remove the field where nobody answers questions about the corpus."""
        self.corpus = corpus
        if not exclusion.is_possible(corpus):
            del self.fields["exclude"]

    def clean_exclude(self) -> str:
        """Return the exclusion without spaces."""
        try:
            return exclusion.check(self.corpus, self.cleaned_data["exclude"])
        except ExclusionRefused as error:
            raise forms.ValidationError(f"{error}.") from error


class SelectionForm(ExclusionForm):
    """The continuations of a corpus or campaign that new runs cover, and the name of their set."""

    systems = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None chosen means all of them."
    )
    include_self = forms.BooleanField(
        required=False,
        label="The dialogues' own turns too",
        help_text="Dialogues without continuations are covered by their own turns anyway.",
    )

    part = forms.ChoiceField(
        required=False,
        label="Part",
        help_text="A judge is developed on dev and measured on test. Training is left out unless chosen.",
    )
    set_name = forms.CharField(
        required=False,
        max_length=NAME_LIMIT,
        label="Name of the run set",
        help_text="Several runs that start together are a set with one page and one report. Empty: named "
        "after its judges or metrics.",
    )

    def __init__(self, *args: Any, corpus: Corpus, campaign: Campaign | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus, self.campaign = corpus, campaign
        names = System.objects.filter(corpus=corpus).values_list("name", flat=True)
        field = self.fields["systems"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(name, name) for name in names]
        offer_parts(self, corpus)
        self.offer_exclusion(corpus)

    def selection(self, samples: int = 1) -> Selection:
        """Return the chosen selection, with a number of samples."""
        data = self.cleaned_data
        part = data.get("part", "")
        split = split_for(self.corpus, part)
        systems, exclude = tuple(data["systems"]), data.get("exclude", "")
        include_self = data["include_self"]
        return Selection(self.corpus, self.campaign, systems, include_self, samples, split, part, exclude)


class NewRunForm(RunForm, SelectionForm):
    """Settings of a run of each chosen judge at each chosen endpoint, and of each chosen metric."""

    judge = forms.MultipleChoiceField(label="Judges", required=False, widget=forms.CheckboxSelectMultiple)
    metrics = forms.MultipleChoiceField(
        choices=metric_choices, required=False, widget=forms.CheckboxSelectMultiple
    )
    metric_keys = forms.CharField(
        required=False,
        label="Metrics with variants and parameters",
        help_text="Keys such as m_sns_avg@reference:window=10, separated by commas.",
    )
    likelihood_endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(),
        required=False,
        label="Endpoint for likelihood (ll)",
        help_text="Its model scores each message, if the server gives log-probabilities of a prompt, as vLLM "
        "does. Empty: a model on this machine.",
    )
    endpoint = forms.ModelMultipleChoiceField(
        Endpoint.objects.none(),
        required=False,
        label="Endpoints",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each judge asks the model of each endpoint. Nothing is sent before you have seen the "
        "cost and a request.",
    )
    scheme = forms.ChoiceField(
        required=False,
        choices=scheme_choices,
        label="Questions",
        help_text="The scheme that a rubric, G-Eval or pairwise judge asks; other judges have their own.",
    )
    samples = form_field(SAMPLE_COUNT)
    shows = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Shown beside the usual",
        help_text="Goal, topic, roles, profiles, agenda and summary always are. Systems are never named.",
    )
    budget = form_field(BUDGET)
    use_cache = forms.BooleanField(
        required=False,
        initial=True,
        label="Reuse replies to equal requests",
        help_text="A reply that another run got from the same endpoint is reused and costs nothing. Samples "
        "are never shared.",
    )
    open_test = forms.CharField(
        required=False,
        max_length=LONGEST_PURPOSE,
        label="Open test for",
        help_text="Why the test part is opened for these judges, where the run covers it. Once per judge; "
        "logged with your name, and printed on every report that shows test.",
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offered = judge_choices()
        endpoints = usable_by(person).order_by("name")
        endpoint = self.fields["endpoint"]
        assert isinstance(endpoint, forms.ModelMultipleChoiceField)
        endpoint.queryset = endpoints
        endpoint.initial = _usual_endpoint(self.corpus, endpoints)
        for_likelihood = self.fields["likelihood_endpoint"]
        assert isinstance(for_likelihood, forms.ModelChoiceField)
        for_likelihood.queryset = endpoints
        judge = self.fields["judge"]
        assert isinstance(judge, forms.MultipleChoiceField)
        judge.choices = [(choice.value, choice.label) for choice in self.offered]
        for choice in self.offered:
            self.fields[f"{SAMPLES_OF}{choice.value}"] = form_field(
                SAMPLE_COUNT,
                widget=forms.NumberInput({"aria-label": f"Samples of {choice.label}", "class": "w-auto"}),
            )
        if splits.lock_of(self.corpus) is None:
            del self.fields["open_test"]
        shows = self.fields["shows"]
        assert isinstance(shows, forms.MultipleChoiceField)
        shows.choices = [pair for pair in showable(self.corpus) if pair[0] not in DEFAULT]
        if self.campaign or not shows.choices:
            del self.fields["shows"]
        self.campaign_schemes = _asked_schemes(self.corpus, self.campaign)
        if self.campaign:
            self._name_the_campaigns_scheme()
        elif self.campaign_schemes:
            self.fields["scheme"].initial = scheme_choice(self.campaign_schemes[0])
        self._add_needs()

    def _name_the_campaigns_scheme(self) -> None:
        field = self.fields["scheme"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "the campaign's own"), *scheme_choices()[1:]]

    def selected_endpoints(self) -> list[Endpoint | None]:
        """Return the chosen endpoints, as far as they are valid; None stands for no endpoint."""
        return list(self.cleaned_data.get("endpoint", ())) or [None]

    def clean(self) -> dict[str, Any]:
        """Require a judge or a metric, and a scheme and an endpoint where a chosen judge needs them."""
        data = super().clean() or {}
        selected = self._selected()
        if not selected and not self.selected_metrics() and "judge" not in self.errors:
            self.add_error("judge", "Choose at least one judge or metric.")
        bound = [choice for choice in selected if choice.version and choice.version.scheme_version]
        taking = [choice for choice in selected if choice.protocol.takes_scheme and choice not in bound]
        if taking and not data.get("scheme") and not self.campaign and "scheme" not in self.errors:
            self.add_error("scheme", f"Choose the questions that {taking[0].label} asks.")
        asking = [choice for choice in selected if choice.protocol.network]
        if asking and "endpoint" in data and not data["endpoint"]:
            self.add_error("endpoint", f"{asking[0].label} asks a model: choose an endpoint.")
        return data

    def _selected(self) -> list[JudgeChoice]:
        values = self.cleaned_data.get("judge", ())
        return [choice for choice in self.offered if choice.value in values]

    def _add_needs(self) -> None:
        """Add a choice of raters for every role that any protocol needs."""
        for protocol in PROTOCOLS.values():
            for name, field in need_fields(protocol).items():
                field.help_text = f"For {protocol.title.partition(':')[0]} alone. {field.help_text}"
                self.fields[name] = field

    def selected_metrics(self) -> list[str]:
        """Return the keys of all chosen metrics, as far as they are valid."""
        data, endpoint = self.cleaned_data, self.cleaned_data.get("likelihood_endpoint")
        selected = [
            f"{key}:{ENDPOINT}={endpoint.name}" if endpoint and METRICS[key].likelihood else key
            for key in data.get("metrics", ())
        ]
        return list(dict.fromkeys([*selected, *split_keys(data.get("metric_keys", ""))]))

    def clean_likelihood_endpoint(self) -> Endpoint | None:
        """Require a metric that asks an endpoint, if one is chosen, and a name that can stand in its key."""
        endpoint: Endpoint | None = self.cleaned_data["likelihood_endpoint"]
        if endpoint and not any(METRICS[key].likelihood for key in self.cleaned_data.get("metrics", ())):
            raise forms.ValidationError("No chosen metric asks one: choose ll too, or leave this empty.")
        if endpoint and "," in endpoint.name:
            raise forms.ValidationError("A comma in its name separates parameters: rename the endpoint.")
        return endpoint

    def metric_groups(self) -> dict[str, list[tuple[str, Availability, bool]]]:
        """Return the metrics by heading: key, availability for the corpus, and whether chosen."""
        selected = set(self["metrics"].value() or ())
        groups: dict[str, list[tuple[str, Availability, bool]]] = {}
        for key, entry in sorted(availability(self.corpus).items(), key=lambda pair: pair[1].rank):
            groups.setdefault(entry.group, []).append((key, entry, key in selected))
        return groups

    def groups(self) -> list[JudgeGroup]:
        """Return the judges to choose from: newest own prompts, those for the corpus's questions, others."""
        selected = {str(value) for value in self["judge"].value() or ()}
        newest: dict[str, JudgeChoice] = {}
        own: list[JudgeRow] = []
        fitting: list[JudgeRow] = []
        others: list[JudgeRow] = []
        for choice in self.offered:
            place = f"{self['judge'].html_name} {quote(choice.value, safe='')}"
            row = JudgeRow(choice, choice.value in selected, self[f"{SAMPLES_OF}{choice.value}"], place)
            if choice.version is not None:
                is_newest = newest.setdefault(choice.version.name, choice) is choice
                (own if is_newest or row.is_selected else others).append(row)
            else:
                (
                    fitting if any(_answers(choice, version) for version in self.campaign_schemes) else others
                ).append(row)
        names = " and ".join(dict.fromkeys(version.name for version in self.campaign_schemes))
        groups = [JudgeGroup("Your prompts", own), JudgeGroup(f"For the questions of {names}", fitting)]
        is_folded = bool(own or fitting) and not any(row.is_selected for row in others)
        groups.append(JudgeGroup("Other judges" if own or fitting else "Judges", others, is_folded))
        return [group for group in groups if group.rows]

    def needs(self) -> list[tuple[forms.BoundField, str]]:
        """Return the fields for needs, each with the judges that have it, as in `with_judges`."""
        return [
            (self[name], self._with(_has_need(name.removeprefix(NEED))))
            for name in self.fields
            if name.startswith(NEED)
        ]

    def with_scheme(self) -> str:
        """Return the judges that ask the questions of a scheme, for the page: the field belongs to them."""
        return self._with(lambda protocol: protocol.takes_scheme)

    def with_endpoint(self) -> str:
        """Return the judges that ask a model."""
        return self._with(lambda protocol: protocol.network)

    def _with(self, belongs: Callable[[Protocol], bool]) -> str:
        """Return the name of the judges' field and the values, URL-encoded, that a field belongs to."""
        judges = [quote(choice.value, safe="") for choice in self.offered if belongs(choice.protocol)]
        return " ".join([self["judge"].html_name, *judges])

    def planned(self) -> list[PlannedJudge]:
        """Return a judge with the entered settings for each chosen judge and endpoint. Raises JudgeError."""
        data, planned = self.cleaned_data, []
        for choice in self._selected():
            for endpoint in self.selected_endpoints() if choice.protocol.network else [None]:
                judge = self._judge(choice, endpoint)
                samples = data[f"{SAMPLES_OF}{choice.value}"] or data["samples"] or judge.usual_samples()
                planned.append(PlannedJudge(choice.label, judge, self.selection(samples)))
        return planned

    def _judge(self, choice: JudgeChoice, endpoint: Endpoint | None) -> Judge:
        data, own = self.cleaned_data, choice.version
        takes_scheme = choice.protocol.takes_scheme and not (own and own.scheme_version)
        return Judge(
            "" if own else choice.protocol.key,
            "" if own else choice.variant,
            endpoint,
            given_parameters(self),
            shows=tuple(data.get("shows", ())),
            budget=data["budget"],
            needs={need.role: data[f"{NEED}{need.role}"] for need in choice.protocol.needs},
            prompt=own.ref if own else "",
            scheme=data["scheme"] if takes_scheme else "",
        )


def _has_need(role: str) -> Callable[[Protocol], bool]:
    return lambda protocol: any(need.role == role for need in protocol.needs)


def _asked_schemes(corpus: Corpus, campaign: Campaign | None) -> list[SchemeVersion]:
    """Return the scheme versions that people are asked about: of a campaign, or a corpus's campaigns, newest
    first."""
    if campaign is not None:
        return [campaign.scheme_version]
    campaigns = corpus.campaigns.filter(archived_at=None).select_related("scheme_version__scheme")
    return list(dict.fromkeys(row.scheme_version for row in campaigns.order_by("-pk")))


def _answers(choice: JudgeChoice, version: SchemeVersion) -> bool:
    """Whether a built-in judge answers the questions of a scheme version."""
    if not choice.protocol.takes_scheme:
        return version.scheme.key in {scheme.key for scheme, _ in choice.protocol.answers.values()}
    try:
        choice.protocol.over(scheme_store.definition_of(version), choice.variant)
    except Unfit:
        return False
    return True


def _usual_endpoint(corpus: Corpus, endpoints: QuerySet[Endpoint]) -> list[Endpoint]:
    """Return the one that a corpus's judges were asked at last, or the only one; at most one."""
    last = endpoints.filter(run__corpus=corpus).order_by("-run__pk").first()
    usual = [last] if last else list(endpoints[:2])
    return usual if len(usual) == 1 else []
