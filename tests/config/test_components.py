"""Elements shared by many pages are written once, in templates/_components/."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template import Context, Template

TEMPLATES = Path(__file__).parents[2] / "templates"
PAGES = [path for path in sorted(TEMPLATES.rglob("*.html")) if path.parent.name != "_components"]


def render(template: str, **values: object) -> str:
    return Template(template).render(Context(values))


@pytest.mark.parametrize("by_hand", ["tablewrap", "<dialog", "_state.html", '"badge'])
def test_tables_dialogs_and_badges_are_components(by_hand: str) -> None:
    assert [str(path.relative_to(TEMPLATES)) for path in PAGES if by_hand in path.read_text()] == []


def test_every_framed_table_has_a_name() -> None:
    frames = [frame for path in PAGES for frame in re.findall(r"{% tableframe\b(.*?)%}", path.read_text())]
    assert len(frames) > 20
    assert [frame for frame in frames if "label" not in frame] == []


def test_a_framed_table_scrolls_by_keyboard_and_its_name_is_text() -> None:
    page = render("{% tableframe label=name card=True %}<table></table>{% endtableframe %}", name='"><b>')
    assert 'class="card tablewrap"' in page
    assert 'tabindex="0"' in page
    assert 'aria-label="&quot;&gt;&lt;b&gt;: table"' in page
    assert "<table></table>" in page


def test_a_dialog_is_named_by_its_heading() -> None:
    page = render('{% dialog "sure" title="Submit already?" %}<p>{{ text }}</p>{% enddialog %}', text="<i>")
    assert 'id="sure" aria-labelledby="sure-title">' in page
    assert '<h2 id="sure-title" data-part="title">Submit already?</h2>' in page
    assert "<p>&lt;i&gt;</p>" in page


@pytest.mark.parametrize(
    ("state", "empty", "badge"),
    [
        ("done", False, '<span class="badge bg-success-lt">done</span>'),
        ("done", True, '<span class="badge bg-warning-lt">done, no values</span>'),
        ("failed", False, '<span class="badge bg-danger-lt">failed</span>'),
        ("pending", False, '<span class="badge">waiting</span>'),
        ("leased", False, '<span class="badge bg-primary-lt">under way</span>'),
        ("cancelled", False, '<span class="badge">cancelled</span>'),
        ("open", False, '<span class="badge bg-success-lt">open</span>'),
        ("paused", False, '<span class="badge bg-warning-lt">paused</span>'),
    ],
)
def test_a_state_looks_the_same_wherever_it_is_shown(state: str, empty: bool, badge: str) -> None:
    assert badge in render('{% include "_components/state.html" %}', state=state, empty=empty)
