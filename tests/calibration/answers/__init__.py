"""The Answers report."""
