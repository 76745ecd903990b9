// The result in the page, as the objects that tables and figures read.

/** A function from an index to the value of a packed list, which reshuffle.report.packed writes. */
function unpacked(column) {
  if ("all" in column) return () => column.all;
  if ("of" in column) return (index) => column.of[column.index[index]];
  if ("fields" in column) {
    const fields = Object.entries(column.fields).map(([key, values]) => [key, unpacked(values)]);
    return (index) => Object.fromEntries(fields.map(([key, value]) => [key, value(index)]));
  }
  return (index) => column.each[index];
}

/**
 * One test set, or the average over test sets, under one metric.
 *
 * systems: best first (under this metric), each
 *   {name, shown, score, interval: {low, high} | null, draws: histogram | null, ranked: {rank_low, rank_high, letters, …} | null}
 * pairs: in the order of the result, each
 *   {index, system, baseline, difference, interval, pvalue, adjusted, decisive, significant, null: histogram | null, …}
 *   where decisive is the p-value that decides: the adjusted one if there is one.
 */
class View {
  constructor(document, metric, settings) {
    this.document = document;
    this.metric = metric; // {name, signature, higher_is_better, …}
    this.settings = settings; // {decimals: number of decimals of scores, …}
    this.setName = document.name ?? null;
    this.alpha = document.alpha;
    this.baseline = document.baseline;
    this.ranking = document.rankings.find((ranking) => ranking.metric === metric.name) ?? null;
    const ranked = new Map((this.ranking?.systems ?? []).map((each) => [each.system, each]));
    const sign = metric.higher_is_better ? -1 : 1;
    this.systems = document.systems
      .map(({ name, scores }) => ({
        name,
        shown: shownName(name),
        score: scores[metric.name].score,
        interval: scores[metric.name].confidence_interval,
        draws: scores[metric.name].draws ?? null,
        ranked: ranked.get(name) ?? null,
      }))
      .sort((a, b) => sign * (a.score - b.score));
    this.positions = new Map(this.systems.map((system, position) => [system.name, position]));
    this.pairs = this.#readPairs();
    this.byNames = new Map(this.pairs.map((pair) => [pairKey(pair.system, pair.baseline), pair]));
  }

  #readPairs() {
    const { columns, count } = this.document.comparisons;
    const value = Object.fromEntries(Object.entries(columns).map(([key, column]) => [key, unpacked(column)]));
    const pairs = [];
    for (let index = 0; index < count; index += 1) {
      if (value.metric(index) !== this.metric.name) continue;
      const adjusted = value.adjusted_pvalue(index);
      const decisive = adjusted ?? value.pvalue(index);
      pairs.push({
        index,
        system: value.system(index),
        baseline: value.baseline(index),
        difference: value.difference(index),
        interval: value.confidence_interval(index),
        pvalue: value.pvalue(index),
        adjusted,
        decisive,
        significant: decisive <= this.alpha,
        null: value.null ? value.null(index) : null,
        /** Any other key of the pair in the JSON of the result, such as "exceedances". */
        get: (key) => (value[key] ? value[key](index) : undefined),
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

  /** Whether a positive difference of the first system means that it is better. */
  get sign() {
    return this.metric.higher_is_better ? 1 : -1;
  }
}

function pairKey(system, baseline) {
  return JSON.stringify([system, baseline]);
}

/** A pair with its systems exchanged: the difference, its interval and its null distribution change their signs. */
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
    difference: -pair.difference,
    interval: interval && { ...interval, low: -interval.high, high: -interval.low },
    null: mirrored,
  };
}

function embedded(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

const result = embedded("result");
const settings = embedded("settings");

/** The display name of a system. */
function shownName(system) {
  return Object.hasOwn(settings.names, system) ? settings.names[system] : system;
}

/** The comparisons in the page: the average over test sets first, if there is one, then each test set. */
const comparisons = "test_sets" in result
  ? [...(result.average ? [{ ...result.average, name: "Average" }] : []), ...result.test_sets]
  : [result];
