"""Forms of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django import forms

from annotation.corpora.queries import showable
from annotation.corpora.splits import LONGEST_PURPOSE
from annotation.models import Campaign, Corpus, SchemeVersion, System
from annotation.schemes import SCHEMES
from annotation.text.views import DEFAULT
from jobs import runs
from jobs.endpoints.parameter_inputs import WithParameters, form_field, given_parameters
from jobs.errors import JobError
from jobs.models import Run
from jobs.models.endpoint import Endpoint
from jobs.runs import CAPS
from judges.metrics import METRICS, split_keys
from judges.prompts import versions
from judges.prompts.versions import Version
from judges.protocols import PROTOCOLS, Protocol
from judges.protocols.rubric import EXPECTED_SCHEME, G_EVAL_SCHEME
from judges.runs.lookup import Availability, availability, part_choices, split_for
from judges.runs.material import machines
from judges.runs.plans import BUDGET, SAMPLE_COUNT, Judge
from judges.runs.plans import scheme_ref as ref
from judges.runs.selection import Selection

# Form fields for a protocol's bindings: the scheme that it asks, and the raters whose answers it reads.

NEED = "need_"
"""Prefix of the names of need fields, followed by the role."""
DERIVED = ("metric:", EXPECTED_SCHEME, G_EVAL_SCHEME)
"""Key prefixes of schemes for computed values, which cannot be asked."""
Choice = tuple[str, str]


def scheme_choices() -> list[Choice]:
    """Return the schemes whose questions a judge may ask: the built-in ones and other stored ones."""
    built_in = [(key, f"{scheme.title} ({key})") for key, scheme in SCHEMES.items()]
    stored = SchemeVersion.objects.select_related("scheme").order_by("scheme__title", "-version")
    own = [
        (ref(version), f"{version.name} ({ref(version)})")
        for version in stored
        if version.scheme.key not in SCHEMES and not version.scheme.key.startswith(DERIVED)
    ]
    return [("", "none"), *built_in, *own]


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
        """Require an endpoint that supports the mode."""
        mode: str = self.cleaned_data["mode"]
        if "endpoint" in self.cleaned_data:
            try:
                runs.put_mode(Run(endpoint=self.cleaned_data["endpoint"]), mode or Run.Mode.AT_ONCE)
            except JobError as error:
                raise forms.ValidationError(str(error)) from None
        return mode


class AdoptForm(forms.Form):
    """Choice of the provider's batch that a batch corresponds to."""

    provider_id = forms.CharField(max_length=200, label="Its id at the provider, such as batch_68a1f0")

    def __init__(self, data: Any = None, *, batch: int) -> None:
        super().__init__(data, auto_id=f"batch-{batch}-%s")
        self.batch = batch


def judge_choices() -> list[tuple[str, Any]]:
    """Return all protocols, with their variants if there are several, and the versions of users' prompts;
    none is preselected."""
    choices: list[tuple[str, Any]] = [("", "Choose a judge")]
    for protocol in PROTOCOLS.values():
        for variant in protocol.variants:
            form = f" ({variant.replace('_', ' ')})" if variant and len(protocol.variants) > 1 else ""
            choices.append((f"{protocol.key}:{variant}", f"{protocol.title}{form}"))
    own = [(version.ref, f"{version.ref} ({version.protocol})") for version in versions.runnable()]
    if not own:
        return choices
    empty, *built_in = choices
    return [empty, ("Your prompts", own), ("Judges that come with Concord", built_in)]


def _flat(choices: Iterable[tuple[str, Any]]) -> Iterator[Choice]:
    """Yield the choices of a select, those in groups, too."""
    for value, label in choices:
        if isinstance(label, list):
            yield from label
        else:
            yield value, label


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


