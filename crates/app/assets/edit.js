// The form of a prism without reloads: the server keeps and changes the draft, this script puts it
// into place.

import { addHandles } from "./drag.js";
import { showFaults } from "./faults.js";
import { whenQuiet } from "./fragment.js";

const AWAY = "The server could not be reached. What you typed is still here, and is kept as soon as it answers.";
const ENDED = "Your session ended. What you typed is still here: sign in in another tab, come back, and it is kept.";
const TOO_LARGE = "This is larger than the 16 MiB that can be kept. Shorten it: it is on this page only.";
/** Length from which a browser may not go on with a request of a page that is left: 64 KiB, with the
 * headers. */
const OUTLIVES_PAGE = 60_000;
/** Buttons that leave the page. */
const LEAVING = ["review", "save", "check", "trial"];

const found = document.getElementById("edit");
if (found instanceof HTMLFormElement) begin(found);
const before = document.getElementById("before-saving");
if (before instanceof HTMLFormElement) keepNote(before);

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  const button = document.querySelector("#edit button.main, #before-saving button.main");
  if (button instanceof HTMLButtonElement) button.click();
});

/** @param {HTMLFormElement} form */
function begin(form) {
  /** Whether something was typed that is not kept yet. */
  let isTyped = false;
  let isLeaving = false;
  /** The change by a button that is under way.
   *
   * @type {Promise<void> | null} */
  let pressing = null;
  /** The button whose form may leave the page, since the draft is kept. */
  let leaving = "";
  /** @type {Promise<number> | null} */
  let underWay = null;
  /** Ids of inputs that somebody typed into, and of lists that were changed: problems are shown only
   * there while typing. */
  /** @type {Set<string>} */
  let touched = new Set();

  // a page that is left kept everything, and a later request would overtake the next page
  const keepTyped = () => {
    if (isTyped && !leaving) void keep();
  };
  const soon = whenQuiet(keepTyped, 600);
  const later = whenQuiet(keepTyped, 5000);

  form.addEventListener("input", (event) => {
    isTyped = true;
    if (event.target instanceof Element) touched.add(event.target.id);
    soon();
  });

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    const value = button instanceof HTMLButtonElement ? button.value : "";
    if (value === leaving) return;
    event.preventDefault();
    if (value === "refresh") void keep();
    else if (LEAVING.includes(value)) void leave(button);
    else void press(value);
  });

  window.addEventListener("beforeunload", (event) => {
    if (!isTyped || leaving) return;
    event.preventDefault();
    // who leaves all the same finds it in the draft
    void keep();
  });
  window.addEventListener("pageshow", () => (leaving = ""));
  // who comes back may have signed in elsewhere
  window.addEventListener("focus", keepTyped);

  form.addEventListener("keydown", (event) => {
    const change = event.key === "ArrowUp" ? "up" : event.key === "ArrowDown" ? "down" : "";
    const item = event.target instanceof Element ? event.target.closest("[data-item]") : null;
    if (!event.altKey || !change || !item) return;
    event.preventDefault();
    const path = item.getAttribute("data-item") ?? "";
    const button = document.getElementById(`${path}.${change}`);
    if (button instanceof HTMLButtonElement && button.disabled) return;
    const used = event.target instanceof Element ? event.target.id : "";
    void press(`${path}.${change}`, used.startsWith(`${path}.`) ? used.slice(path.length) : "");
  });

  addHandles(form, press);
  showFaults(form, touched);
  dock(false);

  /**
   * Keeps the draft on the server, one request at a time, and shows its problems.
   *
   * @returns {Promise<number>} the status; 0 when the server is away
   */
  async function keep() {
    while (underWay) await underWay;
    underWay = post();
    const status = await underWay;
    underWay = null;
    if (status === 0 || status === 503) later();
    return status;
  }

  async function post() {
    isTyped = false;
    try {
      const body = values(form);
      const keepalive = body.toString().length < OUTLIVES_PAGE;
      const reply = await fetch(`${form.action}/check`, { method: "POST", body, keepalive });
      if (!reply.ok) {
        isTyped = true;
        warn(reply.status === 401 ? ENDED : reply.status === 413 ? TOO_LARGE : AWAY);
        return reply.status;
      }
      show(await reply.text());
      return reply.status;
    } catch {
      isTyped = true;
      warn(AWAY);
      return 0;
    }
  }

  /** @param {string} panel */
  function show(panel) {
    warn("");
    const place = document.getElementById("state");
    if (place) place.innerHTML = panel;
    const revision = document.getElementById("kept")?.dataset["revision"];
    const seen = form.elements.namedItem("revision");
    if (revision && seen instanceof HTMLInputElement) seen.value = revision;
    showKeys(form);
    const used = document.activeElement?.id ?? "";
    const before = faultBeside(used);
    showFaults(form, touched);
    const after = faultBeside(used);
    if (after && after !== before) say(after);
  }

  /**
   * Leaves the page by a button once the draft is kept.
   *
   * @param {HTMLElement | null} button
   */
  async function leave(button) {
    if (isLeaving || !(button instanceof HTMLButtonElement)) return;
    isLeaving = true;
    await pressing;
    const status = await keep();
    isLeaving = false;
    // the page that the server shows to those who must wait or sign in carries the form along
    if (status === 0 || status === 413) return;
    leaving = button.value;
    // the form may have been replaced meanwhile
    const present = form.querySelector(`button[name="act"][value="${leaving}"]`);
    form.requestSubmit(present instanceof HTMLButtonElement ? present : button);
  }

  /**
   * Lets the server do what a button says, and puts the changed form into place. Buttons of items that
   * are pressed meanwhile do nothing: their places may be others by then.
   *
   * @param {string} value
   * @param {string} [input] end of the id of the input that is used, within the item that moves
   */
  async function press(value, input = "") {
    if (pressing || isLeaving) return;
    pressing = change(value, input);
    await pressing;
    pressing = null;
  }

  /**
   * @param {string} value
   * @param {string} input
   */
  async function change(value, input) {
    if (value === "test") say("Asking the model…");
    while (underWay) await underWay;
    const used = document.activeElement?.id ?? "";
    const changed = await changedForm(value);
    if (changed === null) return;
    const isOpen = document.querySelector("#texts[open]") !== null;
    form.innerHTML = changed;
    dock(isOpen);
    warn("");
    touched = followed(touched, value);
    addHandles(form, press);
    showFaults(form, touched);
    const next = form.querySelector("[autofocus]") ?? document.getElementById(used);
    const item = next?.closest("[data-item]")?.getAttribute("data-item");
    const same = input && item ? document.getElementById(item + input) : null;
    const focused = same ?? next;
    if (focused instanceof HTMLElement) focused.focus();
    say(value === "test" ? "Answered." : (document.getElementById("acted")?.textContent ?? ""));
  }

  /**
   * The inside of the form after a button; null when it could not be changed.
   *
   * @param {string} value
   */
  async function changedForm(value) {
    try {
      for (;;) {
        isTyped = false;
        const body = values(form);
        const typed = body.toString();
        body.set("act", value);
        body.set("fragment", "1");
        const reply = await fetch(form.action, { method: "POST", body });
        if (reply.status === 413) {
          warn(TOO_LARGE);
          return null;
        }
        if (!reply.ok) break;
        const changed = await reply.text();
        // what was typed, or filled in by a program, while the form was away is sent too
        if (values(form).toString() === typed) return changed;
      }
    } catch {
      isTyped = true;
      warn(AWAY);
      later();
      return null;
    }
    // the button does it with a reload, which shows what was refused and carries the form along
    leaving = value;
    const pressed = document.createElement("input");
    pressed.type = "hidden";
    pressed.name = "act";
    pressed.value = value;
    form.append(pressed);
    form.submit();
    return null;
  }
}

