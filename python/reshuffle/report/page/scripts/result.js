// The result, read from the JSON in the page, as the objects that tables and figures use.

/** A function from an index to the value of a packed list, which reshuffle.report.json writes. */
function unpacked(column) {
  if ("all" in column) return () => column.all;
  if ("of" in column) return (index) => column.of[column.index[index]];
  if ("fields" in column) {
    const fields = Object.entries(unpackedFields(column.fields));
    return (index) => Object.fromEntries(fields.map(([key, value]) => [key, value(index)]));
  }
  if ("items" in column) {
    const items = column.items.map(unpacked);
    return (index) => items.map((value) => value(index));
  }
  return (index) => column.each[index];
}

/** Such a function for each key. */
function unpackedFields(fields) {
  return Object.fromEntries(Object.entries(fields).map(([key, column]) => [key, unpacked(column)]));
}

/** A number from JSON, which has no NaN or infinity: they are the strings "NaN", "Infinity" and "-Infinity". */
function number(value) {
  return value === null || value === undefined ? null : Number(value);
}

function readInterval(interval) {
  return interval ? { ...interval, low: number(interval.low), high: number(interval.high) } : null;
}

/**
 * One test set, or the average over test sets, under one metric.
 *
 * systems: best first (under this metric), each
 *   {name, shown, score, interval: {low, high} | null, draws: histogram | null, n_segments, ranked: {rank_low, rank_high, letters, …} | null}
 * pairs: in the order of the result, each
 *   {index, system, baseline, difference, interval, pvalue, adjusted, decisive, significant, decimals, null: histogram | null, bars, get, test}
 *   where decisive is the p-value that is compared with α (the adjusted one, if any), and decimals is the number of decimals of p-values.
 */
class View {
  constructor(document, metric, settings) {
    this.document = document;
    this.metric = metric; // {name, signature, higher_is_better, …}
    this.metricName = visible(metric.name);
    this.settings = settings; // {decimals: number of decimals of scores, test: its title, caveats: {kind: sentences}, bars}
    this.setName = document.name ?? null;
    this.alpha = document.alpha;
    this.baseline = document.baseline;
    /** "equivalence" or "non-inferiority" if that is what the tests show, else null. */
    this.shows = ["equivalence", "non-inferiority"].find((shown) => shown === document.test?.alternative) ?? null;
    this.twoSided = ["two-sided", "one-sided", "equivalence"].includes(document.test?.alternative);
    this.ranking = document.rankings.find((ranking) => ranking.metric === metric.name) ?? null;
    const ranked = new Map((this.ranking?.systems ?? []).map((each) => [each.system, each]));
    const sign = metric.higher_is_better ? -1 : 1;
    this.systems = document.scores
      .filter((score) => score.metric === metric.name)
      .map(({ system, score, confidence_interval: interval, draws, n_segments, details }) => ({
        name: system,
        shown: shownName(system),
        score: number(score),
        interval: readInterval(interval),
        draws,
        n_segments,
        details,
        ranked: ranked.get(system) ?? null,
      }))
      .sort((a, b) => sign * (a.score - b.score));
    this.positions = new Map(this.systems.map((system, position) => [system.name, position]));
    this.pairs = this.#readPairs();
    this.byNames = new Map(this.pairs.map((pair) => [pairKey(pair.system, pair.baseline), pair]));
  }

