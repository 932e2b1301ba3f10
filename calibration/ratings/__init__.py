"""Labels read as ratings: scope, answers, evidence, votes, uncompared questions."""
