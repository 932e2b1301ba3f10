"""The import page in tests without a browser: sends a file, changes the page's fields, and posts them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile


class FormFields(HTMLParser):
    """Fields of the form `import-form` with the values that a browser would send."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, list[str]] = {}
        self._inside, self._select = False, ""
        self._first: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect inputs and the selected options of menus."""
        given = dict(attributes)
        if tag == "form":
            self._inside = given.get("id") == "import-form"
        name, value = given.get("name") or "", given.get("value") or ""
        if not self._inside or "disabled" in given:
            return
        if tag == "select":
            self._select, self._first = name, None
        elif tag == "option" and self._select:
            self._first = value if self._first is None else self._first
            if "selected" in given:
                self.fields[self._select] = [value]
        elif tag == "input" and name and (given.get("type") != "checkbox" or "checked" in given):
            self.fields.setdefault(name, []).append(value)

    def handle_endtag(self, tag: str) -> None:
        """Use the first option of a menu that has none selected."""
        if tag == "select" and self._select:
            self.fields.setdefault(self._select, [self._first or ""])
            self._select = ""
        self._inside = self._inside and tag != "form"


def send_file(client: Any, file: UploadedFile[Any] | list[Any], query: str = "") -> Any:
    """Send a file, as the page of files does, and return the page of its preview."""
    return client.post(f"/corpora/import/new/{query}", {"file": file}, follow=True)


def post_preview(client: Any, page: Any, do: str, **changes: Any) -> Any:
    """Post a preview's form with these changes, and return the next page."""
    fields = FormFields(page.content.decode()).fields | changes
    address = page.request["PATH_INFO"]
    return client.post(address, {**fields, "do": do}, follow=do == "import")


def import_by_page(client: Any, file: UploadedFile[Any] | list[Any], query: str = "", **changes: Any) -> Any:
    """Send a file and import it, with these changes on its preview; return the next page."""
    return post_preview(client, send_file(client, file, query), "import", **changes)
