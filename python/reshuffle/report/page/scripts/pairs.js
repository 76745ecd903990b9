// The table of all pairs under a metric, which can be sorted and filtered. Scrolling adds rows.

const pairsTable = { text: "", significantOnly: false, column: null, direction: null };
const ROWS_AT_ONCE = 80;
// The most pairs that are printed: those of a hundred systems would fill a hundred pages.
const MAX_PRINTED = 500;

/** The columns of the table: {label, first: direction, key(pair), cell(pair), name?, class?(pair), narrow: its class, for narrow windows}. */
function pairColumns(view) {
  const places = (name) => view.positions.get(name);
  const columns = [
    { label: "System", narrow: "of-system", name: true, first: ASCENDING, key: (pair) => shownName(pair.system), cell: (pair) => shownName(pair.system) },
    { label: "Baseline", narrow: "of-baseline", name: true, first: ASCENDING, key: (pair) => shownName(pair.baseline), cell: (pair) => shownName(pair.baseline) },
    {
      label: "Δ",
      narrow: "of-difference",
      first: DESCENDING,
      key: (pair) => pair.difference,
      cell: (pair) => formatDifference(pair.difference, view),
      class: (pair) => sideOf(view, pair.difference),
    },
  ];
  if (view.pairs.some((pair) => pair.interval)) {
    const level = view.pairs.find((pair) => pair.interval).interval.confidence_level ?? view.document.confidence_level;
    columns.push({
      label: `${fixedPercent(level)}% CI`,
      narrow: "of-interval",
      first: DESCENDING,
      key: (pair) => pair.interval?.low ?? null,
      cell: (pair) => formatInterval(pair.interval, view, formatDifference),
    });
  }
  if (view.lacksScores) {
    columns.push({ label: "n", narrow: "left-out", first: DESCENDING, key: (pair) => pair.get("n_segments"), cell: (pair) => formatCount(pair.get("n_segments")) });
  }
  const mark = (pair) => (pair.significant ? "*" : " ");
  const exact = view.pairs.some((pair) => pair.test("scheme") === "exact");
  const dagger = (pair) => (!exact ? "" : pair.test("scheme") === "exact" ? "†" : " ");
  columns.push({
    label: "p",
    narrow: view.adjusted ? "left-out" : "of-p",
    first: ASCENDING,
    key: (pair) => pair.pvalue,
    cell: (pair) => formatP(pair.pvalue, pair.decimals, view.alpha) + dagger(pair) + (view.adjusted ? "" : mark(pair)),
  });
  if (view.adjusted) {
    columns.push({
      label: "adjusted p",
      narrow: "of-p",
      first: ASCENDING,
      key: (pair) => pair.adjusted,
      cell: (pair) => (pair.adjusted === null ? "" : formatP(pair.adjusted, pair.decimals, view.alpha)) + mark(pair),
    });
  }
  return { columns, order: (pair) => places(pair.system) * view.systems.length + places(pair.baseline) };
}

function classes(...names) {
  return names.filter(Boolean).join(" ");
}

/** A share in per cent, formatted as in the other reports. */
function fixedPercent(share) {
  return String(Number((100 * share).toPrecision(10)));
}

/** Whether the names of a pair's systems contain every word. */
function matches(pair, words) {
  const names = [pair.system, pair.baseline].map((name) => shownName(name).toLowerCase());
  return words.every((word) => names.some((name) => name.includes(word)));
}

/** Whether the system of a row is significantly better than its baseline. */
function isWon(view, pair) {
  return significantSide(view, pair) === "better";
}

