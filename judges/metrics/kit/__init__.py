"""Building blocks shared by all metric families: scenes, tools, keys, vectors, texts. Contains no metric."""
