"""One worker's part of an endpoint: a gate for its requests at once, and turns where they are paced.

Everything here happens in the event loop; what the database says is brought here by the desk.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from jobs.endpoints import limits
from jobs.endpoints.limits import Grant, Wish


@dataclass(slots=True)
class Turn:
    """A request that waits for its time to begin; `tokens` is about what it takes."""

    tokens: int
    begin: asyncio.Future[float]


class Lane:
    """Use as a context around a request: it waits until fewer than `limit` are under way.

    `held` counts calls that are claimed and not finished, `paused` is until when (monotonic) the endpoint
    wants to be left alone.
    """

    def __init__(self) -> None:
        self.limit = self.under_way = self.held = 0
        self.paced = False
        self.paused = 0.0
        self.asked_at = float("-inf")
        self.answered = self.refused = self.settled = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._turns: deque[Turn] = deque()

    async def __aenter__(self) -> Lane:
        if self.under_way < self.limit and not self._queue:
            self.under_way += 1
            return self
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(waiting)
        try:
            await waiting  # whoever ends the wait has counted this one in
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():
                self._leave()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    async def turn(self, tokens: int) -> None:
        """Wait for the time at which a request of about so many tokens may begin.

        A time that was missed, because this process was held up, is lost: begins that come late come close to
        others, and a minute could hold more than it may.
        """
        loop = asyncio.get_running_loop()
        late = True
        while late:
            mine = Turn(tokens, loop.create_future())
            self._turns.append(mine)
            begin = await mine.begin
            await asyncio.sleep(max(0.0, begin - loop.time()))
            late = loop.time() - begin > limits.SLACK / 2

    def settle(self, expected: int, tokens: int | None) -> None:
        """Say what a request took that was expected to take so many tokens."""
        if tokens is not None:
            self.settled += tokens - expected

    def wish(self, wanted: int) -> Wish:
        """Return what to ask for, and forget what it tells."""
        self._turns = deque(turn for turn in self._turns if not turn.begin.done())
        told = Wish(
            slots=self.limit,
            under_way=self.under_way,
            wanted=wanted,
            turns=[turn.tokens for turn in self._turns],
            settled=self.settled,
            answered=self.answered,
            refused=self.refused,
        )
        self.answered = self.refused = self.settled = 0
        return told

    def granted(self, grant: Grant, age: float = 0.0) -> None:
        """Keep to what was granted; its begins count from `age` seconds ago."""
        self.limit = grant.slots
        now = asyncio.get_running_loop().time()
        for begin in grant.begins:
            turn = self._turns.popleft()
            if not turn.begin.done():
                turn.begin.set_result(now - age + begin)
        self._admit()

    @property
    def urgent(self) -> bool:
        """Whether something waits for the database's word."""
        return bool(self.refused or self._turns)

    def _leave(self) -> None:
        self.under_way -= 1
        self._admit()

    def _admit(self) -> None:
        while self._queue and self.under_way < self.limit:
            waiting = self._queue.popleft()
            if not waiting.done():
                self.under_way += 1
                waiting.set_result(None)
