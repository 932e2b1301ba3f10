"""Embedded parts: Concord's own PostgreSQL server, and the supervisor that runs everything.

How PostgreSQL is kept running:

* Every process that uses the server holds a shared lock on `users.lock` for as long as it lives.
* One keeper process starts PostgreSQL, restarts it if it dies, and stops it once nobody holds that lock. The
  kernel drops a lock with its process, so this works after a clean exit, a signal and `kill -9` alike.
* The keeper holds `keeper.lock`; a process that finds it free while holding `start.lock` starts a new keeper.
"""
