// Marks the answers of a result by single keys: digits anywhere, letters where the focus is among the
// answers. Each key is sent at once, in the background.

import { areKeysOn } from "./keys.js";

const form = document.getElementById("marks");
const state = document.getElementById("mark-state");
if (form instanceof HTMLFormElement) begin(form);

/** @param {HTMLFormElement} form */
function begin(form) {
  /** @type {HTMLSelectElement[]} */
  const marks = [...form.querySelectorAll("select")];
  /** Marks before each key, to undo it. @type {{ place: number, value: string }[]} */
  const before = [];
  let current = Math.max(0, marks.findIndex((mark) => mark.value === ""));
  let sending = Promise.resolve();
  show();

  form.addEventListener("focusin", (event) => {
    const place = marks.findIndex((mark) => mark === event.target);
    if (place >= 0) current = place;
    show();
  });
  form.addEventListener("change", () => send());

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowRight") return follow("next");
    if (event.key === "ArrowLeft") return follow("prev");
    const isAmongAnswers = form.contains(document.activeElement);
    if (!areKeysOn() || !(isAmongAnswers || /^[1-9]$/.test(event.key))) return;
    if (press(event.key)) event.preventDefault();
  });

  /**
   * @param {string} key
   * @returns {boolean} whether the key means something here
   */
  function press(key) {
    const mark = marks[current];
    if (key === "u") {
      const last = before.pop();
      if (!last) return true;
      current = last.place;
      set(last.value);
      return true;
    }
    if (!mark) return false;
    if (key === "s") return move();
    const named = { y: "yes", n: "no" }[key];
    const option = /^[1-9]$/.test(key)
      ? mark.options[Number(key)]
      : [...mark.options].find((option) => option.value === named);
    if (!option) return false;
    before.push({ place: current, value: mark.value });
    set(option.value);
    return move();
  }

  function move() {
    current = Math.min(current + 1, marks.length - 1);
    show();
    sectionOf(marks[current])?.focus();
    return true;
  }

  /** @param {string} value */
  function set(value) {
    const mark = marks[current];
    if (mark) mark.value = value;
    show();
    send();
  }

  function show() {
    marks.forEach((mark, place) => sectionOf(mark)?.toggleAttribute("data-current", place === current));
  }

  /** @param {HTMLSelectElement | undefined} mark */
  function sectionOf(mark) {
    return mark?.closest("section");
  }

  function send() {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string") body.append(name, value);
    }
    sending = sending.then(() => save(body));
  }

  /** @param {URLSearchParams} body */
  async function save(body) {
    say("Saving …");
    try {
      const reply = await fetch(form.action, { method: "POST", body });
      say(reply.ok ? "Saved." : "Not saved: press “Save marks” to see why.");
      if (reply.ok) settle(body);
    } catch {
      say("The server could not be reached. Your marks are still here: press “Save marks”.");
    }
  }

  /** What was sent is what the next change is compared with. @param {URLSearchParams} body */
  function settle(body) {
    for (const mark of marks) {
      const was = form.elements.namedItem(mark.name.replace(/^mark\./, "was."));
      if (was instanceof HTMLInputElement) was.value = body.get(mark.name) ?? "";
    }
  }
}

/** @param {string} words */
function say(words) {
  if (state) state.textContent = words;
}

/** @param {"next" | "prev"} where */
function follow(where) {
  const link = document.querySelector(`main a[rel=${where}]`);
  if (link instanceof HTMLAnchorElement) link.click();
}
