"""What judges and metrics work on: dialogues from the database, embeddings kept there."""
