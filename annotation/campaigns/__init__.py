"""Campaigns: settings, state, tasks and progress."""
