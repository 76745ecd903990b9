// The null distribution of a pair, with the observed difference and the replicates that p counts.

const NULL_HEIGHT = 190;

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
    const total = counts.reduce((sum, count) => sum + count, 0);
    const mean = counts.reduce((sum, count, bin) => sum + count * Math.abs(low + (bin + 0.5) * width + o), 0) / total;
    const end = Math.abs(o) + mean;
    return [[-Infinity, -end - o], [end - o, Infinity]];
  },
};

/**
 * The intervals to be filled, for the share of replicates that p counts.
 *
 * A bin across the end of an interval is divided there, as if its values were uniform; or it belongs to the interval as a whole, if
 * that is closer to the share, as for few different values of which one is the observed difference.
 */
function filledIntervals(pair, rule, alternative) {
  const divided = COUNTED[rule](pair.null.observed, alternative, pair.null);
  const whole = divided.map(([from, to]) => [binEdge(pair, from, 0), binEdge(pair, to, 1)]);
  const counted = pair.get("exceedances");
  const share = typeof counted === "number" ? counted / pair.get("n_resamples") : pair.pvalue;
  const distance = (intervals) => Math.abs(shareWithin(pair.null, intervals) - share);
  return distance(whole) < distance(divided) ? whole : divided;
}

/** The lower (0) or upper (1) edge of the bin of a value. Bins contain their lower ends, or their upper ends if the pair is reversed. */
function binEdge({ null: { low, width }, reversed }, value, side) {
  if (width === 0 || !Number.isFinite(value)) return value;
  const bins = (value - low) / width;
  return low + ((reversed ? Math.ceil(bins) - 1 : Math.floor(bins)) + side) * width;
}

/** The rule by which the test of a pair counts. */
function ruleOf(pair, alternative) {
  const test = pair.get("test");
  if (test === "bootstrap-percentile" || test === "paired-bootstrap") return "opposite";
  if (test === "bootstrap-shift") return "shifted";
  if (test !== "bootstrap-both") return "extreme";
  if (alternative === "two-sided") return pair.get("tails") === 2 ? "opposite" : "extreme";
  // One-sided, p is the larger one of both rules.
  const counted = (rule) => shareWithin(pair.null, COUNTED[rule](pair.null.observed, alternative));
  return counted("opposite") > counted("extreme") ? "opposite" : "extreme";
}

/** The share of a histogram within intervals. */
function shareWithin({ low, width, counts }, intervals) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const inside = counts.reduce((sum, count, bin) => {
    const start = low + bin * width;
    return sum + count * intervals.reduce((share, interval) => share + overlap([start, start + width], interval), 0);
  }, 0);
  return inside / total;
}

/** The share of a bin within an interval. */
function overlap([low, high], [from, to]) {
  if (high === low) return low >= from && low <= to ? 1 : 0;
  return Math.max(0, Math.min(high, to) - Math.max(low, from)) / (high - low);
}

/** The alternative for a pair whose systems may have been exchanged. */
function alternativeOf(pair) {
  const alternative = pair.get("alternative");
  return pair.reversed ? { greater: "less", less: "greater" }[alternative] ?? alternative : alternative;
}

/** The figure of a pair's null distribution, or a sentence where the test has none. `place` is the element that it will be in. */
function drawNull(view, pair, place = null) {
  if (!pair.null) return h("p", { class: "figure-none" }, "The p-value of this test is computed without replicates, so there is no null distribution to show.");
  const alternative = alternativeOf(pair);
  const rule = ruleOf(pair, alternative);
  const counted = filledIntervals(pair, rule, alternative);
  return figureIn(place, "null", (width) => drawHistogram(view, pair, { rule, counted, alternative }, width), nullCaption(view, pair, rule));
}

function isStudentized(pair) {
  return pair.get("test") === "ar-studentized" && Math.abs(pair.null.observed - pair.difference) > 1e-9 * Math.abs(pair.difference);
}

