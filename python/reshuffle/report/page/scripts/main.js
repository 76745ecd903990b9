// Runs last, after all sections are added.

renderAll();
