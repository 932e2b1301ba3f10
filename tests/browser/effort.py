"""What a journey costs its person: clicks, fields, and page loads."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Locator, Page


@dataclass
class Effort:
    """Counts a person's clicks, filled fields and loaded pages on one browser page."""

    page: Page
    clicks: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("domcontentloaded", lambda page: self.loads.append(page.url))

    def press(self, name: str, role: str = "button", *, within: Locator | None = None) -> None:
        """Click the only button or link of this name."""
        self.clicks.append(name)
        (within or self.page).get_by_role(role, name=name, exact=True).click()  # type: ignore[arg-type]

    def open(self, title: str) -> None:
        """Open a menu or a fold."""
        self.clicks.append(title)
        self.page.locator("main summary", has_text=title).first.click()

    def fill(self, label: str, value: str) -> None:
        """Type into a field."""
        self.fields.append(label)
        self.page.get_by_label(label, exact=True).fill(value)

    def add(self, label: str, text: str) -> None:
        """Type at the end of a field."""
        self.fill(label, self.page.get_by_label(label, exact=True).input_value() + text)

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a select by its text."""
        self.fields.append(label)
        self.page.get_by_label(label, exact=True).select_option(label=option)

    def tick(self, label: str, *, on: bool = True) -> None:
        """Tick a box, or clear it."""
        self.fields.append(label)
        self.page.get_by_label(label, exact=True).set_checked(on)

    def attach(self, file: Path) -> None:
        """Choose a file."""
        self.fields.append(file.name)
        self.page.locator("input[type=file]").set_input_files(file)

    def __str__(self) -> str:
        parts = {"clicks": self.clicks, "fields": self.fields, "page loads": self.loads}
        return "\n".join(f"{len(part)} {name}: {'; '.join(part)}" for name, part in parts.items())
