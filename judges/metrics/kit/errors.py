"""What can go wrong around metrics, as one tree.

    MetricError                 a message for the user, one line
    ├── KeyRefused              a metric key, variant or parameter that does not exist
    ├── InputRefused            a file to score that cannot be read, with its place
    └── ModelMissing            a model or library that a metric needs and that is not there

A value that a formula leaves undefined is not an error: it is a `Score` with a reason.
"""


class MetricError(Exception):
    """Anything a user can put right; its text is one plain line."""


class KeyRefused(MetricError):
    """A metric key names no metric, no variant of it, or a parameter with an impossible value."""


class InputRefused(MetricError):
    """A file to score is malformed; the message says where and why."""


class ModelMissing(MetricError):
    """A metric needs a model or library that is not installed; the message says what to get."""
