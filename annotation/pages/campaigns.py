"""Researchers' pages of campaigns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_GET, require_POST

from annotation import access, scheme_actions
from annotation.access import campaign_researcher_only
from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing, rules, sampling, tasks
from annotation.campaigns import progress as campaign_progress
from annotation.campaigns import rules as campaign_rules
from annotation.campaigns import tasks as campaign_tasks
from annotation.campaigns.bulk_acts import CAMPAIGN_ACTS, ONLY_ARCHIVED, ONLY_CURRENT
from annotation.campaigns.rules import Rules
from annotation.corpora import exclusion, splits
from annotation.errors import CampaignRefused, RoleRefused, SchemeRefused
from annotation.hooks import RATERS_PER_ITEM
from annotation.kinds import COMPARING, OF_RECORDS, TURN
from annotation.models import CampaignMember, CampaignRole, turn_numbers
from annotation.models.campaigns import NAME_LIMIT, Campaign
from annotation.models.corpora import Corpus
from annotation.models.people import PeopleGroup
from annotation.models.schemes import VERSION_TITLE
from annotation.pages import scheme_editor
from annotation.pages.campaign_form import NEW_SCHEME, CampaignForm, new_initial
from annotation.pages.scheme_editor import Edited, starter
from annotation.people import accounts
from annotation.text import views
from annotation.text.display import many
from annotation.text.views import METADATA
from annotation.work.leases import bounds_of
from annotation.work.messages import waiting as waiting_threads
from config.files import row_id
from config.links import links_of
from config.listing import Column, Listing, natural
from config.middleware import frames_others
from config.models import Event
from config.permissions import is_researcher, researcher_only, user_of
from jobs.models import Job

# Roles in one campaign. Researchers only: campaign researchers cannot give roles.


@require_POST
@researcher_only
def change_roles(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: give a person (`username`) a `role` in a campaign, or remove one (`take`)."""
    campaign_row = access.campaign(campaign)
    if (number := row_id(request.POST.get("take", ""))) is not None:
        accounts.take_campaign_role(
            by=user_of(request), campaign_role=access.campaign_role(campaign_row.pk, number)
        )
        messages.success(request, "The role was taken away.")
        return redirect("campaign", campaign_row.pk)
    name = request.POST.get("username", "").strip()
    person = User.objects.filter(username=name).first()
    try:
        if person is None:
            raise RoleRefused(f"There is no account “{name[:80]}”.")
        role = request.POST.get("role", "")
        accounts.give_campaign_role(by=user_of(request), campaign=campaign_row, person=person, role=role)
    except RoleRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{name} has the role in this campaign.")
    return redirect("campaign", campaign_row.pk)


# The page of a campaign's rules on who may and must rate which tasks.


