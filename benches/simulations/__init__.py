"""Simulations in which it is known what is true: size, power and coverage."""
