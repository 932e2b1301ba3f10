"""Gold labels: rules, derivation, comparison and export."""
