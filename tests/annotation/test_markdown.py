"""Guidelines are rendered as Markdown, and hostile text in them is escaped."""

import pytest

from annotation.text.display import html_of


def test_lists_headings_and_emphasis_are_shown_as_such():
    html = html_of("# Rules\n\n- read **all**\n- then rate\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<h3>Rules</h3>" in html
    assert "<li>read <strong>all</strong></li>" in html
    assert "<td>1</td>" in html


def test_a_line_break_is_kept():
    assert "one<br" in html_of("one\ntwo")


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        '[x](https://a.example "onmouseover=alert(1) \\" onclick=alert(2)")',
        "![x](https://tracker.example/pixel.png)",
        '<https://a.example/"onclick=alert(1)>',
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "```\n</code><script>alert(1)</script>\n```",
    ],
)
def test_hostile_text_neither_runs_nor_loads(hostile):
    from html.parser import HTMLParser

    seen = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append((tag, dict(attrs)))

    Reader().feed(html_of(hostile))
    for tag, attributes in seen:
        assert tag not in {"script", "img", "iframe", "style"}
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "https:").split(":")[0] in {"https", "http", "mailto"}


def test_a_link_says_nothing_about_where_it_was_followed():
    assert 'rel="noopener noreferrer nofollow"' in html_of("[x](https://a.example)")
