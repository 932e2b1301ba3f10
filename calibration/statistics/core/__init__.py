"""Foundations of every statistic: ratings, scales, resampling, intervals, results."""
