"""The HTTP API of calibration."""
