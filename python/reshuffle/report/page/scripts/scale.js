// Scales, ticks and axes.

/** A function from values to positions, with the ends of both as properties: linearScale([0, 10], [100, 200])(5) is 150. */
function linearScale([low, high], [start, end]) {
  const factor = high > low ? (end - start) / (high - low) : 0;
  const position = (value) => start + (value - low) * factor;
  return Object.assign(position, { low, high, start, end });
}

function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The range of the finite values, widened on both sides by a share of its length. It is never empty. */
function paddedRange(values, share = 0.04) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [-1, 1];
  // Enough for the ends to differ in floating point if scores are equal up to rounding.
  const padding = Math.max((high - low || Math.abs(low) || 1) * share, Math.max(Math.abs(low), Math.abs(high)) * 1e-9);
  return [low - padding, high + padding];
}

/** About ten or fewer round values in the range of a scale, as [value, text], spaced so that the texts do not touch. */
function ticksOf(scale) {
  const length = scale.end - scale.start;
  const first = Math.floor(Math.log10((scale.high - scale.low) / 100));
  for (let exponent = first; exponent < first + 4; exponent += 1) {
    for (const digit of [1, 2, 5]) {
      const step = digit * 10 ** exponent;
      const decimals = Math.min(Math.max(0, -exponent), 20);
      const ticks = [];
      for (let index = Math.ceil(scale.low / step - 1e-9); index <= scale.high / step + 1e-9; index += 1) {
        ticks.push([index * step, (index === 0 ? 0 : index * step).toFixed(decimals)]);
      }
      const space = (length * step) / (scale.high - scale.low);
      if (space >= Math.max(36, length / 11, widest(ticks.map(([, text]) => text)) + 16)) return ticks;
    }
  }
  return [];
}

/** Vertical grid lines at round values, labelled below the plot and, in tall figures, also above it. */
function scoreAxis(scale, { top, bottom, above = false, title = null }) {
  const axis = svg("g", { class: "axis", "aria-hidden": "true" });
  for (const [value, text] of ticksOf(scale)) {
    const x = scale(value);
    axis.append(svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom }));
    // Skip labels that would be cut off at the edge of the figure.
    if (Math.min(x - scale.start, scale.end - x) + 14 < textWidth(text) / 2) continue;
    axis.append(svg("text", { class: "tick", x, y: bottom + 16, "text-anchor": "middle" }, text));
    if (above) axis.append(svg("text", { class: "tick", x, y: top - 6, "text-anchor": "middle" }, text));
  }
  if (title !== null) {
    const middle = (scale.start + scale.end) / 2;
    axis.append(svg("text", { class: "muted", x: middle, y: bottom + 34, "text-anchor": "middle" }, title));
  }
  return axis;
}
