// Creation of elements. Text is always set as text, never as HTML, because names and segments may contain anything.

function created(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An HTML element: h("button", {class: "x", onclick: f}, "text", child). */
function h(tag, attributes = {}, ...children) {
  return created(document.createElement(tag), attributes, children);
}

/** An SVG element. Colours come from classes, positions from attributes: the content security policy forbids style attributes. */
function svg(tag, attributes = {}, ...children) {
  return created(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** The element with an id. */
function byId(id) {
  return document.getElementById(id);
}

/** Announce a sentence to screen readers. */
function announce(sentence) {
  byId("status").textContent = sentence;
}
