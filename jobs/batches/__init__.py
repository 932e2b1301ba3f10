"""The provider's batches as a way of asking: made, submitted, looked at, collected, cancelled."""
