"""The claims of papers, checked on public data."""
