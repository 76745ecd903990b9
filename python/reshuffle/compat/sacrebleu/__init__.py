"""sacreBLEU's functions and classes, counted and resampled by reshuffle."""
