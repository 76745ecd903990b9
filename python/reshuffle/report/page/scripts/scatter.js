// The systems under two metrics: where the metrics disagree, points are off the diagonal of ranks.

/** The metric that the reader has chosen for the other axis. */
let otherMetric = null;

/** The position of the metric on the other axis. */
function otherOf(view) {
  const { metrics } = view.document;
  const others = metrics.map((_, position) => position).filter((position) => metrics[position].name !== view.metric.name);
  return others.find((position) => metrics[position].name === otherMetric) ?? others[0];
}

// Of more systems, only the best have numbers and are listed.
const MOST_LISTED = 30;
const [DOT, TOUCHING] = [5, 7];

/**
 * Where texts go beside the first dots at `places`, {x, y}: the middle of each, where it covers no dot, no other text and no line.
 *
 * Those farther than TOUCHING have a line to their dot, which crosses nothing. null where there is no room.
 */
function placesBeside(places, texts, distances, { left, right, top, bottom }) {
  const height = TEXT_SIZE;
  const around = ({ x, y }, width, tall) => ({ x0: x - width / 2, x1: x + width / 2, y0: y - tall / 2, y1: y + tall / 2 });
  const taken = places.map((place) => around(place, 2 * DOT, 2 * DOT));
  const isFree = (box, own = []) => !taken.some((other) => !own.includes(other) && box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1);
  const isInside = (box) => box.x0 >= left && box.x1 <= right && box.y0 >= top && box.y1 <= bottom;
  const angles = [0, 8, 12, 4, 14, 10, 2, 6, 15, 9, 1, 7, 13, 11, 3, 5].map((sixteenth) => (sixteenth * Math.PI) / 8);
  const near = ({ x, y }) => places.filter((other) => Math.hypot(other.x - x, other.y - y) < 40).length;
  const found = texts.map(() => null);
  // In crowds first, because the others have more room.
  for (const index of sortedBy([...texts.keys()], (each) => near(places[each]), DESCENDING)) {
    found[index] = placed(texts[index], places[index]);
  }
  return found;

  function placed(text, { x, y }) {
    const width = textWidth(text) + 2;
    // Dots that cover each other cannot be told apart, so a line may begin in any of them.
    const own = taken.filter((_, index) => index < places.length && Math.hypot(places[index].x - x, places[index].y - y) < TOUCHING);
    for (const distance of distances) {
      for (const [across, down] of angles.map((angle) => [Math.cos(angle), Math.sin(angle)])) {
        const at = (reached) => ({ x: x + across * reached, y: y + down * reached });
        const middle = { x: x + across * (distance + width / 2), y: y + down * (distance + height / 2) };
        const steps = distance > TOUCHING ? Array.from({ length: Math.ceil(distance - DOT) }, (_, step) => around(at(DOT + 1 + step), 2, 2)) : [];
        const box = around(middle, width, height);
        if (!isInside(box) || !isFree(box) || !steps.every((step) => isFree(step, own))) continue;
        taken.push(box, ...steps);
        return { ...middle, line: steps.length ? [at(DOT), at(distance)] : null };
      }
    }
    return null;
  }
}

/** What is beside the dots: the names if all of them have room, else the numbers of the list of names. */
function scatterLabels(view, places, edges) {
  const names = view.systems.map(({ shown }) => shown);
  const beside = names.length <= MOST_LISTED ? placesBeside(places, names, [TOUCHING], edges) : [null];
  if (beside.every(Boolean)) return { texts: names, beside, numbered: false };
  const texts = names.slice(0, MOST_LISTED).map((_, index) => `${index + 1}`);
  return { texts, beside: placesBeside(places, texts, [TOUCHING - 1, TOUCHING, 12, 18, 26, 36, 48, 60], edges), numbered: true };
}

/** The names by number, each with its rank under the other metric. */
function numberedNames(view, other) {
  const rank = ({ name }) => other.positions.get(name) + 1;
  const items = view.systems.slice(0, MOST_LISTED).map((system) => h("li", {}, `${system.shown} `, h("span", { class: "hint" }, `(${rank(system)})`)));
  return h("ol", { class: "numbered" }, ...items);
}

/** Kendall's τ-b of two lists, with the sign of agreement: 1 if both put the systems in the same order. */
function kendall(x, y) {
  let [agree, untiedX, untiedY] = [0, 0, 0];
  for (let i = 0; i < x.length; i += 1) {
    for (let j = 0; j < i; j += 1) {
      const [a, b] = [Math.sign(x[i] - x[j]), Math.sign(y[i] - y[j])];
      agree += a * b;
      untiedX += a * a;
      untiedY += b * b;
    }
  }
  return agree / Math.sqrt(untiedX * untiedY);
}

