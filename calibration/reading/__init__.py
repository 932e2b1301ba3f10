"""From labels to what studies compare, and what they leave uncompared."""
