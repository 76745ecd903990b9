// The bar with the sections of the page.

/** Buttons that scroll to the sections. They are not links, because the fragment of the address stores the state. Returns both. */
function addContents() {
  const [list, linked] = [byId("contents"), []];
  for (const section of document.querySelectorAll("main section")) {
    const heading = section.querySelector("h2");
    const button = h("button", { type: "button", onclick: () => goTo(section) }, heading.textContent);
    list.append(button);
    linked.push([section, button]);
  }
  list.hidden = false;
  // The heights of the bars vary with their lines; sticky elements and scroll targets are placed below them.
  for (const [element, name] of [[list, "--contents-height"], [byId("tabs"), "--tabs-height"]]) {
    if (!element) continue;
    const update = () => document.documentElement.style.setProperty(name, `${element.offsetHeight}px`);
    new ResizeObserver(update).observe(element);
  }
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault(); // in the frame of a notebook, the link would load another address
    byId("results").focus();
  });
  return linked;
}

/** Scroll to a section, and move the focus there. */
function goTo(section) {
  const heading = section.querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  section.scrollIntoView({ block: "start" });
}
