"""The researcher's pages of group chats."""
