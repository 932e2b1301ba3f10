"""How the API answers when an annotator's or a researcher's request is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from annotation.errors import WorkError


def answered(view: Callable[..., Response]) -> Callable[..., Response]:
    """Decorator: a WorkError becomes its HTTP status with `detail` for people and `code` for programs."""

    @wraps(view)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> Response:
        try:
            return view(request, *args, **kwargs)
        except WorkError as error:
            refusal = {"detail": str(error), "code": error.code, **error.details()}
            return Response(refusal, status=error.status)

    return guarded
