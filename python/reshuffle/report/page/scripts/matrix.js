// A heat map of the p-values of all pairs, systems from best to worst. It needs few SVG elements for any number of pairs.

// With more systems, values do not fit into the cells. In cells narrower than a value, values are turned.
const MAX_VALUES = 20;
const VALUE_WIDTH = 34;
const TURNED_SIZE = 10;
// In cells narrower than this, even turned values are hard to read.
const TURNED_WIDTH = 18;
// The upper ends of the classes of p, as multiples of α. The first three classes are significant.
const CLASS_ENDS = [0.02, 0.2, 1, 2];

/** The class of a pair's p-value, from 0 (smallest) to 4. */
function classOf(pair, alpha) {
  const index = CLASS_ENDS.findIndex((end) => pair.decisive <= end * alpha * (1 + 1e-12));
  return index < 0 ? CLASS_ENDS.length : index;
}

/** The sizes of cells and names for a figure of this width. Values are left out if they do not fit. `names` is the width of the last one. */
function matrixLayout(view, width) {
  const count = view.systems.length;
  const size = count <= 60 ? TEXT_SIZE : 10;
  const longest = Math.min(widest(view.systems.map(({ shown }) => shown), size), 210, Math.max(100, 0.3 * width));
  const names = longest + textWidth(`${count} `, size) + 14;
  const smallest = count <= MAX_VALUES ? 12 : width < WIDE && count <= 24 ? 10 : count <= 60 ? 14 : 7;
  const cell = Math.min(Math.max(Math.floor((width - names) / (count - 1)), smallest), 60);
  const values = count <= MAX_VALUES && cell >= TURNED_WIDTH;
  const turned = values && cell < VALUE_WIDTH;
  const height = turned ? VALUE_WIDTH + 4 : values ? 25 : Math.max(size + 2, Math.min(cell, 20));
  return { count, values, turned, size, names, height, cell, width: (count - 1) * cell + names, bottom: count * height };
}

function drawMatrix(view, pairAt, width) {
  const layout = matrixLayout(view, width);
  const { count, cell, height } = layout;
  const image = canvas(layout.width, layout.bottom, { class: "matrix" });
  const paths = [...CLASS_ENDS, 1].map(() => []);
  for (let row = 1; row < count; row += 1) {
    for (let column = 0; column < row; column += 1) {
      const pair = pairAt(row, column);
      paths[classOf(pair, view.alpha)].push(`M${column * cell},${row * height}h${cell - 1}v${height - 1}h${1 - cell}z`);
    }
  }
  for (const [index, path] of paths.entries()) image.append(svg("path", { class: `p${index}`, d: path.join("") }));
  if (layout.values) image.append(...matrixValues(view, pairAt, layout));
  const names = matrixNames(view, layout);
  image.append(...names);
  return { image, layout, names };
}

function matrixValues(view, pairAt, { count, cell, height, turned }) {
  const values = [];
  for (let row = 1; row < count; row += 1) {
    for (let column = 0; column < row; column += 1) {
      const pair = pairAt(row, column);
      const [x, y] = [(column + 0.5) * cell - 0.5, (row + 0.5) * height - 0.5];
      const kind = `value${turned ? " small" : ""} on-p${classOf(pair, view.alpha)}`;
      const transform = turned ? `rotate(-90 ${x} ${y})` : null;
      values.push(label(shortP(pair.decisive, view.alpha), { x, y, transform, "text-anchor": "middle", class: kind }));
    }
  }
  return values;
}

/** The names along the diagonal: each labels the row to its left and the column below it. */
function matrixNames(view, { size, width, cell, height }) {
  const number = textWidth(`${view.systems.length} `, size) + 10;
  const shortened = fittedNames(view.systems.map(({ shown }) => shown), (index) => width - index * cell - number, size);
  return view.systems.map(({ shown }, index) => {
    const at = { x: index * cell + 5, y: (index + 0.5) * height, class: size < TEXT_SIZE ? "name small" : "name" };
    const name = label(shortened[index], { whole: shown, ...at });
    name.prepend(svg("tspan", { class: "muted" }, `${index + 1} `));
    return name;
  });
}

function matrixLegend(view) {
  const bounds = CLASS_ENDS.map((end) => String(Number((end * view.alpha).toPrecision(6))));
  const square = (index) => canvas(14, 14, { "aria-hidden": "true" }, svg("rect", { class: `p${index}`, width: 14, height: 14 }));
  const swatch = (index, text) => h("span", { class: "swatch" }, square(index), text);
  return h(
    "p",
    { class: "figure-legend" },
    h("span", {}, `${view.adjusted ? "Adjusted p" : "p"}, significant:`),
    ...bounds.slice(0, 3).map((bound, index) => swatch(index, `≤ ${bound}`)),
    h("span", {}, "not significant:"),
    swatch(3, `≤ ${bounds[3]}`),
    swatch(4, `> ${bounds[3]}`),
  );
}

/** The outline of a cell, with a halo that sets it off from cells of any colour. */
function cellOutline(name, { cell, height }) {
  const outline = (part) => svg("rect", { class: part, width: cell, height });
  return svg("g", { class: name, visibility: "hidden" }, outline("halo"), outline("line"));
}

