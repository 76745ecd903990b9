// What adapts the tables and notes of the template to narrow windows and to paper.

/** Fill an element with a text that may also be broken after the punctuation within names such as "news.en_de-2.txt". */
function fillBreakable(element, text) {
  const parts = text.split(/(?<=[._/:@-])(?=\w)/);
  element.replaceChildren(...parts.flatMap((part, index) => (index ? [h("wbr"), part] : [part])));
  // Screen readers would pause at each place where the text may be broken.
  if (parts.length > 1) element.setAttribute("aria-label", text);
  return element;
}

function addBreaks() {
  for (const cell of document.querySelectorAll("td.name, .sortable th > button")) {
    // Long names need some width, so that they are not broken everywhere.
    cell.classList.toggle("long", cell.textContent.length > 10);
    fillBreakable(cell, cell.textContent);
  }
}

/** Folded notes are on paper, too. */
function unfoldForPrint() {
  const unfolded = [];
  window.addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details:not([open])")) {
      folded.open = true;
      unfolded.push(folded);
    }
  });
  window.addEventListener("afterprint", () => {
    for (const folded of unfolded.splice(0)) folded.open = false;
  });
}
