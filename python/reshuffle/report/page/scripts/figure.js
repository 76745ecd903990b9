// What all figures share: a frame that adapts to the width of the page, shortened names, and rows that respond to keys.

// The width of a figure before it is in the page, in pixels.
const UNPLACED_WIDTH = 720;
// Narrower figures scroll instead.
const MIN_WIDTH = 320;
// From this width on, figures have columns of numbers next to the plot.
const WIDE = 640;
// As in page.css.
const TEXT_SIZE = 12;

/**
 * A figure that draws itself for its width, and again when its width changes.
 *
 * draw(width) returns an SVG element. The figure is first drawn for the width of `place`, the element that will contain it.
 * The caption is a list of nodes, or a function of the width if it explains what only some widths show.
 */
function figureIn(place, name, draw, caption = null) {
  const scroller = h("div", { class: "figure-scroll" });
  const text = caption && h("figcaption");
  const figure = h("figure", { class: `figure figure-${name}` }, scroller, text);
  let drawn = 0;
  const redraw = (width) => {
    const chosen = Math.max(Math.floor(width), MIN_WIDTH);
    if (width <= 0 || chosen === drawn) return;
    drawn = chosen;
    scroller.replaceChildren(draw(chosen));
    text?.replaceChildren(...(typeof caption === "function" ? caption(chosen) : caption));
  };
  redraw(place?.clientWidth || UNPLACED_WIDTH);
  new ResizeObserver((entries) => redraw(entries.at(-1).contentRect.width)).observe(scroller);
  return figure;
}

/** The SVG element of a figure; it scales down on paper. */
function canvas(width, height, attributes, ...children) {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, ...attributes }, ...children);
}

let measuring = null;

/** The width of a text in a figure, in pixels. */
function textWidth(text, size = TEXT_SIZE) {
  if (!measuring) {
    measuring = document.createElement("canvas").getContext("2d");
    measuring.font = `${TEXT_SIZE}px ${getComputedStyle(document.body).fontFamily}`;
  }
  return (measuring.measureText(text).width * size) / TEXT_SIZE;
}

function widest(texts, size = TEXT_SIZE) {
  return texts.reduce((width, text) => Math.max(width, textWidth(text, size)), 0);
}

/** The text. If it is wider than `width`, an ellipsis follows this share of the characters that fit. */
function fitted(text, width, size = TEXT_SIZE, share = 1) {
  if (textWidth(text, size) <= width) return text;
  const characters = Array.from(text);
  const shortened = (kept) => {
    const start = Math.ceil(kept * share);
    return `${characters.slice(0, start).join("")}…${characters.slice(characters.length - kept + start).join("")}`;
  };
  let kept = 0;
  for (let most = characters.length - 1; kept < most;) {
    const middle = Math.ceil((kept + most) / 2);
    if (textWidth(shortened(middle), size) <= width) kept = middle;
    else most = middle - 1;
  }
  return shortened(kept);
}

/** Names that fit the width at their position, shortened at the end, in the middle or at the beginning, whichever keeps the most distinct. */
function fittedNames(names, widthAt, size = TEXT_SIZE) {
  let best = [];
  for (const share of [1, 0.5, 0]) {
    const shortened = names.map((name, index) => fitted(name, widthAt(index), size, share));
    if (new Set(shortened).size > new Set(best).size) best = shortened;
  }
  return best;
}

/** A text, vertically centred on y. If it is shortened, the whole text is its tooltip. */
function label(text, { whole = text, ...attributes }) {
  return svg("text", { dy: "0.35em", ...attributes }, text, whole === text ? null : svg("title", {}, whole));
}

/**
 * Where the parts of a row are: its height, and how far below its top the middle of its texts and of its plot is.
 *
 * Rows are lower if there are many. In narrow figures, texts are above the plot, which has the whole width.
 */
function rowPlan(count, wide) {
  if (!wide) return { pitch: 40, text: 12, plot: 29 };
  const pitch = count <= 24 ? 26 : count <= 50 ? 21 : 17;
  return { pitch, text: pitch / 2, plot: pitch / 2 };
}

/** A vertical line at a value: of zero, a margin or the baseline. Where texts are above the plots, it leaves them out. */
function valueLine(kind, value, { scale, top, bottom, plan }) {
  const x = scale(value);
  const above = plan.plot > plan.text ? plan.text + TEXT_SIZE / 2 + 1 : 0;
  const parts = above ? Array.from({ length: Math.round((bottom - top) / plan.pitch) }, (_, row) => top + row * plan.pitch) : [];
  const path = above ? parts.map((y) => `M${x},${y + above}V${y + plan.pitch}`).join("") : `M${x},${top}V${bottom}`;
  return svg("path", { class: kind, d: path });
}

/** The radius of dots that leaves most intervals visible on both sides. */
function dotRadius(intervals, scale) {
  const halves = intervals.filter(Boolean).map(({ low, high }) => (scale(high) - scale(low)) / 2);
  const known = halves.filter(Number.isFinite).sort((a, b) => a - b);
  return known.length ? Math.min(4.5, Math.max(2, known[Math.floor(known.length / 4)] - 3)) : 4.5;
}

