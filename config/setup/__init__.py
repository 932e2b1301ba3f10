"""Installation by `make`. Standard library only: it runs before anything is installed."""
