"""Measurements of this package: README.md says which program answers which question."""
