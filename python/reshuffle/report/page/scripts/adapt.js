// What adapts the tables and notes of the template to narrow windows and to paper.

/** A text that may also be broken after the punctuation within names such as "news.en_de-2.txt". */
function breakable(text) {
  return text.split(/(?<=[._/:@-])(?=\w)/).flatMap((part, index) => (index ? [h("wbr"), part] : [part]));
}

function addBreaks() {
  for (const cell of document.querySelectorAll("td.name")) cell.replaceChildren(...breakable(cell.textContent));
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
