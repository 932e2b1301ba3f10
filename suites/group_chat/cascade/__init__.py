"""The Cascade report: three separate scores of group-chat agents, and the stages where decisions fail."""
