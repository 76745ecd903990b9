// The null distribution of a pair, with the observed difference and the replicates that p counts.

const NULL_HEIGHT = 190;
// The width of bold text beside that of plain text.
const BOLD_WIDTH = 1.12;

/**
 * The intervals of the null distribution that p counts, for the observed value o.
 *
 * extreme: at least as far from 0 as o, in the direction of the alternative.
 * opposite: draws d* whose difference before they were centred, d* + o, is 0 or on the other side of 0.
 * shifted: |d* + o| − mean |d* + o| ≥ |o|.
 */
const COUNTED = {
  extreme(o, alternative) {
    if (alternative === "greater") return [[o, Infinity]];
    if (alternative === "less") return [[-Infinity, o]];
    return [[-Infinity, -Math.abs(o)], [Math.abs(o), Infinity]];
  },
  opposite(o, alternative) {
    if (alternative === "two-sided" && o === 0) return [[-Infinity, Infinity]];
    const below = alternative === "greater" || (alternative === "two-sided" && o > 0);
    return below ? [[-Infinity, -o]] : [[-o, Infinity]];
  },
  shifted(o, alternative, { low, width, counts }) {
    const mean = sumOf(counts.map((count, bin) => count * Math.abs(low + (bin + 0.5) * width + o))) / sumOf(counts);
    const end = Math.abs(o) + mean;
    return [[-Infinity, -end - o], [end - o, Infinity]];
  },
};

/**
 * The intervals to fill, so that the filled share matches the share of replicates that p counts.
 *
 * A bin across the end of an interval is split there as if its values were uniform, or included as a whole if that is closer, as
 * it is where the null distribution has few distinct values.
 */
function filledIntervals(pair, rule, alternative) {
  const divided = COUNTED[rule](pair.null.observed, alternative, pair.null);
  // Bars of values begin and end between two values.
  if (pair.bars) return divided.map(([from, to]) => [from - pair.bars.step / 2, to + pair.bars.step / 2]);
  const whole = divided.map(([from, to]) => [binEdge(pair, from, 0), binEdge(pair, to, 1)]);
  const counted = pair.test("exceedances");
  const share = typeof counted === "number" ? counted / pair.test("n_resamples") : pair.pvalue;
  const distance = (intervals) => Math.abs(shareWithin(pair.null, intervals) - share);
  return distance(whole) < distance(divided) ? whole : divided;
}

/** The lower (0) or upper (1) edge of the bin of a value. Bins contain their lower ends; those of reversed pairs, their upper ends. */
function binEdge({ null: { low, width }, reversed }, value, side) {
  if (width === 0 || !Number.isFinite(value)) return value;
  const bins = (value - low) / width;
  return low + ((reversed ? Math.ceil(bins) - 1 : Math.floor(bins)) + side) * width;
}

/** The rule by which the test of a pair counts. */
function ruleOf(pair, alternative) {
  const test = pair.test("test");
  if (test === "bootstrap-percentile" || test === "paired-bootstrap") return "opposite";
  if (test === "bootstrap-shift") return "shifted";
  if (test !== "bootstrap-both") return "extreme";
  if (alternative === "two-sided") return pair.test("tails") === 2 ? "opposite" : "extreme";
  // One-sided, p is the larger one of both rules.
  const counted = (rule) => shareWithin(pair.null, COUNTED[rule](pair.null.observed, alternative));
  return counted("opposite") > counted("extreme") ? "opposite" : "extreme";
}

/** The share of a histogram within intervals. */
function shareWithin({ low, width, counts }, intervals) {
  const inside = counts.map((count, bin) => {
    const start = low + bin * width;
    return count * sumOf(intervals.map((interval) => overlap([start, start + width], interval)));
  });
  return sumOf(inside) / sumOf(counts);
}

/** The share of a bin within an interval. */
function overlap([low, high], [from, to]) {
  if (high === low) return low >= from && low <= to ? 1 : 0;
  return Math.max(0, Math.min(high, to) - Math.max(low, from)) / (high - low);
}

