"""How a run is done, beside who answers what: what it may take, whether it takes replies that are there, and
whether its calls are asked at once or in batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from jobs import runs
from jobs.models import Run


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of a run; None where nothing was said. `caps` are those of `jobs.runs.CAPS`, where given.

    `mode` is one of `Run.Mode`.
    """

    use_cache: bool | None = None
    caps: dict[str, int | Decimal] = field(default_factory=dict)
    mode: str | None = None

    def put(self, run: Run) -> None:
        """Set them on a run that the caller saves; raise JobError for what cannot be."""
        if self.use_cache is not None:
            run.use_cache = self.use_cache
        if self.mode is not None:
            runs.put_mode(run, self.mode)
        runs.put_caps(run, self.caps)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        caps = {name: str(value) for name, value in self.caps.items()}
        return {"use_cache": self.use_cache, "caps": caps, "mode": self.mode}


def settings_from(told: dict[str, Any]) -> RunSettings:
    """Return the settings that `as_json` wrote; those of a job queued by an earlier version are empty."""
    caps: dict[str, int | Decimal] = {
        name: Decimal(value) if name == "cap_cost" else int(value)
        for name, value in told.get("caps", {}).items()
    }
    return RunSettings(told.get("use_cache"), caps, told.get("mode"))


def settings_of(data: dict[str, Any]) -> RunSettings:
    """Return the settings that a form, the API or a command gives by their names."""
    caps = {name: data[name] for name in runs.CAPS if data.get(name) is not None}
    return RunSettings(data.get("use_cache"), caps, data.get("mode") or None)
