// The segments of two systems: references, outputs with their differences marked, and scores, largest difference first.

const SEGMENTS_AT_ONCE = 20;
// The reader's choices, kept across metrics and test sets. `other` is a chosen pair that was not tested, and the pair that was selected then.
const segmentChoice = { side: "all", marks: "outputs", text: "", other: null };

/**
 * The segments of a pair of systems, {index, difference}, largest difference first. Where either score is missing, the difference is null, and
 * the segment is among the last. Without segment scores, segments are in the order of the test set.
 */
function rankedSegments(view, [system, baseline]) {
  const [a, b] = [segmentScores(view, system), segmentScores(view, baseline)];
  const found = view.document.texts.references.map((_, index) => {
    const difference = a && a[index] !== null && b[index] !== null ? a[index] - b[index] : NaN;
    return { index, difference: Number.isNaN(difference) ? null : difference };
  });
  return a ? sortedBy(found, ({ difference }) => (difference === null ? null : Math.abs(difference)), DESCENDING) : found;
}

/** The position and the edits of the reference that needs the fewest edits. */
function closestReference(references, output) {
  const all = references.map((reference, position) => (reference === null ? null : { position, ...editsFrom(reference, output) }));
  return all.filter(Boolean).reduce((best, each) => (each.edits < best.edits ? each : best));
}

/** A text, whose first letter decides whether it runs from right to left. */
function textBlock(nodes) {
  const empty = nodes.every((node) => typeof node === "string" && !node.trim());
  return h("p", { dir: "auto", class: "text" }, ...(empty ? [h("span", { class: "hint" }, "(empty)")] : nodes));
}

class SegmentList {
  constructor(view, element) {
    this.view = view;
    this.texts = view.document.texts;
    this.scored = Object.hasOwn(this.texts.scores, view.metric.name); // a metric may be called toString
    this.pair = null;
    this.shown = [];
    this.list = h("ol", { class: "segments" });
    this.count = h("output", { class: "count" });
    this.legend = h("p", { class: "legend" });
    this.more = h("button", { type: "button", onclick: () => this.#showMore() });
    element.replaceChildren(this.#controls(), this.legend, this.list, h("div", { class: "controls" }, this.more));
  }

  #controls() {
    const names = this.view.systems.map((system) => system.name);
    const systems = names.map((name) => [name, shownName(name)]);
    this.system = this.#select("System", systems, () => this.#choosePair(this.system.value, this.baseline.value, 0));
    this.baseline = this.#select("Baseline", systems, () => this.#choosePair(this.system.value, this.baseline.value, 1));
    this.side = this.#select("Show", [["all", ""], ["system", ""], ["baseline", ""]], () => this.#choose("side", this.side.value));
    const marks = [["outputs", "differences of the outputs"], ["reference", "edits from the reference"], ["none", "nothing"]];
    this.marks = this.#select("Highlight", marks, () => this.#choose("marks", this.marks.value));
    this.marks.value = segmentChoice.marks;
    const text = h("input", { type: "search", placeholder: "Filter by text", "aria-label": "Filter segments by text", value: segmentChoice.text });
    text.addEventListener("input", () => this.#choose("text", text.value));
    const fields = [this.side, this.marks].filter((select) => this.scored || select !== this.side);
    return h(
      "div",
      { class: "controls" },
      ...(names.length > 2 ? [labelled(this.system), labelled(this.baseline)] : []),
      ...fields.map(labelled),
      text,
      this.count,
    );
  }

  #select(label, options, choose) {
    return h("select", { "aria-label": label, onchange: choose }, ...options.map(([value, shown]) => h("option", { value }, shown)));
  }

  #choose(key, value) {
    segmentChoice[key] = value;
    this.update();
  }

  /** Choose a pair. If both systems would be the same, they are swapped. */
  #choosePair(system, baseline, changed) {
    const pair = system !== baseline ? [system, baseline] : changed === 0 ? [system, this.pair[0]] : [this.pair[1], baseline];
    const tested = this.view.pair(...pair) !== null;
    segmentChoice.other = tested ? null : { pair, beside: pairKey(...state.pair) };
    // Keep the direction that the reader has chosen here.
    if (tested) {
      this.wanted = pair;
      selectPair(...pair);
    } else this.show(pair);
  }

  /** Show the selected pair, unless the reader has chosen an untested pair here. */
  select(pair) {
    const { other } = segmentChoice;
    const { wanted } = this;
    this.wanted = null;
    if (other && other.beside === pairKey(...state.pair)) this.show(other.pair);
    else if (wanted) this.show(wanted);
    else {
      const { system, baseline } = this.view.oriented(pair);
      this.show([system, baseline]);
    }
  }

  show(pair) {
    this.pair = pair;
    [this.system.value, this.baseline.value] = pair;
    const [system, baseline] = pair.map(shownName);
    [...this.side.options].forEach((option, position) => {
      option.textContent = ["Largest differences", `${system} better`, `${baseline} better`][position];
    });
    this.side.value = segmentChoice.side;
    this.ranked = rankedSegments(this.view, pair);
    this.update();
  }

