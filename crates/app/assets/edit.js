// The form of a prism without reloads: the server changes the form, this script puts it into place.

import { addHandles } from "./drag.js";
import { showFaults } from "./faults.js";
import { refresh, whenQuiet } from "./fragment.js";

const found = document.getElementById("edit");
if (found instanceof HTMLFormElement) begin(found);

/** @param {HTMLFormElement} form */
function begin(form) {
  let isChanged = form.hasAttribute("data-changed");
  /** Whether something was typed after the form was sent to be changed. */
  let isTypedMeanwhile = false;
  let isPressing = false;
  /** Ids of inputs that somebody typed into, and of lists that were changed: problems are shown only
   * there while typing. */
  /** @type {Set<string>} */
  let touched = new Set();

  const check = whenQuiet(async () => {
    const place = document.getElementById("state");
    if (!place || !(await refresh(form, `${form.action}/check`, place))) return;
    const used = document.activeElement?.id ?? "";
    const before = faultBeside(used);
    showFaults(form, touched);
    const after = faultBeside(used);
    if (after && after !== before) say(after);
  }, 400);

  form.addEventListener("input", (event) => {
    isChanged = true;
    isTypedMeanwhile = true;
    if (event.target instanceof Element) touched.add(event.target.id);
    check();
  });

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    const value = button instanceof HTMLButtonElement ? button.value : "";
    if (value === "refresh") {
      // the enter key in a line of text
      event.preventDefault();
      check();
    } else if (value.includes(".")) {
      event.preventDefault();
      void press(value);
    } else {
      isChanged = false;
    }
  });

  window.addEventListener("beforeunload", (event) => {
    if (isChanged) event.preventDefault();
  });

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

  /**
   * Lets the server do what a button says, and puts the changed form into place. Buttons that are
   * pressed meanwhile do nothing: their places may be others by then.
   *
   * @param {string} value
   * @param {string} [input] end of the id of the input that is used, within the item that moves
   */
  async function press(value, input = "") {
    if (isPressing) return;
    isPressing = true;
    const used = document.activeElement?.id ?? "";
    const changed = await changedForm(value);
    isPressing = false;
    if (changed === null) return;
    form.innerHTML = changed;
    isChanged = true;
    touched = followed(touched, value);
    addHandles(form, press);
    showFaults(form, touched);
    const next = form.querySelector("[autofocus]") ?? document.getElementById(used);
    const item = next?.closest("[data-item]")?.getAttribute("data-item");
    const same = input && item ? document.getElementById(item + input) : null;
    const focused = same ?? next;
    if (focused instanceof HTMLElement) focused.focus();
    say(document.getElementById("acted")?.textContent ?? "");
  }

  /**
   * The inside of the form after a button; null when the page is left, because the server refused.
   *
   * @param {string} value
   */
  async function changedForm(value) {
    try {
      for (;;) {
        isTypedMeanwhile = false;
        const body = new URLSearchParams();
        for (const [name, text] of new FormData(form)) if (typeof text === "string") body.append(name, text);
        body.set("act", value);
        body.set("fragment", "1");
        const reply = await fetch(form.action, { method: "POST", body });
        if (!reply.ok) throw new Error();
        const changed = await reply.text();
        // what was typed while the form was away is sent too
        if (!isTypedMeanwhile) return changed;
      }
    } catch {
      // the pressed button does the same with a reload, which shows what was refused
      isChanged = false;
      const pressed = document.createElement("input");
      pressed.type = "hidden";
      pressed.name = "act";
      pressed.value = value;
      form.append(pressed);
      form.submit();
      return null;
    }
  }
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
