// What all figures share: the frame that adapts to the width of the page, names that fit, and rows that are chosen by keys.

// Width of a figure before it has a place in the page, in pixels.
const UNPLACED_WIDTH = 720;
// Narrower figures scroll instead.
const MIN_WIDTH = 320;
// Figures for at least this width have columns of numbers beside the plot.
const WIDE = 640;
// As in page.css.
const TEXT_SIZE = 12;

/**
 * A figure that draws itself for its width, and again when its width changes.
 *
 * draw(width) returns an SVG element. The figure is drawn at once for the width of `place`, the element that it will be in.
 */
function figureIn(place, name, draw, caption = null) {
  const scroller = h("div", { class: "figure-scroll" });
  const figure = h("figure", { class: `figure figure-${name}` }, scroller, caption && h("figcaption", {}, ...caption));
  let drawn = 0;
  const redraw = (width) => {
    const chosen = Math.max(Math.floor(width), MIN_WIDTH);
    if (width <= 0 || chosen === drawn) return;
    drawn = chosen;
    scroller.replaceChildren(draw(chosen));
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

/** The width of a text of the figures in pixels. */
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

/** The text, or its beginning and an ellipsis if it is wider than `width`. */
function fitted(text, width, size = TEXT_SIZE) {
  if (textWidth(text, size) <= width) return text;
  const characters = Array.from(text);
  let kept = 0;
  for (let end = characters.length; kept < end;) {
    const middle = Math.ceil((kept + end) / 2);
    if (textWidth(`${characters.slice(0, middle).join("")}…`, size) <= width) kept = middle;
    else end = middle - 1;
  }
  return `${characters.slice(0, kept).join("")}…`;
}

/** A text of a figure, shortened to `width`; the whole text is its tooltip. */
function label(text, { x, y, width = Infinity, size = TEXT_SIZE, ...attributes }) {
  const shown = fitted(text, width, size);
  const found = svg("text", { x, y, dy: "0.35em", ...attributes }, shown);
  if (shown !== text) found.append(svg("title", {}, text));
  return found;
}

/** The name of a system within a sentence, whatever its direction of writing. */
function nameIn(system) {
  return h("bdi", { class: "name" }, shownName(system));
}

/** Heights of rows: generous for few, close for a hundred. */
function rowHeight(count) {
  return count <= 24 ? 26 : count <= 50 ? 21 : 17;
}

/** "confidence interval" with its level, as "95% CI". */
function intervalName(view) {
  const level = view.document.confidence_level;
  return `${Number((level * 100).toPrecision(6))}% CI`;
}

/** "p", or "adjusted p". */
function pName(pair) {
  return pair.adjusted === null ? "p" : "adjusted p";
}

/** The end of an interval as a number: JSON writes infinities as strings. */
function endOf(value) {
  return value === null || value === undefined ? NaN : Number(value);
}

/** The ends of an interval; a single value without one. */
function endsOf(interval, value) {
  return interval ? [endOf(interval.low), endOf(interval.high)] : [value, value];
}

/** A horizontal line from low to high with short ends, or arrows where it goes on beyond the plot. */
function whisker(scale, y, [low, high], attributes = {}) {
  const start = Math.max(scale(Math.max(low, scale.low)), scale.start);
  const end = Math.min(scale(Math.min(high, scale.high)), scale.end);
  const cap = (x, outwards, beyond) => (beyond ? `M${x - outwards * 5},${y - 4}L${x},${y}L${x - outwards * 5},${y + 4}` : `M${x},${y - 4}V${y + 4}`);
  const path = `M${start},${y}H${end}${cap(start, -1, low < scale.low)}${cap(end, 1, high > scale.high)}`;
  return svg("path", { class: "whisker", ...attributes, d: path });
}

/**
 * A list of SVG rows, of which one is chosen: one stop of the Tab key, arrow keys between rows, Enter or Space to choose.
 *
 * choose(index) is called for the row that is chosen.
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
