"""Profiles: what automatic metrics say of each system, side by side."""
