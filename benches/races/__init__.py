"""Races: other tools and reshuffle do the same task in turn, and their results are compared."""
