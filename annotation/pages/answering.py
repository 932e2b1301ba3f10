"""How a page's script is answered when its request is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException

from annotation.errors import AnswerRefused, WorkError

View = Callable[..., HttpResponse]


def as_json(view: View) -> View:
    """Refusals of an annotator's request become JSON: `error` for people, `code` for the page's script."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except WorkError as error:
            refusal = {"error": str(error), "code": error.code, **error.details()}
            return JsonResponse(refusal, status=error.status)
        except RawPostDataException:  # a form: it was read for its token
            told = {"error": "The request must be JSON.", "code": AnswerRefused.code}
            return JsonResponse(told, status=AnswerRefused.status)

    return answered
