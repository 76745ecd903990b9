// The bootstrap distributions of the systems' scores, as a ridgeline plot.

// The height of the tallest ridge, in rows.
const RIDGE_ROWS = 2.4;
// The ridges of more systems fill several screens, so they are shown on demand.
const MAX_RIDGES = 20;
let allRidges = false;

/**
 * The density of a histogram, smoothed by a normal kernel, as [value, density] at equal steps; null if all values are equal.
 *
 * The bandwidth is that of the normal reference rule, 1.06·sd·n^(-1/5), but at least 1.5 bins: with few segments, scores lie on a
 * grid, and some bins contain more grid points than others.
 */
function smoothed({ low, width, counts }) {
  const total = sumOf(counts);
  if (width === 0 || total === 0) return null;
  const mean = sumOf(counts.map((count, bin) => count * bin)) / total;
  const variance = sumOf(counts.map((count, bin) => count * (bin - mean) ** 2)) / total;
  const bandwidth = Math.max(1.5, 1.06 * Math.sqrt(variance) * total ** -0.2);
  const margin = Math.ceil(3 * bandwidth);
  const kernel = (distance) => Math.exp(-0.5 * (distance / bandwidth) ** 2);
  const unit = total * bandwidth * width * Math.sqrt(2 * Math.PI);
  const points = [];
  for (let at = -margin; at <= counts.length - 1 + margin; at += 0.5) {
    let sum = 0;
    const end = Math.min(counts.length - 1, Math.floor(at + margin));
    for (let bin = Math.max(0, Math.ceil(at - margin)); bin <= end; bin += 1) sum += counts[bin] * kernel(at - bin);
    points.push([low + (at + 0.5) * width, sum / unit]);
  }
  return trimmed(points);
}

function peakOf(points) {
  return points.reduce((peak, [, y]) => Math.max(peak, y), 0);
}

/** A curve without the ends that are too low to see. */
function trimmed(points) {
  const visible = 0.002 * peakOf(points);
  const first = points.findIndex(([, y]) => y >= visible);
  return points.slice(first, points.findLastIndex(([, y]) => y >= visible) + 1);
}

/** The part of a curve between two values, interpolated at these values. */
function curveWithin(points, [low, high]) {
  const at = (value) => {
    const after = points.findIndex(([x]) => x >= value);
    if (after <= 0) return [value, 0];
    const [[x0, y0], [x1, y1]] = [points[after - 1], points[after]];
    return [value, y0 + ((y1 - y0) * (value - x0)) / (x1 - x0)];
  };
  const [from, to] = [Math.max(low, points[0][0]), Math.min(high, points.at(-1)[0])];
  return from < to ? [at(from), ...points.filter(([x]) => x > from && x < to), at(to)] : [];
}

/** The density that is drawn at full height: the largest, but at most 3 times the median of the peaks. */
function fullDensity(curves) {
  const peaks = curves.filter((curve) => curve !== null).map(peakOf).sort((a, b) => a - b);
  return peaks.length ? Math.min(peaks.at(-1), 3 * peaks[Math.floor(peaks.length / 2)]) : 1;
}

function drawDensities(view, systems, width) {
  const pitch = systems.length <= 24 ? 30 : systems.length <= 50 ? 22 : 17;
  const curves = systems.map((system) => smoothed(system.draws));
  const full = fullDensity(curves);
  const whole = systems.map(({ shown }) => shown);
  const names = Math.min(widest(whole) + 4, width * (width >= WIDE ? 0.28 : 0.32));
  const shortened = fittedNames(whole, () => names);
  const tall = systems.length > 24;
  const top = (tall ? 24 : 4) + RIDGE_ROWS * pitch;
  const bottom = top + (systems.length - 1) * pitch + 1;
  const ends = curves.flatMap((curve, index) => (curve ? [curve[0][0], curve.at(-1)[0]] : [systems[index].draws.low]));
  const scale = linearScale(paddedRange([...ends, ...systems.map(({ score }) => score)], 0.01), [names + 18, width - 10]);
  const description = `Bootstrap distributions of ${view.metricName}: ${counted(systems.length, "system")}, best first`;
  const image = canvas(width, bottom + 42, { role: "img", "aria-label": description });
  image.append(scoreAxis(scale, { top: tall ? 24 : 4, bottom: bottom + 4, above: tall, title: view.metricName }));
  for (const [index, system] of systems.entries()) {
    const base = top + index * pitch;
    const rise = (density) => base - Math.min(density / full, 1.15) * RIDGE_ROWS * pitch * 0.85;
    image.append(ridge(view, system, curves[index], scale, base, rise));
    image.append(label(shortened[index], { whole: system.shown, x: 4, y: base - 5, class: "name" }));
  }
  return image;
}

function ridge(view, system, curve, scale, base, rise) {
  const row = svg("g", { class: "ridge" });
  const path = (points) => `M${points.map(([x, y]) => `${scale(x).toFixed(1)},${rise(y).toFixed(1)}`).join("L")}`;
  const area = (points) => (points.length ? `${path(points)}V${base}H${scale(points[0][0]).toFixed(1)}Z` : "");
  row.append(svg("line", { class: "ridge-base", x1: scale.start, x2: scale.end, y1: base, y2: base }));
  if (curve) {
    row.append(svg("path", { class: "ridge-cover", d: area(curve) }), svg("path", { class: "ridge-area", d: area(curve) }));
    const inner = system.interval ? curveWithin(curve, endsOf(system.interval)) : [];
    if (inner.length) row.append(svg("path", { class: "ridge-inner", d: area(inner) }));
    row.append(svg("path", { class: "ridge-line", d: path(curve) }));
  }
  const x = scale(system.score);
  const top = rise(curve ? densityAt(curve, system.score) : Infinity);
  row.append(svg("line", { class: "ridge-score", x1: x, x2: x, y1: base, y2: top }));
  return row;
}

function densityAt(curve, value) {
  const part = curveWithin(curve, [value, Infinity]);
  return part.length ? part[0][1] : 0;
}

addSection({
  id: "densities",
  applies: (view) => view.systems.some((system) => system.draws !== null),
  render(view, body) {
    const systems = view.systems.filter((system) => system.draws !== null);
    const inner = systems.some((system) => system.interval) ? ` Darker areas: ${intervalName(view)}.` : "";
    const caption = [`Kernel density estimates from 64-bin histograms. Vertical lines: observed scores.${inner}`];
    const shown = allRidges ? systems : systems.slice(0, MAX_RIDGES);
    const figure = figureIn(body, "densities", (width) => drawDensities(view, shown, width), caption);
    body.replaceChildren(figure);
    if (systems.length <= MAX_RIDGES) return;
    const change = () => {
      allRidges = !allRidges;
      this.render(view, body);
      body.querySelector("button").focus();
    };
    const text = allRidges ? `Show the best ${MAX_RIDGES}` : `Show all ${formatCount(systems.length)} systems`;
    body.prepend(h("p", { class: "controls" }, h("button", { type: "button", onclick: change }, text)));
  },
});
