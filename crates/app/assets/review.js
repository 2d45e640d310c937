// @ts-check
// Marks texts by keyboard: each control that has a key says so in `data-key`. People who speak to the
// computer can switch the keys off.

import { areKeysOn } from "./keys.js";

/** @param {Element | null} target */
function isTyping(target) {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target instanceof Element ? event.target : null;
  if (isTyping(target)) {
    // back to the keys, with the note as it is
    if (event.key === "Escape" || event.key === "Enter") {
      event.preventDefault();
      if (target instanceof HTMLElement) target.blur();
    }
    return;
  }
  const control = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!(control instanceof HTMLElement)) return;
  event.preventDefault();
  if (isTyping(control)) control.focus();
  // a key that is held down judges one text; a form that is on its way is not sent again
  else if (!event.repeat) control.click();
}

if (areKeysOn()) document.addEventListener("keydown", press);
else for (const key of document.querySelectorAll("[data-key] > kbd, label > kbd")) key.remove();
