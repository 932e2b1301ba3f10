"""Each object has one loader, in its app's `access.py`, for pages and API alike."""

from __future__ import annotations

import ast

import pytest

from config.settings import BASE_DIR

OBJECTS = {
    "Corpus", "Campaign", "Dialogue", "Upload", "User", "OneTimeLink", "ApiToken", "CampaignMember",
    "Job.objects", "Run", "Endpoint", "Study", "Gold", "Export", "Prompt",
}  # fmt: skip
APPS = ("annotation", "judges", "suites", "jobs", "calibration")
FILES = [
    path
    for app in APPS
    for path in sorted((BASE_DIR / app).rglob("*.py"))
    if {"pages", "api"} & set(path.relative_to(BASE_DIR).with_suffix("").parts)
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(BASE_DIR)))
def test_pages_and_routes_load_objects_through_their_one_loader(path: object) -> None:
    tree = ast.parse(path.read_text())  # type: ignore[attr-defined]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    loaded = [
        ast.unparse(call.args[0])
        for call in calls
        if ast.unparse(call.func) == "get_object_or_404" and call.args
    ]
    assert [text for text in loaded if text in OBJECTS or text.split(".objects")[0] in OBJECTS] == []
