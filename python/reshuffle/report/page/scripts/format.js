// Numbers as the other reports write them.

function formatScore(value, view) {
  return value.toFixed(view.settings.decimals);
}

function formatDifference(value, view) {
  const text = Math.abs(value).toFixed(view.settings.decimals);
  return `${value < 0 ? "-" : "+"}${text}`;
}

/** Four decimals; smaller values as "<0.0001". */
function formatP(value) {
  return value < 0.0001 ? "<0.0001" : value.toFixed(4);
}
