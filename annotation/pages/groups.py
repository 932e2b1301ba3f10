"""The pages of groups of people, and of what a person reads and writes as. Researchers."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.models import PeopleGroup
from annotation.people import groups
from annotation.people.errors import GroupRefused
from config.files import row_id
from config.permissions import researcher_only

SHOWN = 100


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _chosen(request: HttpRequest) -> list[User]:
    numbers = [number for text in request.POST.getlist("people") if (number := row_id(text)) is not None]
    return list(User.objects.filter(pk__in=numbers))


@require_GET
@researcher_only
def group_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all groups, and who is in which, reads what and writes as whom."""
    context = {
        "groups": PeopleGroup.objects.prefetch_related("people"),
        "page": Paginator(groups.people(), SHOWN).get_page(request.GET.get("page")),
        "active_room": "campaigns",
    }
    return render(request, "people/groups.html", context)


@require_POST
@researcher_only
def add_group(request: HttpRequest) -> HttpResponse:
    """Researchers: make a group."""
    try:
        made = groups.create(by=_user(request), name=request.POST.get("name", ""))
    except GroupRefused as error:
        messages.error(request, str(error))
        return redirect("groups")
    return redirect("group", made.pk)


@researcher_only
def group(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: one group; rename it, say who is in it, delete it."""
    found = access.people_group(pk)
    if request.method == "POST":
        try:
            if request.POST.get("verb") == "delete":
                groups.delete(by=_user(request), group=found)
                messages.success(request, f"The group {found.name} was deleted; its people stay.")
                return redirect("groups")
            name = request.POST.get("name", "")
            groups.change(by=_user(request), group=found, name=name, people=_chosen(request))
        except GroupRefused as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "The group is changed.")
        return redirect("group", pk)
    inside = set(found.people.values_list("pk", flat=True))
    listed = User.objects.filter(is_active=True) | User.objects.filter(pk__in=inside)
    context = {
        "group": found,
        "inside": inside,
        "everybody": listed.order_by("username"),
        "active_room": "campaigns",
    }
    return render(request, "people/group.html", context)


@researcher_only
def described_person(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: which languages a person reads, and under which names they write in dialogues."""
    person, why = access.account(pk), ""
    told = groups.described(person)
    if request.method == "POST":
        sent = {name: request.POST.get(name, "") for name in ("languages", "writes_as")}
        told = {
            "languages": sent["languages"].replace(",", " ").split(),
            "writes_as": sent["writes_as"].splitlines(),
        }
        try:
            groups.describe(by=_user(request), person=person, **told)
        except GroupRefused as error:
            why = str(error)
        else:
            messages.success(request, f"What {person.get_username()} reads and writes as is kept.")
            return redirect("groups")
    context = {
        "person": person,
        "languages": " ".join(told["languages"]),
        "writes_as": "\n".join(told["writes_as"]),
        "refused": why,
        "active_room": "campaigns",
    }
    return render(request, "people/described.html", context, status=422 if why else 200)
