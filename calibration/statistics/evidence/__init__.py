"""How far raters who gave the same answer point at the same turns and words."""
