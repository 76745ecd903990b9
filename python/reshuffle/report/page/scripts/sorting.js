// Sorting of table rows by buttons in the headers.

const ASCENDING = "ascending";
const DESCENDING = "descending";

/** Compare two values: numbers by size, texts in natural order (a2 before a10). */
function compareValues(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Sort items by a key in a direction. Items without a key (null) are last in both directions; ties keep their order. */
function sortedBy(items, key, direction) {
  const sign = direction === DESCENDING ? -1 : 1;
  const keyed = items.map((item) => [key(item), item]);
  keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * compareValues(a, b)));
  return keyed.map(([, item]) => item);
}

/**
 * Make a header a button that sets aria-sort and calls sort(direction). `first` is the direction of the first click.
 */
function addSortButton(header, first, sort) {
  // Its own label, because that of the text would have the arrow, too.
  const button = h("button", { type: "button", "aria-label": header.textContent });
  button.append(...header.childNodes);
  header.append(button);
  button.addEventListener("click", () => {
    const before = header.getAttribute("aria-sort");
    const direction = before === null ? first : before === ASCENDING ? DESCENDING : ASCENDING;
    for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction);
    sort(direction);
  });
}

/** The number at the start of a cell, else its text; null for an empty cell or "baseline". */
function keyOfCell(cell) {
  const text = cell.textContent.trim();
  const found = /^[<+]?(-?(?:\d[\d,]*(?:\.\d+)?|inf))(?![^\s*†–])/.exec(text);
  if (found) return Number(found[1].replaceAll(",", "").replace("inf", "Infinity"));
  return text === "" || text === "baseline" ? null : text;
}

/** Make a table of the template sortable. Sorting removes the lines between clusters, which are for the initial order. */
function makeSortable(table) {
  const [body] = table.tBodies;
  const rows = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const isName = header.classList.contains("name");
    const isP = /^(adjusted )?p$/.test(header.textContent);
    const isText = rows.every((row) => typeof keyOfCell(row.cells[column]) !== "number");
    const key = isName ? (row) => row.cells[column].textContent : (row) => keyOfCell(row.cells[column]);
    addSortButton(header, isText || isP || header.textContent === "Rank" ? ASCENDING : DESCENDING, (direction) => {
      table.dataset.sorted = direction;
      body.append(...sortedBy(rows, key, direction));
    });
  });
}

function addSorting() {
  document.querySelectorAll("table.sortable").forEach(makeSortable);
}
