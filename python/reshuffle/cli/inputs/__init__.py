"""What commands read: from options and manifests to test sets.

A command line fills a record of files (:mod:`reshuffle.options.files`), and so does each test set of a manifest.
:class:`~reshuffle.cli.inputs.test_set.Input` checks such a record before files are read, and reads it.
"""
