// Numbers, formatted as in the other reports.

/** A number with fixed decimals. Exact ties are rounded to even, as Python does; toFixed rounds them up. */
function fixed(value, decimals) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  // A double that is halfway between two decimals has fewer than 60 further digits.
  const isTie = /^50*$/.test(size.toFixed(decimals + 60).slice(-60));
  const rounded = size.toFixed(decimals);
  const isOdd = Number(rounded.at(-1)) % 2 === 1;
  return (value < 0 ? "-" : "") + (isTie && isOdd ? Math.abs(size - 0.75 * 10 ** -decimals).toFixed(decimals) : rounded);
}

function formatScore(value, view) {
  return fixed(value, view.settings.decimals);
}

function formatDifference(value, view) {
  return signed(value, view.settings.decimals);
}

function signed(value, decimals) {
  const text = fixed(value, decimals);
  return text.startsWith("-") || text === "nan" ? text : `+${text}`;
}

/** p with at least four decimals; values below 0.0001 as "<0.0001". */
function formatP(value, decimals, alpha) {
  return value < 0.0001 ? "<0.0001" : besideAlpha(value, decimals, alpha);
}

/** p in a cell, such as ".012" or "<.001", the latter unless four decimals are 0.0010. */
function shortP(value, alpha) {
  if (Number(fixed(value, 4)) < 0.001) return "<.001";
  return value < 0.9995 ? besideAlpha(value, 3, alpha).slice(1) : "1";
}

/** p with so many decimals, or more where rounding would hide on which side of α it is, as reshuffle.report.cells does. */
function besideAlpha(value, decimals, alpha) {
  const text = fixed(value, decimals);
  return decimals < 15 && alpha !== null && value <= alpha !== Number(text) <= alpha ? besideAlpha(value, decimals + 1, alpha) : text;
}

/** An interval as "low to high". */
function formatInterval(interval, view, format = formatScore) {
  return interval ? `${format(interval.low, view)} to ${format(interval.high, view)}` : "";
}

function formatCount(value) {
  return value.toLocaleString("en-US");
}

/** A number and a noun, in the plural unless the number is 1. */
function counted(n, noun) {
  return `${formatCount(n)} ${noun}${n === 1 ? "" : "s"}`;
}
