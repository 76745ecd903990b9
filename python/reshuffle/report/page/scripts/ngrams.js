// Words and n-grams of the references that one system of the selected pair has more often than the other.

const LONGEST_NGRAM = 4;
const NGRAMS_SHOWN = 20;
let ngramLength = 1;

/** How often each n-gram of a text occurs. */
function ngramCounts(text, n) {
  const words = wordsOf(text).map((word) => word.text).filter(Boolean);
  const counts = new Map();
  for (let start = 0; start + n <= words.length; start += 1) {
    const ngram = words.slice(start, start + n).join(" ");
    counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
  }
  return counts;
}

/** The n-grams of the references of each segment, with the largest number of occurrences in one of them. */
function referenceNgrams(texts, n) {
  texts.ngrams ??= new Map();
  if (!texts.ngrams.has(n)) {
    const most = (references) => {
      const found = new Map();
      for (const text of references.filter((each) => each !== null)) {
        for (const [ngram, count] of ngramCounts(text, n)) found.set(ngram, Math.max(count, found.get(ngram) ?? 0));
      }
      return found;
    };
    texts.ngrams.set(n, texts.references.map(most));
  }
  return texts.ngrams.get(n);
}

/** The n-grams of the references that one output has more often than the other, each counted at most as often as in a reference. */
function matchedNgrams(texts, pair, n) {
  const found = new Map();
  referenceNgrams(texts, n).forEach((most, index) => {
    const [first, second] = pair.map((name) => texts.systems[name][index]);
    if (first === second) return;
    const [a, b] = [ngramCounts(first, n), ngramCounts(second, n)];
    for (const [ngram, count] of most) {
      const difference = Math.min(count, a.get(ngram) ?? 0) - Math.min(count, b.get(ngram) ?? 0);
      if (difference === 0) continue;
      const { system, baseline } = found.get(ngram) ?? { system: 0, baseline: 0 };
      found.set(ngram, { system: system + Math.max(0, difference), baseline: baseline + Math.max(0, -difference) });
    }
  });
  return [...found].map(([ngram, { system, baseline }]) => ({ ngram, system, baseline, net: system - baseline }));
}

function fillNgrams(view, pair, element) {
  const found = matchedNgrams(view.document.texts, pair, ngramLength);
  const lengths = Array.from({ length: LONGEST_NGRAM }, (_, index) => index + 1);
  const choose = (event) => {
    ngramLength = Number(event.target.value);
    fillNgrams(view, pair, element);
    element.querySelector("select").focus();
  };
  const options = lengths.map((n) => h("option", { value: n, selected: n === ngramLength }, n === 1 ? "Words" : `${n}-grams`));
  const choice = h("label", { class: "field" }, h("span", { class: "hint" }, "Length"), h("select", { onchange: choose }, ...options));
  const names = pair.map(shownName);
  const tables = [1, -1].map((side) => {
    const ranked = sortedBy(found.filter(({ net }) => net * side > 0), ({ net }) => net * side, DESCENDING).slice(0, NGRAMS_SHOWN);
    const [one, other] = side > 0 ? names : [...names].reverse();
    const rows = ranked.map(({ ngram, system, baseline }) => [visible(ngram), ...(side > 0 ? [system, baseline] : [baseline, system]).map(formatCount)]);
    const title = `Matched more often by ${one} than by ${other}`;
    return dataTable(title, [ngramLength === 1 ? "Word" : "N-gram", "Only this system", "Only the other"], rows);
  });
  const hint = "How often only one of the two outputs of a segment matches the reference; counts are clipped as in BLEU.";
  element.replaceChildren(h("p", { class: "controls" }, choice), h("p", { class: "hint" }, hint), h("div", { class: "tables" }, ...tables));
}

// Counting takes longer than the rest of what follows a click on a pair, so it waits until the reader comes here.
const fillSeen = (view, pair, element) => whenSeen(element, () => fillNgrams(view, pair, element));
addTextSection({ id: "ngrams", applies: () => true, fill: fillSeen });
