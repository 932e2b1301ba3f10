"""Studies: saved questions, what they read, and the computing of their reports."""
