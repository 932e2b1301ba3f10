"""What training, tests, checks and repeats say about the annotators of a campaign."""
