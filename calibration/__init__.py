"""Studies, gold labels and exports: raters measured against each other."""