  /** Filter again, and show the first segments. */
  update() {
    const [system, baseline] = this.pair;
    const side = this.scored ? segmentChoice.side : "all";
    const sign = { all: 0, system: this.view.sign, baseline: -this.view.sign }[side];
    const text = segmentChoice.text.trim().toLowerCase();
    const columns = [this.texts.systems[system], this.texts.systems[baseline]];
    const contains = (index) =>
      columns.some((lines) => lines[index].toLowerCase().includes(text)) ||
      [this.texts.documents?.[index], this.texts.source?.[index], ...this.texts.references[index]].some((line) => line?.toLowerCase().includes(text));
    this.shown = this.ranked.filter(({ index, difference }) => (!sign || difference * sign > 0) && (!text || contains(index)));
    const all = counted(this.ranked.length, "segment");
    this.count.textContent = this.shown.length === this.ranked.length ? all : `${formatCount(this.shown.length)} of ${all}`;
    this.legend.replaceChildren(...this.#legend());
    this.list.classList.toggle("between", segmentChoice.marks === "outputs");
    this.list.replaceChildren();
    this.#add();
  }

  #legend() {
    const [system, baseline] = this.pair.map(shownName);
    const order = this.scored ? [] : [`${this.view.metricName} has no segment scores: segments are in the order of the test set. `];
    const marks = {
      outputs: () => [h("del", {}, "Words"), ` only in ${baseline} or moved; `, h("ins", {}, "words"), ` only in ${system} or moved.`],
      reference: () => [h("ins", {}, "Words"), " that are not in the closest reference or moved; ", h("del", {}, "words"), " of that reference that are missing or moved."],
      none: () => [],
    }[segmentChoice.marks];
    return [...order, ...marks()];
  }

  #add() {
    const first = this.list.children.length;
    this.list.append(...this.shown.slice(first, first + SEGMENTS_AT_ONCE).map((segment) => this.#segment(segment)));
    const left = this.shown.length - this.list.children.length;
    this.more.hidden = left === 0;
    this.more.textContent = `Show ${Math.min(left, SEGMENTS_AT_ONCE)} more (${formatCount(left)} left)`;
  }

  /** Add segments, and move the focus to the first of them. */
  #showMore() {
    const first = this.list.children.length;
    this.#add();
    this.list.children[first].querySelector("h3").focus({ preventScroll: true });
  }

  #segment({ index, difference }) {
    const [system, baseline] = this.pair;
    const change = difference === null ? null : ["Δ ", h("span", { class: sideOf(this.view, difference) }, formatDifference(difference, this.view))];
    return h(
      "li",
      {},
      h("h3", { tabindex: -1 }, this.#name(index), change && h("span", { class: "change" }, ...change)),
      ...this.#source(index),
      ...this.#references(index),
      h("div", { class: "outputs" }, ...this.#outputs(index, [baseline, system])),
    );
  }

  #name(index) {
    const id = this.texts.documents?.[index];
    return `Segment ${formatCount(index + 1)}${id === undefined ? "" : `, ${visible(id)}`}`;
  }

  #source(index) {
    const text = this.texts.source?.[index] ?? null;
    return text === null ? [] : [h("div", { class: "source" }, h("h4", {}, "Source"), textBlock([text]))];
  }

  #references(index) {
    const references = this.texts.references[index];
    return references.flatMap((text, position) =>
      text === null
        ? []
        : [h("div", { class: "source" }, h("h4", {}, references.length > 1 ? `Reference ${position + 1}` : "Reference"), textBlock([text]))],
    );
  }

  /** The outputs of the baseline and the system, with marks. */
  #outputs(index, names) {
    const outputs = names.map((name) => this.texts.systems[name][index]);
    const nodes = {
      outputs: () => markedPair(...outputs),
      reference: () => outputs.map((output) => markedNodes(closestReference(this.texts.references[index], output).words)),
      none: () => outputs.map((output) => [output]),
    }[segmentChoice.marks]();
    return names.map((name, position) => {
      const score = segmentScores(this.view, name)?.[index];
      const shown = score === undefined ? null : score === null ? "no score" : formatScore(score, this.view);
      const heading = h("h4", {}, h("bdi", {}, shownName(name)), shown && h("span", { class: "score" }, shown));
      return h("div", {}, heading, textBlock(outputs[position].trim() || segmentChoice.marks === "reference" ? nodes[position] : []));
    });
  }
}

/** A control after its label. */
function labelled(control) {
  return h("label", { class: "field" }, h("span", { class: "hint", "aria-hidden": "true" }, control.getAttribute("aria-label")), control);
}

let segmentList = null;

addSection({
  id: "segments",
  applies: () => comparisons.some((each) => each.texts),
  render(view, element) {
    segmentList = null;
    if (!view.document.texts) {
      element.replaceChildren(h("p", { class: "hint" }, "The average over test sets has no segments of its own: choose a test set."));
      return;
    }
    withTexts(view, element, () => {
      segmentList = new SegmentList(view, element);
      if (state.pair) this.selected(view, view.pair(...state.pair));
    });
  },
  selected: (view, pair) => segmentList?.select(pair),
});
