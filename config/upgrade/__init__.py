"""Bringing a database of an earlier release to the tables of this one.

Each app has one initial set of migrations. The steps that led there lie in `config/upgrade/migrations`, as
they were released: a database that stands anywhere on that chain goes to its end, and is then recorded as
having the initial set. Django's `replaces` cannot say this, because tables moved from one app to another.
"""