/** The alternative for a pair whose systems may have been exchanged. In the observed direction, either sign is found. */
function alternativeOf(pair) {
  const alternative = pair.test("alternative").replace("one-sided", "two-sided");
  return pair.reversed ? { greater: "less", less: "greater" }[alternative] ?? alternative : alternative;
}

/** The figure of a pair's null distribution, or a sentence where there is none. `place` is the element that it will be in. */
function drawNull(view, pair, place = null) {
  if (!pair.null) {
    if (view.shows) return h("p", { class: "figure-none" }, "Tests with a margin have no null distribution of no difference.");
    const reason = view.document.test?.replicates
      ? "This result has no histogram of the null distribution."
      : "This test has no replicates, so it has no null distribution to show.";
    return h("p", { class: "figure-none" }, reason);
  }
  const alternative = alternativeOf(pair);
  const rule = ruleOf(pair, alternative);
  const counted = filledIntervals(pair, rule, alternative);
  const mirrored = rule === "opposite" || (rule === "extreme" && alternative === "two-sided");
  const marks = mirrored && pair.null.observed !== 0 ? [pair.null.observed, -pair.null.observed] : [pair.null.observed];
  const draw = (width) => drawHistogram(view, pair, { counted, marks }, width);
  return figureIn(place, "null", draw, nullCaption(view, pair, rule));
}

/** Whether the statistic is a studentized difference. Where shuffles have the same order by both, it is the difference itself. */
function isStudentized(pair) {
  const { observed } = pair.null;
  return pair.test("test") === "ar-studentized" && Math.abs(observed - pair.difference) > 1e-9 * Math.abs(pair.difference);
}

function drawHistogram(view, pair, { counted, marks }, width) {
  const bars = barsOf(pair);
  const [top, bottom] = [26, 26 + NULL_HEIGHT];
  const used = bars.flatMap(([from, to]) => [from, to]);
  const scale = linearScale(paddedRange([...used, ...marks], 0.03), [14, width - 14]);
  const unit = (NULL_HEIGHT - 6) / Math.max(...bars.map(([, , height]) => height));
  // A single value, or a distribution that is narrow beside the observed value, is a bar of 8 pixels.
  const widening = Math.max(0, 4 - (scale(Math.max(...used)) - scale(Math.min(...used))) / 2);
  const statistic = isStudentized(pair) ? "Studentized difference" : `Difference in ${view.metricName}`;
  const image = canvas(width, bottom + 42, { role: "img", "aria-label": nullSummary(view, pair) });
  image.append(scoreAxis(scale, { top, bottom, title: `${statistic} under the null hypothesis` }));
  const { tail, body } = histogramParts(bars, counted);
  const bar = ([from, to, count]) => {
    const [left, right] = [scale(from) - widening, scale(to) + widening];
    return `M${left.toFixed(2)},${bottom}V${(bottom - count * unit).toFixed(2)}H${right.toFixed(2)}V${bottom}Z`;
  };
  image.append(svg("path", { class: "bar body", d: body.map(bar).join("") }));
  image.append(svg("path", { class: "bar tail", d: tail.map(bar).join("") }));
  image.append(svg("line", { class: "null-base", x1: scale.start, x2: scale.end, y1: bottom, y2: bottom }));
  image.append(...nullMarks(view, pair, marks, { scale, top, bottom }));
  return image;
}

/** The bars of a histogram as [low, high, height] without empty ones: the bins, or those of a distribution of few values. */
function barsOf({ null: { low, width, counts }, bars }) {
  const every = bars?.list ?? counts.map((count, bin) => [low + bin * width, low + (bin + 1) * width, count]);
  return every.filter(([, , height]) => height > 0);
}

