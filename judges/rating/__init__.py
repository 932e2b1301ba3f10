"""What a run of a judge or a metric is: who rates, what is covered, and how replies become labels."""
