"""Scripted dialogues that test an agent of a group chat: what a script plants and what its keys expect."""
