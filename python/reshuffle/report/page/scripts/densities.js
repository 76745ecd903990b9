// The distribution of each system's score over bootstrap draws, as a ridge for each system.

// How far a ridge may rise, in rows.
const RIDGE_ROWS = 2.4;

/**
 * The density of a histogram, smoothed by a normal kernel, as [value, density] at equal steps; null if all values are equal.
 *
 * The bandwidth is that of the normal reference rule, 1.06·sd·n^(-1/5), but at least 1.5 bins: scores of few segments are on a
 * grid, of which some bins contain more points than others.
 */
function smoothed({ low, width, counts }) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (width === 0 || total === 0) return null;
  const mean = counts.reduce((sum, count, bin) => sum + count * bin, 0) / total;
  const variance = counts.reduce((sum, count, bin) => sum + count * (bin - mean) ** 2, 0) / total;
  const bandwidth = Math.max(1.5, 1.06 * Math.sqrt(variance) * total ** -0.2);
  const margin = Math.ceil(3 * bandwidth);
  const points = [];
  for (let at = -margin; at <= counts.length - 1 + margin; at += 0.5) {
    let sum = 0;
    const end = Math.min(counts.length - 1, Math.floor(at + margin));
    for (let bin = Math.max(0, Math.ceil(at - margin)); bin <= end; bin += 1) sum += counts[bin] * Math.exp(-0.5 * ((at - bin) / bandwidth) ** 2);
    points.push([low + (at + 0.5) * width, sum / (total * bandwidth * width * Math.sqrt(2 * Math.PI))]);
  }
  return trimmed(points);
}

/** A curve without its ends that cannot be told from 0. */
function trimmed(points) {
  const visible = points.reduce((peak, [, y]) => Math.max(peak, y), 0) * 0.002;
  const first = points.findIndex(([, y]) => y >= visible);
  return points.slice(first, points.findLastIndex(([, y]) => y >= visible) + 1);
}

/** The part of a curve between two values, with its ends at exactly these values. */
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

/** The density that reaches the full height: the largest one, unless few systems have much larger ones than the others. */
function fullDensity(curves) {
  const peaks = curves.filter((curve) => curve !== null).map((curve) => curve.reduce((peak, [, y]) => Math.max(peak, y), 0));
  peaks.sort((a, b) => a - b);
  return peaks.length ? Math.min(peaks.at(-1), 3 * peaks[Math.floor(peaks.length / 2)]) : 1;
}

function drawDensities(view, systems, width) {
  const pitch = systems.length <= 24 ? 30 : systems.length <= 50 ? 22 : 17;
  const curves = systems.map((system) => smoothed(system.draws));
  const full = fullDensity(curves);
  const names = nameSpace(systems.map(({ shown }) => shown), width);
  const shortened = fittedNames(systems.map(({ shown }) => shown), names);
  const tall = systems.length > 24;
  const top = (tall ? 24 : 4) + RIDGE_ROWS * pitch;
  const bottom = top + (systems.length - 1) * pitch + 1;
  const ends = curves.flatMap((curve, index) => (curve ? [curve[0][0], curve.at(-1)[0]] : [systems[index].draws.low]));
  const scale = linearScale(paddedRange([...ends, ...systems.map(({ score }) => score)], 0.01), [names + 18, width - 10]);
  const image = canvas(width, bottom + 42, { role: "img", "aria-label": `Distributions of ${view.metric.name} over bootstrap draws, of ${systems.length} systems from best to worst` });
  image.append(scoreAxis(scale, { top: tall ? 24 : 4, bottom: bottom + 4, above: tall, title: view.metric.name }));
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
  const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${scale(x).toFixed(1)},${rise(y).toFixed(1)}`).join("");
  const area = (points) => (points.length ? `${path(points)}V${base}H${scale(points[0][0]).toFixed(1)}Z` : "");
  row.append(svg("line", { class: "ridge-base", x1: scale.start, x2: scale.end, y1: base, y2: base }));
  if (curve) {
    row.append(svg("path", { class: "ridge-cover", d: area(curve) }), svg("path", { class: "ridge-area", d: area(curve) }));
    if (system.interval) row.append(svg("path", { class: "ridge-inner", d: area(curveWithin(curve, endsOf(system.interval))) }));
    row.append(svg("path", { class: "ridge-line", d: path(curve) }));
  }
  const x = scale(system.score);
  row.append(svg("line", { class: "ridge-score", x1: x, x2: x, y1: base, y2: curve ? rise(densityAt(curve, system.score)) : rise(Infinity) }));
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
    const inner = systems.some((system) => system.interval) ? ` Darker: the ${intervalName(view)} of the score.` : "";
    const caption = [`Smoothed from histograms of 64 bins. Vertical lines: the scores of the test set.${inner}`];
    body.replaceChildren(figureIn(body, "densities", (width) => drawDensities(view, systems, width), caption));
  },
});
