"""Exports of labels as files: contents, file formats, and parts of the split."""
