"""Adjudication: rules that pick cases, decisions on them, and the raters' agreement with the decisions."""
