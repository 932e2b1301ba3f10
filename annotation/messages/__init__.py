"""Messages between the researchers and the annotators of a campaign, each thread with one annotator."""
