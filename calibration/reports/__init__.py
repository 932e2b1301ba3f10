"""Presentation of a report's result: figures, sentences, tables, charts and download formats.

Everything here works on the plain result that a report stores; nothing reads the labels again.
"""
