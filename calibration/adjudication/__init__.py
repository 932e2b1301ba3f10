"""Adjudication: picking cases by rule, deciding on them, and what the decisions say of the raters."""
