"""The demo: corpora written for this project, toy systems, and simulated raters."""
