"""The example in docs/long_dialogue/scripts.md is read as the page says."""

from __future__ import annotations

import re
from pathlib import Path

from annotation.formats import FORMATS, Source
from annotation.records import Dialogue
from config.settings import BASE_DIR

PAGE = (BASE_DIR / "docs" / "long_dialogue" / "scripts.md").read_text()


def test_the_example_in_plain_text_is_a_script(tmp_path: Path) -> None:
    example = re.search(r"```text[^\n]*\n(== s01 .*?)```", PAGE, re.DOTALL)
    assert example is not None
    path = tmp_path / "example.txt"
    path.write_text(example[1])
    (entry,) = FORMATS["longform"].read(Source(path))
    assert isinstance(entry.record, Dialogue)
    assert entry.record.script is not None
    first, second = entry.record.script.sessions
    assert (first.place, first.season, first.present) == ("kitchen", "1", ("Cara", "Dan"))
    assert (str(second.date), [turn.text for turn in entry.record.turns]) == (
        "1994-10",
        ["I finally bought the boots.", "Again?", "All of them?"],
    )
