// Tables that scripts make, with the looks, sorting and buttons of those in the template.

/** A table: `names` columns of names, then numbers. Rows are lists of texts or nodes; null is an empty cell. */
function dataTable(title, header, rows, names = 1) {
  const kind = (column) => (column < names ? "name" : null);
  const headers = header.map((text, column) => fillBreakable(h("th", { scope: "col", class: kind(column) }), text));
  const cell = (content, column) => (column < names ? fillBreakable(h("td", { class: content.length > 10 ? "name long" : "name" }), content) : typeof content === "string" ? fillMarked(h("td"), content) : h("td", {}, content));
  const table = h(
    "table",
    { class: "made" },
    h("caption", {}, h("span", {}, title)),
    h("thead", {}, h("tr", {}, ...headers)),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell)))),
  );
  makeSortable(table);
  const tall = rows.length > 30 ? " tall" : "";
  const rowsOf = () => [...table.rows].map((row) => [...row.cells].map((each) => each.textContent));
  const scroller = h("div", { class: `scroll${tall}`, tabindex: 0, role: "region", "aria-label": title }, table);
  const made = h("div", {}, scroller, tableCopies(title, names, rowsOf));
  hintAtColumns(scroller);
  return made;
}
