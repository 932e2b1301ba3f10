"""The editor of prompts: a new one, the next version, its examples, a file."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from config.permissions import researcher_only
from judges import access
from judges.errors import JudgeError
from judges.models import PromptVersion
from judges.pages.prompt_forms import EditorForm, ExamplesForm, ImportForm, NewPromptForm
from judges.pages.prompts import ROOM
from judges.pages.runs import user_of
from judges.prompt_versions import actions, finding
from judges.prompt_versions.finding import Version


def _initial(base: Version) -> dict[str, object]:
    return {"system": base.wording.system, "user": base.wording.user, "form": base.wording.form}


@require_http_methods(["GET", "POST"])
@researcher_only
def new_prompt(request: HttpRequest) -> HttpResponse:
    """Researchers: a prompt of one's own, begun with another one's text (`from`)."""
    try:
        base = finding.find(request.GET.get("from", ""))
    except JudgeError as error:
        raise Http404(str(error)) from None
    initial = {"name": f"{base.name} copy"[:99]} | _initial(base)
    form = NewPromptForm(request.POST or None, base=base, initial=initial)
    if request.method == "POST" and form.is_valid() and (made := _created(request, form)):
        messages.success(request, f"{made.prompt.name}@{made.number} is saved.")
        return redirect("prompt-version", made.prompt.name, made.number)
    context = {"form": form, "base": base, **ROOM}
    return render(request, "judges/prompts/editor.html", context, status=422 if form.errors else 200)


def _created(request: HttpRequest, form: NewPromptForm) -> PromptVersion | None:
    data, base = form.cleaned_data, form.base
    try:
        return actions.create(
            by=user_of(request),
            name=data["name"],
            description=data["description"],
            protocol=base.protocol,
            variant=base.variant,
            scheme_version=base.scheme_version,
            wording=form.wording(),
            parent=base.ref,
            origin=PromptVersion.Origin.COPIED,
            note=data["note"],
        )
    except JudgeError as error:
        form.add_error("name", str(error))
        return None


@require_http_methods(["GET", "POST"])
@researcher_only
def edit_prompt(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Researchers: the editor over a version; what is saved is the next version, whoever saved meanwhile."""
    base = access.version(name, number)
    if base.row is None:
        return redirect(f"{reverse('new-prompt')}?from={base.ref}")
    newest = access.version(name)
    form = EditorForm(request.POST or None, base=base, initial=_initial(base))
    if request.method == "POST" and form.is_valid():
        try:
            made = actions.add_version(
                by=user_of(request),
                prompt=base.row.prompt,
                wording=form.wording(),
                parent=base.ref,
                note=form.cleaned_data["note"],
            )
        except JudgeError as error:
            form.add_error("user", str(error))
        else:
            _say_what_came(request, base, newest, made)
            return redirect("prompt-version", name, made.number)
    context = {"form": form, "base": base, "newest": newest, **ROOM}
    return render(request, "judges/prompts/editor.html", context, status=422 if form.errors else 200)


def _say_what_came(request: HttpRequest, base: Version, newest: Version, made: PromptVersion) -> None:
    """Say what was saved, and that somebody else saved meanwhile where that is so."""
    ref = f"{made.prompt.name}@{made.number}"
    if made.number == newest.number:
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
    """Researchers: worked examples for a version's text; what is picked is saved as the next version."""
    base = access.version(name, number)
    if base.row is None:
        return redirect(f"{reverse('new-prompt')}?from={base.ref}")
    form = ExamplesForm(request.POST or None, version=base)
    if request.method == "POST" and form.is_valid():
        try:
            made = actions.add_examples(
                by=user_of(request), version=base, told=form.chosen(), note=form.cleaned_data["note"]
            )
        except JudgeError as error:
            form.refuse(error)
        else:
            messages.success(request, f"{name}@{made.number} is saved, with its examples.")
            return redirect("prompt-version", name, made.number)
    context = {"form": form, "base": base, **ROOM}
    return render(request, "judges/prompts/examples.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@researcher_only
def import_prompt(request: HttpRequest) -> HttpResponse:
    """Researchers: a prompt from a file."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            made = actions.import_file(by=user_of(request), content=data["file"], name=data["name"])
        except JudgeError as error:
            form.add_error("file", str(error).splitlines())
        else:
            if not made:
                messages.info(request, "All of this was there already: nothing changed.")
                return redirect("prompts")
            messages.success(request, f"{len(made)} version{'s' if len(made) != 1 else ''} imported.")
            return redirect("prompt", made[0].prompt.name)
    context = {"form": form, **ROOM}
    return render(request, "judges/prompts/import.html", context, status=422 if form.errors else 200)
