"""Workers: leases, the heartbeat, sweeping, wake-ups, the plain loop and Celery's tasks."""
