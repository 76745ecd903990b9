"""Drawings of studies; importing one imports matplotlib."""
