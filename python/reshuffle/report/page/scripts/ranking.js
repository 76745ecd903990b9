// The systems from best to worst, with their scores, intervals of their ranks, and groups of systems that do not differ significantly.

/** Whether the figure shows ranks and groups. With a baseline it shows the differences from it instead. */
function showsRanks(view) {
  return view.baseline === null && view.ranking !== null;
}

/** The columns of text to the right of the plot. */
function rankingColumns(view, wide) {
  const { systems } = view;
  const columns = [{ title: "Score", texts: systems.map((system) => formatScore(system.score, view)) }];
  if (showsRanks(view)) {
    columns.push({ title: "Rank", texts: systems.map(({ ranked }) => rankText(ranked)) });
  }
  if (view.baseline !== null && view.pairs.length > 0) {
    const pairs = systems.map((system) => view.pair(system.name, view.baseline));
    columns.push({
      title: "Difference",
      texts: pairs.map((pair) => (pair ? formatDifference(pair.difference, view) : "baseline")),
      stars: pairs.map((pair) => pair?.significant),
    });
  }
  return sizedColumns(columns, wide);
}

function rankText({ rank_low: low, rank_high: high }) {
  return low === high ? `${low}` : `${low}–${high}`;
}

/** The groups of systems that share a letter, as {letter, rows: positions of their systems}. */
function groupsOf(view) {
  if (!showsRanks(view)) return [];
  return (view.ranking.groups ?? []).map((members, index) => ({
    letter: String.fromCharCode(97 + index),
    rows: members.map((name) => view.positions.get(name)).sort((a, b) => a - b),
  }));
}

function drawRanking(view, width) {
  const { systems } = view;
  const wide = width >= WIDE;
  const plan = rowPlan(systems.length, wide);
  const { pitch } = plan;
  const groups = groupsOf(view);
  const columns = rankingColumns(view, wide);
  const whole = systems.map(({ shown }) => shown);
  const panel = groupPanel(view, groups, wide);
  const space = nameSpace(whole, width, totalWidth(columns) + (wide ? 0 : panel.width));
  const shortened = fittedNames(whole, () => space.names);
  const total = Math.max(width, space.before + space.after + panel.width + 120);
  const above = systems.length > 24;
  // On a narrow page, the columns are above the plot, and so their titles above its axis.
  const top = above && !wide ? 46 : 30;
  const bottom = top + systems.length * pitch;
  const range = paddedRange(systems.flatMap(({ score, interval }) => [score, ...endsOf(interval)]));
  const scale = linearScale(range, [space.before + 18, total - space.after - panel.width - 14]);
  const radius = dotRadius(systems.map(({ interval }) => interval), scale);
  const image = canvas(total, bottom + 42, { role: "img", "aria-label": rankingSummary(view) });
  const rows = systems.map((system, index) =>
    rankingRow(view, system, { y: top + index * pitch, plan, scale, radius, name: shortened[index] }),
  );
  const title = `${view.metricName}${view.metric.higher_is_better ? "" : " (lower is better)"}`;
  image.append(stripes(systems.length, { top, width: total, pitch }));
  image.append(scoreAxis(scale, { top, bottom, above, title }));
  if (view.baseline !== null) {
    const { score } = systems[view.positions.get(view.baseline)];
    image.append(valueLine("reference", score, { scale, top, bottom, plan }));
  }
  image.append(...rows);
  drawColumns(columns, { image, rows, right: total - panel.width, top, plan, titles: 16 });
  panel.draw(image, { x: total - panel.width + (wide ? 20 : 12), top, pitch, bottom });
  return image;
}

function rankingSummary(view) {
  const named = (system) => `${system.shown} (${formatScore(system.score, view)})`;
  const range = `from ${named(view.systems[0])} to ${named(view.systems.at(-1))}`;
  return `${counted(view.systems.length, "system")} by ${view.metricName}, ${range}. The numbers are in the table of results.`;
}

