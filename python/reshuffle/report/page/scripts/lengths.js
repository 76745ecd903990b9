// Segment scores by the length of the reference, for all systems, and by document, for the selected pair.

// The largest lengths of all buckets but the last, in words.
const LENGTHS = [10, 20, 30, 40];

function lengthOf(references) {
  return wordsOf(references.find((text) => text !== null) ?? "").length;
}

/** The buckets that have segments: {name, segments}. */
function lengthBuckets(view) {
  const names = [...LENGTHS.map((end, index) => `${index ? LENGTHS[index - 1] + 1 : 0}–${end}`), `over ${LENGTHS.at(-1)}`];
  const buckets = names.map((name) => ({ name, segments: [] }));
  view.document.texts.references.forEach((references, index) => {
    const place = LENGTHS.findIndex((end) => lengthOf(references) <= end);
    buckets.at(place).segments.push(index); // -1 is the last one
  });
  return buckets.filter(({ segments }) => segments.length > 0);
}

function isScored(view) {
  return isDeflated(view.document.texts) || segmentScores(view, view.systems[0].name) !== null;
}

function fillLengths(view, element) {
  if (!isScored(view)) {
    element.replaceChildren(h("p", { class: "hint" }, `${view.metricName} has no segment scores.`));
    return;
  }
  const buckets = lengthBuckets(view);
  const header = ["System", ...buckets.map(({ name, segments }) => `${name} (${formatCount(segments.length)})`)];
  const text = (mean) => (mean === null ? null : formatScore(mean, view));
  const rows = view.systems.map(({ name, shown }) => {
    const scores = segmentScores(view, name);
    return [shown, ...buckets.map(({ segments }) => text(meanAt(scores, segments)))];
  });
  element.replaceChildren(dataTable(`Mean segment ${view.metricName} by words of the reference (number of segments)`, header, rows));
}

addSection({
  id: "lengths",
  applies: (view) => Boolean(view.document.texts),
  render: (view, element) => withTexts(view, element, () => fillLengths(view, element)),
});

/** The positions of the segments of each document, by its id, in the order of the test set. */
function segmentsOfDocuments(ids) {
  const found = new Map();
  ids.forEach((id, index) => found.set(id, [...(found.get(id) ?? []), index]));
  return found;
}

function fillDocuments(view, pair, element) {
  const { documents } = view.document.texts;
  if (!documents || !isScored(view)) {
    element.replaceChildren(h("p", { class: "hint" }, documents ? `${view.metricName} has no segment scores.` : "The segments have no documents (--docs)."));
    return;
  }
  const scores = pair.map((name) => segmentScores(view, name));
  // As in tests, a difference is that of the segments for which both systems have scores.
  const isCompared = (index) => scores.every((each) => each[index] !== null && !Number.isNaN(each[index]));
  const rows = [...segmentsOfDocuments(documents)].map(([id, all]) => {
    const segments = all.filter(isCompared);
    const means = scores.map((each) => meanAt(each, segments));
    return { id, segments, means, difference: means.includes(null) ? null : means[0] - means[1] };
  });
  const ranked = sortedBy(rows, ({ difference }) => (difference === null ? null : Math.abs(difference)), DESCENDING);
  const text = (mean) => (mean === null ? null : formatScore(mean, view));
  const cells = ranked.map(({ id, segments, means, difference }) => [
    visible(id),
    formatCount(segments.length),
    ...means.map(text),
    difference === null ? null : h("span", { class: sideOf(view, difference) }, formatDifference(difference, view)),
  ]);
  const header = ["Document", "Segments", ...pair.map(shownName), "Δ"];
  element.replaceChildren(dataTable(`Mean segment ${view.metricName} by document, largest differences first`, header, cells));
}

addTextSection({ id: "documents", applies: (view) => view.document.unit === "document", fill: fillDocuments });
