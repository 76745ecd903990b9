// Scales, ticks and axes of the figures.

/** A function from values to positions, with the ends of both: linearScale([0, 10], [100, 200])(5) is 150. */
function linearScale([low, high], [start, end]) {
  const factor = high > low ? (end - start) / (high - low) : 0;
  const position = (value) => start + (value - low) * factor;
  return Object.assign(position, { low, high, start, end });
}

/** The range of the finite values, widened by a share of its length; around 0 or a single value it has a length too. */
function paddedRange(values, share = 0.04) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [-1, 1];
  const padding = (high - low || Math.abs(low) || 1) * share;
  return [low - padding, high + padding];
}

/** About `count` round values in [low, high], and the decimals that they need. */
function ticksOf(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((candidate) => candidate >= rough * 0.999);
  const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), 20);
  const values = [];
  for (let index = Math.ceil(low / step - 1e-9); index <= high / step + 1e-9; index += 1) values.push(index * step);
  return { values, decimals };
}

/** Vertical grid lines at round values, labelled below the plot and, in tall figures, also above it. */
function scoreAxis(scale, { top, bottom, above = false, title = null }) {
  const width = scale.end - scale.start;
  const { values, decimals } = ticksOf(scale.low, scale.high, Math.max(2, Math.floor(width / 62)));
  const axis = svg("g", { class: "axis", "aria-hidden": "true" });
  for (const value of values) {
    const x = scale(value);
    // -0.00 would be a second name of 0.
    const text = value.toFixed(decimals).replace(/^-(0(?:\.0*)?)$/, "$1");
    axis.append(svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom }));
    axis.append(svg("text", { class: "tick", x, y: bottom + 16, "text-anchor": "middle" }, text));
    if (above) axis.append(svg("text", { class: "tick", x, y: top - 6, "text-anchor": "middle" }, text));
  }
  if (title !== null) {
    axis.append(svg("text", { class: "muted", x: (scale.start + scale.end) / 2, y: bottom + 34, "text-anchor": "middle" }, title));
  }
  return axis;
}
