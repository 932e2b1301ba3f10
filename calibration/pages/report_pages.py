"""Views shared by all kinds of reports: show a report, send its files, open its test part.

Researchers only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.corpora.splits import LONGEST_PURPOSE
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus, Dialogue
from calibration.errors import CalibrationError
from calibration.reports.kinds import ReportKind
from config.files import row_id
from config.permissions import researcher_only
from jobs.models.job import Job

Context = dict[str, Any]
Params = dict[str, Any]


class ReportPage(ABC):
    """Page of a kind of report about a corpus; subclasses define its form and its content."""

    kind: ClassVar[ReportKind[Any, Any]]
    template: ClassVar[str]
    names: ClassVar[tuple[str, ...]] = ()
    """Single-valued parameters of the page's URL."""

    def subject(self, pk: int) -> Any:
        """Load the subject of the report."""
        return access.corpus(pk)

    def parameters(self, query: QueryDict) -> Params:
        """Return the parameters of a URL."""
        return {name: str(query[name]).replace("\0", "") for name in self.names if query.get(name)}

    def offers(self, subject: Any, campaign: Campaign | None, params: Params) -> Context:
        """Return the form's choices; `nothing` is true if there is nothing to report on."""
        return {}

    def is_error(self, subject: Any, params: Params) -> bool:
        """Whether a refusal is an error in the URL, rather than a lack of data."""
        return bool(params)

    def compute(self, request: HttpRequest, subject: Any, campaign: Campaign | None, params: Params) -> Any:
        """Return the report, or the job that computes it."""
        query = self.kind.read(params, subject, campaign)
        return self.kind.compute(query=query, by=request.user, again="again" in request.GET)

    @abstractmethod
    def shows(self, request: HttpRequest, report: Any) -> Context:
        """Return the page's data for a report."""


def report_view(page: ReportPage) -> Callable[..., HttpResponse]:
    """Return the view of a report, of the progress of its job, or of the reason why there is none."""

    @require_GET
    @researcher_only
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        subject = page.subject(pk)
        campaign = _campaign(request, subject)
        params = page.parameters(request.GET)
        context = {"corpus": subject, "campaign": campaign, "params": params}
        context |= page.offers(subject, campaign, params)
        if page.kind.open_test is not None:
            names = (page.kind.name, f"{page.kind.name}-test")
            context["page"], context["address"] = (reverse(name, args=[pk]) for name in names)
        status = 200
        if not context.get("nothing"):
            try:
                report = page.compute(request, subject, campaign, params)
                if "again" in request.GET:
                    return redirect(_page_address(page, pk, request.GET))
                if isinstance(report, Job):
                    context |= {"job": report, "title": page.kind.title}
                    return render(request, "calibration/figures_progress.html", context)
                forms = page.kind.renderings.values()
                context |= {"report": report, "forms": forms} | page.shows(request, report)
            except CalibrationError as refused:
                is_error = page.is_error(subject, params)
                context |= {"refused": str(refused), "is_error": is_error}
                status = 422 if is_error else 200
        return render(request, page.template, context, status=status)

    return view


def file_view(page: ReportPage) -> Callable[..., HttpResponse]:
    """Return the view that sends the report as a file."""

    @require_GET
    @researcher_only
    def view(request: HttpRequest, pk: int, form: str) -> HttpResponse:
        subject = page.subject(pk)
        rendering = page.kind.renderings.get(form)
        if rendering is None:
            raise Http404
        try:
            query = page.kind.read(page.parameters(request.GET), subject, _campaign(request, subject))
            report = page.kind.compute(query=query, by=request.user)
        except CalibrationError as refused:
            return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
        if isinstance(report, Job):
            return redirect(_page_address(page, pk, request.GET))
        name = page.kind.file_name(pk, report, form)
        return download(rendering.write(report), rendering.media_type, name)

    return view


def test_view(page: ReportPage) -> Callable[..., HttpResponse]:
    """Return the view that logs a look at test with its purpose, and shows the report on test."""

    @require_POST
    @researcher_only
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        assert page.kind.open_test is not None
        subject = page.subject(pk)
        purpose = request.POST.get("purpose", "").replace("\0", "")[:LONGEST_PURPOSE]
        address = request.GET.copy()
        address.pop("part", None)
        try:
            query = page.kind.read(page.parameters(address), subject, _campaign(request, subject))
            page.kind.open_test(query=query, by=request.user, purpose=purpose)
            address["part"] = "test"
        except CalibrationError as refused:
            messages.error(request, f"Test was not opened: {refused}.")
        return redirect(_page_address(page, pk, address))

    return view


def _campaign(request: HttpRequest, subject: Corpus | Dialogue) -> Campaign | None:
    """Load the campaign named in a URL; a comparison of a dialogue has none."""
    number = row_id(request.GET.get("campaign", "")) if isinstance(subject, Corpus) else None
    if number is None:
        return None
    campaign = access.campaign(number)
    if campaign.corpus_id != subject.pk:
        raise Http404
    return campaign


def _page_address(page: ReportPage, pk: int, query: QueryDict) -> str:
    """Return the URL of a page with its parameters, except the request to recompute."""
    params = query.copy()
    params.pop("again", None)
    return f"{reverse(page.kind.name, args=[pk])}?{params.urlencode()}"


def chart_files(request: HttpRequest, route: str, pk: int, data: str) -> dict[str, str]:
    """Return the addresses of a page's chart as SVG, PNG and its data, by form."""
    forms = ("svg", "png", data)
    return {form: f"{reverse(route, args=[pk, form])}?{request.GET.urlencode()}" for form in forms}


def download(content: str | bytes, media_type: str, name: str) -> HttpResponse:
    """Return a file download."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=media_type, headers=headers)
