"""Telling other programs what has happened: events are written where they happen, and sent by workers."""
