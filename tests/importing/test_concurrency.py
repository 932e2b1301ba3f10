"""Several concurrent imports."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from django.db import connection

from annotation.corpora.import_staging import ImportResult
from annotation.formats.source import ImportProblem
from annotation.models import Corpus, Import
from tests.importing.helpers import continuation, imported, label, line, written

pytestmark = pytest.mark.django_db(transaction=True)


def together(*imports: tuple[Path, bool]) -> list[ImportResult | ImportProblem]:
    """Run imports into corpus `c` in threads that begin at the same moment; return how each ended."""
    barrier = threading.Barrier(len(imports))
    ended: list[ImportResult | ImportProblem] = []

    def run(path: Path, into: bool) -> None:
        barrier.wait()
        try:
            ended.append(imported(path, into=into))
        except ImportProblem as problem:
            ended.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=one) for one in imports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


def test_of_equal_imports_exactly_one_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path, *[line(f"d{number}", labels=[label()]) for number in range(50)])
    ended = together(*[(path, False)] * 4)
    results = [result.as_dict() for result in ended if isinstance(result, ImportResult)]
    assert sorted(bool(result["created"]) for result in results) == [False, False, False, True]
    assert {(result["dialogues"], result["labels"]) for result in results} == {(50, 50)}
    assert Import.objects.count() == 1


def test_of_different_files_for_one_name_one_is_kept_and_the_others_refused(tmp_path: Path) -> None:
    paths = [written(tmp_path, line(f"d{number}"), name=f"{number}.jsonl") for number in range(3)]
    ended = together(*[(path, False) for path in paths])
    assert sum(isinstance(end, ImportResult) for end in ended) == 1
    assert Corpus.objects.get().dialogues.count() == 1


def test_additions_to_one_corpus_follow_one_another(tmp_path: Path) -> None:
    imported(written(tmp_path, line()))
    paths = [
        written(tmp_path, {"id": "d1", "continuations": [continuation(f"m{number}")]}, name=f"{number}.jsonl")
        for number in range(4)
    ]
    ended = together(*[(path, True) for path in paths])
    assert [isinstance(end, ImportResult) and end.continuations for end in ended] == [1] * 4
    assert Corpus.objects.get().systems.count() == 5
