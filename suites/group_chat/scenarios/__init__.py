"""Scripted dialogues that test an agent of a group chat: planted probes, and the expectations of keys."""
