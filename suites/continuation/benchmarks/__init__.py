"""How a benchmark of conversations to be continued is made: pure functions over records, no database.

Generators of this room stand in the one table of all generators, which is therefore loaded first.
"""

import suites.continuation.generators  # noqa: F401
