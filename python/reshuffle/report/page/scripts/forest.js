// Forest plot: differences from the baseline, or from a system that the reader chooses, with their confidence intervals.

/** The system that the reader chose to subtract from the others, if any. */
let reference = null;

function referenceOf(view) {
  if (view.baseline !== null) return view.baseline;
  return view.positions.has(reference) ? reference : view.systems[0].name;
}

/** The pairs of every other system with the chosen one, best first. */
function pairsWith(view, chosen) {
  return view.systems.map((system) => view.pair(system.name, chosen)).filter((pair) => pair !== null);
}

/** The columns of text to the right of the plot. */
function forestColumns(view, pairs, wide) {
  const columns = [
    {
      title: "Difference",
      texts: pairs.map((pair) => formatDifference(pair.difference, view)),
      stars: pairs.map((pair) => pair.significant),
    },
  ];
  if (wide && pairs.some((pair) => pair.interval)) {
    columns.push({ title: intervalName(view), texts: pairs.map((pair) => formatInterval(pair.interval, view, formatDifference)) });
  }
  columns.push({ title: pName(view), texts: pairs.map((pair) => formatP(pair.decisive, pair.decimals, view.alpha)) });
  return sizedColumns(columns, wide);
}

function drawForest(view, pairs, width) {
  const wide = width >= WIDE;
  const plan = rowPlan(pairs.length, wide);
  const { pitch } = plan;
  const columns = forestColumns(view, pairs, wide);
  const whole = pairs.map((pair) => shownName(pair.system));
  const space = nameSpace(whole, width, totalWidth(columns));
  const shortened = fittedNames(whole, () => space.names);
  const top = 44;
  const bottom = top + pairs.length * pitch;
  const range = paddedRange([0, ...view.limits, ...pairs.flatMap((pair) => [pair.difference, ...endsOf(pair.interval)])], 0.06);
  const scale = linearScale(range, [space.before + 18, width - space.after - 8]);
  const radius = dotRadius(pairs.map((pair) => pair.interval), scale);
  const other = shownName(pairs[0].baseline);
  const image = canvas(width, bottom + 42, { "aria-label": `Differences from ${other}` });
  const rows = pairs.map((pair, index) =>
    forestRow(view, pair, { y: top + index * pitch, plan, width, scale, radius, name: shortened[index] }),
  );
  // The rows have labels of their own; screen readers can skip the rest.
  const frame = svg("g", { "aria-hidden": "true" }, stripes(pairs.length, { top, width, pitch }));
  frame.append(...sideLabels(view, scale, other));
  frame.append(scoreAxis(scale, { top, bottom, above: wide && pairs.length > 24, title: `Difference in ${view.metricName}` }));
  const place = { scale, top, bottom, plan };
  frame.append(valueLine("zero", 0, place), ...view.limits.map((limit) => valueLine("reference margin", limit, place)));
  image.append(frame, ...rows);
  drawColumns(columns, { image: frame, rows, right: width - 4, top, plan });
  makeRows(image, rows, (index) => {
    const { system, baseline } = asTested(view, pairs[index]);
    selectPair(system, baseline);
  });
  return image;
}

/** "worse" and "better", on either side of 0. */
function sideLabels(view, scale, other) {
  const words = view.metric.higher_is_better ? ["worse", "better"] : ["better", "worse"];
  const room = (scale.end - scale.start) / 2 - 24;
  const [left, right] = words.map((word) => {
    const whole = `${word} than ${other}`;
    return textWidth(whole) <= room ? whole : word;
  });
  return [
    label(`← ${left}`, { class: `side ${words[0]}`, x: scale.start, y: 12 }),
    label(`${right} →`, { class: `side ${words[1]}`, x: scale.end, y: 12, "text-anchor": "end" }),
  ];
}

function forestRow(view, pair, { y, plan, width, scale, radius, name }) {
  const middle = y + plan.plot;
  const side = significantSide(view, pair);
  const described = { "aria-label": pairSummary(view, pair), "aria-selected": String(isSelected(pair)) };
  const row = svg("g", { class: "row choice", "data-system": pair.system, ...described });
  row.append(svg("rect", { class: "row-back", x: 1, y: y + 1, width: width - 2, height: plan.pitch - 2, rx: 3 }));
  row.append(label(name, { whole: shownName(pair.system), x: 4, y: y + plan.text, class: "name" }));
  const dot = `dot ${side}${pair.significant ? "" : " hollow"}`;
  row.append(...whiskers(pair.interval, scale, middle, side));
  row.append(svg("circle", { class: dot, cx: scale(pair.difference), cy: middle, r: radius }));
  return row;
}

