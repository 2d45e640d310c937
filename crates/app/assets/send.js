// Sends a form only while the server answers, and only once. What was typed stays on the page until
// then: a browser would put its own error page in its place.

const AWAY = "The server could not be reached. What you typed is still here: send it again in a moment.";
/** Milliseconds after which a form may be sent again, if the page is still there. */
const AGAIN = 10_000;

/** @type {WeakMap<HTMLFormElement, "asking" | "going">} */
const sending = new WeakMap();

document.addEventListener("submit", (event) => {
  const form = event.target;
  // another script sends the form itself
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
  const state = sending.get(form);
  if (state === "asking") {
    sending.set(form, "going");
    return;
  }
  event.preventDefault();
  if (!state) void send(form, event.submitter);
});

addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.forms) sending.delete(form);
  for (const button of document.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
});

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
async function send(form, submitter) {
  sending.set(form, "going");
  show(form, "");
  // on a slow line the pressed button shows that it was pressed
  submitter?.setAttribute("aria-busy", "true");
  try {
    await fetch(import.meta.url, { method: "HEAD", cache: "no-store" });
  } catch {
    sending.delete(form);
    submitter?.removeAttribute("aria-busy");
    show(form, AWAY);
    return;
  }
  sending.set(form, "asking");
  form.requestSubmit(submitter);
  setTimeout(() => {
    sending.delete(form);
    submitter?.removeAttribute("aria-busy");
  }, AGAIN);
}

/**
 * @param {HTMLFormElement} form
 * @param {string} words
 */
function show(form, words) {
  form.querySelector(":scope > .not-sent")?.remove();
  if (!words) return;
  const place = document.createElement("p");
  place.className = "fault not-sent";
  place.setAttribute("role", "alert");
  place.textContent = words;
  form.append(place);
}
