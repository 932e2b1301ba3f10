"""Pages of read-only links to a report: a study's links (researchers), and the shared report (everyone)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotation.errors import TooManyTries
from annotation.people.participants import WINDOW
from annotation.people.sign_in import address_of
from calibration import access
from calibration.access import part_of, requested_report
from calibration.errors import CalibrationError, ShareRefused
from calibration.models import MOST_SHARED_DAYS, Report, Study
from calibration.reports.renderings import file_context
from calibration.studies import share_actions as shares
from calibration.studies import study_actions as studies
from config.files import row_id
from config.permissions import researcher_only, user_of


class ShareForm(forms.Form):
    """A new link to a report."""

    days = forms.IntegerField(
        label="Days until it expires",
        initial=shares.USUAL_DAYS,
        min_value=1,
        max_value=MOST_SHARED_DAYS,
        help_text=f"1 to {MOST_SHARED_DAYS}.",
    )
    allows_transcripts = forms.BooleanField(
        required=False,
        label="Show transcripts",
        help_text=(
            f"Adds up to {shares.LEADING} disagreements of each judge per question, with the turns, and the "
            "raters’ notes about turns. Without it, the link shows figures only."
        ),
    )


@never_cache
@require_http_methods(["GET", "POST"])
@researcher_only
def report_share(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: list the links to a study's reports; create one to the report shown, or revoke one."""
    study = access.study(pk)
    if (number := row_id(request.POST.get("revoke", ""))) is not None:
        shares.revoke(by=user_of(request), share=access.report_share(study, number))
        messages.success(request, "The link is revoked. It opens nothing any more.")
        return redirect(request.get_full_path())
    report = _report(request, study)
    form = ShareForm(request.POST or None)
    address = ""
    if request.method == "POST" and form.is_valid():
        try:
            share, token = shares.create(by=user_of(request), report=report, **form.cleaned_data)
        except CalibrationError as error:
            field = getattr(error, "field", "")
            form.add_error(field if field in form.fields else None, str(error))
        else:
            address = request.build_absolute_uri(reverse("shared-report", args=[token]))
            form = ShareForm()
    context = {
        "study": study,
        "report": report,
        "form": form,
        "address": address,
        "share": share if address else None,
        "shares": shares.shares_of(study),
    }
    return render(request, "calibration/report_share.html", context, status=422 if form.errors else 200)


def _report(request: HttpRequest, study: Study) -> Report:
    """Return the report to share: the snapshot named in the URL, else the newest of the part."""
    part = part_of(request, study)
    report = requested_report(study, request) or (studies.latest(study, part) if part else None)
    if report is None:
        raise Http404
    return report


@login_not_required
@never_cache
@require_GET
def shared_report(request: HttpRequest, token: str) -> HttpResponse:
    """Open to whoever has the link: one report, read-only, without links into Concord."""
    try:
        share = shares.open_share(token, address_of(request))
    except TooManyTries as error:
        response = _refused(str(error), 429)
        response["Retry-After"] = str(int(WINDOW.total_seconds()))
        return response
    except ShareRefused as error:
        return _refused(str(error), 410)
    context: dict[str, Any] = file_context(share.report) | {"share": share}
    if share.allows_transcripts:
        context["disagreements"] = shares.shown_disagreements(share)
    return _private(HttpResponse(render_to_string("calibration/shared_report.html", context)))


def _refused(reason: str, status: int) -> HttpResponse:
    page = render_to_string("calibration/shared_report_refused.html", {"reason": reason})
    return _private(HttpResponse(page, status=status))


def _private(response: HttpResponse) -> HttpResponse:
    """Keep the page out of search engines, and its address out of other sites' logs."""
    response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    response["Referrer-Policy"] = "no-referrer"
    return response