function rankingRow(view, system, { y: top, plan, scale, radius, name }) {
  const y = top + plan.plot;
  const row = svg("g", { class: "row" }, label(name, { whole: system.shown, x: 4, y: top + plan.text, class: "name" }));
  const pair = view.baseline === null ? null : view.pair(system.name, view.baseline);
  const side = significantSide(view, pair);
  const x = scale(system.score);
  const square = () => svg("rect", { class: "dot even", x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius });
  const circle = () => svg("circle", { class: `dot ${side}${pair && !pair.significant ? " hollow" : ""}`, cx: x, cy: y, r: radius });
  row.append(...whiskers(system.interval, scale, y, side), system.name === view.baseline ? square() : circle());
  return row;
}

/** What is to the right of the columns: the groups or, without groups, the intervals of the ranks, or nothing. */
function groupPanel(view, groups, wide) {
  if (groups.length) {
    // With many groups, their bars would leave too little room for the scores.
    const roomy = wide && groups.length <= 12;
    const pitch = roomy ? 18 : 11;
    const draw = (image, { x, top, pitch: height }) => {
      image.append(label("Group", { class: "muted", x, y: top - 14 }));
      for (const [index, group] of groups.entries()) {
        image.append(groupBar(group, { x: x + index * pitch, width: pitch - (roomy ? 4 : 1), top, pitch: height }));
      }
    };
    return { width: Math.max(groups.length * pitch, textWidth("Group")) + (wide ? 22 : 14), draw };
  }
  if (!wide || !showsRanks(view)) return { width: 0, draw: () => {} };
  return { width: 210, draw: (image, place) => image.append(...rankBars(view, place)) };
}

/** The interval of each system's rank as a bar, with a dot at its rank by score. */
function rankBars(view, { x, top, pitch, bottom }) {
  const scale = linearScale([1, view.systems.length], [x + 6, x + 174]);
  const bars = view.systems.map(({ ranked }, index) => {
    const y = top + (index + 0.5) * pitch;
    return svg(
      "g",
      {},
      svg("line", { class: "rank-bar", x1: scale(ranked.rank_low) - 2, x2: scale(ranked.rank_high) + 2, y1: y, y2: y }),
      svg("circle", { class: "dot even", cx: scale(ranked.position), cy: y, r: 2 }),
    );
  });
  return [scoreAxis(scale, { top, bottom, above: true, title: "Rank" }), ...bars];
}

/** A critical-difference bar: from the best to the worst system of a group, with the letter at each of its systems. */
function groupBar({ letter, rows }, { x, width, top, pitch }) {
  const from = top + rows[0] * pitch + 2;
  const to = top + (rows.at(-1) + 1) * pitch - 2;
  const bar = svg("rect", { class: "group-bar", x, y: from, width, height: to - from, rx: Math.min(width, pitch - 4) / 2 });
  const letters = rows.map((row) => label(letter, { x: x + width / 2, y: top + (row + 0.5) * pitch, "text-anchor": "middle" }));
  return svg("g", { class: "group" }, bar, ...letters);
}

function rankingCaption(view, wide) {
  const intervals = view.systems.some((system) => system.interval) ? `; lines: their ${intervalName(view)}s` : "";
  const parts = [`Dots: scores${intervals}.`];
  if (showsRanks(view)) {
    if (view.ranking.groups) parts.push(" Systems in the same group do not differ significantly.");
    const level = Number((100 * (1 - view.alpha)).toFixed(10));
    const ranks = view.ranking.simultaneous ? `simultaneous ${level}% confidence intervals` : "those compatible with the significant differences";
    if (showsRanks(view)) parts.push(` Ranks: ${ranks}.`);
  } else if (view.baseline !== null && view.pairs.length > 0) {
    const pairs = view.systems.map(({ name }) => view.pair(name, view.baseline)).filter(Boolean);
    parts.push(` ${filledDots(view, pairs, `systems ${view.shows ? claimOf(view) : "that differ significantly from the baseline"}`)}`);
  }
  return parts;
}

addSection({
  id: "ranking",
  applies: (view) => view.systems.length > 0,
  render(view, body) {
    const caption = (width) => rankingCaption(view, width >= WIDE);
    body.replaceChildren(figureIn(body, "ranking", (width) => drawRanking(view, width), caption));
  },
});
