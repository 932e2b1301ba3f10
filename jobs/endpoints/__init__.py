"""Where models are asked: endpoints, their addresses and keys, the client, what a reply costs."""
