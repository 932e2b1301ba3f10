"""The form that sets a campaign up."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotation.corpora.reading import showable
from annotation.models import Corpus, System
from annotation.scheme_versions import listing
from annotation.text.views import DEFAULT


class CampaignForm(forms.Form):
    """A new campaign over one corpus."""

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
    shows = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Shown beside the turns",
        initial=DEFAULT,
        help_text="To people, and to judges run over this campaign. What names a system is never shown.",
    )
    raters_per_item = forms.IntegerField(min_value=1, max_value=100, initial=2, label="Raters per item")
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
        label="Seed of the order",
        help_text="The same seed gives the same order of tasks.",
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

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus = corpus
        self._choices("shows").choices = showable(corpus)
        self._choices("scheme").choices = listing.choices()
        self._models("systems").queryset = corpus.systems.order_by("name")
        self._models("annotators").queryset = User.objects.filter(is_active=True).order_by("username")

    def _choices(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field

    def _models(self, name: str) -> forms.ModelMultipleChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        return field

    def arguments(self) -> dict[str, Any]:
        """Return what `campaigns.create` takes."""
        return self.cleaned_data | {
            "corpus": self.corpus,
            "systems": list(self.cleaned_data["systems"]),
            "guidelines": self.cleaned_data["guidelines"].strip() or None,
        }
