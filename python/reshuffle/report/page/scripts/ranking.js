// The systems from best to worst, with their scores, rank intervals and the groups that do not differ significantly.


/** The columns of text to the right of the plot: {title, text(system), note?}. */
function rankingColumns(view, wide) {
  const columns = [];
  if (wide) columns.push({ title: view.metric.name, text: (system) => formatScore(system.score, view) });
  // Narrow figures have room for the groups only.
  if (view.systems.some((system) => system.ranked)) {
    if (wide || !view.ranking.groups) columns.push({ title: "Rank", text: ({ ranked }) => (ranked ? rankText(ranked) : "") });
  } else if (view.baseline !== null && view.pairs.length > 0) {
    columns.push({ title: "Difference", text: (system) => baselineText(view, system) });
  }
  return columns;
}

function rankText({ rank_low: low, rank_high: high }) {
  return low === high ? `${low}` : `${low}–${high}`;
}

function baselineText(view, system) {
  if (system.name === view.baseline) return "baseline";
  const pair = view.pair(system.name, view.baseline);
  return pair ? `${formatDifference(pair.difference, view)}${pair.significant ? "*" : " "}` : "";
}

/** The groups of systems that share a letter, as {letter, rows: positions of their systems}. */
function groupsOf(view) {
  return (view.ranking?.groups ?? []).map((members, index) => ({
    letter: String.fromCharCode(97 + index),
    rows: members.map((name) => view.positions.get(name)).sort((a, b) => a - b),
  }));
}

function drawRanking(view, width) {
  const { systems } = view;
  const pitch = rowHeight(systems.length);
  const wide = width >= WIDE;
  const columns = rankingColumns(view, wide).map((column) => {
    const texts = systems.map(column.text);
    return { ...column, texts, width: widest([...texts, column.title]) + (wide ? 22 : 12) };
  });
  const groups = groupsOf(view);
  const names = Math.min(widest(systems.map(({ shown }) => shown)) + 4, width * (wide ? 0.28 : 0.32));
  const barPitch = wide ? 18 : 12;
  const groupWidth = groups.length ? Math.max(groups.length * barPitch, textWidth("Group")) + 20 : 0;
  const taken = names + columns.reduce((sum, column) => sum + column.width, 0) + groupWidth;
  const total = Math.max(width, taken + 150);
  const top = 30;
  const bottom = top + systems.length * pitch;
  const range = paddedRange(systems.flatMap(({ score, interval }) => [score, ...endsOf(interval, score)]));
  const scale = linearScale(range, [names + 14, total - taken + names - 14]);
  const tall = systems.length > 24;
  const image = canvas(total, bottom + 42, { role: "img", "aria-label": rankingSummary(view) });
  const title = `${view.metric.name}${view.metric.higher_is_better ? "" : " (lower is better)"}`;
  image.append(scoreAxis(scale, { top, bottom, above: tall, title }));
  if (view.baseline !== null) image.append(...baselineLine(view, scale, top, bottom));
  for (const [index, system] of systems.entries()) image.append(rankingRow(view, system, top + (index + 0.5) * pitch, scale, names));
  let right = total - groupWidth;
  for (const column of [...columns].reverse()) {
    image.append(label(column.title, { class: "muted", x: right, y: top - 14, "text-anchor": "end" }));
    for (const [index, text] of column.texts.entries()) {
      image.append(label(text, { class: "number", x: right, y: top + (index + 0.5) * pitch, "text-anchor": "end", "xml:space": "preserve" }));
    }
    right -= column.width;
  }
  if (groups.length) {
    image.append(label("Group", { class: "muted", x: total - groupWidth + 20, y: top - 14 }));
    for (const [index, group] of groups.entries()) {
      image.append(groupBar(group, { x: total - groupWidth + 20 + index * barPitch, width: barPitch - (wide ? 4 : 2), top, pitch }));
    }
  }
  return image;
}

function rankingSummary(view) {
  const names = view.systems.map((system) => `${system.shown} ${formatScore(system.score, view)}`);
  return `Systems from best to worst by ${view.metric.name}: ${names.join(", ")}`;
}

function baselineLine(view, scale, top, bottom) {
  const system = view.systems[view.positions.get(view.baseline)];
  const x = scale(system.score);
  return [svg("line", { class: "reference", x1: x, x2: x, y1: top, y2: bottom })];
}

function rankingRow(view, system, y, scale, names) {
  const row = svg("g", { class: "row" }, label(system.shown, { x: 0, y, width: names, class: "name" }));
  const pair = view.baseline === null ? null : view.pair(system.name, view.baseline);
  const side = pair?.significant ? sideOf(view, pair.difference) : "even";
  if (system.interval) row.append(whisker(scale, y, endsOf(system.interval), { class: `whisker ${side}` }));
  const x = scale(system.score);
  if (system.name === view.baseline) row.append(svg("rect", { class: "dot even", x: x - 4, y: y - 4, width: 8, height: 8 }));
  else row.append(svg("circle", { class: `dot ${side}${pair && !pair.significant ? " hollow" : ""}`, cx: x, cy: y, r: 4.5 }));
  return row;
}

/** "better" or "worse" of a system with this difference from another. */
function sideOf(view, difference) {
  return difference * view.sign > 0 ? "better" : difference * view.sign < 0 ? "worse" : "even";
}

/** A critical-difference bar: from the best to the worst system of a group, with the letter at each of its systems. */
function groupBar({ letter, rows }, { x, width, top, pitch }) {
  const from = top + rows[0] * pitch + 2;
  const to = top + (rows.at(-1) + 1) * pitch - 2;
  const bar = svg("g", { class: "group" });
  bar.append(svg("rect", { class: "group-bar", x, y: from, width, height: to - from, rx: Math.min(width, pitch - 4) / 2 }));
  for (const row of rows) bar.append(label(letter, { x: x + width / 2, y: top + (row + 0.5) * pitch, "text-anchor": "middle" }));
  return bar;
}

function rankingCaption(view) {
  const { document } = view;
  const parts = [view.systems.some((system) => system.interval) ? `Dots: scores, with their ${intervalName(view)}.` : "Dots: scores."];
  if (view.ranking) {
    parts.push(" Systems in the same group do not differ significantly. Rank: the interval of ranks that the significant differences allow.");
  } else if (view.baseline !== null && view.pairs.length > 0) {
    const level = `${pName(view.pairs[0])} ≤ ${document.alpha}`;
    parts.push(` Filled dots and stars: systems that differ significantly from the baseline (${level}).`);
  }
  return parts;
}

addSection({
  id: "ranking",
  applies: (view) => view.systems.length > 0,
  render(view, body) {
    body.replaceChildren(figureIn(body, "ranking", (width) => drawRanking(view, width), rankingCaption(view)));
  },
});
