"""The form that sets a campaign up."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotation import scheme_store
from annotation.campaigns import sampling
from annotation.campaigns.settings import ALWAYS
from annotation.corpora.queries import showable
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Corpus, System
from annotation.schemes import SCHEMES
from annotation.text.views import DEFAULT

MOMENT = "%Y-%m-%dT%H:%M"


class CampaignForm(forms.Form):
    """A new campaign over one corpus, or a draft to be changed."""

    name = forms.CharField(max_length=120, help_text="Annotators see this name. Do not name a system in it.")
    scheme = forms.ChoiceField(label="What is asked")
    systems = forms.ModelMultipleChoiceField(
        queryset=System.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all of them. Annotators never see which system they rate.",
    )
    include_self = forms.BooleanField(
        required=False,
        label="The dialogues' own turns, too",
        help_text="They are rated anyway where a dialogue has nothing else.",
    )
    part = forms.ChoiceField(
        required=False,
        choices=Campaign.Part.choices,
        label="Part",
        help_text="Training dialogues are rated where they are chosen, and then alone.",
    )
    shows = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Shown beside the turns",
        initial=DEFAULT,
        help_text="To people, and to judges run over this campaign. What names a system is never shown.",
    )
    raters_per_item = forms.IntegerField(min_value=1, max_value=100, initial=2, label="Raters per item")
    overlap_raters = forms.IntegerField(
        required=False,
        min_value=2,
        max_value=100,
        label="Raters of that part",
        help_text="For example 5 where all others have 2. The seed draws which. Empty: all alike.",
    )
    overlap_percent = forms.FloatField(
        required=False,
        min_value=0,
        max_value=100,
        label="How large it is, in percent of the tasks",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    overlap_tasks = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        label="Or how many tasks it has",
    )
    sample_dialogues = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        label="Ask about a sample: how many dialogues",
        help_text="Drawn by the seed when the campaign opens, and not again. Empty: about all dialogues.",
    )
    record_status = forms.ChoiceField(
        required=False,
        choices=Campaign.RecordStatus.choices,
        initial=Campaign.RecordStatus.DRAFT,
        label="Which facts or questions",
        help_text="Of scripts, one a task. Those that a correction replaced are never asked about.",
    )
    sample_records = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        label="Ask about a sample of them: how many",
        help_text="Drawn by the seed when the campaign opens, and not again. Empty: about all of them.",
    )
    compares = forms.ChoiceField(
        required=False,
        choices=Campaign.Compares.choices,
        initial=Campaign.Compares.ALL,
        label="Which are compared",
        help_text="Of the chosen systems. Those that the corpus lacks are made when you save.",
    )
    baseline = forms.ModelChoiceField(
        queryset=System.objects.none(),
        required=False,
        empty_label="None",
        label="The one that the others are compared with",
    )
    compared = forms.ChoiceField(
        required=False,
        choices=Campaign.Compared.choices,
        initial=Campaign.Compared.AUTO,
        label="What stands beside each other",
    )
    ranked = forms.IntegerField(
        required=False, min_value=3, max_value=10, initial=3, label="How many a ranking puts into an order"
    )
    most_comparisons = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100_000,
        label="Ask about some of them: how many",
        help_text="Drawn by the seed. Empty: about all of them.",
    )
    side_by_side = forms.BooleanField(
        required=False,
        label="Show all systems' responses to one point on one screen",
        help_text="Each is asked the same, in an order drawn for each annotator. For static continuations.",
    )
    sample_by = forms.ChoiceField(
        required=False,
        label="Draw in proportion to",
        help_text="Each stratum gives as large a share of the sample as it is of the corpus.",
    )
    sample_apart = forms.FloatField(
        required=False,
        min_value=0.01,
        max_value=1,
        label="Only where the judge and people are apart, by at least",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="A share of the scale: 0.25 is one step of five. Choose the judge below, under the order.",
    )
    task_order = forms.ChoiceField(
        required=False, choices=Campaign.Order.choices, initial=Campaign.Order.DRAWN, label="Order of tasks"
    )
    order_by = forms.ChoiceField(
        required=False,
        label="Which number, for the order by priority",
        help_text="Dialogues without one come last, in the drawn order.",
    )
    apart_judge = forms.ChoiceField(
        required=False,
        label="The judge that is compared with people",
        help_text="Judges appear here once they have answered about the corpus. Annotators are never told.",
    )
    balance_by = forms.ChoiceField(
        required=False,
        label="Balance each annotator's work over",
        help_text="The next task is one of which they have done least so far. They are never told of it.",
    )
    batch_size = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        label="Tasks of a batch",
        help_text="Annotators get tasks of open batches only; one opens with the campaign. Empty: none.",
    )
    next_batch = forms.ChoiceField(
        required=False,
        choices=Campaign.NextBatch.choices,
        initial=Campaign.NextBatch.HAND,
        label="When another one opens",
    )
    deadline = forms.DateTimeField(
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT),
        label="Deadline (UTC)",
        help_text="Afterwards nothing is handed out or accepted; drafts are kept. Empty: none.",
    )
    most_tasks = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        label="Most tasks a person may submit",
    )
    most_tasks_a_day = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        label="Most tasks a person may submit in a day (UTC)",
    )
    revise_hours = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        label="Hours for which a submission may be revised",
        help_text="Empty: as long as the campaign is open. 0: never. Returned tasks are done anew.",
    )
    unseen_check = forms.ChoiceField(
        required=False,
        choices=Campaign.Seeing.choices,
        initial=Campaign.Seeing.RATED,
        label="Ask before a submit about turns that were never on screen",
    )
    shows_agreement = forms.BooleanField(
        required=False,
        label="Annotators see how far they agree with others",
        help_text="On tasks that all their raters have finished, once there are enough of them.",
    )
    join_proof = forms.ChoiceField(
        required=False,
        choices=Campaign.JoinProof.choices,
        initial=Campaign.JoinProof.BROWSER,
        label="Proof of identity of participants who join by a link",
        help_text="Ids of platforms can be guessed or read from an address.",
    )
    annotators = forms.ModelMultipleChoiceField(
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="More can be added at any time.",
    )
    lease_minutes = forms.IntegerField(
        min_value=1,
        max_value=60 * 24 * 7,
        initial=60,
        label="Minutes a task is held",
        help_text="An untouched task goes back to the others after this time; its draft is kept.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        label="Seed",
        help_text="The same seed gives the same order, the same sample and the same part with more raters.",
    )
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea,
        help_text="Left empty, the guidelines that come with the scheme are used. They can be edited later.",
    )

    consent = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        label="Consent text",
        help_text="What annotators agree to before they work, in Markdown. Left empty, nobody is asked.",
    )

    def __init__(self, *args: Any, corpus: Corpus, campaign: Campaign | None = None, **kwargs: Any) -> None:
        if campaign is not None:
            kwargs.setdefault("initial", initial(campaign, corpus))
        super().__init__(*args, **kwargs)
        self.corpus, self.campaign = corpus, campaign
        if campaign is not None and campaign.state != Campaign.State.DRAFT:
            for name in set(self.fields) - {SHOWN_AS.get(field, field) for field in ALWAYS}:
                del self.fields[name]
            return
        if not corpus.has_training:
            del self.fields["part"]
        self._choices("sample_by").choices = sampling.choices(corpus)
        self._choices("balance_by").choices = [("", "Nothing"), *sampling.choices(corpus)[1:]]
        self._choices("order_by").choices = [("", "None"), *sampling.order_fields(corpus)]
        judges = sampling.order_judges(corpus)
        self._choices("apart_judge").choices = [("", "None"), *((name, name) for name in judges)]
        self._choices("shows").choices = showable(corpus)
        self._choices("scheme").choices = _choices_with(campaign)
        self._models("systems").queryset = corpus.systems.order_by("name")
        baseline = self.fields["baseline"]
        assert isinstance(baseline, forms.ModelChoiceField)
        baseline.queryset = corpus.systems.order_by("name")
        self._models("annotators").queryset = User.objects.filter(is_active=True, participant=None).order_by(
            "username"
        )

    def _choices(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field

    def _models(self, name: str) -> forms.ModelMultipleChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        return field

    def clean_task_order(self) -> str:
        """Take the usual order where none is chosen."""
        return self.cleaned_data["task_order"] or Campaign.Order.DRAWN

    def clean_record_status(self) -> str:
        """Ask about drafts where nothing is chosen."""
        return self.cleaned_data["record_status"] or Campaign.RecordStatus.DRAFT

    def clean_compares(self) -> str:
        """Take the usual choice where none is made."""
        return self.cleaned_data["compares"] or Campaign.Compares.ALL

    def clean_compared(self) -> str:
        """Take whatever fits the continuations where nothing is chosen."""
        return self.cleaned_data["compared"] or Campaign.Compared.AUTO

    def clean_ranked(self) -> int:
        """Take three where nothing is said."""
        return self.cleaned_data["ranked"] or 3

    def clean_next_batch(self) -> str:
        """Leave batches to the researcher where nothing is chosen."""
        return self.cleaned_data["next_batch"] or Campaign.NextBatch.HAND

    def clean_join_proof(self) -> str:
        """The safe choice where nothing was chosen."""
        return self.cleaned_data["join_proof"] or Campaign.JoinProof.BROWSER

    def clean_unseen_check(self) -> str:
        """Check the turns that are judged where nothing is chosen."""
        return self.cleaned_data["unseen_check"] or Campaign.Seeing.RATED

    def arguments(self) -> dict[str, Any]:
        """Return what `campaigns.create` takes."""
        return self._settings() | {
            "corpus": self.corpus,
            "systems": list(self.cleaned_data["systems"]),
            "annotators": list(self.cleaned_data["annotators"]),
            "guidelines": self.cleaned_data["guidelines"].strip() or None,
        }

    def changes(self) -> dict[str, Any]:
        """Return what `editing.change` takes: what is not as the page showed it."""
        changed = {SETTING_OF.get(name, name) for name in self.changed_data}
        changes = {name: value for name, value in self._settings().items() if name in changed}
        for name in {"systems", "annotators"} & changed:
            changes[name] = list(self.cleaned_data[name])
        for name in {"guidelines", "consent"} & changed:
            text = self.cleaned_data[name].replace("\r\n", "\n").strip()
            if text != str(self.initial.get(name, "")).strip():
                changes[name] = text
        if self.campaign is not None and self.campaign.corpus_id != self.corpus.pk:
            changes["corpus"] = self.corpus
        return changes

    def refused(self, error: CampaignRefused) -> None:
        """Show a refusal beside the field that is at fault."""
        name = SHOWN_AS.get(error.field, error.field)
        self.add_error(name if name in self.fields else None, str(error))

    def _settings(self) -> dict[str, Any]:
        settings = dict(self.cleaned_data)
        percent = settings.pop("overlap_percent", None)
        return settings | {"overlap_share": None if percent is None else percent / 100}


SHOWN_AS = {"overlap_share": "overlap_percent"}
"""Fields of a campaign that the form shows in another unit."""
SETTING_OF = {form_name: name for name, form_name in SHOWN_AS.items()}


def _percent(share: float) -> float:
    percent = round(share * 100, 8)
    return int(percent) if percent.is_integer() else percent


def _scheme(campaign: Campaign) -> str:
    version = campaign.scheme_version
    return version.scheme.key if version.scheme.key in SCHEMES else version.ref


def _choices_with(campaign: Campaign | None) -> list[Any]:
    """Return the schemes that can be chosen, and what the campaign asks, also where it is archived."""
    groups = scheme_store.choices()
    if campaign is None or any(_scheme(campaign) == ref for _, group in groups for ref, _ in group):
        return groups
    version = campaign.scheme_version
    return [*groups, ("As it is now", [(version.ref, f"{version.name} ({version.ref})")])]


def initial(campaign: Campaign, corpus: Corpus) -> dict[str, Any]:
    """Return what the form shows of a campaign; of another corpus than its own, no systems."""
    values = {name: getattr(campaign, name) for name in CampaignForm.base_fields if hasattr(campaign, name)}
    values["baseline"] = campaign.baseline_id
    share = campaign.overlap_share
    guidelines = campaign.guidelines.order_by("-version").first()
    consent = campaign.consents.order_by("-version").first()
    own = campaign.corpus_id == corpus.pk
    return values | {
        "scheme": _scheme(campaign),
        "systems": list(campaign.systems.values_list("pk", flat=True)) if own else [],
        "deadline": campaign.deadline and campaign.deadline.replace(second=0, microsecond=0),
        "shows": [name for name, _ in showable(corpus) if name in campaign.shows],
        "overlap_percent": None if share is None else _percent(share),
        "annotators": list(campaign.members.values_list("user_id", flat=True)),
        "guidelines": guidelines.text if guidelines else "",
        "consent": consent.text if consent else "",
    }