@campaign_researcher_only
def rules_page(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: set who may and must rate which tasks. `?groups_by=` offers other strata."""
    campaign_row, why = access.campaign(campaign), ""
    current_rules = rules.rules_of(campaign_row)
    if request.method == "POST":
        current_rules = _posted(request.POST)
        try:
            rules.set_rules(by=user_of(request), campaign=campaign_row, rules=current_rules)
        except CampaignRefused as error:
            why = str(error)
        else:
            if current_rules.groups_by and not current_rules.strata:
                messages.info(request, "Now say which group rates which stratum, then save again.")
                return redirect("campaign-rules", campaign_row.pk)
            messages.success(request, "The rules hold from the next task that is handed out.")
            return redirect("campaign", campaign_row.pk)
    return render(
        request,
        "campaigns/rules.html",
        _context(campaign_row, current_rules) | {"refused": why},
        status=422 if why else 200,
    )


def _posted(sent: QueryDict) -> Rules:
    groups = {str(group.pk): group for group in PeopleGroup.objects.all()}
    by = sent.get("groups_by", "")
    pairs = zip(sent.getlist("stratum"), sent.getlist("stratum_group"), strict=False)
    strata = {name: groups[key] for name, key in pairs if key in groups}
    counts = {group: row_id(sent.get(f"required-{key}", "")) or 0 for key, group in groups.items()}
    required = {group: number for group, number in counts.items() if number}
    shown_for = sent.get("strata_of", "")
    return Rules(
        by_language=bool(sent.get("by_language")),
        not_own=sent.get("not_own", ""),
        groups_by=by,
        strata=strata if by and by == shown_for else {},
        required=required,
    )


def _context(campaign: Campaign, current_rules: Rules) -> dict[str, Any]:
    fields = [pair for pair in sampling.choices(campaign.corpus) if pair[0].startswith(METADATA)]
    required = {group.pk: number for group, number in current_rules.required.items()}
    groups_by_stratum = {stratum: group.pk for stratum, group in current_rules.strata.items()}
    return {
        "campaign": campaign,
        "asked": current_rules,
        "is_fixed": campaign.state != Campaign.State.DRAFT,
        "authors": [("", "Nobody: anyone may rate anything"), (tasks.PARTICIPANTS, "Participants"), *fields],
        "strata_by": [("", "Nothing"), *sampling.choices(campaign.corpus)[1:]],
        "strata": [
            (name, groups_by_stratum.get(name)) for name in tasks.strata_of(campaign, current_rules.groups_by)
        ],
        "required": [(group, required.get(group.pk, 0)) for group in PeopleGroup.objects.all()],
        "groups": PeopleGroup.objects.all(),
    }


MOST_REMARKS = 50
CAMPAIGNS = Listing(
    Column("Select", is_hidden=True),
    Column("Campaign", natural("name")),
    Column("State", "state"),
    Column("Corpus", natural("corpus__name")),
    Column("Asks", VERSION_TITLE),
    Column("Annotators", "people", is_numeric=True),
    Column("Submitted", "submitted", is_numeric=True),
    search=("name", "corpus__name", "scheme_version__scheme__title"),
)
MOST_PILOTS = 10


@require_GET
def campaign_list(request: HttpRequest) -> HttpResponse:
    """Researchers: list all campaigns, latest first; others: those they manage. `?archived=1`: archived."""
    mine = access.managed(user_of(request))
    if not access.manages_any(request.user):
        raise PermissionDenied
    archived = request.GET.get("archived") == "1"
    rows = (
        mine.filter(archived_at__isnull=not archived)
        .select_related("corpus", "scheme_version__scheme")
        .annotate(
            submitted=Count("assignments", filter=Q(assignments__state="submitted"), distinct=True),
            people=Count("members", distinct=True),
        )
        .order_by("-id")
    )
    page = CAMPAIGNS.page(request, rows)
    context = {
        "page": page,
        "lacking": campaign_progress.lacking(list(page)),
        "archived": archived,
        "acts": CAMPAIGN_ACTS.without(*(ONLY_CURRENT if archived else ONLY_ARCHIVED)),
        "n_archived": mine.filter(archived_at__isnull=False).count(),
    }
    return render(request, "campaigns/list.html", context)


@require_POST
def change_campaigns(request: HttpRequest) -> HttpResponse:
    """Researchers, and others for campaigns that they manage: change the state of those selected."""
    if not access.manages_any(request.user):
        raise PermissionDenied
    return CAMPAIGN_ACTS.change_and_return(request)


@researcher_only
def new_campaign(request: HttpRequest) -> HttpResponse:
    """Researchers: choose a corpus, then create the campaign."""
    corpus_number = request.GET.get("corpus", "")
    corpus = Corpus.objects.filter(pk=row_id(corpus_number) or 0).first()
    if corpus is None:
        return redirect("corpora")
    by, do = user_of(request), request.POST.get("do", "")
    initial = new_initial(corpus, by)
    if scheme := request.GET.get("scheme", ""):
        initial["scheme"] = scheme
        initial["raters_per_item"] = RATERS_PER_ITEM.get(scheme, initial["raters_per_item"])
    form = CampaignForm(request.POST or None, corpus=corpus, initial=initial)
    edited = Edited(starter(initial["name"]))
    if request.method == "POST":
        edited = scheme_editor.edited_from(request)
    if request.method == "POST" and do not in ("", START, CREATE, REVIEW):
        scheme_editor.apply(edited.draft, do)
        form = form.as_typed()
    edited.judge()
    if do == REVIEW:
        review = _rehearse(form, lambda: _create(by, form, edited, starts=False))
        context = _form_context(request, form, corpus) | scheme_editor.editor_context(edited)
        return render_form(request, context | {"review": review}, 200)
    if form.is_bound and form.is_valid() and (draft := _create(by, form, edited, starts=do == START)):
        if draft.state == Campaign.State.OPEN:
            messages.success(request, f"{draft.name} is open. Annotators see it under “My work”.")
        elif do == START:
            messages.info(request, "The campaign is being opened: see the list below.")
            return redirect("jobs")
        return redirect("campaign", draft.pk)
    status = 422 if form.is_bound and form.errors else 200
    context = _form_context(request, form, corpus) | scheme_editor.editor_context(edited)
    return render_form(request, context, status)


START, CREATE, REVIEW = "start", "create", "review"


@transaction.atomic
def _create(by: User, form: CampaignForm, edited: Edited, starts: bool) -> Campaign | None:
    """Create the form's campaign, with its new scheme, and open it if asked; None where that was refused."""
    arguments = form.arguments()
    try:
        if arguments["scheme"] == NEW_SCHEME:
            if edited.definition is None:
                form.add_error("scheme", "Complete the questions below.")
                return None
            arguments["scheme"] = scheme_actions.create(by=by, definition=edited.definition).ref
        campaign = campaigns.create(by=by, **arguments)
        if starts:
            campaigns.open_campaign(by=by, campaign=campaign)
            campaign.refresh_from_db()
    except SchemeRefused as error:
        edited.refuse(error)
        form.add_error("scheme", "Complete the questions below.")
    except CampaignRefused as error:
        form.refused(error)
    else:
        return campaign
    transaction.set_rollback(True)
    return None


def _rehearse(form: CampaignForm, save: Callable[[], Campaign | None]) -> dict[str, Any] | None:
    """Return the strata that the form's campaign would draw from, for its page; nothing is saved."""
    if not form.is_valid():
        return {"refusal": _form_problems(form)}
    with transaction.atomic():
        try:
            campaign = save()
            review = None if campaign is None else _review(campaign)
        except CampaignRefused as error:
            form.refused(error)
            campaign = None
        transaction.set_rollback(True)
    if campaign is None:
        return {"refusal": _form_problems(form)}
    return review or {"refusal": "Choose a judge by whose answers items are drawn."}


def _form_problems(form: CampaignForm) -> str:
    """Return what is wrong with a form in one line, each sentence after the label of its field."""
    problems = [
        f"{form[name].label}: {message}" if name in form.fields else str(message)
        for name, messages in form.errors.items()
        for message in messages
    ]
    return " ".join(problems)


def _review(campaign: Campaign) -> dict[str, Any] | None:
    """Return the strata of a campaign's review queue for a page; None where it has none."""
    if campaign.review is None:
        return None
    facts = sampling.describe(campaign)
    assert facts is not None
    has_deviations = any(row["sd"] is not None for row in facts["strata"])
    rows = [
        (
            row["stratum"],
            (f"{row['items']:,}", f"{row['sample']:,}", _probability(row["probability"])),
            [f"{row['sd']:.3g} ({row['sd_from']})" if row["sd"] is not None else "none"]
            if has_deviations
            else [],
        )
        for row in facts["strata"]
    ]
    verb = "were" if facts["kept"] else "would be"
    sentence = (
        f"{many(facts['items'], 'item')} of {many(facts['dialogues'], 'dialogue')} {verb} drawn, by seed "
        f"{campaign.seed}. Estimates speak of the {many(facts['population'], 'item')} of these strata"
    )
    if facts["left_out"]:
        sentence += f" that are drawn from, not of the other {facts['left_out']:,}"
    if facts["unopened"]:
        sentence += (
            f". {many(facts['unopened'], 'item')} of the test part, which nobody has opened, are left out"
        )
    keys = {"refusal": facts["refusal"], "rows": rows, "has_deviations": has_deviations}
    return keys | {"sentence": f"{sentence}."}


def _probability(probability: float | None) -> str:
    return "left out" if probability is None else f"{probability:.3g}"


def _form_context(request: HttpRequest, form: CampaignForm, corpus: Corpus) -> dict[str, Any]:
    return {"form": form, "corpus": corpus, "pilots": _pilots(user_of(request))}


def render_form(request: HttpRequest, context: dict[str, Any], status: int) -> HttpResponse:
    """Return the page of a campaign's form; settings about some kinds of items appear with their schemes."""
    form, draft = context["form"], context.get("draft")
    new_kind = draft.item_kind if draft else ""
    context["about"] = {
        "turns": form.schemes_about([TURN.key], new_kind),
        "comparisons": form.schemes_about(COMPARING, new_kind),
        "records": form.schemes_about(OF_RECORDS, new_kind),
    }
    return frames_others(render(request, "campaigns/new.html", context, status=status))


@campaign_researcher_only
def edit_campaign(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: change a campaign; a draft may also move to another corpus (`?corpus=`)."""
    campaign_row = access.campaign(campaign)
    corpus = campaign_row.corpus
    if request.GET.get("corpus") is not None and not is_researcher(request.user):
        raise PermissionDenied
    if (
        campaign_row.state == Campaign.State.DRAFT
        and (corpus_number := request.GET.get("corpus")) is not None
    ):
        other = Corpus.objects.filter(pk=row_id(corpus_number) or 0).first()
        if other is None:
            return redirect("corpora")
        corpus = other
    form = CampaignForm(request.POST or None, corpus=corpus, campaign=campaign_row)
    if request.POST.get("do") == REVIEW:
        by = user_of(request)
        review = _rehearse(form, lambda: editing.change(by=by, campaign=campaign_row, **form.changes()))
        context = _form_context(request, form, corpus) | {"campaign": campaign_row, "review": review}
        return render_form(request, context, 200)
    if request.method == "POST" and form.is_valid():
        try:
            editing.change(by=user_of(request), campaign=campaign_row, **form.changes())
        except CampaignRefused as error:
            form.refused(error)
        else:
            messages.success(request, "The campaign is changed.")
            return redirect("campaign", campaign_row.pk)
    context = _form_context(request, form, corpus) | {"campaign": campaign_row}
    if campaign_row.state == Campaign.State.DRAFT and is_researcher(request.user):
        context["corpora"] = Corpus.objects.exclude(pk=corpus.pk).order_by("name")
    return render_form(request, context, 422 if form.errors else 200)


def _pilots(user: User) -> QuerySet[Campaign]:
    """Return the newest campaigns in which people have worked, as pilots for planning a campaign."""
    worked = CampaignMember.objects.filter(campaign=OuterRef("pk"), done__gt=0)
    return access.managed(user).filter(Exists(worked)).order_by("-pk")[:MOST_PILOTS]


@require_POST
@researcher_only
def copy_campaign(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: copy a campaign to a draft with the same people, without any work."""
    campaign_row = access.campaign(campaign)
    try:
        draft = editing.copy(by=user_of(request), campaign=campaign_row, name=request.POST.get("name", ""))
    except CampaignRefused as error:
        messages.error(request, str(error))
        return redirect("campaign", campaign_row.pk)
    messages.success(request, f"A draft like {campaign_row.name}. Change what should differ, then open it.")
    return redirect("edit-campaign", draft.pk)


@require_GET
@campaign_researcher_only
def campaign(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: show a campaign with its people, progress and the annotators' comments."""
    campaign_row = access.campaign(campaign)
    members = campaign_progress.members(campaign_row)
    remarks = list(campaign_progress.remarks(campaign_row)[:MOST_REMARKS])
    turn_numbers.number(remark.task.item.turn if remark.task.item else None for remark in remarks)
    outsiders = User.objects.filter(is_active=True, participant=None).exclude(
        pk__in=[member["user_id"] for member in members]
    )
    counts = campaign_progress.counts(campaign_row)
    to_make = campaign_tasks.count(campaign_row) if campaign_row.state != Campaign.State.OPEN else 0
    judges = sampling.order_judges(campaign_row.corpus)
    waiting = waiting_threads(campaign_row)
    context = {
        "campaign": campaign_row,
        "name_limit": NAME_LIMIT,
        "counts": counts,
        "asides": _asides(counts),
        "to_make": to_make,
        "notices": _notices(campaign_row, to_make, bool(members)),
        "pages": _pages_of(campaign_row, is_researcher(request.user)),
        "verbs": [(text, verb) for text, verb, states in STATE_BUTTONS if campaign_row.state in states],
        "settings": _settings(campaign_row, judges),
        "review": _review(campaign_row),
        "excluded": exclusion.described(
            campaign_row.corpus, campaign_row.exclude, training=campaign_row.part == splits.TRAINING
        ),
        "members": members,
        "groups": PeopleGroup.objects.all(),
        "roles": accounts.campaign_roles_of(campaign_row),
        "role_choices": CampaignRole.Role.choices,
        "username_limit": accounts.USERNAME_LIMIT,
        "outsiders": outsiders.order_by("username"),
        "batches": campaigns.batches(campaign_row),
        "shares": [
            ", ".join(f"{stratum or 'without'} {n:,}" for stratum, n in done.items())
            for done in (sampling.shares(campaign_row) if campaign_row.balance_by else ())
        ],
        "orders": Campaign.Order.choices,
        "order_fields": sampling.order_fields(campaign_row.corpus),
        "judges": judges,
        "remarks": remarks,
        "guidelines": campaign_row.guidelines.order_by("-version").first(),
        "events": _events(campaign_row),
        "consent": campaign_progress.consent(campaign_row),
        "waiting": f"{waiting} wait for an answer" if waiting else "",
    }
    return frames_others(render(request, "campaigns/campaign.html", context))


STATE_BUTTONS = (("Pause", "pause", ("open",)), ("Close", "close", ("open", "paused")))


def _asides(counts: campaign_progress.Counts) -> list[str]:
    """Return the numbers of assignments that are not submitted, in words."""
    always = [f"{counts.held} being worked on", f"{counts.skipped} skipped", f"{counts.flagged} flagged"]
    returned = [f"{counts.returned} returned to their annotators"] if counts.returned else []
    return [*always, *returned, *([f"{counts.voided} voided"] if counts.voided else [])]


def _pages_of(campaign: Campaign, for_researcher: bool) -> list[tuple[str, str]]:
    """Return the further pages of a campaign, for its menu."""
    about = f"?campaign={campaign.pk}"
    begun, disagree = campaign.state != Campaign.State.DRAFT, campaign_progress.disagree(campaign)
    rows = [
        ("Preview as an annotator", "campaign-preview", not campaign.own_key),
        ("Edit", "edit-campaign", not campaign.archived_at),
        ("Training and checks", "campaign-checks", True),
        ("Watch", "campaign-watch", begun),
        ("Plan more ratings", "campaign-plan", begun),
    ]
    related = [
        ("Run judges", "new-run", for_researcher),
        ("Adjudication", "adjudication", for_researcher and disagree),
        ("Make gold labels", "new-gold", True),
        ("Exports", "exports", True),
    ]
    own = [(text, reverse(route, args=[campaign.pk])) for text, route, is_offered in rows if is_offered]
    own += links_of("campaign", {"campaign": campaign})
    return own + [(text, reverse(route) + about) for text, route, is_offered in related if is_offered]


def _notices(campaign: Campaign, to_make: int, has_members: bool) -> list[tuple[str, str]]:
    """Return what to know before going on, each with the tone of its field."""
    notices, is_draft = [], campaign.state == Campaign.State.DRAFT
    tasks_to_make = f"{'at least ' if to_make == campaign_tasks.MOST_COUNTED else ''}{many(to_make, 'task')}"
    raters, most = many(campaign.raters_per_item, "rater"), campaign.overlap_raters
    if is_draft:
        overlap = f", and {most} for a part of them" if most else ""
        opening = f"Opening makes {tasks_to_make} for {raters} each{overlap}."
        nothing = f"Nothing of the chosen part of {campaign.corpus.name} can be rated with this scheme yet."
        first = "" if has_members else " Add annotators first, or later."
        notices.append(("info", (opening if to_make else nothing) + first))
    elif to_make:
        notices.append(("info", f"The corpus grew: opening again adds {tasks_to_make}."))
    if left_out := campaign_tasks.left_out(campaign):
        notices.append(("info", f"{left_out.sentence()} Judges over this campaign leave out the same."))
    if lacking := campaign_progress.lacking([campaign]).get(campaign.pk):
        asks = f"some items ask for {most} raters" if most else f"each item asks for {raters}"
        add = f"and nobody rates an item twice. Add {many(lacking, 'more annotator')}."
        notices.append(("warning", f"This campaign can never finish: {asks}, {add}"))
    if unclaimable := campaign_rules.unclaimable_tasks(campaign):
        sentences = " ".join(row["sentence"] for row in unclaimable)
        address = reverse("campaign-rules", args=[campaign.pk])
        pattern = '{} Add people or change the <a href="{}">rules</a>.'
        notices.append(("warning", format_html(pattern, sentences, address)))
    return notices


def _settings(campaign: Campaign, judges: dict[str, str]) -> list[tuple[str, Any]]:
    """Return a campaign's settings as pairs of term and value; those without a value do not apply."""
    version, rules_text = campaign.scheme_version, campaign_rules.sentences(campaign_rules.rules_of(campaign))
    raters_text = "; ".join(rules_text) or "everybody everything"
    order, judge = campaign.get_task_order_display().lower(), campaign.apart_judge
    order += f" {campaign.seed}" if campaign.task_order == Campaign.Order.DRAWN else ""
    order += f": {campaign.order_by}" if campaign.order_by else ""
    order += f" (judge: {judges.get(judge, judge)})" if judge else ""
    raters = f"{campaign.raters_per_item}"
    if campaign.overlap_raters:
        tasks_shared, share = campaign.overlap_tasks, 100 * (campaign.overlap_share or 0)
        part = f"{tasks_shared:,} of the tasks" if tasks_shared else f"{share:g}% of the tasks"
        raters += f"; {campaign.overlap_raters} for {part}, drawn by seed {campaign.seed}"
    batches, revised = campaign.batch_size, campaign.revise_hours
    bounds, systems = bounds_of(campaign), ", ".join(system.name for system in campaign.systems.all())
    to_rules = format_html(
        '{} · <a href="{}">rules</a>', raters_text, reverse("campaign-rules", args=[campaign.pk])
    )
    return [
        ("Corpus", campaign.corpus.name),
        ("Asks", version.name),
        ("Scheme version", f"{version.version}{' (in use)' if version.frozen_at else ''}"),
        ("Systems", f"{systems or 'all'}{', and own turns' if campaign.include_self else ''}"),
        ("Turns by", ", ".join(campaign.speakers)),
        ("Part", campaign.part),
        ("Dialogues left out by", campaign.exclude),
        ("Asked about", _sample_sentence(campaign, judges)),
        ("Order of tasks", order),
        ("Balanced over", campaign.balance_by and f"{campaign.balance_by}, for each annotator"),
        ("Batches", batches and f"{many(batches, 'task')} each; {campaign.get_next_batch_display().lower()}"),
        ("Shown beside the turns", ", ".join(views.titles(campaign.shows)) or "nothing"),
        ("One screen has", "all systems' responses to one point" if campaign.side_by_side else ""),
        ("Raters per item", raters),
        ("Who rates what", raters_text if campaign.archived_at else to_rules),
        ("Limits", bounds[:1].upper() + bounds[1:]),
        ("Revised for", "" if revised is None else f"{revised:,} h" if revised else "never"),
        ("Annotators see", "how far they agree with others" if campaign.shows_agreement else ""),
        ("Tasks reserved for", f"{campaign.lease_minutes} min"),
    ]


def _sample_sentence(campaign: Campaign, judges: dict[str, str]) -> str:
    """Describe a campaign's sample; empty where all is asked about."""
    sample = sampling.describe(campaign)
    if sample is None:
        return ""
    if sample["refusal"]:
        return f"a sample that cannot be drawn: {sample['refusal']}"
    if campaign.review is not None:
        names = ", ".join(judges.get(name, name) for name in campaign.review["judges"])
        return (
            f"{many(sample['items'], 'item')}, by the answers of {names} to “{campaign.review['question']}”"
        )
    state, seed = "drawn" if sample["kept"] else "to be drawn", f" by seed {campaign.seed}"
    if sample.get("records"):
        return f"{sample['records']:,} of them, {state}{seed}"
    start = ""
    if sample["apart"]:
        judge = judges.get(campaign.apart_judge, campaign.apart_judge)
        items = many(sample["items"], "item")
        start = f"where {judge} and people are at least {sample['apart']} of the scale apart ({items}): "
    strata = ", ".join(f"{row['stratum'] or 'without'} {row['dialogues']:,}" for row in sample["strata"])
    by = f" in proportion to {sample['by']}: {strata}" if sample["by"] else ""
    seed = seed if campaign.sample_dialogues else ""
    return f"{start}{many(sample['dialogues'], 'dialogue')}, {state}{seed}{by}"


@require_POST
@campaign_researcher_only
def change_state(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: open, pause, close, archive or restore a campaign."""
    verb = editing.VERBS.get(request.POST.get("verb", ""))
    if verb is None:
        messages.error(request, f"Choose one of {', '.join(editing.VERBS)}.")
    else:
        try:
            if isinstance(verb(by=user_of(request), campaign=access.campaign(campaign)), Job):
                messages.info(request, "The campaign is being opened: see the list below.")
                return redirect("jobs")
        except CampaignRefused as error:
            messages.error(request, str(error))
    return redirect("campaign", campaign)


@require_POST
@campaign_researcher_only
def reorder(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: reorder the tasks that nobody has begun, by the same or another rule."""
    order = {name: request.POST.get(name) for name in ("task_order", "order_by", "apart_judge")}
    if order["task_order"] != Campaign.Order.PRIORITY:
        order["order_by"] = ""  # only the order by priority uses it
    try:
        moved = editing.reorder(by=user_of(request), campaign=access.campaign(campaign), **order)
    except CampaignRefused as error:
        messages.error(request, str(error))
    else:
        changed = f"{many(moved, 'task')} changed place."
        messages.success(request, changed if moved else "The tasks are in this order already.")
    return redirect("campaign", campaign)


@require_POST
@campaign_researcher_only
def open_batch(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: open the next batch of tasks."""
    try:
        number = campaigns.open_next(by=user_of(request), campaign=access.campaign(campaign))
    except CampaignRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Batch {number} is open.")
    return redirect("campaign", campaign)


@require_POST
@campaign_researcher_only
def change_members(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: add people (`add`) and groups (`group`), or remove people (`remove`)."""
    campaign_row = access.campaign(campaign)
    people, sent = User.objects.all(), request.POST
    try:
        campaigns.change_members(
            by=user_of(request),
            campaign=campaign_row,
            add=people.filter(pk__in=_numbers(sent.getlist("add"))),
            groups=PeopleGroup.objects.filter(pk__in=_numbers(sent.getlist("group"))),
            remove=people.filter(pk__in=_numbers(sent.getlist("remove"))),
        )
    except CampaignRefused as error:
        messages.error(request, str(error))
    return redirect("campaign", campaign)


@require_POST
@campaign_researcher_only
def set_guidelines(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: change the guidelines; a version in use is kept and gets a successor."""
    text = request.POST.get("text", "")
    try:
        version = campaigns.set_guidelines(by=user_of(request), campaign=access.campaign(campaign), text=text)
    except CampaignRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Guidelines version {version.version} is in force.")
    return redirect("campaign", campaign)


def _events(campaign: Campaign) -> list[tuple[Event, str]]:
    """Return the latest events of a campaign, also under former names, each with its author's name."""
    about = Q(detail__campaign=campaign.pk) | Q(subject=campaign.name, detail__campaign__isnull=True)
    rows = list(Event.objects.filter(about, verb__startswith="campaign: ")[:20])
    names = campaign_progress.managers_in({row.by_id for row in rows if row.by_id is not None}, campaign)
    return [(row, names.get(row.by_id, "an annotator") if row.by_id else "") for row in rows]


@require_POST
@campaign_researcher_only
def set_consent(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: change the consent text; a version that somebody agreed to is kept."""
    text = request.POST.get("text", "")
    try:
        version = campaigns.set_consent(by=user_of(request), campaign=access.campaign(campaign), text=text)
    except CampaignRefused as error:
        messages.error(request, str(error))
    else:
        saved = f"Consent text version {version.version} is in force."
        messages.success(request, saved if version.text else "Nobody is asked to agree to anything.")
    return redirect("campaign", campaign)


def _numbers(values: list[str]) -> list[int]:
    return [number for value in values if (number := row_id(value)) is not None]
