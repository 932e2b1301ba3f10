"""The items behind a figure of a report, those on which raters differ most first."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from annotation.corpora import queries
from calibration import access
from calibration.disagreements import reading as measure
from calibration.disagreements.reading import PEOPLE as ALL_PEOPLE
from calibration.disagreements.reading import Listing, listing
from calibration.disagreements.showing import shown, value_name
from calibration.pages.asked import part_of
from calibration.pages.reports import refusal_shown
from calibration.permissions import study_researcher_only
from calibration.reports.wording import crowd_of

PAGE = 20


@require_GET
@study_researcher_only
@refusal_shown
def disagreements(request: HttpRequest, pk: int) -> HttpResponse:
    """The items of one question where two raters differ, with the turns and all answers.

    The part of the split is that of the report; test is shown once it was opened for this study.
    """
    study = access.study(pk)
    part = part_of(request, study)
    if part is None:
        return redirect("open-test", pk)
    frame = {"study": study, "part": part, "active_room": "studies"}
    try:
        found = listing(study, part, request.GET.dict())
    except KeyError as error:
        raise Http404 from error
    page = Paginator(found.rows, PAGE).get_page(request.GET.get("page"))
    items = shown(found.asked, found.compared, list(page), [found.apart[row] for row in page])
    context = frame | {
        "found": found,
        "page": page,
        "items": items,
        "may_share": queries.may_share({row.item.continuation.dialogue_id for row in items}),
        "question": found.asked.data.subject.question,
        "choices": _choices(found),
        "who": [_everybody(found).get(name, name) for name in (found.first, found.second)],
        "table": _table(found, part),
        "query": f"{urlencode(found.named(part))}&",
    }
    return render(request, "calibration/disagreements.html", context)


def _choices(found: Listing) -> list[tuple[str, str]]:
    """Return who can be chosen: all people, then each identified rater, people first."""
    ratings = found.asked.ratings
    single = [
        (name, name)
        for kind in ("human", "judge", "key", "metric")
        for name, its, identified in zip(ratings.raters, ratings.kinds, ratings.identified, strict=True)
        if its == kind and identified
    ]
    return [*_everybody(found).items(), *single]


def _everybody(found: Listing) -> dict[str, str]:
    """Return what all people at once are called: simulated raters are no people."""
    return {ALL_PEOPLE: f"the {crowd_of(found.asked.data.raters).many}"}


def _table(found: Listing, part: str) -> dict[str, Any] | None:
    """Return the counts of answers that met, each with the parameters that list its items."""
    counts = measure.table(found.compared)
    if counts is None:
        return None
    names = [value_name(found.asked, value) for value in found.asked.ratings.scale or ()]
    rows = [
        (
            name,
            [
                (n, urlencode(found.named(part) | {"cell": f"{i},{j}"}), i == j, (i, j) == found.cell)
                for j, n in enumerate(line)
            ],
        )
        for i, (name, line) in enumerate(zip(names, counts, strict=True))
    ]
    return {"names": names, "rows": rows}
