"""Raters' view of a dialogue. Pure functions, shared by people, judges and generators.

cleaning      which characters stay
blinding      system names hidden
visibility    which turns, for whom
happenings    events of a turn, in words
context       information beside the turns
views         all of these choices together
markdown      guidelines as displayed
"""
