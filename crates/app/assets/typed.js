// Keeps what is typed into a form until it is sent, for Back and for a reload. It is kept in this
// tab of the browser only, and goes with signing out. Forms whose draft the server keeps, and
// passwords, are left out.

const KEPT = "typed:";

document.addEventListener("input", (event) => {
  const input = event.target;
  if (!isText(input)) return;
  const key = keyOf(input);
  if (input.value === input.defaultValue) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, input.value);
});

// a form that is on its way is no longer typed; after signing out nobody finds anything here
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return;
  if (form.getAttribute("action") === "/sign-out") sessionStorage.clear();
  clearTyped(form);
});

/**
 * Drops what is kept of a form, because it was sent.
 *
 * @param {HTMLFormElement} form
 */
export function clearTyped(form) {
  for (const input of form.elements) if (isText(input)) sessionStorage.removeItem(keyOf(input));
}

const [entry] = performance.getEntriesByType("navigation");
if (entry instanceof PerformanceNavigationTiming && ["reload", "back_forward"].includes(entry.type)) {
  for (const form of document.forms) for (const input of form.elements) if (isText(input)) restore(input);
}

/** @param {HTMLInputElement | HTMLTextAreaElement} input */
function restore(input) {
  const kept = sessionStorage.getItem(keyOf(input));
  if (kept === null || input.value !== input.defaultValue) return;
  input.value = kept;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * @param {EventTarget | Element | null} input
 * @returns {input is HTMLInputElement | HTMLTextAreaElement}
 */
function isText(input) {
  const isLine = input instanceof HTMLInputElement && ["text", "email", "search", "number", "date"].includes(input.type);
  if (!isLine && !(input instanceof HTMLTextAreaElement)) return false;
  return input.form?.method === "post" && input.form.autocomplete !== "off" && input.name !== "";
}

/** @param {HTMLInputElement | HTMLTextAreaElement} input */
function keyOf(input) {
  return `${KEPT}${location.pathname}${location.search} ${input.form?.getAttribute("action") ?? ""} ${input.name}`;
}
