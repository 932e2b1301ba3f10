"""What every statistic is made of: ratings, scales, resampling, intervals, results."""
