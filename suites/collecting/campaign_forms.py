"""The form and page of a new campaign whose members write: conversations, or responses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation import access, scheme_store
from annotation.campaigns.settings import Setting
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Corpus
from annotation.pages.campaign_form import setting_field
from config.permissions import user_of


class WritersCampaignForm(forms.Form):
    """A new campaign over one corpus. A subclass adds the fields of `plan_settings`, and other fields.

    `guidelines_text` is what the guidelines begin with; schemes are those about items of `kinds`.
    """

    plan_settings: ClassVar[Mapping[str, Setting]]
    guidelines_text: ClassVar[str]
    kinds: ClassVar[Collection[str]]

    name = forms.CharField(
        max_length=Campaign.name.field.max_length,
        help_text="Members see this name. Do not name a system in it.",
    )
    scheme = forms.ChoiceField()
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="What members do, in Markdown; they see it on their page.",
    )
    consent = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 4}), label="Consent text",
        help_text="What members agree to first, in Markdown. Left empty, nobody is asked.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = scheme_store.item_kinds()
        choices = [
            (title, [(ref, name) for ref, name in group if kinds.get(ref) in self.kinds])
            for title, group in scheme_store.choices()
        ]
        scheme = self.fields["scheme"]
        assert isinstance(scheme, forms.ChoiceField)
        none = [] if scheme.required else [("", "None")]
        scheme.choices = [*none, *((title, group) for title, group in choices if group)]
        self.fields["guidelines"].initial = self.guidelines_text
        for setting in self.plan_settings.values():
            self.fields[setting.name] = setting_field(setting)

    def create(self, by: User, corpus: Corpus) -> Campaign:
        """Create the campaign as a draft. Raises CampaignRefused."""
        values = dict(self.cleaned_data)
        plan = {name: values.pop(name) for name in self.plan_settings}
        return self.create_draft(by=by, corpus=corpus, plan=plan, **values)

    def create_draft(self, **values: Any) -> Campaign:
        """Create the campaign from the values of its fields, the plan and the corpus."""
        raise NotImplementedError

    def next_page(self, draft: Campaign) -> str:
        """Return the name of the page to go on with."""
        return "campaign"


def new_campaign(
    request: HttpRequest, name: str, form_type: type[WritersCampaignForm], *, title: str, lead: str
) -> HttpResponse:
    """Show the form of a new campaign over the corpus `name`, or create the draft."""
    corpus = access.corpus_named(name)
    form = form_type(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            draft = form.create(user_of(request), corpus)
        except CampaignRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(request, "The draft is created. Add people, then open it.")
            return redirect(form.next_page(draft), draft.pk)
    context = {"title": title, "lead": lead, "corpus": corpus, "form": form}
    return render(request, "collecting/new_campaign.html", context, status=422 if form.errors else 200)
