"""OpenAPI document of the API."""

from __future__ import annotations

import json
from functools import cache
from typing import Any


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document as a client program reads it."""
    from drf_spectacular.generators import SchemaGenerator

    schema = SchemaGenerator().get_schema(request=None, public=True)
    return json.loads(json.dumps(schema, default=str))
