"""Facts and questions of scripts: reviewed, put right, and made into sets of questions with their uses."""
