"""An agent that heard a long dialogue: how it is asked, what it remembers, and how its answers are read."""
