"""Agents of group chats: asked once at every point of a scenario, and read strictly."""
