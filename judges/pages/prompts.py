"""Researchers' pages of prompts: the list, a prompt, a version, the difference between two versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.corpora import exclusion
from annotation.corpora.splits import TRAINING
from annotation.models.corpora import Corpus
from annotation.text.yaml_tree import MOST_BYTES
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import WithParameters, form_field, given_parameters
from jobs.errors import JobError
from jobs.models import Endpoint
from judges import access
from judges.errors import JudgeError
from judges.models import Prompt, PromptVersion
from judges.pages.forms import NEED, judge_value, need_fields, needs_of, scheme_field
from judges.pages.runs import offer_endpoints, sync_endpoints
from judges.prompts import examples, files, prompt_actions, requests
from judges.prompts import versions as listing
from judges.prompts.examples import COUNT, RULES, SEED, USUAL, BadExclusion, BadKeys, NoSplit, Pick
from judges.prompts.prompt_actions import LONGEST_NAME, LONGEST_NOTE
from judges.prompts.requests import Request
from judges.prompts.versions import Version
from judges.protocols import PROTOCOLS, Variable
from judges.protocols.examples import shown_at_once
from judges.protocols.protocol import Asking
from judges.protocols.wording import Wording
from judges.runs.material import machines
from judges.runs.plans import BUDGET, Judge

# Forms of prompts.

_CODE = {"class": "code", "spellcheck": "false"}


def _text(label: str, rows: int, *, required: bool, help_text: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, **_CODE})
    return forms.CharField(label=label, required=required, strip=False, widget=widget, help_text=help_text)


class EditorForm(forms.Form):
    """Text of a prompt, saved as a version or used for the preview of a draft."""

    system = _text("System part", 8, required=False, help_text="What the model is told first.")
    user = _text(
        "User part", 18, required=False, help_text="What it is then asked. A dollar sign is written $$."
    )
    form = forms.ChoiceField(required=False, label="Form of the reply")
    keep_examples = forms.BooleanField(required=False, initial=True, label="Keep the worked examples")
    note = forms.CharField(
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="Note",
        help_text="Why this version: what it is to do better.",
    )

    def __init__(self, *args: Any, base: Version, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.base = base
        protocol = PROTOCOLS[base.protocol]
        assert isinstance(protocol, Asking)
        self.protocol = protocol
        if len(reply_forms := protocol.forms_of(base.variant)) > 1:
            field = self.fields["form"]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(form, form or reply_forms[0] or "usual") for form in reply_forms]
        else:
            del self.fields["form"]
        if not base.wording.examples:
            del self.fields["keep_examples"]

    def clean_system(self) -> str:
        """Return the system part with normalised line ends."""
        return _plain(self.cleaned_data["system"])

    def clean_user(self) -> str:
        """Return the user part with normalised line ends."""
        return _plain(self.cleaned_data["user"])

    def clean(self) -> dict[str, Any]:
        """Attach each fault of the text to the field of its part."""
        data = super().clean() or {}
        if "system" in data and "user" in data:
            wording = self.wording()
            for fault in wording.faults(self.protocol.known_variables(self.base.variant)):
                self.add_error(fault.part if fault.part in ("system", "user") else "user", fault.message)
            try:
                examples.refuse_test_items(wording)
            except JudgeError as error:
                self.add_error("keep_examples" if "keep_examples" in self.fields else None, str(error))
        return data

    def wording(self) -> Wording:
        """Return the text as entered."""
        data, before = self.cleaned_data, self.base.wording
        keep_examples = data.get("keep_examples", False)
        return Wording(
            data["system"],
            data["user"],
            data.get("form", before.form),
            before.examples if keep_examples else (),
            before.picking if keep_examples else {},
        )

    def variables(self) -> list[Variable]:
        """Return the variables that the text may use, required ones first."""
        variables = self.protocol.known_variables(self.base.variant).values()
        return sorted(variables, key=lambda variable: (not variable.required, variable.name))


class NewPromptForm(EditorForm):
    """A new prompt, starting from the text of another."""

    name = forms.CharField(
        max_length=LONGEST_NAME, help_text="Letters, digits, spaces and . _ + -; judges are named after it."
    )
    description = forms.CharField(
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What it is for.",
    )
    field_order = ["name", "description"]

    def clean_name(self) -> str:
        """Require a free name here, so that its fault is shown with the form's other faults."""
        try:
            return prompt_actions.free_name(self.cleaned_data["name"])
        except JudgeError as error:
            raise forms.ValidationError(str(error)) from None


