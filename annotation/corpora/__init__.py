"""Reading corpora for pages and programs, and splitting them into dev and test."""
