"""Screenshots for the documentation, taken while a journey is tested.

Those of *A whole study* are renewed by
`CONCORD_PICTURES=docs/images/study .venv/bin/python -m pytest tests/browser/test_whole_study.py`,
those of single pages by `tests/browser/test_twenty_pages.py`; without the variable no screenshots are taken.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

COLOURS = 256
STEP = 2
"""Shades of a channel that count as the same while colours are counted."""


class Pictures:
    """Saves screenshots in a folder; does nothing without a folder."""

    def __init__(self, folder: str | None = os.environ.get("CONCORD_PICTURES")) -> None:
        self.folder = Path(folder) if folder else None

    def take(self, name: str, page: Page, top: str = "") -> None:
        """Save the window as `name.png` in 256 colours, with the element `top` at its top."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        if top:
            page.locator(top).first.evaluate("part => part.scrollIntoView({block: 'start'})")
        page.wait_for_timeout(500)
        taken = page.screenshot(animations="disabled", caret="hide")
        (self.folder / f"{name}.png").write_bytes(small(taken))


def small(picture: bytes) -> bytes:
    """Return a PNG with its 256 most frequent colours; other colours become the nearest of these."""
    pixels = _pixels(picture)
    coarse = (pixels // STEP).astype(np.uint32)
    codes = (coarse[..., 0] << 16) | (coarse[..., 1] << 8) | coarse[..., 2]
    distinct, first, inverse, counts = np.unique(
        codes.ravel(), return_index=True, return_inverse=True, return_counts=True
    )
    every = pixels.reshape(-1, 3)[first].astype(int)
    frequent = np.argsort(-counts)[:COLOURS]
    sums = np.zeros((len(distinct), 3))
    np.add.at(sums, inverse, pixels.reshape(-1, 3))
    means = np.round(sums / counts[:, None]).astype(int)
    palette = means[frequent]
    distance = ((every[:, None, :] - palette[None, :, :]) ** 2).sum(axis=2)
    indexed = distance.argmin(axis=1).astype(np.uint8)[inverse].reshape(codes.shape)
    height, width = indexed.shape
    rows = b"".join(b"\0" + row.tobytes() for row in indexed)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = (
        (b"IHDR", head),
        (b"PLTE", palette.astype(np.uint8).tobytes()),
        (b"IDAT", zlib.compress(rows, 9)),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in (*parts, (b"IEND", b"")))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _pixels(picture: bytes) -> np.ndarray:
    """Return the pixels of a PNG as Chromium writes it: 8 bits per channel, not interlaced."""
    place, head, packed = 8, b"", b""
    while place < len(picture):
        (length,) = struct.unpack(">I", picture[place : place + 4])
        kind, content = picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        head = content if kind == b"IHDR" else head
        packed += content if kind == b"IDAT" else b""
        place += 12 + length
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    channels = {2: 3, 6: 4}[colour]
    assert (depth, interlaced) == (8, 0)
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    above = np.zeros(width * channels, np.uint8)
    out = np.empty((height, width * channels), np.uint8)
    for number, line in enumerate(lines):
        above = out[number] = _unfiltered(line[0], line[1:], above, channels)
    return out.reshape(height, width, channels)[..., :3]


def _unfiltered(how: int, line: np.ndarray, above: np.ndarray, step: int) -> np.ndarray:
    """Undo the filter of one line of a PNG (PNG specification, chapter 9)."""
    if how in (0, 2):
        return line + (above if how == 2 else 0)
    done = np.zeros(len(line) + step, int)
    for place, value in enumerate(line.tolist()):
        left, up = int(done[place]), int(above[place])
        corner = int(above[place - step]) if place >= step else 0
        if how == 1:
            guess = left
        elif how == 3:
            guess = (left + up) // 2
        else:
            guess = _paeth(left, up, corner)
        done[place + step] = (value + guess) & 255
    return done[step:].astype(np.uint8)


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda neighbour: abs(guess - neighbour))
