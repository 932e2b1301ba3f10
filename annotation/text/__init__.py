"""What raters may see of a dialogue, and as what. Pure: people, judges and generators share it.

cleaning      the characters that are left
blinding      no system's name
visibility    which turns, for whom
happenings    what happened in a turn, in words
context       what is known beside the turns
views         all of these choices together
markdown      guidelines as they are shown
"""
