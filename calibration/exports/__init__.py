"""Labels as files: which, in which form, of which part of the split."""
