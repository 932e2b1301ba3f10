"""What `make` installs, and how. Standard library only: it runs before anything is installed."""