function drawHistogram(view, pair, { rule, counted, alternative }, width) {
  const { low, width: step, counts, observed } = pair.null;
  const mirrored = observed !== 0 && (rule === "opposite" || (rule === "extreme" && alternative === "two-sided"));
  const marks = mirrored ? [observed, -observed] : [observed];
  const [top, bottom] = [26, 26 + NULL_HEIGHT];
  const used = counts.flatMap((count, bin) => (count ? [low + bin * step, low + (bin + 1) * step] : []));
  const scale = linearScale(paddedRange([...used, ...marks], 0.03), [14, width - 14]);
  const largest = counts.reduce((most, count) => Math.max(most, count), 0) || 1;
  const title = isStudentized(pair) ? "Studentized difference under the null hypothesis" : `Difference in ${view.metric.name} under the null hypothesis`;
  const image = canvas(width, bottom + 42, { role: "img", "aria-label": nullSummary(view, pair) });
  image.append(scoreAxis(scale, { top, bottom, title }));
  for (const [kind, path] of Object.entries(barPaths(pair.null, counted, scale, (count) => bottom - (count / largest) * (NULL_HEIGHT - 6), bottom))) {
    image.append(svg("path", { class: `bar ${kind}`, d: path }));
  }
  image.append(svg("line", { class: "null-base", x1: scale.start, x2: scale.end, y1: bottom, y2: bottom }));
  for (const [index, value] of marks.entries()) image.append(...nullMark(view, pair, value, index === 0, { scale, top, bottom }));
  return image;
}

/** The outlines of the bars, apart for what p counts; a bin across the end of a tail is divided. */
function barPaths({ low, width, counts }, counted, scale, height, bottom) {
  const paths = { body: "", tail: "" };
  if (width === 0) {
    const x = scale(low);
    paths[overlap([low, low], counted.find(([from, to]) => from <= low && low <= to) ?? [1, 0]) ? "tail" : "body"] = `M${x - 4},${bottom}V${height(counts[0])}h8V${bottom}Z`;
    return paths;
  }
  const bar = (from, to, count) => `M${scale(from).toFixed(2)},${bottom}V${height(count).toFixed(2)}H${scale(to).toFixed(2)}V${bottom}Z`;
  for (const [bin, count] of counts.entries()) {
    if (count === 0) continue;
    const ends = [low + bin * width, low + (bin + 1) * width];
    const bounds = counted.flat().filter((end) => end > ends[0] && end < ends[1]).sort((a, b) => a - b);
    const cuts = [ends[0], ...bounds, ends[1]];
    for (let part = 0; part + 1 < cuts.length; part += 1) {
      const middle = (cuts[part] + cuts[part + 1]) / 2;
      const kind = counted.some(([from, to]) => from <= middle && middle <= to) ? "tail" : "body";
      paths[kind] += bar(cuts[part], cuts[part + 1], count);
    }
  }
  return paths;
}

/** A vertical line with its value: solid for the observed difference, dashed for its mirror image. */
function nullMark(view, pair, value, isObserved, { scale, top, bottom }) {
  const x = scale(value);
  const number = isStudentized(pair) ? signed(value, 2) : formatDifference(value, view);
  const text = isObserved ? `observed ${number}` : number;
  const outwards = value > 0 || (value === 0 && isObserved) ? 1 : -1;
  const room = outwards > 0 ? scale.end - x : x - scale.start;
  const side = textWidth(text) + 4 <= room ? outwards : -outwards;
  return [
    svg("line", { class: isObserved ? "observed" : "mirrored", x1: x, x2: x, y1: top - 14, y2: bottom }),
    label(text, { class: isObserved ? "strong" : "muted", x: x + side * 5, y: top - 10, "text-anchor": side > 0 ? "start" : "end" }),
  ];
}

function replicatesText(view, pair) {
  const replicates = view.document.test?.replicates ?? "replicates";
  const count = pair.get("n_resamples");
  if (count === null || count === undefined) return "the exact distribution over all shuffles";
  const number = formatCount(count);
  return pair.get("scheme") === "exact" ? `all ${number} ${replicates}` : `${number} ${replicates}`;
}

function nullSummary(view, pair) {
  return `Histogram of the null distribution, ${replicatesText(view, pair)}. ${pairSummary(view, pair)}`;
}

const RULE_WORDS = {
  extreme: "Filled: at least as extreme as the observed difference",
  opposite: "Filled: draws in which the difference, before it was centred on 0, is 0 or has the opposite sign",
  shifted: "Filled: draws that the test counts, |difference| − mean |difference| ≥ |observed difference|",
};

function nullCaption(view, pair, rule) {
  const replicates = replicatesText(view, pair);
  const counted = pair.get("exceedances");
  const number = typeof counted === "number" ? ` (${counted ? formatCount(counted) : "none"})` : "";
  const twice = pair.get("tails") === 2 ? " p is twice their share." : "";
  return [`${replicates[0].toUpperCase()}${replicates.slice(1)}. ${RULE_WORDS[rule]}${number}.${twice}`];
}
