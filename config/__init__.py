"""Configuration and startup of Concord, and code shared by all its parts."""
