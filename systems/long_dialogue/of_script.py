"""A generator that reads a whole script: it is bound to it, so that no state holds it."""

from __future__ import annotations

from typing import Self

from annotation.records import Dialogue
from systems.generators.base import Generator, Settings
from systems.long_dialogue.material import Material
from systems.long_dialogue.reading import Reading, why_not


class OfScript(Generator):
    """Works once it is bound to the material of a script."""

    needs = "records"

    def __init__(self, material: Material | None = None) -> None:
        self._material = material
        self._reading = Reading(material.dialogue) if material else None

    def bound(self, material: Material) -> Self:
        """Return the generator at work on a script."""
        return type(self)(material)

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """A script is needed in which something is said."""
        return why_not(dialogue)

    @property
    def material(self) -> Material:
        """What it is bound to. Raises ValueError where it is not."""
        if self._material is None:
            raise ValueError(f"{self.key} reads a script that it is not bound to.")
        return self._material

    @property
    def reading(self) -> Reading:
        """The script in lines. Raises ValueError where there is none."""
        if self._reading is None:
            raise ValueError(f"{self.key} reads a script that it is not bound to.")
        return self._reading
