// Tabs of test sets and metrics, the list of sections, and the address, which stores the state.

/** A list of tabs. Arrow keys, Home and End choose the tab that they move to. */
function tabList(label, names, chosen, choose) {
  const tabs = names.map((name, position) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        "aria-controls": "view",
        "aria-selected": String(position === chosen),
        tabindex: position === chosen ? 0 : -1,
        onclick: () => choose(position),
      },
      name,
    ),
  );
  const list = h("div", { class: "tablist", role: "tablist", "aria-label": label }, ...tabs);
  list.addEventListener("keydown", (event) => {
    const position = tabs.indexOf(document.activeElement);
    const last = tabs.length - 1;
    const next = { ArrowLeft: position ? position - 1 : last, ArrowRight: position < last ? position + 1 : 0, Home: 0, End: last }[event.key];
    if (next === undefined || position < 0) return;
    event.preventDefault();
    tabs[next].click();
    tabs[next].focus();
  });
  /** Mark the chosen tab. */
  const mark = (position) => {
    tabs.forEach((tab, each) => {
      tab.setAttribute("aria-selected", String(each === position));
      tab.tabIndex = each === position ? 0 : -1;
    });
    // If the list is too wide, scroll the list and not the page.
    const { offsetLeft, offsetWidth } = tabs[position];
    const start = offsetLeft - list.offsetLeft;
    list.scrollLeft = Math.min(start, Math.max(list.scrollLeft, start + offsetWidth - list.clientWidth));
  };
  return { list, mark };
}

/** Of the tables of scores on each test set, mark the column of the chosen one, and show the table of the chosen metric. All are on paper. */
function addTablesOfSets() {
  const tables = [...document.querySelectorAll("#of-sets .tables > div")];
  const metrics = comparisons[0].metrics.map((each) => visible(each.name));
  watchers.push(() => {
    for (const row of document.querySelectorAll("#of-sets tr")) {
      [...row.cells].forEach((cell, column) => cell.classList.toggle("chosen", column === state.comparison + 1));
    }
  });
  if (tables.length < 2) return;
  const hint = h("p", { class: "hint" });
  byId("of-sets").append(hint);
  watchers.push(() => {
    tables.forEach((table, metric) => table.classList.toggle("unchosen", metric !== state.metric));
    hint.textContent = `The tabs above have this table for ${metrics.filter((_, metric) => metric !== state.metric).join(", ")}, too.`;
  });
}

function addTabs() {
  const kinds = [];
  const add = (key, label, names, choose) => {
    if (names.length > 1) kinds.push({ key, label, ...tabList(label, names, state[key], choose) });
  };
  add("comparison", "Test set", comparisons.map((each) => visible(each.name ?? "")), (position) => showView(position, state.metric));
  add("metric", "Metric", comparisons[0].metrics.map((each) => visible(each.name)), (position) => showView(state.comparison, position));
  for (const { label, list } of kinds) {
    byId("tabs").append(h("div", { class: "tabs" }, h("span", { class: "hint", "aria-hidden": "true" }, label), list));
  }
  if (kinds.length) {
    created(byId("view"), { role: "tabpanel", "aria-labelledby": "view-name" }, []);
    byId("view-name").classList.remove("unseen");
  }
  watchers.push(() => {
    for (const { key, mark } of kinds) mark(state[key]);
    byId("view-name").textContent = viewName();
    byId("printed").textContent = kinds.length ? printedNote() : "";
  });
}

/** On paper: which of the figures these are, and how to print others. */
function printedNote() {
  const others = comparisons[0].metrics.filter((_, metric) => metric !== state.metric).map((each) => visible(each.name));
  const sets = comparisons.length > 1 ? "test set" : "";
  const what = [sets, ...(others.length ? ["metric"] : [])].filter(Boolean).join(" and ");
  return `The figures and pairs below are those of ${viewName()}, the ${what} chosen on the page: choose another tab to print others. The tables above have all.`;
}

/** The name of the chosen test set and metric. */
function viewName() {
  const view = currentView();
  return [visible(view.setName ?? ""), view.metricName].filter(Boolean).join(", ");
}

/** The state as the fragment of an address, such as metric=BLEU&system=a&baseline=b. */
function stateInAddress() {
  const view = currentView();
  const values = new URLSearchParams();
  if (view.setName !== null) values.set("set", view.setName);
  values.set("metric", view.metric.name);
  if (state.pair) {
    values.set("system", state.pair[0]);
    values.set("baseline", state.pair[1]);
  }
  return values.toString();
}

/** Set the state from the address. Unknown names are ignored. */
function readAddress() {
  const values = new URLSearchParams(location.hash.slice(1));
  const chosen = (names, name, otherwise) => (names.includes(name) ? names.indexOf(name) : otherwise);
  state.comparison = chosen(comparisons.map((each) => each.name ?? null), values.get("set"), state.comparison);
  state.metric = chosen(comparisons[state.comparison].metrics.map((each) => each.name), values.get("metric"), state.metric);
  const pair = [values.get("system"), values.get("baseline")];
  if (currentView().pair(...pair)) state.pair = pair;
}

function keepAddress() {
  watchers.push(() => {
    try {
      history.replaceState(null, "", `#${stateInAddress()}`);
    } catch {
      // Frames without an address of their own, as in notebooks, do not allow this.
    }
  });
  window.addEventListener("hashchange", () => {
    if (location.hash.slice(1) === stateInAddress()) return;
    readAddress();
    showView(state.comparison, state.metric);
  });
}
