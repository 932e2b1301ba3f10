"""What is decided about the people who are trained, tested and checked."""