/**
 * Keeps the note of the page before saving.
 *
 * @param {HTMLFormElement} form
 */
function keepNote(form) {
  const soon = whenQuiet(async () => {
    const body = values(form);
    body.set("act", "note");
    body.set("fragment", "1");
    const reply = await fetch(form.action, { method: "POST", body }).catch(() => null);
    warn(reply?.ok ? "" : AWAY);
  }, 600);
  form.addEventListener("input", soon);
}

/**
 * Opens the test texts and the links to the questions where there is room for them beside the words, or
 * where the texts were open.
 *
 * @param {boolean} isOpen
 */
function dock(isOpen) {
  const isBeside = matchMedia("(min-width: 64rem)").matches;
  for (const id of ["texts", "jumps"]) {
    const found = document.getElementById(id);
    if (found instanceof HTMLDetailsElement) found.open ||= isBeside || (isOpen && id === "texts");
  }
}

/** @param {HTMLFormElement} form */
function values(form) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value);
  return body;
}

/**
 * Shows the keys that new items will get.
 *
 * @param {HTMLFormElement} form
 */
function showKeys(form) {
  for (const made of form.querySelectorAll("#made-keys > [data-path]")) {
    const input = document.getElementById(made.getAttribute("data-path") ?? "");
    if (input instanceof HTMLInputElement) input.placeholder = made.textContent ?? "";
  }
}

/**
 * Shows a warning until it is taken back by an empty one.
 *
 * @param {string} words
 */
function warn(words) {
  const place = document.getElementById("warning");
  if (!place) return;
  place.hidden = !words;
  if (place.textContent !== words) place.textContent = words;
  // what the panel says of the draft is no longer so
  const kept = document.getElementById("kept");
  if (kept) kept.hidden = words !== "";
}

/**
 * Ids after a button has moved or removed an item of a list. The list itself counts as touched.
 *
 * @param {Set<string>} ids
 * @param {string} button
 * @returns {Set<string>}
 */
function followed(ids, button) {
  const parts = /^(.*)\.(\d+)\.(up|down|remove|to\.(\d+))$/.exec(button);
  if (button === "undo") return new Set();
  if (!parts) return button.endsWith(".add") ? new Set([...ids, button.slice(0, -".add".length)]) : ids;
  const [, list = "", place = "", change = "", target = ""] = parts;
  const from = Number(place);
  const to = change === "up" ? from - 1 : change === "down" ? from + 1 : target ? Number(target) : Infinity;
  const moved = [...ids].flatMap((id) => {
    const rest = id.startsWith(`${list}.`) ? id.slice(list.length + 1) : "";
    const end = rest.indexOf(".");
    const was = Number(rest.slice(0, end));
    if (end < 0 || Number.isNaN(was)) return [id];
    if (was === from) return to === Infinity ? [] : [`${list}.${to}${rest.slice(end)}`];
    const is = was - (was > from ? 1 : 0) + (was - (was > from ? 1 : 0) >= to ? 1 : 0);
    return [`${list}.${is}${rest.slice(end)}`];
  });
  return new Set(change === "remove" ? [...moved, list] : moved);
}

/** @param {string} id */
function faultBeside(id) {
  return document.getElementById(`${id}-fault`)?.textContent ?? "";
}

/**
 * Says something to those who do not see what changed.
 *
 * @param {string} words
 */
function say(words) {
  const place = document.getElementById("edit-status");
  if (place) place.textContent = words;
}
