// The texts of a result, which are compressed in the page, and the sections that need them.

// The length of compressed texts that are inflated at once. More take longer than the rest of the page.
const MAX_EAGER = 1_000_000;

/** Texts with a list for each system, from those with a list for each segment. */
function textsBySystem({ names, systems, scores, ...others }) {
  const bySystem = (rows) => Object.fromEntries(names.map((name, position) => [name, rows.map((row) => row[position])]));
  const byMetric = Object.entries(scores).map(([metric, rows]) => [metric, bySystem(rows)]);
  return { ...others, systems: bySystem(systems), scores: Object.fromEntries(byMetric) };
}

const waiting = new Map(); // the observer of an element, and what happens when it is seen

function seen(element) {
  const [observer, act] = waiting.get(element);
  waiting.delete(element);
  observer.disconnect();
  act();
}

/** Call act() when an element scrolls into view or is printed. It replaces the act() of an earlier call. */
function whenSeen(element, act) {
  waiting.get(element)?.[0].disconnect();
  const observer = new IntersectionObserver((entries) => {
    if (entries.at(-1).isIntersecting) seen(element);
  });
  waiting.set(element, [observer, act]);
  observer.observe(element);
}

window.addEventListener("beforeprint", () => [...waiting.keys()].forEach(seen));

/** Call fill() when the texts of a view are inflated, unless another view is shown by then; large texts wait until the element scrolls into view. */
function withTexts(view, element, fill) {
  const { document: shown } = view;
  const unpack = async () => {
    element.setAttribute("aria-busy", "true");
    shown.unpacking ??= inflated(shown.texts).then((texts) => Object.assign(shown, { texts: textsBySystem(texts) }));
    const isRead = await shown.unpacking.then(() => true, () => false);
    element.removeAttribute("aria-busy");
    if (!isRead) element.replaceChildren(h("p", { class: "hint" }, "The texts cannot be read: that needs a browser of 2023 or later."));
    else if (currentView() === view) fill();
  };
  if (!isDeflated(shown.texts)) {
    fill();
    return;
  }
  element.replaceChildren(h("p", { class: "hint" }, "Reading the texts …"));
  if (shown.texts.deflate.length <= MAX_EAGER) {
    unpack();
    return;
  }
  whenSeen(element, unpack);
}

/**
 * Add a section about the texts of the selected pair: {id, applies(view), fill(view, [system, baseline], element)}.
 *
 * It is filled anew whenever a pair is selected.
 */
function addTextSection({ id, applies, fill }) {
  addSection({
    id,
    applies: (view) => Boolean(view.document.texts) && applies(view),
    render: () => {},
    selected: (view, pair, element) =>
      withTexts(view, element, () => {
        const { system, baseline } = view.oriented(view.pair(...state.pair));
        fill(view, [system, baseline], element);
      }),
  });
}

/** The segment scores of a system, null where one is missing; null if the metric has no segment scores. */
function segmentScores(view, system) {
  const { scores } = view.document.texts;
  return Object.hasOwn(scores, view.metric.name) ? scores[view.metric.name][system].map(number) : null; // it may be called toString
}

/** The mean of the scores at these segments, without missing ones; null if there are none. */
function meanAt(scores, segments) {
  const known = segments.map((index) => scores[index]).filter((score) => score !== null && !Number.isNaN(score));
  return known.length ? sumOf(known) / known.length : null;
}
