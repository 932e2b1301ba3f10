"""The scheme editor: one draft, as a form or as YAML, with a preview beside it; saved as a version."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from annotation.errors import SchemeRefused
from annotation.models import Corpus
from annotation.pages import previews
from annotation.pages.scheme_draft import Draft
from annotation.pages.scheme_mapping import mapping_of
from annotation.pages.scheme_posted import posted
from annotation.schemes import files
from annotation.schemes.base import SchemeDefinition
from annotation.schemes.problems import Problem
from config.framing import stands_in_frame
from config.ids import row_id
from config.permissions import researcher_only


@dataclass(slots=True)
class Edited:
    """What is in the editor: a draft as a form, or a text (then `draft` is unused), and what comes of it.

    `definition` is None where `problems` say why.
    """

    draft: Draft = field(default_factory=Draft)
    text: str | None = None
    definition: SchemeDefinition | None = None
    problems: list[Problem] = field(default_factory=list)

    def judge(self) -> None:
        """Find out whether it can be asked, and put what is wrong beside the fields."""
        try:
            self.definition = (
                files.definition_from(mapping_of(self.draft)) if self.text is None else files.read(self.text)
            )
        except SchemeRefused as error:
            self.problems = list(error.problems)
            self.draft.tell(self.problems)


def edited_from(request: HttpRequest) -> Edited:
    """Return what a form of the editor posted, judged."""
    made = Edited()
    if request.POST.get("as") == "yaml":
        upload = request.FILES.get("file")
        content = upload.read(files.MOST_BYTES + 1).decode("utf-8", "replace") if upload else ""
        made.text = content or request.POST.get("text", "").replace("\r\n", "\n")
    else:
        made.draft = posted(request.POST)
    made.judge()
    return made


@require_POST
@researcher_only
def scheme_preview(request: HttpRequest) -> HttpResponse:
    """Researchers: the annotator's page with what is in the editor, stored nowhere."""
    made = edited_from(request)
    if made.definition is None:
        context = {"problems": made.problems}
        return stands_in_frame(render(request, "schemes/no_preview.html", context, status=422))
    return previews.of_definition(request, made.definition, _example(request))


def _example(request: HttpRequest) -> Corpus | None:
    return Corpus.objects.filter(pk=row_id(request.POST.get("example", "")) or 0).first()
