// Buttons that copy a text of the page.

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const text = document.getElementById(button.dataset.copy ?? "");
  if (!text) continue;
  const words = button.textContent;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    button.textContent = (await copied(text)) ? "Copied" : "Selected: now copy it";
    setTimeout(() => (button.textContent = words), 4000);
  });
  button.hidden = false;
}

/**
 * Copies the text of an element, or selects it where the browser does not let a page copy.
 *
 * @param {Element} element
 * @returns {Promise<boolean>} whether it was copied
 */
async function copied(element) {
  try {
    await navigator.clipboard.writeText(element.textContent ?? "");
    return true;
  } catch {
    // no permission, or a page without TLS
    getSelection()?.selectAllChildren(element);
    return false;
  }
}
