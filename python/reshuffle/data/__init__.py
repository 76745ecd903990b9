"""Reading texts, scores and ids from files, naming systems, and checking that all have the same segments."""
