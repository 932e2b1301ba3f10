"""The judge workbench: drafts and versions of judges compared with people's answers on a bench."""
