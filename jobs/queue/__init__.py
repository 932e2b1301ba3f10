"""Workers: claiming with leases, the heartbeat, sweeping, waking, the plain loop and Celery's tasks."""