/** What a star means in tests with a margin. */
function claimOf(view) {
  return view.shows === "equivalence" ? `equivalent within ${view.limitText}` : `not worse by ${view.limitText} or more`;
}

/** A description of a pair, for labels. */
function pairSummary(view, pair) {
  const interval = pair.interval ? `, ${intervalName(view)} ${formatInterval(pair.interval, view, formatDifference)}` : "";
  const p = `${pName(view)} ${formatPWithSign(pair.decisive, pair.decimals, view.alpha)}`;
  const names = `${shownName(pair.system)} − ${shownName(pair.baseline)}`;
  const difference = `${formatDifference(pair.difference, view)} ${view.metricName}`;
  return `${names}: ${difference}${interval}, ${p}, ${pair.significant ? "" : "not "}${view.shows ? `shown to be ${claimOf(view)}` : "significant"}`;
}

function referenceChoice(view, chosen, change) {
  const options = view.systems.map(({ name, shown }, index) => h("option", { value: index, selected: name === chosen }, shown));
  const choose = (event) => change(view.systems[Number(event.target.value)].name);
  const choice = h("select", { id: "reference", onchange: choose }, ...options);
  return h("p", { class: "figure-choice" }, h("label", { for: "reference" }, "Differences from "), choice);
}

function forestCaption(view, pairs) {
  const disagree = pairs.some(({ interval, significant }) => interval && !significant && (interval.low > 0 || interval.high < 0));
  const unadjusted = view.adjusted && !view.shows && disagree ? ", not adjusted, so some exclude 0 without a star" : "";
  const kind = view.document.interval?.simultaneous ? ", simultaneous" : unadjusted;
  const interval = pairs.some((pair) => pair.interval) ? ` Lines: ${intervalName(view)}${kind}.` : "";
  const margin = view.shows ? " Dashed: the margin." : "";
  return [`${filledDots(view, pairs, view.shows ? claimOf(view) : "significant differences")}${interval}${margin}`, sidedness(view)];
}

/** What filled and open dots, stars and colours mean: only those that the pairs have. */
function filledDots(view, pairs, marked) {
  const sides = pairs.map((pair) => significantSide(view, pair));
  const colours = [["better", "blue"], ["worse", "orange"]].filter(([side]) => sides.includes(side)).map(([side, colour]) => `${colour}: ${side}`);
  const open = pairs.some((pair) => !pair.significant) ? " Open dots: not." : "";
  return `Filled dots and stars: ${marked} (${[`${pName(view)} ≤ ${view.alpha}`, ...colours].join("; ")}).${open}`;
}

/** For one-sided tests, a sentence about the alternative, which is not evident from reversed pairs. */
function sidedness(view) {
  const alternative = view.document.test?.alternative;
  if (!alternative || view.twoSided) return "";
  if (alternative === "non-inferiority") return view.baseline === null ? " Of two systems, the one later in the input is tested." : "";
  const order = view.baseline === null ? "of two systems, the one later in the input" : "the system";
  const claim = { better: "is better", worse: "is worse", greater: "scores higher", less: "scores lower" }[alternative];
  return ` The tests are one-sided; the alternative is that ${order} ${claim}${view.baseline === null ? "" : " than the baseline"}.`;
}

addSection({
  id: "differences",
  applies: (view) => view.pairs.length > 0,
  render(view, body) {
    const chosen = referenceOf(view);
    const pairs = pairsWith(view, chosen);
    const change = (name) => {
      reference = name;
      this.render(view, body);
      if (state.pair) this.selected(view, view.pair(...state.pair), body);
      body.querySelector("#reference").focus();
    };
    const choice = view.baseline === null && view.systems.length > 2 ? referenceChoice(view, chosen, change) : null;
    const figure = figureIn(body, "differences", (width) => drawForest(view, pairs, width), forestCaption(view, pairs));
    body.replaceChildren(...[choice, figure].filter((element) => element !== null));
  },
  selected(view, pair, body) {
    const chosen = referenceOf(view);
    for (const row of body.querySelectorAll(".choice")) {
      row.setAttribute("aria-selected", String(isSelected({ system: row.dataset.system, baseline: chosen })));
    }
  },
});
