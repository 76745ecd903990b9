"""Metrics: a metric turns each segment into a row of counts, and summed counts into a score."""
