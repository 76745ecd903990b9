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

// A number, letters or a star after it, and the spaces that stand for those that other rows have.
const MARKED = /^(.*\d)((?: [a-z]+)?[*† ]*)$/s;

/** Fill a cell with a number and its marks, which are letters of one width, so that the numbers are aligned. */
function fillMarked(cell, text) {
  const [, value, marks] = MARKED.exec(text) ?? [];
  cell.replaceChildren(...(marks ? [value, h("span", { class: "marks" }, marks)] : [text]));
  return cell;
}

function alignMarks() {
  for (const cell of document.querySelectorAll(".scroll td:not(.name)")) fillMarked(cell, cell.textContent);
}

/** Above each table that is cut off, how many columns are to the right. */
function addColumnHints() {
  document.querySelectorAll(".scroll").forEach(hintAtColumns);
}

function hintAtColumns(scroller) {
  const hint = h("p", { class: "hint columns-hint", hidden: true });
  scroller.before(hint);
  const update = () => {
    const right = scroller.getBoundingClientRect().right;
    const hidden = [...scroller.querySelectorAll("thead th")].filter((header) => header.getBoundingClientRect().right > right + 1).length;
    hint.hidden = scroller.scrollWidth <= scroller.clientWidth;
    // At the end, the line stays: the table would move while it is scrolled.
    hint.textContent = hidden === 0 ? "\u00a0" : `${hidden} more column${hidden === 1 ? "" : "s"} →`;
  };
  scroller.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(scroller);
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
