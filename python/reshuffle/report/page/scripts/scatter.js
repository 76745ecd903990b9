// The systems under two metrics: where the metrics disagree, points are off the diagonal of ranks.

/** The metric that the reader has chosen for the other axis. */
let otherMetric = null;

/** The position of the metric on the other axis. */
function otherOf(view) {
  const { metrics } = view.document;
  const others = metrics.map((_, position) => position).filter((position) => metrics[position].name !== view.metric.name);
  return others.find((position) => metrics[position].name === otherMetric) ?? others[0];
}

// Of more systems, only the best have names.
const MOST_NAMED = 12;

/** Names beside the first dots at `places`, {x, y, name}, each where it hides no dot and no other name, else with a line to its dot. */
function namesBeside(places, { left, right, top, bottom }) {
  const height = TEXT_SIZE + 2;
  const taken = places.map(({ x, y }) => ({ x0: x - 5, x1: x + 5, y0: y - 5, y1: y + 5 }));
  const isFree = (box) => box.x0 >= left && box.x1 <= right && box.y0 >= top && box.y1 <= bottom
    && !taken.some((other) => box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1);
  const directions = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];
  return places.slice(0, MOST_NAMED).flatMap(({ x, y, name }) => {
    const shown = fitted(name, (right - left) / 3);
    const width = textWidth(shown) + 2;
    for (const distance of [8, 20, 34, 50, 70]) {
      for (const [across, down] of directions) {
        const middle = { x: x + across * (distance + width / 2), y: y + down * (distance + (across ? 0 : height / 2)) };
        const box = { x0: middle.x - width / 2, x1: middle.x + width / 2, y0: middle.y - height / 2, y1: middle.y + height / 2 };
        if (!isFree(box)) continue;
        taken.push(box);
        const near = { x: x + across * (distance - 1), y: y + down * (distance - 1) };
        const line = distance > 8 ? [svg("line", { class: "grid", x1: x, y1: y, x2: near.x, y2: near.y })] : [];
        return [...line, label(shown, { whole: name, class: "name", x: middle.x, y: middle.y, "text-anchor": "middle" })];
      }
    }
    return []; // the tooltip has it
  });
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

function drawScatter(view, other, width) {
  const [size, left, top] = [Math.min(width, 560), 52, 30];
  const bottom = Math.round(size * 0.75);
  const points = view.systems.map((system) => ({ ...system, y: other.systems[other.positions.get(system.name)].score }));
  const x = linearScale(paddedRange(points.map(({ score }) => score), 0.08), [left, size - 12]);
  const y = linearScale(paddedRange(points.map((point) => point.y), 0.08), [bottom, top]);
  const about = `Scores of ${counted(points.length, "system")} under ${view.metricName} and ${other.metricName}`;
  const image = canvas(size, bottom + 42, { role: "img", "aria-label": about });
  image.append(scoreAxis(x, { top, bottom, title: axisName(view) }), verticalAxis(y, { left, right: size - 12, title: axisName(other) }));
  for (const point of points) {
    const shown = `${point.shown}: ${view.metricName} ${formatScore(point.score, view)}, ${other.metricName} ${formatScore(point.y, other)}`;
    image.append(svg("circle", { class: "dot even", cx: x(point.score), cy: y(point.y), r: 4 }, svg("title", {}, shown)));
  }
  const places = points.map((point) => ({ x: x(point.score), y: y(point.y), name: point.shown }));
  image.append(...namesBeside(places, { left, right: size, top: top - 12, bottom }));
  return image;
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
    const isMany = view.systems.length > MOST_NAMED;
    const caption = [
      `A dot for each system${isMany ? `, with the names of the best ${MOST_NAMED} where there is room` : ""}.${agreement}`,
      h("span", { class: "hint" }, ` ${isMany ? "Its name and scores" : "Its scores"} appear when you point at it.`),
    ];
    const figure = figureIn(body, "scatter", (width) => drawScatter(view, other, width), caption);
    body.replaceChildren(h("p", { class: "controls" }, choice), figure);
  },
});
