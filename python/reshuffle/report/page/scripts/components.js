// The parts of the scores of all systems, such as the precisions and the brevity penalty of BLEU.

const COMPONENT_NAMES = { hyp_len: "output length", ref_len: "reference length", ratio: "length ratio" };

/** A component in a cell: lengths are whole, ratios near 1 have three decimals. */
function componentText(key, value) {
  if (value === null || value === undefined) return "";
  const known = number(value);
  if (key === "bp" || key === "ratio") return fixed(known, 3);
  return Number.isInteger(known) ? formatCount(known) : fixed(known, 2);
}

addSection({
  id: "components",
  applies: (view) => view.systems.some(({ details }) => Object.keys(details ?? {}).length > 0),
  render(view, element) {
    const keys = [...new Set(view.systems.flatMap(({ details }) => Object.keys(details ?? {})))];
    const header = ["System", view.metricName, ...keys.map((key) => visible(COMPONENT_NAMES[key] ?? partName(key)))];
    const rows = view.systems.map((system) => [
      system.shown,
      formatScore(system.score, view),
      ...keys.map((key) => componentText(key, system.details?.[key])),
    ]);
    element.replaceChildren(dataTable(`What ${view.metricName} is computed from`, header, rows));
  },
});
