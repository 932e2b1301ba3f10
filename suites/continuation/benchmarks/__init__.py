"""Making benchmarks of conversations to continue: pure functions over records, no database.

The generators of this package are in the table of all generators, which is therefore loaded first.
"""

import suites.continuation.generators  # noqa: F401
