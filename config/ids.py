"""Ids of rows as queries and forms write them."""

LARGEST = 2**63 - 1


def row_id(text: str) -> int | None:
    """Return the id that a text is, None where no row can have it."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    return int(text) if int(text) <= LARGEST else None
