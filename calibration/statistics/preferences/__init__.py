"""Preferences between systems: win rates, strengths, agreement of raters and the pull of the position."""
