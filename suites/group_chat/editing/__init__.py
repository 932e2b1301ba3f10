"""Writing scenarios: what a corpus has, who sees what in a script, and saving one."""
