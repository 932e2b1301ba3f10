"""The Cascade report: three scores of group-chat agents, kept apart, and where their decisions fail."""
