"""People: their names, accounts and roles, one-time links, tokens, signing in, and deleting a person."""
