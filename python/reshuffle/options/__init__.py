"""The options of public functions and commands, each declared once.

``declare`` says what a declaration is and what follows from it. The other modules have the declarations: groups of
options that several functions share, and a record for each function, which is a sum of groups.
"""
