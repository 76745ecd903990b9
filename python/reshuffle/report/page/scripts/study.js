// Starts the page of a study. This script is the last one on it.

addThemeButton();
addContents();
addCopying();
addSorting();
addTableCopies();
addBreaks();
alignMarks();
addColumnHints();
unfoldForPrint();
