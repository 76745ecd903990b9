"""Significance tests, confidence intervals and corrections for multiple tests."""
