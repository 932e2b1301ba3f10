"""Studies: their definitions, inputs, reports and plans."""
