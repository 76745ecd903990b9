// Sorting: the order of table rows, and headers with buttons.

const ASCENDING = "ascending";
const DESCENDING = "descending";

/** Compare two values: numbers by size, texts by the alphabet with numbers in them by size. */
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
 * A button in a header, and aria-sort on the header. It calls sort(direction); the first direction is the given one.
 */
function addSortButton(header, first, sort) {
  const button = h("button", { type: "button" });
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

/** The number with which a cell begins, else its text; null for an empty cell and that of the baseline. */
function keyOfCell(cell) {
  const text = cell.textContent.trim();
  const found = /^[<+]?(-?(?:\d[\d,]*(?:\.\d+)?|inf))(?![^\s*†–])/.exec(text);
  if (found) return Number(found[1].replaceAll(",", "").replace("inf", "Infinity"));
  return text === "" || text === "baseline" ? null : text;
}

/** Make a table of the template sortable. The lines between its clusters are for its first order only. */
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