/** The heat map with its legend, a status line that describes one cell, and the handlers of keys and clicks. */
class Matrix {
  constructor(view, body) {
    this.view = view;
    this.cell = [1, 0];
    const hint = matchMedia("(pointer: coarse)").matches
      ? "Tap a cell to see and select its pair."
      : "Point at a cell or use the arrow keys to see its pair. Click or press Enter to select it.";
    this.status = h("p", { class: "figure-status", role: "status" }, hint);
    const order = `${view.systems.length} systems from best to worst.`;
    const caption = [order, " Each name labels the row to its left and the column below it.", sidedness(view)];
    body.replaceChildren(matrixLegend(view), this.status, figureIn(body, "matrix", (width) => this.draw(width), caption));
  }

  /** The pair of a cell: the better system is the column, the worse one the row. */
  pairAt(row, column) {
    const { systems } = this.view;
    return asTested(this.view, this.view.pair(systems[column].name, systems[row].name));
  }

  draw(width) {
    const { image, layout, names } = drawMatrix(this.view, (row, column) => this.pairAt(row, column), width);
    Object.assign(this, { image, layout, names });
    this.chosen = cellOutline("cell-chosen", layout);
    this.pointed = cellOutline("cell-pointed", layout);
    this.lines = svg("path", { class: "cell-lines" });
    image.append(this.lines, this.chosen, this.pointed);
    image.setAttribute("tabindex", "0");
    image.setAttribute("role", "application");
    image.setAttribute("aria-label", `p-values of ${this.view.pairs.length} pairs of systems`);
    image.addEventListener("pointermove", (event) => this.point(this.cellAt(event)));
    image.addEventListener("pointerleave", () => this.point(image === document.activeElement ? this.cell : null));
    image.addEventListener("focus", () => this.point(this.cell));
    image.addEventListener("blur", () => this.point(null));
    image.addEventListener("click", (event) => this.select(this.cellAt(event)));
    image.addEventListener("keydown", (event) => this.press(event));
    if (state.pair) this.mark(...state.pair);
    return image;
  }

  cellAt(event) {
    const box = this.image.getBoundingClientRect();
    const factor = this.layout.width / box.width;
    const column = Math.floor(((event.clientX - box.left) * factor) / this.layout.cell);
    const row = Math.floor(((event.clientY - box.top) * factor) / this.layout.height);
    return column >= 0 && column < row && row < this.layout.count ? [row, column] : null;
  }

  press(event) {
    const [row, column] = this.cell;
    const last = this.layout.count - 1;
    const cells = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, 0],
      End: [row, row - 1],
      PageUp: [column + 1, column],
      PageDown: [last, column],
    };
    if (event.key === "Enter" || event.key === " ") this.select(this.cell);
    else if (!(event.key in cells)) return;
    else {
      const [to, at] = cells[event.key];
      if (at >= 0 && at < to && to <= last) this.cell = [to, at];
      this.point(this.cell);
      this.reveal(this.cell);
    }
    event.preventDefault();
  }

  /** Scroll sideways until the cell is visible. */
  reveal([, column]) {
    const scroller = this.image.parentElement;
    const left = column * this.layout.cell;
    const right = left + this.layout.cell - scroller.clientWidth;
    scroller.scrollLeft = Math.min(left, Math.max(right, scroller.scrollLeft));
  }

  /** Outline a cell, emphasize the names of its systems, and describe it. */
  point(cell) {
    this.pointed.setAttribute("visibility", cell ? "visible" : "hidden");
    this.lines.setAttribute("d", "");
    for (const [index, name] of this.names.entries()) name.classList.toggle("pointed", cell !== null && cell.includes(index));
    if (!cell) return;
    this.place(this.pointed, cell);
    if (!this.layout.values) this.lines.setAttribute("d", this.linesToNames(cell));
    this.status.textContent = pairSummary(this.view, this.pairAt(...cell));
  }

  /** Lines from a cell to its names. They would cross out values, so they are for matrices without values. */
  linesToNames([row, column]) {
    const { cell, height } = this.layout;
    const across = `M${(column + 1) * cell},${(row + 0.5) * height}H${row * cell}`;
    return `${across}M${(column + 0.5) * cell},${row * height}V${(column + 1) * height}`;
  }

  place(outline, [row, column]) {
    outline.setAttribute("transform", `translate(${column * this.layout.cell - 0.5} ${row * this.layout.height - 0.5})`);
  }

  select(cell) {
    if (!cell) return;
    this.cell = cell;
    // A click also moves the focus, and the focus handler points at `this.cell`.
    this.point(cell);
    const { system, baseline } = this.pairAt(...cell);
    selectPair(system, baseline);
  }

  /** Outline the cell of the selected pair. */
  mark(system, baseline) {
    const { positions } = this.view;
    const known = positions.has(system) && positions.has(baseline);
    this.chosen.setAttribute("visibility", known ? "visible" : "hidden");
    if (!known) return;
    const [first, second] = [positions.get(system), positions.get(baseline)];
    this.cell = [Math.max(first, second), Math.min(first, second)];
    this.place(this.chosen, this.cell);
  }
}

let matrix = null;

addSection({
  id: "matrix",
  applies: (view) => view.baseline === null && view.pairs.length > 1,
  render(view, body) {
    matrix = new Matrix(view, body);
  },
  selected(view, pair) {
    matrix.mark(pair.system, pair.baseline);
  },
});
