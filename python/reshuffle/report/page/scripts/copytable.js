// Buttons that copy a table as it is shown, in the order of its rows, as CSV and as LaTeX.

function asCsv(rows) {
  const field = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

/** A text with the escapes of reshuffle.report.latex, which the page has in LATEX_ESCAPES; signs of numbers are in mathematics. */
function latexText(text) {
  const plain = text.replace(/\s+/gu, " ").replace(/-(?=-)/g, "-\0");
  const escaped = Array.from(plain, (character) => LATEX_ESCAPES[character] ?? character).join("");
  return escaped.replace(/^([+-])(?=[\d.])/, "$$$1$$");
}

/** A header: symbols such as p are in mathematics, as reshuffle.report.formulas finds them. Names of the result have none. */
function latexHeader(text) {
  const own = byId("settings");
  const symbols = new RegExp(own ? JSON.parse(own.textContent).symbols : SYMBOLS, "g");
  let [written, end] = ["", 0];
  for (const match of text.matchAll(symbols)) {
    if (match.groups.letter === undefined) continue; // Greek letters have escapes of their own
    written += `${latexText(text.slice(end, match.index))}$${match[0]}$`;
    end = match.index + match[0].length;
  }
  return written + latexText(text.slice(end));
}

/** A tabular environment with the rules of booktabs. The first `names` columns are aligned on the left. */
function asLatex([header, ...rows], names) {
  const line = (row, text = latexText) => `${row.map((cell) => text(cell)).join(" & ")} \\\\`;
  const columns = "l".repeat(names) + "r".repeat(header.length - names);
  return [`\\begin{tabular}{${columns}}`, "\\toprule", line(header, latexHeader), "\\midrule", ...rows.map((row) => line(row)), "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

/** The buttons. rowsOf() returns the texts of all cells, of the header first. */
function tableCopies(title, names, rowsOf) {
  const text = h("pre", { tabindex: 0, hidden: true, "aria-label": `${title}, to copy` });
  const button = (name, write) => {
    const copy = () => {
      text.textContent = write(rowsOf().map((row) => row.map((cell) => cell.trim())), names);
      copyText(text, made);
    };
    const made = h("button", { type: "button", class: "copy", "aria-label": `Copy as ${name}: ${title}`, onclick: copy }, name);
    return made;
  };
  return h("div", { class: "table-copies" }, h("span", { "aria-hidden": "true" }, "Copy as"), button("CSV", asCsv), button("LaTeX", asLatex), text);
}

function addTableCopies() {
  for (const table of document.querySelectorAll(".scroll > table")) {
    const names = table.tHead.querySelectorAll("th.name").length;
    const rowsOf = () => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
    table.parentElement.after(tableCopies(table.caption.textContent, names, rowsOf));
  }
}
