// @ts-check
// Answers a text in place: the form stays as it is, and the answer appears beside it.

import { clearTyped } from "./typed.js";

const here = () => location.pathname + location.search;
/** The address of the answer in the page. */
let shown = here();

/** @param {string} words */
function say(words) {
  const progress = document.querySelector("#progress");
  if (progress) progress.textContent = words;
}

/** @param {HTMLFormElement} form @param {boolean} isBusy */
function setBusy(form, isBusy) {
  for (const button of form.querySelectorAll("button")) button.disabled = isBusy;
}

/**
 * Puts a part of a page that came back into this page.
 *
 * @param {Document} page
 * @param {string} part
 */
function take(page, part) {
  const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
  if (!old || !fresh) return false;
  old.replaceWith(document.adoptNode(fresh));
  return true;
}

/**
 * Takes away what was wrong with the text before.
 *
 * @param {HTMLFormElement} form
 */
function forgive(form) {
  for (const fault of form.querySelectorAll(".notice.refused, .fault, [name=empty]")) fault.remove();
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

/** Says how it went and brings the answer into sight, where it is not. */
function show() {
  const answer = document.querySelector("#answer");
  const failure = answer?.querySelector(".notice.refused");
  say(failure ? "No answer: see why beside the text." : "Answered.");
  const heading = answer?.querySelector("h2");
  if (!(heading instanceof HTMLElement) || heading.getBoundingClientRect().top < innerHeight * 0.8) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.scrollIntoView({ block: "start" });
}

/** Says how long the model has been asked. */
function wait() {
  const begin = Date.now();
  say("Asking the model…");
  return setInterval(() => say(`Asking the model… ${Math.round((Date.now() - begin) / 1000)} s`), 5000);
}

/** @param {HTMLFormElement} form @param {HTMLElement | null} submitter */
async function send(form, submitter) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) {
    if (typeof value === "string") body.append(name, value);
  }
  setBusy(form, true);
  const waiting = wait();
  // `form.action` would be the button that is called so
  const address = form.getAttribute("action") ?? location.pathname;
  try {
    const reply = await fetch(address, { method: "POST", body });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    clearInterval(waiting);
    if (form.id === "try" && reply.ok && take(page, "#answer")) {
      // what is sent next is another try
      take(page, "#try [name=form_id]");
      clearTyped(form);
      history.pushState(null, "", reply.url);
      shown = here();
      forgive(form);
      show();
    } else if (form.id === "order-check" && reply.ok && take(page, "#orders")) {
      say("Checked.");
    } else if (take(page, "main")) {
      // a refusal: the page that came back holds what was typed
      const fault =
        document.querySelector("main [aria-invalid=true]") ??
        document.querySelector("main .notice.refused") ??
        document.querySelector("main h1");
      if (fault instanceof HTMLElement) {
        if (!fault.hasAttribute("aria-invalid")) fault.tabIndex = -1;
        fault.focus();
        fault.scrollIntoView({ block: "nearest" });
      }
    }
  } catch {
    say("The server could not be reached. What you typed is still here.");
  } finally {
    clearInterval(waiting);
    setBusy(form, false);
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !["try", "order-check"].includes(form.id)) return;
  event.preventDefault();
  void send(form, event.submitter);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const form = event.target instanceof Element ? event.target.closest("form") : null;
  const button = form?.id === "try" ? form.querySelector("button.main") : null;
  if (form && button instanceof HTMLButtonElement && !button.disabled) {
    event.preventDefault();
    form.requestSubmit(button);
  }
});

addEventListener("popstate", () => {
  // a link within the page leads to no other answer
  if (here() !== shown) location.reload();
});
