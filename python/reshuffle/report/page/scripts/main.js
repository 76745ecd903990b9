// Starts the page. This script is the last one: all sections have been added.

/** The pair that is selected first: the best system and the baseline or, without one, the next best system it was compared with. */
function firstPair(view) {
  const [best] = view.systems;
  const others = view.systems.map((system) => view.pair(best.name, system.name) && system.name).filter(Boolean);
  return others.length ? [best.name, view.baseline !== null && others.includes(view.baseline) ? view.baseline : others[0]] : null;
}

function start() {
  addThemeButton();
  addCopying();
  addSorting();
  state.pair = firstPair(currentView());
  readAddress();
  addTabs();
  addContents();
  renderAll();
  watchers.forEach((watch) => watch());
  keepAddress();
  addSelectionButton();
}

start();
