"""Correlations at turn, dialogue and system level, as in ComperDial's tables 3 to 6.

    table = level_table(scored, ("turn", "dialogue", "system"), options=Options(p="clustered"))
    table.rows[0].entry("system", "spearman").result

A continuation's score is the mean of its turns, a system's the mean over all its turns (or all its
dialogues, where those were rated). Intervals draw dialogues and systems both.
"""