  #readPairs() {
    const { count, fields } = this.document.comparisons;
    if (count === 0) return [];
    const [value, test] = [unpackedFields(fields), unpackedFields(fields.test.fields)];
    const pairs = [];
    for (let index = 0; index < count; index += 1) {
      if (value.metric(index) !== this.metric.name) continue;
      const adjusted = number(test.adjusted_pvalue(index));
      const pvalue = number(test.pvalue(index));
      const decisive = adjusted ?? pvalue;
      const replicates = test.scheme(index) === "exact" ? null : test.n_resamples(index);
      pairs.push({
        index,
        system: value.system(index),
        baseline: value.baseline(index),
        difference: number(test.statistic(index)),
        interval: readInterval(value.confidence_interval(index)),
        pvalue,
        adjusted,
        decisive,
        significant: decisive <= this.alpha,
        decimals: Math.max(4, replicates ? Math.ceil(Math.log10(replicates)) : 4),
        null: value.null(index),
        bars: barsOfValues(this.settings.bars[pairs.length]),
        /** Any other key of the pair in the JSON of the result, such as "caveats", or of its test, such as "exceedances". */
        get: (key) => value[key](index),
        test: (key) => test[key](index),
      });
    }
    return pairs;
  }

  /** The pair of two systems with its difference as score(a) − score(b), or null if they were not compared. */
  pair(a, b) {
    const pair = this.byNames.get(pairKey(a, b));
    if (pair) return pair;
    const other = this.byNames.get(pairKey(b, a));
    return other ? reversed(other) : null;
  }

  /** The pair in the direction in which it is shown: the better system first, unless a one-sided test or a baseline fixes the direction. */
  oriented(pair) {
    const fixed = this.baseline !== null || !this.twoSided;
    const right = fixed ? !pair.reversed : this.positions.get(pair.system) <= this.positions.get(pair.baseline);
    return right ? pair : reversed(pair);
  }

  /** The margin of equivalence or non-inferiority, or null. */
  get margin() {
    return this.shows === null || this.pairs.length === 0 ? null : this.pairs[0].test("margin");
  }

  /** The differences at the margin, with their sign. */
  get limits() {
    if (this.margin === null) return [];
    return this.shows === "equivalence" ? [-this.margin, this.margin] : [-this.margin * this.sign];
  }

  /** The margin in words: "±0.5 BLEU", or "0.5 BLEU" for non-inferiority. */
  get limitText() {
    return `${this.shows === "equivalence" ? "±" : ""}${this.margin} ${this.metricName}`;
  }

  /** Whether p-values are adjusted for multiple comparisons. As in the other reports, families of one test have no adjusted p. */
  get adjusted() {
    const { adjustment = null, family, n_sets } = this.document.test ?? {};
    const together = family === "set" || family === "all" ? this.document.comparisons.count : this.pairs.length;
    return adjustment !== null && (together > 1 || n_sets > 1);
  }

  /** Whether some systems have no score for some segments. */
  get lacksScores() {
    return this.systems.some((system) => system.n_segments < this.document.n_segments);
  }

  /** 1 if higher scores are better, else -1. */
  get sign() {
    return this.metric.higher_is_better ? 1 : -1;
  }
}

/** The bars of a null distribution of few values, from reshuffle.report.page: each has its ends and its height. */
function barsOfValues(given) {
  if (!given) return null;
  const { low, step, numbers, heights } = given;
  let before = 0;
  const list = numbers.map((number, bar) => [low + step * before, low + step * (before += number), heights[bar]]);
  return { step, list };
}

function pairKey(system, baseline) {
  return JSON.stringify([system, baseline]);
}

/** A pair with its systems exchanged: its difference, interval and null distribution are negated. */
function reversed(pair) {
  const { interval } = pair;
  const mirrored = pair.null && {
    ...pair.null,
    low: -(pair.null.low + pair.null.width * pair.null.counts.length),
    counts: [...pair.null.counts].reverse(),
    observed: -pair.null.observed,
  };
  return {
    ...pair,
    system: pair.baseline,
    baseline: pair.system,
    difference: 0 - pair.difference,
    interval: interval && { ...interval, low: 0 - interval.high, high: 0 - interval.low },
    null: mirrored,
    bars: pair.bars && { ...pair.bars, list: pair.bars.list.map(([from, to, height]) => [0 - to, 0 - from, height]).reverse() },
    reversed: !pair.reversed,
  };
}

function embedded(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

/** Whether a value is compressed JSON: {deflate: base64}, which reshuffle.report.json writes. */
function isDeflated(value) {
  return typeof value?.deflate === "string";
}

async function inflated({ deflate }) {
  const characters = atob(deflate);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

const result = embedded("result");
const settings = embedded("settings");

/** A name in printable form, as \u202e: characters that nobody sees, or that would also turn round the words after the name. */
function visible(name) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return name.replace(/(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (found) => found.split("").map(escaped).join(""));
}

/** The display name of a system. */
function shownName(system) {
  return visible(Object.hasOwn(settings.names, system) ? settings.names[system] : system);
}

/** A name for the average over test sets that no test set has. */
function averageName(taken) {
  let name = "Average";
  while (taken.includes(name)) name += " of all";
  return name;
}

/** The comparisons in the page: the average over test sets first, if there is one, then each test set. */
const comparisons = "sets" in result
  ? [
      ...(result.average ? [{ ...result.average, name: averageName(settings.sets) }] : []),
      ...settings.sets.map((name) => ({ ...result.sets[name], name })),
    ]
  : [result];
