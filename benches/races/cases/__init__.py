"""The cases of races: each is a function from texts to races."""