/** These bars, apart for what p counts; bars across the end of an interval are divided. */
function histogramParts(bars, counted) {
  const parts = { body: [], tail: [] };
  for (const [from, to, count] of bars) {
    const cuts = [from, ...counted.flat().filter((end) => end > from && end < to).sort((a, b) => a - b), to];
    for (let part = 0; part + 1 < cuts.length; part += 1) {
      const middle = (cuts[part] + cuts[part + 1]) / 2;
      const inside = counted.some(([start, end]) => start <= middle && middle <= end);
      parts[inside ? "tail" : "body"].push([cuts[part], cuts[part + 1], count]);
    }
  }
  return parts;
}

/** The lines of the observed difference, solid, and of its mirror image, dashed, with their values. */
function nullMarks(view, pair, marks, { scale, top, bottom }) {
  const labels = marks.map((value, index) => markLabel(view, pair, value, index === 0, scale));
  return marks.flatMap((value, index) => {
    const { text, from, to, anchor } = labels[index];
    const x = scale(value);
    // Long numbers leave no room for the value of the mirror image.
    const isFree = index === 0 || to < labels[0].from || labels[0].to < from;
    return [
      svg("line", { class: index === 0 ? "observed" : "mirrored", x1: x, x2: x, y1: top - 14, y2: bottom }),
      ...(isFree ? [label(text, { class: index === 0 ? "strong" : "muted", x: anchor === "start" ? from : to, y: top - 10, "text-anchor": anchor })] : []),
    ];
  });
}

/** The label of a line and its place: beside the line, on the outer side if there is room, and within the figure. */
function markLabel(view, pair, value, isObserved, scale) {
  const number = isStudentized(pair) ? signed(value, 2) : formatDifference(value, view);
  const text = isObserved ? `observed ${number}` : number;
  const [x, length] = [scale(value), textWidth(text) * (isObserved ? BOLD_WIDTH : 1)];
  const outwards = value > 0 || (value === 0 && isObserved) ? 1 : -1;
  const room = outwards > 0 ? scale.end - x : x - scale.start;
  const isRight = (length + 4 <= room) === outwards > 0;
  const from = Math.max(scale.start, Math.min(isRight ? x + 5 : x - 5 - length, scale.end - length));
  return { text, from, to: from + length, anchor: isRight ? "start" : "end" };
}

function replicatesText(view, pair) {
  const replicates = view.document.test?.replicates ?? "replicates";
  const count = pair.test("n_resamples");
  if (count === null || count === undefined) return "the exact distribution over all shuffles";
  const number = formatCount(count);
  return pair.test("scheme") === "exact" ? `all ${number} ${replicates}` : `${number} ${replicates}`;
}

function nullSummary(view, pair) {
  return `Histogram of the null distribution, ${replicatesText(view, pair)}. ${pairSummary(view, pair)}`;
}

const RULE_WORDS = {
  extreme: "Filled: at least as extreme as the observed difference",
  shifted: "Filled: draws counted by the test, |difference| − mean |difference| ≥ |observed difference|",
};

/** What is filled. The tail that the rule `opposite` counts begins where both systems have the same score. */
function ruleWords(pair, rule) {
  if (rule !== "opposite") return RULE_WORDS[rule];
  const [[from]] = COUNTED.opposite(pair.null.observed, alternativeOf(pair));
  const [one, other] = from === -Infinity ? [pair.baseline, pair.system] : [pair.system, pair.baseline];
  return `Filled: draws in which ${shownName(one)} scored at least as high as ${shownName(other)}`;
}

function nullCaption(view, pair, rule) {
  const replicates = replicatesText(view, pair);
  const counted = pair.test("exceedances");
  const number = typeof counted === "number" ? ` (${counted ? formatCount(counted) : "none"})` : "";
  const twice = pair.test("tails") === 2 ? " p = 2(c + 1)/(R + 1), where c draws are filled and R are all." : "";
  return [`${replicates[0].toUpperCase()}${replicates.slice(1)}. ${ruleWords(pair, rule)}${number}.${twice}`];
}
