"""Gold labels: the rules, making them, handing them out."""
