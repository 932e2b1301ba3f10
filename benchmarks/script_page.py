"""Page of a script: milliseconds to open 788 sessions, 25,216 turns and 2,000 questions with evidence."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks._home import home

SESSIONS, TURNS, QUESTIONS = 788, 32, 2_000
GOAL_MS = 200.0
REPEATS = 15
QUERIES = {"outline": "", "session": "?session=400", "found": "?text=line+31&speaker=Person+3"}


def run(argv: list[str]) -> dict[str, Any]:
    """Import a script and open its page; the headline is the slowest median in milliseconds."""
    with home() as folder:
        began = time.perf_counter()
        corpus = _imported(folder)
        imported = time.perf_counter() - began
        medians = _opened(corpus)
    slowest = max(medians.values())
    headline = {
        "name": "page of a script, slowest median in ms",
        "value": slowest,
        "goal": GOAL_MS,
        "better": "lower",
    }
    return {"headline": headline, "turns": SESSIONS * TURNS, "import_s": round(imported, 1), "ms": medians}


def _imported(folder: Path) -> Any:
    from annotation.corpora.import_file import import_path
    from annotation.models import Corpus
    from suites.long_dialogue.editing.import_records import NewRecord, make_records

    lines = []
    for number in range(SESSIONS):
        lines.append(f"== s{number:03} | {1990 + number // 80}-{number % 12 + 1:02} | place {number % 9} ==")
        lines += [f"Person {(turn + number) % 7}: That is line {turn}, said here." for turn in range(TURNS)]
    path = folder / "series.txt"
    path.write_text("\n".join(lines))
    import_path(path=path, format="longform", corpus="series", into=False, by=None)
    corpus = Corpus.objects.get(name="series")
    script = corpus.dialogues.values_list("pk", flat=True).get()
    content = {
        "source": "quiz",
        "hops": 0,
        "text": "Which line?",
        "answer": "a",
        "choices": ["a", "b", "c", "d"],
    }
    rows = [
        NewRecord(script, "question", f"q{n}", content | {"evidence": [f"s{n % SESSIONS:03}"]}, "accepted")
        for n in range(QUESTIONS)
    ]
    make_records(corpus=corpus, rows=rows, provenance={"by": "hand"})
    return corpus


def _opened(corpus: Any) -> dict[str, float]:
    """Return the median milliseconds of each view of the page, in this process."""
    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import reverse

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("ada"))
    page = reverse("script", args=[corpus.pk, corpus.dialogues.values_list("pk", flat=True).get()])
    medians = {}
    for name, query in QUERIES.items():
        took = []
        for _ in range(REPEATS + 1):
            began = time.perf_counter()
            assert client.get(page + query).status_code == 200
            took.append((time.perf_counter() - began) * 1000)
        medians[name] = round(statistics.median(took[1:]), 1)  # the first request loads the templates
    return medians
