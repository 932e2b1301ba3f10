"""Watching an open campaign: how far it is, who does what at which pace, and how far people agree so far."""
