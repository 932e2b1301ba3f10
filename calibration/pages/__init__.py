"""The pages of calibration."""
