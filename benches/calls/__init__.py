"""Single calls of the Python interface, timed by pytest-benchmark, in one build or in two builds in turn."""