def _plain(text: str) -> str:
    """Normalise line ends, which forms send as two characters."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


RULE_TITLES = [(key, title[0].upper() + title[1:]) for key, title in RULES.items()]


def pick_fields() -> dict[str, forms.Field]:
    """Return the fields of a form that picks examples, besides their corpus and the rule."""
    return {
        "n": form_field(COUNT, initial=USUAL),
        "keys": forms.CharField(
            required=False,
            widget=forms.Textarea(attrs={"rows": 4, **_CODE}),
            label="Items, if you choose them yourself",
            help_text="Their keys, one a line, such as dialogue/continuation/3.",
        ),
        "judge": forms.ChoiceField(
            required=False,
            label="Whose disagreement, if you take the most disagreed",
            help_text="Between people, or between a judge and the people.",
            choices=judges_to_disagree_with,
        ),
        "seed": form_field(SEED, initial=0),
    }


def picking(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the criteria of a `Pick` from the values of a form whose fields' names begin with `prefix`."""
    values = {name: data[f"{prefix}{name}"] for name in ("rule", "n", "keys", "judge", "seed")}
    keys = [key for line in values["keys"].splitlines() if (key := line.strip())]
    return values | {"n": values["n"] or USUAL, "keys": keys, "seed": values["seed"] or 0}