/** Where the axes and the dots are in a figure of this width. */
function scatterPlan(view, other, width) {
  const [size, left, top] = [Math.min(width, 560), 52, 30];
  const bottom = Math.round(size * 0.75);
  const scores = view.systems.map(({ name, score }) => [score, other.systems[other.positions.get(name)].score]);
  const x = linearScale(paddedRange(scores.map(([score]) => score), 0.08), [left, size - 12]);
  const y = linearScale(paddedRange(scores.map(([, score]) => score), 0.08), [bottom, top]);
  const places = scores.map(([across, up]) => ({ x: x(across), y: y(up) }));
  const labels = scatterLabels(view, places, { left, right: size, top: top - 12, bottom });
  return { size, left, top, bottom, scores, x, y, places, ...labels };
}

function drawScatter(view, other, { size, left, top, bottom, scores, x, y, places, texts, beside }) {
  const about = `Scores of ${counted(places.length, "system")} under ${view.metricName} and ${other.metricName}`;
  const image = canvas(size, bottom + 42, { role: "img", "aria-label": about });
  image.append(scoreAxis(x, { top, bottom, title: axisName(view) }), verticalAxis(y, { left, right: size - 12, title: axisName(other) }));
  for (const [index, { x: cx, y: cy }] of places.entries()) {
    const [score, second] = scores[index];
    const shown = `${view.systems[index].shown}: ${view.metricName} ${formatScore(score, view)}, ${other.metricName} ${formatScore(second, other)}`;
    image.append(svg("circle", { class: "dot even", cx, cy, r: 4 }, svg("title", {}, shown)));
  }
  for (const [index, place] of beside.entries()) {
    if (!place) continue;
    if (place.line) image.append(svg("line", { class: "reference-line", x1: place.line[0].x, y1: place.line[0].y, x2: place.line[1].x, y2: place.line[1].y }));
    image.append(label(texts[index], { class: "name", x: place.x, y: place.y, "text-anchor": "middle" }));
  }
  return image;
}

function scatterCaption(view, other, plan, agreement) {
  const best = view.systems.length > MOST_LISTED ? ` of the best ${MOST_LISTED}` : "";
  const some = plan.beside.includes(null) ? " where there is room" : "";
  const numbers = ` Numbers${best}${some}: ranks under ${view.metricName}; in brackets, the rank under ${other.metricName}.`;
  const hint = h("span", { class: "hint" }, ` ${plan.numbered ? "Names and scores" : "Scores"} appear when you point at a dot.`);
  const said = h("p", {}, `A dot for each system.${plan.numbered ? numbers : ""}${agreement}`, hint);
  return [said, ...(plan.numbered ? [numberedNames(view, other)] : [])];
}

function axisName(view) {
  return `${view.metricName}${view.metric.higher_is_better ? "" : " (lower is better)"}`;
}

/** Horizontal grid lines at round values, with labels to the left of the plot. */
function verticalAxis(scale, { left, right, title }) {
  const axis = svg("g", { class: "axis", "aria-hidden": "true" });
  for (const [value, text] of ticksOf({ low: scale.low, high: scale.high, start: scale.end, end: scale.start })) {
    axis.append(svg("line", { class: "grid", x1: left, x2: right, y1: scale(value), y2: scale(value) }));
    axis.append(label(text, { class: "muted", x: left - 8, y: scale(value), "text-anchor": "end" }));
  }
  axis.append(label(title, { class: "muted", x: 4, y: 10 }));
  return axis;
}

addSection({
  id: "scatter",
  applies: (view) => view.document.metrics.length > 1 && view.systems.length > 2,
  render(view, body) {
    const position = otherOf(view);
    const other = viewOf(state.comparison, position);
    const options = view.document.metrics.flatMap(({ name }, index) =>
      name === view.metric.name ? [] : [h("option", { value: index, selected: index === position }, visible(name))],
    );
    const choose = (event) => {
      otherMetric = view.document.metrics[Number(event.target.value)].name;
      this.render(view, body);
      body.querySelector("select").focus();
    };
    const choice = h("label", { class: "field" }, h("span", { class: "hint" }, `${view.metricName} against`), h("select", { onchange: choose }, ...options));
    const scores = view.systems.map(({ name }) => other.systems[other.positions.get(name)].score * other.sign);
    const tau = kendall(view.systems.map(({ score }) => score * view.sign), scores);
    const agreement = Number.isNaN(tau) ? "" : ` Agreement of the two orders, Kendall's τ: ${fixed(tau, 2)}.`;
    const draw = (width) => drawScatter(view, other, scatterPlan(view, other, width));
    const caption = (width) => scatterCaption(view, other, scatterPlan(view, other, width), agreement);
    const figure = figureIn(body, "scatter", draw, caption);
    body.replaceChildren(h("p", { class: "controls" }, choice), figure);
  },
});
