"""Prints the lowest versions of dependencies that pyproject.toml allows, as constraints for pip."""

import re
from pathlib import Path

TABLES = r"^(?:dependencies|cluster|interop|ja|ko|spm|test) = (\[.*?\])$"

text = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
needed = "".join(re.findall(TABLES, text, re.DOTALL | re.MULTILINE))
for name, version in sorted(set(re.findall(r'"([\w.-]+)[>=]=([\w.]+)', needed))):
    print(f"{name}=={version}")
