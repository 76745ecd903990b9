"""What replicates say about hypotheses."""
