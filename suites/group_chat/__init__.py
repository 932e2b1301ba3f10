"""Group chats: scenarios that test an agent, its decisions, and the decision cascade."""
