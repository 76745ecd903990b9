"""Metrics: from texts to counts per segment, and from summed counts to scores."""
