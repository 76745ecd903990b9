// The sections of the page and its state: the test set, the metric and the selected pair.

/**
 * A section: {id, applies(view), render(view, element), selected?(view, pair, element)}.
 *
 * element is the body of the section (<section id=…><h2>…</h2><div class="body">). render fills it, whenever the test set or the metric
 * changes. selected is called when a pair is selected, and after render.
 */
const sections = [];
// Figures of more systems take half a second to lay out.
const MANY = 50;

function addSection(section) {
  sections.push(section);
}

const state = { comparison: 0, metric: 0, pair: null };
const views = new Map();
// Functions to call when the test set, the metric or the selected pair changes.
const watchers = [];

/** The view of a test set and a metric. */
function viewOf(comparison, metric) {
  const key = `${comparison} ${metric}`;
  if (!views.has(key)) {
    const chosen = comparisons[comparison];
    views.set(key, new View(chosen, chosen.metrics[metric], settings.views[comparison][metric]));
  }
  return views.get(key);
}

/** The view of the chosen test set and metric. */
function currentView() {
  return viewOf(state.comparison, state.metric);
}

/** Select a pair of systems: figures mark it, and its details are shown. */
function selectPair(system, baseline) {
  if (!currentView().pair(system, baseline)) return;
  state.pair = [system, baseline];
  showSelected();
  watchers.forEach((watch) => watch());
}

/** Show another test set or metric. */
function showView(comparison, metric) {
  state.comparison = comparison;
  state.metric = metric;
  renderAll();
  watchers.forEach((watch) => watch());
}

function showSelected() {
  const view = currentView();
  const pair = state.pair && view.pair(...state.pair);
  if (!pair) return;
  for (const section of sections) {
    if (section.selected && section.applies(view)) section.selected(view, pair, bodyOf(section));
  }
}

function bodyOf(section) {
  return document.querySelector(`#${section.id} > .body`);
}

function renderAll() {
  const view = currentView();
  byId("view").classList.toggle("paired", view.pairs.length > 0);
  byId("view").classList.toggle("many", view.systems.length > MANY);
  for (const section of sections) {
    const applies = section.applies(view);
    byId(section.id).hidden = !applies;
    if (applies) section.render(view, bodyOf(section));
  }
  showSelected();
}
