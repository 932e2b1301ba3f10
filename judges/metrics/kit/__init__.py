"""What the families of metrics share: scenes, tools, keys, vectors, texts. No metric is here."""
