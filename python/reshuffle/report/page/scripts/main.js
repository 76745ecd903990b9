// Starts the page. This script is the last one: all sections have been added.

/** The pair that is selected first, as it is shown: the best system and the baseline, or the next best system it was compared with. */
function firstPair(view) {
  const [best] = view.systems;
  const pairs = view.systems.map((system) => view.pair(best.name, system.name)).filter(Boolean);
  if (!pairs.length) return null;
  const { system, baseline } = view.oriented(pairs.find((pair) => pair.baseline === view.baseline) ?? pairs[0]);
  return [system, baseline];
}

function start() {
  addThemeButton();
  addCopying();
  addSorting();
  addTableCopies();
  addBreaks();
  alignMarks();
  addColumnHints();
  unfoldForPrint();
  state.pair = firstPair(currentView());
  readAddress();
  addTabs();
  addTablesOfSets();
  const linked = addContents();
  watchers.push(() => {
    for (const [section, button] of linked) button.hidden = section.hidden;
  });
  renderAll();
  watchers.forEach((watch) => watch());
  keepAddress();
  addSelectionButton();
}

// Many pairs are compressed.
const packed = comparisons.filter((each) => isDeflated(each.comparisons));
if (packed.length === 0) start();
else {
  const unpack = async (each) => Object.assign(each, { comparisons: await inflated(each.comparisons) });
  const view = byId("view");
  view.setAttribute("aria-busy", "true");
  Promise.all(packed.map(unpack)).then(() => {
    start();
    view.removeAttribute("aria-busy");
  });
}
