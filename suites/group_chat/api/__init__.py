"""The HTTP API of group chats."""
