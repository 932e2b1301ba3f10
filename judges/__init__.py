"""LLM judges, automatic metrics, and the runs that execute them."""
