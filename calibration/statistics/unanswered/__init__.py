"""How far unanswered items could move a rater's figures: bounds over all the ways to answer them."""