/** "95% CI". */
function intervalName(view) {
  return `${fixedPercent(view.document.confidence_level)}% CI`;
}

/** The name of the p-values that are compared with α. */
function pName(view) {
  return view.adjusted ? "adjusted p" : "p";
}

/** The ends of an interval, if there is one. */
function endsOf(interval) {
  return interval ? [interval.low, interval.high] : [];
}

/** Whether a system with this difference from another is "better", "worse" or "even". */
function sideOf(view, difference) {
  return difference * view.sign > 0 ? "better" : difference * view.sign < 0 ? "worse" : "even";
}

/** The side of a pair if it differs significantly. Tests with a margin show no difference. */
function significantSide(view, pair) {
  return pair?.significant && view.shows === null ? sideOf(view, pair.difference) : "even";
}

/** Whether a pair is the selected one, in either direction. */
function isSelected({ system, baseline }) {
  return state.pair !== null && state.pair.includes(system) && state.pair.includes(baseline);
}

/** A pair, in the direction of its test if that is one-sided, because p does not apply to the other direction. */
function asTested(view, pair) {
  return view.twoSided || !pair.reversed ? pair : view.pair(pair.baseline, pair.system);
}

/** An interval as a horizontal line with caps, or arrows where it extends beyond the plot. Nothing if it is undefined. */
function whiskers(interval, scale, y, side) {
  if (!interval || Number.isNaN(interval.low) || Number.isNaN(interval.high)) return [];
  const start = scale(Math.max(interval.low, scale.low));
  const end = scale(Math.min(interval.high, scale.high));
  const cap = (x) => `M${x},${y - 4}V${y + 4}`;
  const arrow = (x, outwards) => `M${x - outwards * 5},${y - 4}L${x},${y}L${x - outwards * 5},${y + 4}`;
  const left = interval.low < scale.low ? arrow(start, -1) : cap(start);
  const right = interval.high > scale.high ? arrow(end, 1) : cap(end);
  return [svg("path", { class: `whisker ${side}`, d: `M${start},${y}H${end}${left}${right}` })];
}

/** The width of the names, and what they and the columns to the right take from the width of the plot: nothing in narrow figures. */
function nameSpace(whole, width, columns = 0) {
  if (width < WIDE) return { names: width - columns - 12, before: 0, after: 0 };
  const names = Math.min(widest(whole) + 4, width * 0.28);
  return { names, before: names, after: columns };
}

const STAR_WIDTH = 8;

/** Columns of right-aligned text, {title, texts, stars: which texts have a star}, with their widths. */
function sizedColumns(columns, wide) {
  const gap = wide ? 24 : 12;
  const widthOf = ({ title, texts, stars }) => gap + widest([...texts, title]) + (stars ? STAR_WIDTH : 0);
  return columns.map((column) => ({ ...column, width: widthOf(column) }));
}

function totalWidth(columns) {
  return columns.reduce((sum, column) => sum + column.width, 0);
}

/** Draw the columns with their right end at `right`: titles into `image`, texts into their rows. */
function drawColumns(columns, { image, rows, right, top, plan, titles = top - 14 }) {
  let end = right;
  for (const { title, texts, stars, width } of [...columns].reverse()) {
    image.append(label(title, { class: "muted", x: end, y: titles, "text-anchor": "end" }));
    for (const [index, text] of texts.entries()) {
      const y = top + index * plan.pitch + plan.text;
      rows[index].append(label(text, { x: stars ? end - STAR_WIDTH : end, y, "text-anchor": "end" }));
      if (stars?.[index]) rows[index].append(label("*", { x: end - STAR_WIDTH + 1, y, class: "strong" }));
    }
    end -= width;
  }
}

/** A light background for every other row. */
function stripes(count, { top, width, pitch }) {
  const all = svg("g", { class: "stripes" });
  for (let row = 1; row < count; row += 2) all.append(svg("rect", { x: 0, y: top + row * pitch, width, height: pitch }));
  return all;
}

/**
 * Make SVG rows a listbox: the Tab key stops once, arrow keys move between rows, and Enter, Space or a click calls choose(index).
 */
function makeRows(list, rows, choose) {
  list.setAttribute("role", "listbox");
  const focus = (index) => {
    for (const [other, row] of rows.entries()) row.setAttribute("tabindex", other === index ? "0" : "-1");
    rows[index].focus();
  };
  for (const [index, row] of rows.entries()) {
    row.setAttribute("role", "option");
    row.setAttribute("tabindex", index === 0 ? "0" : "-1");
    row.addEventListener("click", () => {
      focus(index);
      choose(index);
    });
    row.addEventListener("keydown", (event) => {
      const moves = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: rows.length - 1 };
      if (event.key === "Enter" || event.key === " ") choose(index);
      else if (rows[moves[event.key]]) focus(moves[event.key]);
      else if (!(event.key in moves)) return;
      event.preventDefault();
    });
  }
}
