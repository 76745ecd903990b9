"""The results of studies: tables of frozen records, with the plan that produced them."""

from ...lazy import lazy_names

# The public names are those of the stub beside this file.
__all__, __getattr__, __dir__ = lazy_names(__name__)
