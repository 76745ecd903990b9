"""The command line. Everything it does is also available in the public Python API."""
