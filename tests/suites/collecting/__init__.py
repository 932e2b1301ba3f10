"""Tests of collecting."""