class ExamplesForm(forms.Form):
    """Criteria for picking worked examples for a version."""

    corpus = forms.ModelChoiceField(
        Corpus.objects.order_by("name"),
        empty_label="Choose a corpus",
        help_text="Examples come from the dev part of its split.",
    )
    part = forms.ChoiceField(
        choices=[("", "dev"), (TRAINING, "training")],
        required=False,
        help_text="A benchmark’s training dialogues are in no split.",
    )
    rule = forms.ChoiceField(choices=RULE_TITLES, label="How")
    whole = forms.BooleanField(
        required=False,
        label="This corpus has no split, and all of it is for development",
        help_text="Without a split nothing keeps its examples out of a test.",
    )
    exclude = forms.CharField(
        required=False, max_length=exclusion.LONGEST, label=exclusion.LABEL, help_text=exclusion.HELP
    )
    note = forms.CharField(required=False, max_length=LONGEST_NOTE, help_text="Why these examples.")

    def __init__(self, *args: Any, version: Version, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if PROTOCOLS[version.protocol].takes_scheme:
            self.fields["scheme"] = scheme_field(version)
        fields = pick_fields()
        self.fields.update(fields)
        self.order_fields(["corpus", "part", "scheme", "rule", *fields])

    def pick(self) -> Pick:
        """Return the entered criteria."""
        data = self.cleaned_data
        return Pick(
            data["corpus"],
            whole_corpus=data["whole"],
            scheme=data.get("scheme", ""),
            part=data["part"],
            exclude=data["exclude"],
            **picking(data),
        )

    def refuse(self, error: JudgeError) -> None:
        """Attach an error of picking to the field that it concerns."""
        beside = {BadKeys: "keys", NoSplit: "whole", BadExclusion: "exclude"}.get(type(error))
        self.add_error(beside, str(error))


def judges_to_disagree_with() -> list[tuple[str, str]]:
    """Return the choices for the most disagreed examples: among people, or between a judge and people."""
    judges = [(rater.fingerprint, rater.title) for rater in machines() if rater.kind == "judge"]
    return [("", "between people"), *judges]


class RequestForm(WithParameters):
    """Item and judge settings for previewing a version's request."""

    corpus = forms.ModelChoiceField(Corpus.objects.order_by("name"))
    item = forms.CharField(
        required=False,
        max_length=1000,
        label="Item",
        help_text="Its key, such as dialogue/continuation/3. Empty: any item of dev.",
    )
    endpoint = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True).order_by("name"), required=False, empty_label="none yet"
    )
    budget = form_field(BUDGET, help_text="")

    def __init__(self, *args: Any, version: Version, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.protocol = PROTOCOLS[version.protocol]
        if self.protocol.takes_scheme:
            self.fields["scheme"] = scheme_field(version)
        self.fields.update(need_fields(self.protocol))
        self.order_fields(["corpus", "scheme", "item"])

    def bound(self) -> list[forms.BoundField]:
        """Return the fields for the protocol's bindings: a scheme, other raters."""
        return [self[name] for name in self.fields if name == "scheme" or name.startswith(NEED)]

    def judge(self, version: Version) -> Judge:
        """Return the judge whose request is shown."""
        data = self.cleaned_data
        return Judge(
            prompt=version.ref,
            endpoint=data["endpoint"],
            parameters=given_parameters(self),
            budget=data["budget"],
            scheme=data.get("scheme", ""),
            needs=needs_of(data),
        )


class ImportForm(forms.Form):
    """Upload of a prompt file."""

    file = forms.FileField(help_text="As exported: .yaml with all versions, or .md with one.")
    name = forms.CharField(
        required=False, max_length=LONGEST_NAME, label="Under another name", help_text="Empty: its own name."
    )

    def clean_file(self) -> bytes:
        """Return the file's content, as far as it may be read."""
        content: bytes = self.cleaned_data["file"].read(MOST_BYTES + 1)
        return content


_VARIABLE = re.compile(r"\$\$|\$[_a-z][_a-z0-9]*|\$\{[_a-z][_a-z0-9]*\}", re.I | re.A)


@require_GET
@researcher_only
def prompt_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all prompts, users' own and built-in ones."""
    own = listing.own()
    context = {
        "own": [entry for entry in own if not entry.archived],
        "archived": [entry for entry in own if entry.archived],
        "built_in": listing.coming_with_concord(),
    }
    return render(request, "judges/prompts/list.html", context)


@require_GET
@researcher_only
def prompt_page(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: a prompt with its versions; a built-in prompt has a single version."""
    if not Prompt.objects.filter(name=name).exists():
        return redirect("prompt-version", name, access.version(name).number)
    prompt = access.prompt(name)
    versions = listing.versions_of(prompt)
    used = listing.judges_by_digest([version.wording.digest() for version in versions])
    rows = [(version, len(used.get(version.wording.digest(), ()))) for version in versions]
    context = {"prompt": prompt, "rows": rows, "newest": versions[0]}
    context["protocol_title"] = getattr(PROTOCOLS.get(prompt.protocol), "title", prompt.protocol)
    context |= _run_on(versions[0])
    return render(request, "judges/prompts/prompt.html", context)


@require_GET
@researcher_only
def version_page(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Researchers: a version, read-only, with the judges that used it."""
    version = access.version(name, number)
    protocol = PROTOCOLS[version.protocol]
    assert isinstance(protocol, Asking)
    row = version.row
    context = {
        "version": version,
        "row": row,
        "parts": [
            ("System part", marked(version.wording.system)),
            ("User part", marked(version.wording.user)),
        ],
        "variables": [
            variable
            for variable in protocol.known_variables(version.variant).values()
            if variable.name in version.wording.names()
        ],
        "runs": listing.runs_of(version),
        "used": row is not None and prompt_actions.is_used(row),
        "others": listing.versions_of(row.prompt) if row else [],
        "parent": _parent(row.parent if row else ""),
        "shown": shown_at_once(version.wording),
        "protocol_title": protocol.title,
    }
    return render(request, "judges/prompts/version.html", context | _run_on(version))


def _run_on(version: Version) -> dict[str, Any]:
    """Return what the page of a version offers to run it on: the corpora, and the one where it ran last."""
    last = next(iter(listing.runs_of(version)), None)
    corpora = Corpus.objects.order_by("-pk")
    return {"judge": judge_value(version), "corpora": corpora, "usual": last and last.corpus_id}


def marked(text: str) -> list[tuple[str, bool]]:
    """Split a text into pieces, each marked as a variable or not."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for match in _VARIABLE.finditer(text):
        pieces += [(text[end : match.start()], False), (match[0], match[0] != "$$")]
        end = match.end()
    return [piece for piece in [*pieces, (text[end:], False)] if piece[0]]


def _parent(ref: str) -> Version | None:
    """Return the version of a reference, None if it is not stored."""
    try:
        return listing.find(ref) if ref else None
    except JudgeError:
        return None


@require_GET
@researcher_only
def prompt_difference(request: HttpRequest) -> HttpResponse:
    """Researchers: the differences between two versions, of the same prompt or of two prompts."""
    refs = [request.GET.get(name, "") for name in ("a", "b")]
    try:
        first, second = map(listing.find, refs)
    except JudgeError as error:
        raise Http404(str(error)) from None
    parts = listing.difference(first.wording, second.wording)
    context = {"first": first, "second": second, "parts": parts}
    return render(request, "judges/prompts/difference.html", context)


@require_POST
@researcher_only
def archive_prompt(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: hide a prompt from the lists of runnable prompts, or restore it."""
    prompt = access.prompt(name)
    prompt_actions.archive(by=user_of(request), prompt=prompt, archived=not prompt.archived)
    return redirect("prompt", name)


@require_POST
@researcher_only
def delete_version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Researchers: delete a version that no judge has used."""
    version = access.version(name, number)
    try:
        prompt_actions.delete(by=user_of(request), version=prompt_actions.own_version(version))
    except JudgeError as error:
        messages.error(request, str(error))
        return redirect("prompt-version", name, number)
    messages.success(request, f"{version.ref} is deleted.")
    return redirect("prompt", name) if Prompt.objects.filter(name=name).exists() else redirect("prompts")


@require_GET
@researcher_only
def export_prompt(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Researchers: a prompt with all its versions as YAML, or one version (`number`) as Markdown."""
    if form not in files.FORMS:
        raise Http404
    number = request.GET.get("number", "")
    if number and not (number.isascii() and number.isdecimal() and len(number) < 11):
        raise Http404
    return file_of(access.version(name, int(number) if number else None), form)


def file_of(version: Version, form: str) -> HttpResponse:
    """Return a version as Markdown, or its whole prompt as YAML, as a download."""
    text, name = files.export(version, form)
    response = HttpResponse(text, content_type=f"{files.FORMS[form][1]}; charset=utf-8")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return response


# Page with the exact request about an item: for a version or a draft.


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsaved text, and the hidden fields that carry it from page to page."""

    wording: Wording
    told: tuple[tuple[str, str], ...]


@require_http_methods(["GET", "POST"])
@researcher_only
def prompt_request(request: HttpRequest) -> HttpResponse:
    """Researchers: preview of the request about an item with a version of a prompt (`ref`), or with a draft
    from the editor."""
    query = request.POST if request.method == "POST" else request.GET
    try:
        version = listing.find(query.get("ref", ""))
    except JudgeError as error:
        messages.error(request, str(error))
        return redirect("prompts")
    draft: Draft | None = None
    if "user" in request.POST:
        form_class = NewPromptForm if "name" in request.POST else EditorForm
        editor = form_class(request.POST, base=version)
        editor.full_clean()
        if {"system", "user", "form"} & editor.errors.keys():
            context = {"form": editor, "base": version, "action": _editor_of(version, form_class)}
            return render(request, "judges/prompts/editor.html", context, status=422)
        draft = _draft(request, editor)
    sync_endpoints(request)
    is_submitted = "corpus" in query
    initial = {"corpus": Corpus.objects.order_by("name").first()}
    form = RequestForm(query if is_submitted else None, initial=initial, version=version)
    offer_endpoints(request, form)
    previews: list[Request] = []
    if is_submitted and form.is_valid():
        data = form.cleaned_data
        try:
            judge = form.judge(version)
            item = requests.item_or_any(data["corpus"], data["item"], judge.asks().covers)
            wording = draft.wording if draft else None
            previews = requests.requests(judge, item, None, wording, later=user_of(request))
        except JobError as error:
            form.add_error("item", str(error))
    context = {"form": form, "version": version, "draft": draft, "requests": previews}
    context["counted"] = requests.COUNTED
    return render(request, "judges/prompts/request.html", context, status=422 if form.errors else 200)


def _draft(request: HttpRequest, editor: EditorForm) -> Draft:
    field_names = ("system", "user", "form", "keep_examples")
    return Draft(
        editor.wording(), tuple((name, request.POST[name]) for name in field_names if name in request.POST)
    )


def _editor_of(version: Version, form_class: type[EditorForm]) -> str:
    """Return the URL of a draft's editor, to which a draft with faults returns unchanged."""
    if form_class is NewPromptForm or version.row is None:
        return f"{reverse('new-prompt')}?{urlencode({'from': version.ref})}"
    return reverse("edit-prompt", args=[version.name, version.number])


# Editor of prompts: new prompts, new versions, examples, files.


def _initial(base: Version) -> dict[str, object]:
    return {"system": base.wording.system, "user": base.wording.user, "form": base.wording.form}


@require_http_methods(["GET", "POST"])
@researcher_only
def new_prompt(request: HttpRequest) -> HttpResponse:
    """Researchers: create a prompt from the text of another (`from`)."""
    try:
        base = listing.find(request.GET.get("from", ""))
    except JudgeError as error:
        raise Http404(str(error)) from None
    initial = {"name": f"{base.name} copy"[:LONGEST_NAME]} | _initial(base)
    form = NewPromptForm(request.POST or None, base=base, initial=initial)
    if request.method == "POST" and form.is_valid() and (created := _created(request, form)):
        messages.success(request, f"{created.prompt.name}@{created.number} is saved.")
        return redirect("prompt-version", created.prompt.name, created.number)
    context = {"form": form, "base": base}
    return render(request, "judges/prompts/editor.html", context, status=422 if form.errors else 200)


def _created(request: HttpRequest, form: NewPromptForm) -> PromptVersion | None:
    data = form.cleaned_data
    try:
        return prompt_actions.copy(
            by=user_of(request),
            version=form.base,
            name=data["name"],
            description=data["description"],
            wording=form.wording(),
            note=data["note"],
        )
    except JudgeError as error:
        form.add_error("name", str(error))
        return None


@require_http_methods(["GET", "POST"])
@researcher_only
def edit_prompt(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Researchers: edit a version; saving adds the next version, even if somebody else saved meanwhile."""
    base = access.version(name, number)
    if base.row is None:
        return redirect(f"{reverse('new-prompt')}?from={base.ref}")
    newest = access.version(name)
    form = EditorForm(request.POST or None, base=base, initial=_initial(base))
    if request.method == "POST" and form.is_valid():
        try:
            saved = prompt_actions.add_version(
                by=user_of(request),
                prompt=base.row.prompt,
                wording=form.wording(),
                parent=base.ref,
                note=form.cleaned_data["note"],
            )
        except JudgeError as error:
            form.add_error("user", str(error))
        else:
            _notify_saved(request, base, newest, saved)
            return redirect("prompt-version", name, saved.number)
    context = {"form": form, "base": base, "newest": newest}
    return render(request, "judges/prompts/editor.html", context, status=422 if form.errors else 200)


def _notify_saved(request: HttpRequest, base: Version, newest: Version, saved: PromptVersion) -> None:
    """Show what was saved, and whether somebody else saved meanwhile."""
    ref = f"{saved.prompt.name}@{saved.number}"
    if saved.number == newest.number:
        messages.info(request, f"Nothing has changed: {ref} has this text already.")
    elif newest.number != base.number:
        messages.warning(
            request,
            f"{ref} is saved, made from {base.ref}. Meanwhile {newest.ref} was saved, whose changes it does "
            "not have: look at the difference.",
        )
    else:
        messages.success(request, f"{ref} is saved.")


@require_http_methods(["GET", "POST"])
@researcher_only
def pick_examples(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Researchers: pick worked examples for a version's text; the result is saved as the next version."""
    base = access.version(name, number)
    if base.row is None:
        return redirect(f"{reverse('new-prompt')}?from={base.ref}")
    form = ExamplesForm(request.POST or None, version=base)
    if request.method == "POST" and form.is_valid():
        try:
            saved = prompt_actions.add_examples(
                by=user_of(request), version=base, criteria=form.pick(), note=form.cleaned_data["note"]
            )
        except JudgeError as error:
            form.refuse(error)
        else:
            messages.success(request, f"{name}@{saved.number} is saved, with its examples.")
            return redirect("prompt-version", name, saved.number)
    context = {"form": form, "base": base}
    return render(request, "judges/prompts/examples.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@researcher_only
def import_prompt(request: HttpRequest) -> HttpResponse:
    """Researchers: import a prompt from a file."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            imported = prompt_actions.import_file(
                by=user_of(request), content=data["file"], name=data["name"]
            )
        except JudgeError as error:
            form.add_error("file", str(error).splitlines())
        else:
            if not imported:
                messages.info(request, "Everything was imported before: nothing changed.")
                return redirect("prompts")
            messages.success(request, f"{len(imported)} version{'s' if len(imported) != 1 else ''} imported.")
            return redirect("prompt", imported[0].prompt.name)
    context = {"form": form}
    return render(request, "judges/prompts/import.html", context, status=422 if form.errors else 200)
