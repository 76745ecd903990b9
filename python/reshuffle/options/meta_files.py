"""The files of test sets of meta-evaluations."""

# Annotations are evaluated here, unlike elsewhere.

from collections.abc import Mapping
from typing import Annotated

from attrs import field, frozen
from typing_extensions import Doc

from .. import types
from .files import File, Measured, OfSystems
from .groups import PYTHON


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class MetaFiles(Measured):
    """The files of a test set of a meta-evaluation: outputs, references and people's judgments.

    ``systems`` in a list are files and folders. ``repeats`` and ``missing_systems`` are None for what the command line
    says.
    """

    references: Annotated[tuple[File, ...], PYTHON, Doc("The references.")] = ()
    systems: Annotated[OfSystems, PYTHON, Doc("The outputs.")] = ()
    judgments: Annotated[File | None, PYTHON, Doc("A file of votes.")] = None
    judgments_format: Annotated[str | None, PYTHON, Doc("Its format.")] = None
    human: Annotated[File | None, PYTHON, Doc("A file of human scores; FILE#NAME is a column or metric of it.")] = None
    human_format: Annotated[str | None, PYTHON, Doc("Its format.")] = None
    columns: Annotated[Mapping[types.ScoreColumn, str], PYTHON, Doc("Headers of columns of scores.")] = field(
        factory=dict
    )
    sysmap: Annotated[File | None, PYTHON, Doc("A file with the name of the output for each id.")] = None
    language_pair: Annotated[str | None, PYTHON, Doc("Which rows of the files to read.")] = None
    test_set: Annotated[str | None, PYTHON, Doc("Which rows of the files to read.")] = None
    segment_base: Annotated[int | None, PYTHON, Doc("The number of the first segment.")] = None
    repeats: Annotated[str | None, PYTHON, Doc("What several votes on the same outputs count.")] = None
    missing_systems: Annotated[str | None, PYTHON, Doc("What to do with systems without an output.")] = None
    metric_scores: Annotated[Mapping[str, File], PYTHON, Doc("A file of each metric from another program.")] = field(
        factory=dict
    )
    score_files: Annotated[tuple[File, ...], PYTHON, Doc("Files of which all metrics are read.")] = ()
    lower_is_better: Annotated[tuple[str, ...], PYTHON, Doc("Metrics for which lower is better.")] = ()
    input_format: Annotated[str | None, PYTHON, Doc("The format of the texts.")] = None
