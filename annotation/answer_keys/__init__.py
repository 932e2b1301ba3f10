"""Answer keys of scenarios as raters: what would have been right stands beside what was decided."""
