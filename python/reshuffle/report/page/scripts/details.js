// The selected pair: its numbers, its null distribution, its caveats and its signature.

/** The rows of the list, [term, value], that apply to the result. */
function detailsOf(view, pair) {
  const { get, test } = pair;
  const [named, alternative] = [test("test") === view.settings.test_name, alternativeOf(pair)];
  const score = (name) => formatScore(view.systems[view.positions.get(name)].score, view);
  const rows = [
    [shownName(pair.system), score(pair.system)],
    [shownName(pair.baseline), score(pair.baseline)],
    ["Difference Δ", formatDifference(pair.difference, view)],
    pair.interval && [`${fixedPercent(pair.interval.confidence_level)}% CI`, formatInterval(pair.interval, view, formatDifference)],
    ...partsOf(view, pair),
    ["p", formatP(pair.pvalue, pair.decimals, view.alpha)],
    view.adjusted && pair.adjusted !== null && ["Adjusted p", formatP(pair.adjusted, pair.decimals, view.alpha)],
    ["Test", named ? view.settings.test : test("test")],
    view.shows ? ["Margin", view.limitText] : ["Alternative", named && alternative === "two-sided" ? view.settings.sides : alternative],
    test("scheme") && ["Null distribution", SCHEMES[test("scheme")] ?? test("scheme")],
    test("exceedances") !== null && [test("tails") === 2 ? "In the smaller tail" : view.shows ? "Beyond the margin" : "At least as extreme", `${formatCount(test("exceedances"))} of ${formatCount(test("n_resamples"))}`],
    test("wins") !== null && [`Draws in which ${shownName(pair.system)} scores higher`, `${formatCount(winsOf(pair))} of ${formatCount(test("n_resamples"))}`],
    test("ties") !== null && ["Draws with equal scores", formatCount(test("ties"))],
    test("standard_error") !== null && ["Standard error", Number(test("standard_error")).toPrecision(4)],
    view.lacksScores && ["Segments", formatCount(get("n_segments"))],
    get("intraclass_correlation") !== null && ["Intraclass correlation", fixed(number(get("intraclass_correlation")), 3)],
    get("exchangeability") !== null && ["SD of shuffles / SE", fixed(number(get("exchangeability").ratio), 2)],
    get("design_effect") !== null && ["Design effect", fixed(number(get("design_effect")), 2)],
  ];
  return rows.filter(Boolean);
}

/** What the parts of the formula contribute to the difference, in the direction in which it is shown. */
function partsOf(view, pair) {
  const sign = pair.reversed ? -1 : 1;
  return (pair.get("contributions") ?? []).map(({ part, difference, confidence_interval: interval }) => {
    const ends = interval && [interval.low, interval.high].map((end) => sign * number(end)).sort((a, b) => a - b);
    const shown = ends ? ` (${ends.map((end) => formatDifference(end, view)).join(" to ")})` : "";
    return [`Δ from ${partName(part)}`, formatDifference(sign * number(difference), view) + shown];
  });
}

/** The name of a part, as in the other reports. */
function partName(part) {
  if (part === "bp") return "brevity penalty";
  return part.startsWith("p_") ? `${part.slice(2)}-gram precision` : part;
}

const SCHEMES = { iid: "Monte Carlo", subgroup: "random subgroup", exact: "exact" };

/** The draws in which the first system as shown scores higher. */
function winsOf(pair) {
  return pair.reversed ? pair.test("n_resamples") - pair.test("wins") - pair.test("ties") : pair.test("wins");
}

/** The result of the test in one sentence. A one-sided test can only show a difference in its direction. */
function verdict(view, pair) {
  if (view.shows) return marginVerdict(view, pair);
  const alternative = alternativeOf(pair);
  const higher = alternative === "two-sided" ? pair.difference > 0 : alternative === "greater";
  const better = higher === view.metric.higher_is_better;
  const one = shownName(pair.system);
  const p = `${view.adjusted ? "adjusted p" : "p"} ${formatPWithSign(pair.decisive, pair.decimals, view.alpha)}`;
  if (!pair.significant) return `Not significant at ${view.alpha}: ${p}.`;
  return `${one} is significantly ${better ? "better" : "worse"} (${p}).`;
}

/** The result of a test with a margin, which never shows that a system is better. */
function marginVerdict(view, pair) {
  const [one, other] = [shownName(pair.system), shownName(pair.baseline)];
  const p = `${view.adjusted ? "adjusted p" : "p"} ${formatPWithSign(pair.decisive, pair.decimals, view.alpha)}`;
  if (view.shows === "equivalence") {
    return `${one} and ${other} are ${pair.significant ? "" : "not shown to be "}equivalent within ${view.limitText} (${p}).`;
  }
  if (pair.significant) return `${one} is not worse than ${other} by ${view.limitText} or more (${p}).`;
  return `${one} is not shown to be non-inferior to ${other}: not worse by ${view.limitText} or more (${p}).`;
}

/** p after an = or <. */
function formatPWithSign(value, decimals, alpha) {
  const text = formatP(value, decimals, alpha);
  return text.startsWith("<") ? `< ${text.slice(1)}` : `= ${text}`;
}

function renderDetails(view, shown, element) {
  const pair = view.oriented(shown);
  // A line may end after each part.
  const parts = visible(pair.test("signature")).split("|").flatMap((part, i) => (i ? ["|", h("wbr"), part] : [part]));
  const signature = h("pre", { id: "pair-signature", tabindex: 0, "aria-label": "Signature of the pair" }, ...parts);
  const kinds = new Set([...pair.get("caveats"), ...pair.test("caveats").map((caveat) => caveat.kind)]);
  const caveats = [...kinds].flatMap((kind) => view.settings.caveats[kind] ?? []);
  element.replaceChildren(
    h("p", { class: "heading" }, h("bdi", {}, shownName(pair.system)), h("span", { class: "versus" }, " vs. "), h("bdi", {}, shownName(pair.baseline))),
    h("p", { class: "verdict" }, verdict(view, pair)),
    drawNull(view, pair, element),
    h("dl", { class: "details" }, ...detailsOf(view, pair).flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)])),
    ...(caveats.length ? [h("ul", { class: "notes" }, ...caveats.map((sentence) => h("li", {}, sentence)))] : []),
    h("div", { class: "copied" }, h("h3", {}, "Signature"), copyButton(signature, "the signature of the pair"), signature),
  );
  const difference = `${shownName(pair.system)} − ${shownName(pair.baseline)}: ${formatDifference(pair.difference, view)}`;
  byId("selection").textContent = `↓ ${difference}, ${pName(pair)} ${formatPWithSign(pair.decisive, pair.decimals, view.alpha)}`;
  announce(`${difference}. ${verdict(view, pair)}`);
}

addSection({
  id: "null",
  applies: (view) => view.pairs.length > 0,
  render: () => {},
  selected: renderDetails,
});

/** In narrow windows, where the details are not next to the figures, a button leads to those of a newly selected pair. */
function addSelectionButton() {
  const button = byId("selection");
  const details = byId("null");
  let [inSight, unseen, last] = [false, false, state.pair];
  const update = () => {
    unseen = (unseen || state.pair !== last) && !inSight;
    last = state.pair;
    button.hidden = details.hidden || !unseen;
  };
  button.addEventListener("click", () => goTo(details));
  watchers.push(update);
  new IntersectionObserver((entries) => {
    inSight = entries.at(-1).isIntersecting;
    update();
  }).observe(details);
}
