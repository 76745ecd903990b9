"""Studies: how significance tests and metrics behave on real outputs, by simulation."""
