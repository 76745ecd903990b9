// Word differences between two texts.

// In scripts without spaces between words, each character with its combining marks is a word.
const UNSPACED = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"].map((name) => `\\p{scx=${name}}`).join("");
const LETTERS = `(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_])+`;
const TOKEN = new RegExp(`\\s+|[${UNSPACED}]\\p{M}*|${LETTERS}(?:['’]${LETTERS})*|[^]\\p{M}*`, "gu");
// Texts with more edits are too slow to align. Everything between their common prefix and suffix is then marked.
const MOST_EDITS = 1000;

/** The words of a text as {text, after}, where after is the white space that follows. Joined, they are the text. */
function wordsOf(text) {
  const words = [];
  for (const token of text.match(TOKEN) ?? []) {
    if (/\S/u.test(token)) words.push({ text: token, after: "" });
    else if (words.length) words.at(-1).after = token;
    else words.push({ text: "", after: token });
  }
  return words;
}

/** For each word of the first list, the position of the aligned word in the second list, or -1. */
function alignedWords(first, second) {
  const a = first.map((word) => word.text);
  const b = second.map((word) => word.text);
  const partner = new Int32Array(a.length).fill(-1);
  let start = 0;
  let [endOfA, endOfB] = [a.length, b.length];
  while (start < endOfA && start < endOfB && a[start] === b[start]) {
    partner[start] = start;
    start += 1;
  }
  while (endOfA > start && endOfB > start && a[endOfA - 1] === b[endOfB - 1]) {
    endOfA -= 1;
    endOfB -= 1;
    partner[endOfA] = endOfB;
  }
  for (const [x, y] of commonPairs(a.slice(start, endOfA), b.slice(start, endOfB))) partner[start + x] = start + y;
  return partner;
}

/** The positions of a longest common subsequence (Myers 1986), or none if there are more than MOST_EDITS edits. */
function commonPairs(a, b) {
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const furthest = new Int32Array(2 * most + 3); // by diagonal x - y, from -most - 1
  const at = (diagonal) => diagonal + most + 1;
  const before = []; // the furthest points before each number of edits
  for (let edits = 0; edits <= most; edits += 1) {
    before.push(furthest.slice(at(-edits - 1), at(edits + 1) + 1));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = diagonal === -edits || (diagonal !== edits && furthest[at(diagonal - 1)] < furthest[at(diagonal + 1)]);
      let x = down ? furthest[at(diagonal + 1)] : furthest[at(diagonal - 1)] + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      furthest[at(diagonal)] = x;
      if (x >= a.length && x - diagonal >= b.length) return tracedBack(before, a.length, b.length);
    }
  }
  return [];
}

/** The aligned positions on the way from the ends of both lists back to their beginnings. */
function tracedBack(before, endOfA, endOfB) {
  const pairs = [];
  let [x, y] = [endOfA, endOfB];
  for (let edits = before.length - 1; edits >= 0; edits -= 1) {
    const furthest = (diagonal) => before[edits][diagonal + edits + 1];
    const diagonal = x - y;
    const down = diagonal === -edits || (diagonal !== edits && furthest(diagonal - 1) < furthest(diagonal + 1));
    const from = down ? diagonal + 1 : diagonal - 1;
    const [previousX, previousY] = edits ? [furthest(from), furthest(from) - from] : [0, 0];
    const [stepX, stepY] = edits ? [previousX + (down ? 0 : 1), previousY + (down ? 1 : 0)] : [0, 0];
    while (x > stepX && y > stepY) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
    [x, y] = [previousX, previousY];
  }
  return pairs;
}

/** Words as nodes. Neighbours with the same mark (a tag, or null) share one element. */
function markedNodes(words) {
  const nodes = [];
  for (let first = 0, end = 0; first < words.length; first = end) {
    const { mark } = words[first];
    for (end = first + 1; end < words.length && words[end].mark === mark; end += 1);
    const text = words.slice(first, end).map((word) => word.text + word.after).join("");
    const { after } = words[end - 1];
    const marked = text.slice(0, text.length - after.length); // empty for white space before the first word
    if (mark && marked) nodes.push(h(mark, {}, marked), after);
    else nodes.push(text);
  }
  return nodes;
}

/** Two texts as nodes. Words that the other text lacks are marked: by <del> in the first, by <ins> in the second. */
function markedPair(first, second) {
  const [a, b] = [wordsOf(first), wordsOf(second)];
  const partner = alignedWords(a, b);
  const kept = new Set(partner);
  return [
    markedNodes(a.map((word, position) => ({ ...word, mark: partner[position] < 0 ? "del" : null }))),
    markedNodes(b.map((word, position) => ({ ...word, mark: kept.has(position) ? null : "ins" }))),
  ];
}

/** The edits from a reference to a text: {words, edits}. Words only in the reference are marked by <del>, words only in the text by <ins>. */
function editsFrom(reference, text) {
  const [a, b] = [wordsOf(reference), wordsOf(text)];
  const words = [];
  let next = 0;
  const insertUntil = (end) => {
    for (; next < end; next += 1) words.push({ ...b[next], mark: "ins" });
  };
  alignedWords(a, b).forEach((position, index) => {
    if (position < 0) {
      words.push({ ...a[index], mark: "del" });
      return;
    }
    insertUntil(position);
    words.push({ ...b[position], mark: null });
    next = position + 1;
  });
  insertUntil(b.length);
  return { words, edits: words.filter((word) => word.mark).length };
}
