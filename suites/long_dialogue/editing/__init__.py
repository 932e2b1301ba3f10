"""Editing of long dialogues: sessions by windows, facts, questions and question sets, import and export."""
