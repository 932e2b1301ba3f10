"""The judge workbench: drafts and versions beside people's answers on the items of a bench."""
