"""The form of a new study offers a statistic only where the report's page shows its figures."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.text.numbers import number
from calibration.models import Study
from calibration.studies import actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated() -> World:
    """A tag and a scale, answered by three people and a judge."""
    built = world(dialogues=20, turns=2)
    built.ask("tag", "binary", [0, 1], wording="Tag")
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place, name in enumerate(("ann", "ben", "cid", "gpt")):
        kind = "judge" if name == "gpt" else "human"
        tags = [float((n + (n % (5 + place) == 0)) % 2) for n in range(40)]
        scores = [float(1 + (n * 7 + (n % (4 + place) == 0)) % 5) for n in range(40)]
        built.say(name, "tag", tags, kind=kind)
        built.say(name, "quality", scores, kind=kind)
    return built


def test_every_statistic_that_the_form_offers_is_on_the_page(researcher: Client, rated: World) -> None:
    page = researcher.get(reverse("new-study") + f"?corpus={rated.corpus.pk}")
    offered = [key for key, _ in page.context["form"].fields["statistics"].choices]
    assert len(offered) >= 8
    for key in offered:
        definition = {"statistics": [key], "resamples": 0}
        study = studies.create(name=key, corpus=rated.corpus, campaign=None, definition=definition, by=None)
        report = studies.compute(study=study, part="all", by=None)
        keys = (key, f"people_{key}", f"judge_{key}")
        values = {
            number(entry["value"], 3)
            for question in report.result["questions"]
            for group in ("panel", "pairs", "replacement", "gaps")
            for entry in question[group]
            if entry["name"] in keys and entry["value"] is not None
        }
        shown = researcher.get(reverse("report", args=[study.pk])).content.decode()
        assert values, key
        assert any(f'<span class="b">{value}</span>' in shown for value in values), key
    assert Study.objects.count() == len(offered)
