"""Calls of runs: claim, send (directly or in provider batches), read the reply, store the result once."""
