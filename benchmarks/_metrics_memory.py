"""Memory of the metrics: on one long conversation, in a process per metric, and over many short ones.

`python -m benchmarks._metrics_memory long KEY TURNS` and `... many KEYS CONVERSATIONS` print one JSON object.
Figures are in MB (10^6 bytes).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks._metrics_made import Cheap, Hashed, made
from judges.metrics import Scene, Tools, instrument_for
from judges.runs.scoring import lines

TURNS = 5000
SHORT = 5
CONVERSATIONS = (10_000, 50_000, 100_000)
FAMILIES = (
    *(
        "dnr",
        "ls_es_avg",
        "ls_es_avg_aug",
        "ls_ta",
        "ap",
        "lnr",
        "lnr_e",
        "m_sns_avg",
        "daf",
        "tes",
        "lscc_es_avg",
    ),
    *(
        "nse",
        "sc_gini",
        "sc_gini@reference",
        "acr",
        "cs",
        "hmp",
        "gscc_dc_avg",
        "gscc_dc_avg_multi@reference",
    ),
)
STREAMED = "dnr,lnr,m_sns_avg,daf,hmp"


def long(key: str, turns: int) -> dict[str, float]:
    """Measure memory and CPU time of scoring all items of one conversation, beyond its texts and vectors."""
    dialogue = made(turns)
    tools = Tools(embed=Hashed("hashed"))
    warm = [made(30)]
    list(lines(warm, [instrument_for(key).fit(warm, tools)], tools))
    instrument = instrument_for(key).fit([dialogue, made(100, "other")], tools)
    tools.embed.prepare(instrument.texts(Scene(dialogue, dialogue.continuations[0])))
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    for _ in lines([dialogue], [instrument], tools):
        pass
    seconds = time.process_time() - start
    return {"peak_mb": round(_status("VmHWM") - before, 1), "cpu_seconds": round(seconds, 2)}


def many(keys: str, marks: Sequence[int]) -> dict[str, Any]:
    """Return the resident memory after each number of conversations created, scored and discarded."""
    tools = Tools(embed=Cheap("cheap"))
    corpus = [made(SHORT, f"fit {number}") for number in range(50)]
    instruments = [instrument_for(key).fit(corpus, tools) for key in keys.split(",")]
    start, done, resident = time.process_time(), 0, dict[int, float]()

    def advance(step: int) -> None:
        nonlocal done
        done += step
        if done in marks:
            resident[done] = round(_status("VmRSS"), 1)

    talks = (made(SHORT, f"talk {number}") for number in range(max(marks)))
    values = sum(1 for _ in lines(talks, instruments, tools, advance=advance))
    return {
        "resident_mb": resident,
        "peak_mb": round(_status("VmHWM"), 1),
        "values": values,
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def _status(field: str) -> float:
    """Return a memory figure of this process from /proc/self/status, in MB."""
    rows = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    return next(int(row[1]) * 1024 / 1e6 for row in rows if row[0] == f"{field}:")


def apart(*arguments: str) -> dict[str, Any]:
    """Run one measurement in a fresh process."""
    command = [sys.executable, "-m", "benchmarks._metrics_memory", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    form, name, *size = sys.argv[1:]
    print(json.dumps(long(name, int(size[0])) if form == "long" else many(name, [int(one) for one in size])))
