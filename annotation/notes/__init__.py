"""What an annotator says about a turn beside the answers, and the turns that they want to find again."""
