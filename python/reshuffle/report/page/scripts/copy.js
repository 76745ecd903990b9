// Copy buttons.

/** Copy the text of an element, and show on the button whether it worked. */
async function copyText(element, button) {
  const byClipboard = await copiedByClipboard(element.textContent);
  // A text that is only there to be copied is shown where the reader has to do it.
  if (!byClipboard) element.hidden = false;
  const copied = byClipboard || copiedBySelection(element);
  const label = button.textContent;
  button.textContent = copied ? "Copied" : "Press Ctrl+C";
  announce(copied ? "Copied." : "The text is selected: press Ctrl+C to copy it.");
  setTimeout(() => {
    button.textContent = label;
  }, 1600);
}

async function copiedByClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // browsers forbid it in frames, and offer no clipboard to pages without TLS
  }
}

/** Select the text and run the old copy command. If that fails, too, the keyboard can copy the selection. */
function copiedBySelection(element) {
  window.getSelection().selectAllChildren(element);
  return document.execCommand("copy");
}

/** A button that copies the text of an element; `what` names the text for screen readers. */
function copyButton(element, what) {
  const button = h("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", () => copyText(element, button));
  return button;
}

function addCopying() {
  for (const button of document.querySelectorAll("[data-copies]")) {
    button.addEventListener("click", () => copyText(byId(button.dataset.copies), button));
  }
}
