"""The work of annotators on tasks, and what researchers do about it afterwards."""
