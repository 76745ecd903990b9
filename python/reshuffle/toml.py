"""``loads``: the parser of TOML in the standard library, or before Python 3.11 its predecessor."""

import sys

if sys.version_info >= (3, 11):
    from tomllib import loads
else:
    from tomli import loads

__all__ = ["loads"]
