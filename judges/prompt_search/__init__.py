"""Letting a model propose prompts: reflective evolution (GEPA) over people's answers. Pure: who asks the
model, and where what it says is kept, is handed in."""
