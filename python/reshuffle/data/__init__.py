"""Texts, scores and ids: reading them from files, naming them, and checking that they line up."""
