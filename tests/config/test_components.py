"""Elements shared by many pages are written once, in templates/_components/."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django import forms
from django.template import Context, Template

TEMPLATES = Path(__file__).parents[2] / "templates"
PAGES = [path for path in sorted(TEMPLATES.rglob("*.html")) if path.parent.name != "_components"]


def render(template: str, **values: object) -> str:
    return Template(template).render(Context(values))


@pytest.mark.parametrize("by_hand", ["tablewrap", "<dialog", "_state.html", '"badge'])
def test_tables_dialogs_and_badges_are_components(by_hand: str) -> None:
    assert [str(path.relative_to(TEMPLATES)) for path in PAGES if by_hand in path.read_text()] == []


def test_every_framed_table_has_a_name() -> None:
    frames = [
        frame for path in PAGES for frame in re.findall(r"{% table(?:frame)? (.*?)%}", path.read_text())
    ]
    assert len(frames) > 20
    assert [frame for frame in frames if "label" not in frame] == []


def test_a_framed_table_scrolls_by_keyboard_and_its_name_is_text() -> None:
    page = render("{% tableframe label=name card=True %}<table></table>{% endtableframe %}", name='"><b>')
    assert 'class="card tablewrap"' in page
    assert 'tabindex="0"' in page
    assert 'aria-label="&quot;&gt;&lt;b&gt;: table"' in page
    assert "<table></table>" in page


def test_a_table_has_a_heading_for_every_column_and_names_are_text() -> None:
    source = (
        '{% table "Rater" names|numeric differs|shows:"Condition" "Remove"|unseen label="Raters" %}'
        "<tr></tr>{% endtable %}"
    )
    page = " ".join(render(source, names=["<b>", "n:2"]).split())
    assert '<th scope="col">Rater</th>' in page
    assert '<th scope="col" class="n">&lt;b&gt;</th><th scope="col" class="n">n:2</th>' in page
    assert "Condition" not in page
    assert '<th scope="col"><span class="visually-hidden">Remove</span></th>' in page
    assert "<tbody> <tr></tr> </tbody>" in page
    assert "Condition" in render(source, names=[], differs=True)


def test_a_table_without_rows_gives_way_to_a_sentence_or_to_nothing() -> None:
    rows = "{% for row in rows %}<tr></tr>{% endfor %}{% endtable %}"
    source = '{% table "Rater" label="Raters" none=sentence %}' + rows
    assert render(source, sentence="<b>") == '<p class="text-secondary">&lt;b&gt;</p>'
    assert render(source, sentence="") == ""
    assert "<table>" in render(source, sentence="<b>", rows=[1])


def test_a_field_to_choose_in_marks_the_chosen_and_escapes() -> None:
    source = '{% select "rater" "Rater" raters chosen none="anybody" hint=hint required=True %}'
    page = render(source, raters=[("a", "<Ana>"), (2, "Two")], chosen=2, hint="<i>")
    assert '<label for="rater">Rater</label>' in page
    assert '<select id="rater" name="rater" required="" aria-describedby="rater-hint">' in page
    assert '<option value="">anybody</option>' in page
    assert '<option value="a">&lt;Ana&gt;</option>' in page
    assert '<option value="2" selected>Two</option>' in page
    assert '<span class="hint" id="rater-hint">&lt;i&gt;</span>' in page


def test_a_field_without_a_label_is_its_control_and_options_have_groups() -> None:
    page = render(
        '{% select "role" "" roles "b" none="-" aria_label=name %}', roles=[("<A>", [("b", "B")])], name="<r>"
    )
    assert page.startswith('<select id="role" name="role" aria-label="&lt;r&gt;">')
    assert '<optgroup label="&lt;A&gt;"><option value="b" selected>B</option></optgroup>' in page


def test_a_field_to_type_in_and_a_fact_escape_their_values() -> None:
    page = render('{% input "q" "Text" typed id="q-2" maxlength="9" %}', typed='"><b>')
    assert '<label for="q-2">Text</label>' in page
    assert '<input id="q-2" name="q" maxlength="9" value="&quot;&gt;&lt;b&gt;">' in page
    page = render(
        '{% fact "Role" role %}{% term name %}{{ role }}, here{% endterm %}', role="<i>", name="<b>"
    )
    assert page == (
        "<div><dt>Role</dt><dd>&lt;i&gt;</dd></div><div><dt>&lt;b&gt;</dt><dd>&lt;i&gt;, here</dd></div>"
    )


def test_a_field_points_at_its_problems_and_keywords_are_attributes() -> None:
    source = '{% input "q" "Text" problems=problems hx_post="/check/" aria_describedby="above" %}'
    page = " ".join(render(source, problems=["<b>"]).split())
    described = 'aria-describedby="above q-problems"'
    assert f'<input id="q" name="q" hx-post="/check/" {described} aria-invalid="true">' in page
    assert '<ul class="errorlist" id="q-problems"><li>&lt;b&gt;</li></ul>' in page
    assert '<ul class="errorlist" id="q-problems"></ul>' in " ".join(render(source).split())
    assert "aria-invalid" not in render(source)


def test_boxes_of_which_several_are_ticked_escape_their_texts() -> None:
    page = render('{% choices "who" "People" people inside %}', people=[(1, "<Ana>"), (2, "Ben")], inside={2})
    assert "<legend>People</legend>" in page
    assert '<input type="checkbox" name="who" id="who-1" value="1" >' in page
    assert '<input type="checkbox" name="who" id="who-2" value="2" checked>' in page
    assert "<bdi>&lt;Ana&gt;</bdi>" in page


def test_a_part_has_its_actions_beside_its_heading() -> None:
    more = '{% text as more %}<a href="/">More</a>{% endtext %}'
    source = more + "{% part title note=note beside=more %}x{% endpart %}"
    page = render(source, title="<b>", note="<i>")
    assert "<h2>&lt;b&gt;</h2>" in page
    assert '<span class="small text-secondary">&lt;i&gt;</span>' in page
    assert '<span class="ms-auto"><a href="/">More</a></span>' in page


def test_a_dialog_is_named_by_its_heading() -> None:
    page = render('{% dialog "sure" title="Submit already?" %}<p>{{ text }}</p>{% enddialog %}', text="<i>")
    assert 'id="sure" aria-labelledby="sure-title">' in page
    assert '<h2 id="sure-title" data-part="title">Submit already?</h2>' in page
    assert "<p>&lt;i&gt;</p>" in page


@pytest.mark.parametrize(
    ("state", "empty", "tone", "text"),
    [
        ("done", False, " bg-success-lt", "done"),
        ("done", True, " bg-warning-lt", "done, no values"),
        ("failed", False, " bg-danger-lt", "failed"),
        ("pending", False, "", "waiting"),
        ("leased", False, " bg-primary-lt", "under way"),
        ("cancelled", False, "", "cancelled"),
        ("open", False, " bg-success-lt", "open"),
        ("paused", False, " bg-warning-lt", "paused"),
    ],
)
def test_a_state_looks_the_same_wherever_it_is_shown(state: str, empty: bool, tone: str, text: str) -> None:
    page = render("{{ state|state:empty }}", state=state, empty=empty)
    badge = re.fullmatch(r'<span class="badge [^"]*?( bg-[a-z]+-lt)?">(.*)</span>', page.strip())
    assert badge is not None
    assert (badge[1] or "", badge[2]) == (tone, text)


def test_the_sprite_holds_the_icons_in_use_and_no_others() -> None:
    sprite = (TEMPLATES.parent / "static" / "img" / "icons.svg").read_text()
    texts = "\n".join(path.read_text() for path in TEMPLATES.rglob("*.html"))
    in_use = set(re.findall(r'{% icon "([^"]+)" %}|\bicon="([^"]+)"', texts))
    assert set(re.findall(r'<symbol id="([^"]+)"', sprite)) == {a or b for a, b in in_use}


def test_a_form_that_is_posted_carries_its_token_and_asks_before() -> None:
    source = (
        '{% form "Save" "prompt" name tone="" confirm=name|into:"Save {}?" %}'
        '{% input "a" "A" name %}{% endform %}'
    )
    page = " ".join(render(source, name="<b>", csrf_token="abc").split())
    assert (
        '<form method="post" action="/prompts/%3Cb%3E/" class="stack" data-confirm="Save &lt;b&gt;?">' in page
    )
    assert 'name="csrfmiddlewaretoken" value="abc"' in page
    assert '<input id="a" name="a" value="&lt;b&gt;">' in page
    assert '<button class="btn">Save</button>' in page


def test_a_button_that_posts_is_a_form_of_its_own() -> None:
    page = render(
        '{% act "Take out" "prompt" "p" name="verb" value=who aria_label=who tone="ghost" %}', who='"'
    )
    assert 'action="/prompts/p/"' in page
    button = '<button class="btn btn-ghost" name="verb" value="&quot;" aria-label="&quot;">Take out</button>'
    assert button in page


def test_the_head_of_a_page_has_only_what_it_is_told() -> None:
    page = render('{% pagehead name lead="What it is." %}{% endpagehead %}', name="<b>")
    assert "<h1>&lt;b&gt;</h1>" in page
    assert "What it is." in page
    assert "crumbs" not in page
    assert "actions-row" not in page
    page = render(
        '{% text as crumbs %}<a href="/">{{ name }}</a>{% endtext %}'
        '{% pagehead "T" crumbs=crumbs %}<i>{{ name }}</i>{% endpagehead %}',
        name="<b>",
    )
    assert '<p class="crumbs"><a href="/">&lt;b&gt;</a></p>' in page
    assert '<div class="actions-row"><i>&lt;b&gt;</i></div>' in page


def test_a_row_names_its_first_cell_and_tells_numbers() -> None:
    page = render("{% row name 3|figure missing %}", name="<b>", missing=None)
    assert page == '<tr><th scope="row">&lt;b&gt;</th><td class="n">3</td><td>None</td></tr>'


def test_a_cell_of_a_row_may_have_classes() -> None:
    page = render('{% row name|cell:"words" n|figure %}', name="<b>", n=2)
    assert page == '<tr><th scope="row" class="words">&lt;b&gt;</th><td class="n">2</td></tr>'


def test_an_element_may_stand_in_place_of_rows() -> None:
    source = (
        '{% emptystate "None yet" "Make one." as nothing %}'
        '{% table "Rater" label="Raters" instead=nothing %}{% for row in rows %}<tr></tr>{% endfor %}'
        "{% endtable %}"
    )
    assert "<table>" not in render(source)
    assert '<h2 class="empty-title">None yet</h2>' in render(source)
    assert "None yet" not in render(source, rows=[1])


@pytest.mark.parametrize("notes", [None, "", []])
def test_nothing_of_a_part_is_rendered_without_what_it_is_for(notes: object) -> None:
    source = '{% part notes|into:"{} notes" when=notes %}{% url "no-such-page" %}{% endpart %}'
    assert render(source, notes=notes) == ""
    assert render('{% part "Notes" when=missing %}here{% endpart %}') == ""
    assert "<h2>Notes</h2>" in render('{% part "Notes" when=notes|default:1 %}here{% endpart %}', notes=notes)


def test_a_field_is_rendered_only_with_what_it_is_for() -> None:
    source = '{% input "name" "Name" when=is_open %}'
    assert render(source, is_open=False) == ""
    assert 'name="name"' in render(source, is_open=True)


def test_a_form_of_fields_has_them_all_and_its_button() -> None:
    class Invitation(forms.Form):
        email = forms.EmailField()
        token = forms.CharField(widget=forms.HiddenInput)

    source = '{% fieldform form button kind="inline-form" %}'
    page = render(source, form=Invitation(), button="<Invite>", csrf_token="t")
    assert '<form method="post" class="inline-form">' in page
    assert 'name="csrfmiddlewaretoken" value="t"' in page
    assert 'type="email" name="email"' in page
    assert 'type="hidden" name="token"' in page
    assert '<button class="btn btn-primary">&lt;Invite&gt;</button>' in page


def test_sentences_become_a_list_and_stay_text() -> None:
    page = render('{{ sentences|bullets:"small" }}', sentences=["<b>", "two"])
    assert re.sub(r"\s+", "", page) == '<ulclass="small"><li>&lt;b&gt;</li><li>two</li></ul>'


def test_scripts_and_style_sheets_are_loaded_from_their_folders() -> None:
    assert render('{{ "upload"|script }}') == '<script src="/static/js/upload.js" defer></script>'
    assert render('{{ "chat"|module }}') == '<script type="module" src="/static/js/chat.js"></script>'
    assert render('{{ "annotate"|styles }}') == '<link rel="stylesheet" href="/static/css/annotate.css">'