class SelectionForm(forms.Form):
    """Fields shared by both kinds of run: the selected continuations of a corpus or campaign."""

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

    def __init__(self, *args: Any, corpus: Corpus, campaign: Campaign | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus, self.campaign = corpus, campaign
        names = System.objects.filter(corpus=corpus).values_list("name", flat=True)
        field = self.fields["systems"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(name, name) for name in names]
        offer_parts(self, corpus)

    def selection(self) -> Selection:
        """Return the chosen selection."""
        data = self.cleaned_data
        samples = data.get("samples") or self.usual_samples()
        part = data.get("part", "")
        split = split_for(self.corpus, part)
        systems = tuple(data["systems"])
        return Selection(self.corpus, self.campaign, systems, data["include_self"], samples, split, part)

    def usual_samples(self) -> int:
        """Return the default number of samples."""
        return 1


class JudgeForm(RunForm, SelectionForm):
    """Settings of a judge's run."""

    judge = forms.ChoiceField(choices=judge_choices, label="Judge")
    endpoint = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True),
        required=False,
        empty_label="none",
        help_text="Where the model is asked. Dialogues are sent there; before that you see what goes where. "
        "A judge made of rules needs none.",
    )
    scheme = forms.ChoiceField(
        required=False,
        choices=scheme_choices,
        label="Whose questions, for a rubric or G-Eval",
        help_text="Other judges have questions of their own.",
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
        label="Take replies that are there",
        help_text="Where another run sent exactly the same to the same endpoint, its reply is taken and "
        "nothing is paid. Samples are never shared.",
    )
    open_test = forms.CharField(
        required=False,
        max_length=LONGEST_PURPOSE,
        label="Open test for",
        help_text="What this judge is opened on test for, where the run covers test. Once per judge; logged "
        "with your name, and printed on every report that shows test.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.corpus.splits.exists():
            del self.fields["open_test"]
        shows = self.fields["shows"]
        assert isinstance(shows, forms.MultipleChoiceField)
        shows.choices = [pair for pair in showable(self.corpus) if pair[0] not in DEFAULT]
        if self.campaign or not shows.choices:
            del self.fields["shows"]
        if self.campaign:
            self._name_the_campaigns_scheme()
        self._add_needs()

    def usual_samples(self) -> int:
        """Return one, or one in each order for a judge that compares."""
        return self.selected_judge().usual_samples()

    def _name_the_campaigns_scheme(self) -> None:
        field = self.fields["scheme"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "the campaign's own"), *scheme_choices()[1:]]

    def clean_scheme(self) -> str:
        """Require a scheme for a judge without questions of its own, and refuse it for any other judge."""
        scheme: str = self.cleaned_data["scheme"]
        protocol = PROTOCOLS.get(str(self.cleaned_data.get("judge", "")).partition(":")[0])
        if protocol and protocol.takes_scheme and not scheme and not self.campaign:
            raise forms.ValidationError("Choose whose questions it asks.")
        if protocol and not protocol.takes_scheme and scheme:
            raise forms.ValidationError(f"{protocol.key} has questions of its own: choose none.")
        return scheme

    def _add_needs(self) -> None:
        """Add a choice of raters for every role that any protocol needs."""
        for protocol in PROTOCOLS.values():
            for name, field in need_fields(protocol).items():
                field.help_text = f"For {protocol.title.partition(':')[0]} alone. {field.help_text}"
                self.fields[name] = field

    def needs(self) -> list[tuple[forms.BoundField, str]]:
        """Return the fields for needs, each with the judges that have it, as in `with_judges`."""
        return [
            (self[name], self._with(lambda protocol, name=name: name in need_fields(protocol)))
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
        """Return the name of the judge's field and the choices whose protocols a field belongs to."""
        protocols = {version.ref: version.protocol for version in versions.runnable()}
        values = [value for value, _ in _flat(judge_choices()) if value]
        keys = {value: protocols.get(value, value.partition(":")[0]) for value in values}
        judges = [value for value, key in keys.items() if key in PROTOCOLS and belongs(PROTOCOLS[key])]
        return " ".join([self["judge"].html_name, *judges])

    def selected_judge(self) -> Judge:
        """Return the judge with the entered settings."""
        data = self.cleaned_data
        prompt = data["judge"] if "@" in data["judge"] else ""
        protocol, _, variant = ("" if prompt else data["judge"]).partition(":")
        shows = tuple(data.get("shows", ()))
        protocol_key = versions.find(prompt).protocol if prompt else protocol
        roles = [need.role for need in PROTOCOLS[protocol_key].needs] if protocol_key in PROTOCOLS else []
        needs = {role: data[f"{NEED}{role}"] for role in roles}
        return Judge(
            protocol,
            variant,
            data["endpoint"],
            given_parameters(self),
            shows=shows,
            budget=data["budget"],
            needs=needs,
            prompt=prompt,
            scheme=data["scheme"],
        )


class MetricForm(SelectionForm):
    """Runs of metrics, one per metric."""

    metrics = forms.MultipleChoiceField(
        choices=metric_choices, required=False, widget=forms.CheckboxSelectMultiple
    )
    keys = forms.CharField(
        required=False,
        label="With variants and parameters",
        help_text="Keys such as m_sns_avg@reference:window=10, separated by commas.",
    )

    def clean(self) -> dict[str, Any]:
        """Require a metric."""
        data = super().clean() or {}
        if not data.get("metrics") and not data.get("keys"):
            raise forms.ValidationError("Choose at least one metric.")
        return data

    def groups(self) -> dict[str, list[tuple[str, Availability, bool]]]:
        """Return the metrics by heading: key, availability for the corpus, and whether chosen."""
        selected = set(self["metrics"].value() or ())
        groups: dict[str, list[tuple[str, Availability, bool]]] = {}
        for key, entry in sorted(availability(self.corpus).items(), key=lambda pair: pair[1].rank):
            groups.setdefault(entry.group, []).append((key, entry, key in selected))
        return groups

    def selected_keys(self) -> list[str]:
        """Return the keys of all selected metrics."""
        return [*self.cleaned_data["metrics"], *split_keys(self.cleaned_data["keys"])]
