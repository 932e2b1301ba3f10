"""Table 7 reads marks, and nothing that is not one."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics.cocoeval import table


@pytest.mark.parametrize("mark", [np.nan, 2, -1])
def test_what_is_no_mark_is_refused_and_not_read_as_absent(mark: float) -> None:
    with pytest.raises(ValueError, match="marks are 0 or 1"):
        table([[1], [mark]], [[[1], [0]]], ["contradiction"])


def test_a_table_of_no_turns_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one turn"):
        table(np.empty((0, 1)), [np.empty((0, 1))], ["contradiction"])