class PairsTable {
  constructor(view, element) {
    this.view = view;
    const { columns, order } = pairColumns(view);
    this.columns = columns;
    this.pairs = sortedBy(view.pairs.map((pair) => view.oriented(pair)), order, ASCENDING);
    this.shown = [];
    this.rows = [];
    this.active = 0;
    this.body = h("tbody");
    this.headers = columns.map((column) => h("th", { scope: "col", class: classes(column.name && "name", column.narrow) }, column.label));
    this.table = h(
      "table",
      { role: "grid", "aria-label": `Pairs under ${viewName()}`, "aria-readonly": "true" },
      h("thead", {}, h("tr", {}, ...this.headers)),
      this.body,
    );
    this.scroller = h("div", { class: "rows" }, this.table);
    this.count = h("output", { class: "count" });
    const key = h("p", { class: "more" }, "Bold: the system is significantly better than the one in the column Baseline.");
    const copies = tableCopies(`Pairs under ${viewName()}`, 2, () => this.#cells());
    element.replaceChildren(this.#controls(), this.scroller, copies, ...(this.pairs.some((pair) => isWon(view, pair)) ? [key] : []));
    hintAtColumns(this.scroller);
    columns.forEach((column, position) => {
      addSortButton(this.headers[position], column.first, (direction) => {
        Object.assign(pairsTable, { column: column.label, direction });
        this.update();
      });
      if (column.label === pairsTable.column) this.headers[position].setAttribute("aria-sort", pairsTable.direction);
    });
    this.body.addEventListener("click", (event) => this.#choose(this.rows.indexOf(event.target.closest("tr"))));
    this.body.addEventListener("keydown", (event) => this.#press(event));
    this.scroller.addEventListener("scroll", () => {
      const { scrollHeight, scrollTop, clientHeight } = this.scroller;
      if (scrollHeight - scrollTop < 3 * clientHeight) this.#addRows(ROWS_AT_ONCE);
    });
    this.update();
  }

  #controls() {
    const text = h("input", { type: "search", placeholder: "Filter by system", "aria-label": "Filter pairs by system", value: pairsTable.text });
    text.addEventListener("input", () => {
      pairsTable.text = text.value;
      this.update();
    });
    const significant = h("input", { type: "checkbox", id: "significant-only" });
    significant.checked = pairsTable.significantOnly;
    significant.addEventListener("change", () => {
      pairsTable.significantOnly = significant.checked;
      this.update();
    });
    return h("div", { class: "controls" }, text, h("label", { class: "check" }, significant, this.view.shows === "equivalence" ? "Equivalent only" : this.view.shows ? "Non-inferior only" : "Significant only"), this.count);
  }

  /** Filter and sort again. */
  update() {
    const words = pairsTable.text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.pairs.filter((pair) => (pair.significant || !pairsTable.significantOnly) && matches(pair, words));
    const column = this.columns.find((each) => each.label === pairsTable.column);
    this.shown = column ? sortedBy(found, column.key, pairsTable.direction) : found;
    this.rows = [];
    this.active = 0;
    this.body.replaceChildren();
    this.table.setAttribute("aria-rowcount", this.shown.length + 1);
    this.showCount();
    this.#addRows(ROWS_AT_ONCE);
    this.scroller.scrollTop = 0;
  }

  showCount() {
    const all = counted(this.pairs.length, "pair");
    this.count.textContent = this.shown.length === this.pairs.length ? all : `${formatCount(this.shown.length)} of ${all}`;
  }

  #addRows(n) {
    const first = this.rows.length;
    const added = this.shown.slice(first, first + n).map((pair, offset) => this.#row(pair, first + offset));
    this.rows.push(...added);
    this.body.append(...added);
  }

  /** The texts of all rows that the filter leaves, also of those that scrolling has not added yet. */
  #cells() {
    return [this.columns.map(({ label: title }) => title), ...this.shown.map((pair) => this.columns.map((column) => column.cell(pair)))];
  }

  #row(pair, position) {
    const cells = this.columns.map((column) => {
      const cell = h("td", { class: classes(column.name && "name", column.class?.(pair), column.narrow) });
      return column.name ? fillBreakable(cell, column.cell(pair)) : fillMarked(cell, column.cell(pair));
    });
    return h(
      "tr",
      {
        class: isWon(this.view, pair) && "won",
        "aria-rowindex": position + 2,
        "aria-selected": String(isSelected(pair)),
        tabindex: position === this.active ? 0 : -1,
      },
      ...cells,
    );
  }

  #choose(position) {
    if (position < 0) return;
    this.#activate(position);
    selectPair(this.shown[position].system, this.shown[position].baseline);
  }

  #activate(position) {
    if (this.rows[this.active]) this.rows[this.active].tabIndex = -1;
    this.active = position;
    while (this.rows.length <= position && this.rows.length < this.shown.length) this.#addRows(ROWS_AT_ONCE);
    this.rows[position].tabIndex = 0;
  }

  #press(event) {
    if (event.target.tagName !== "TR") return;
    const last = this.shown.length - 1;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -last, End: last };
    if (event.key === "Enter" || event.key === " ") this.#choose(this.active);
    else if (event.key in moves) {
      this.#activate(Math.min(last, Math.max(0, this.active + moves[event.key])));
      this.rows[this.active].focus();
    } else return;
    event.preventDefault();
  }

  /** Mark the selected pair. */
  mark() {
    this.rows.forEach((row, position) => row.setAttribute("aria-selected", String(isSelected(this.shown[position]))));
  }

  /** Add the rows to print. */
  beforePrint() {
    this.#addRows(MAX_PRINTED - this.rows.length);
    if (this.rows.length < this.shown.length) {
      this.count.textContent = `The first ${formatCount(this.rows.length)} of ${counted(this.shown.length, "pair")}`;
    }
  }
}

let currentPairs = null;

addSection({
  id: "pairs",
  applies: (view) => view.pairs.length > 0,
  render(view, element) {
    currentPairs = new PairsTable(view, element);
  },
  selected: () => currentPairs.mark(),
});

window.addEventListener("beforeprint", () => currentPairs?.beforePrint());
window.addEventListener("afterprint", () => currentPairs?.showCount());
