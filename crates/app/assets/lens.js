// The handles on the lens page: counts, measures and changed results follow them at once, out of
// numbers and rows that the server made. When a handle rests, the server renders the results exactly
// and keeps the draft.

import { refresh, whenQuiet } from "./fragment.js";
import { labelAt, relabel, Sample } from "./lens-rows.js";

/**
 * Counts by whole percent: of all results, and, by the label that they have now, of those that no
 * other column changes.
 *
 * @typedef {{ all: number[], alone: number[][], always: number }} Moves
 */
/** @typedef {import("./lens-rows.js").Cutoffs} Cutoffs */

/** The range of the handles in percent; the numbers beside them take any cutoff. */
const [LOWEST, HIGHEST] = [5, 95];
/** The width of Unsure in percent from which its name has room in the line of the others. */
const ROOM = 22;
const format = new Intl.NumberFormat("en");

const form = document.getElementById("lens");
const preview = document.getElementById("preview");
if (form instanceof HTMLFormElement && preview) {
  const panel = document.getElementById("cutoffs");
  const ask = keepWhenQuiet(form, preview);
  form.addEventListener("input", ask);
  for (const button of form.querySelectorAll('button[value="preview"]:not(.unseen), button[value="choose"]')) {
    if (button instanceof HTMLElement) button.hidden = true;
  }
  const chooser = form.querySelector("#column");
  chooser?.addEventListener("change", () => press(form, "choose"));
  if (panel) follow(panel, form, preview);
}

/**
 * Keeps the draft whenever typing or a handle rests, and before a button sends it: a button's draft
 * would be older than one that is still on its way. One request at a time, so that each knows the
 * revision of the draft that the one before it kept.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement} preview
 * @returns {() => void} to call with every change
 */
function keepWhenQuiet(form, preview) {
  let isLeaving = false;
  /** @type {Promise<void> | null} */
  let underWay = null;
  const soon = whenQuiet(async () => {
    while (underWay) await underWay;
    if (isLeaving) return;
    const mine = rest(form, preview).finally(() => {
      if (underWay === mine) underWay = null;
    });
    underWay = mine;
  }, 250);
  form.addEventListener("submit", (event) => {
    isLeaving = true;
    if (!underWay) return;
    event.preventDefault();
    void underWay.finally(() => form.requestSubmit(event.submitter));
  });
  return () => {
    isLeaving = false;
    soon();
  };
}

/**
 * Sends the form as if a button with this value was pressed.
 *
 * @param {HTMLFormElement} form
 * @param {string} act
 */
function press(form, act) {
  const button = form.querySelector(`button[value="${act}"]`);
  if (button instanceof HTMLButtonElement) form.requestSubmit(button);
}

/**
 * Gets the exact results of the draft, which the server keeps.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement} preview
 */
async function rest(form, preview) {
  if (!(await refresh(form, form.dataset.preview ?? "", preview))) return;
  const kept = document.getElementById("kept");
  const draft = form.querySelector("[name=draft]");
  if (kept && draft instanceof HTMLInputElement) {
    draft.value = kept.dataset.draft ?? draft.value;
    const drafted = document.getElementById("drafted");
    const at = document.getElementById("drafted-at");
    if (drafted && at) {
      drafted.hidden = false;
      at.textContent = "just now";
    }
  }
  showFaults(form, preview);
  const changed = preview.querySelector("[data-count=changed]")?.textContent;
  if (changed) write("changed", changed);
}

/**
 * Puts the faults of a fragment beside their inputs, and takes back those that are mended.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement} preview
 */
function showFaults(form, preview) {
  for (const input of form.querySelectorAll("[data-cutoff]:not([type=hidden])")) {
    const field = input.closest(".field");
    field?.querySelector(".fault")?.remove();
    input.removeAttribute("aria-invalid");
    // with one cutoff, the lens file has it as the end of No
    const isOne = form.querySelector("[data-one]") !== null;
    const path = isOne ? input.id.replace("yes_from", "no_below") : input.id;
    const fault = preview.querySelector(`[data-path="${input.id}"], [data-path="${path}"]`);
    if (!fault || !field) continue;
    fault.id = `${input.id}-fault`;
    input.setAttribute("aria-invalid", "true");
    field.append(fault);
  }
}

/**
 * Links the handles with the numbers beside them, and draws what they say.
 *
 * @param {HTMLElement} panel
 * @param {HTMLFormElement} form
 * @param {HTMLElement} preview
 */
function follow(panel, form, preview) {
  const numbers = inputs(panel);
  if (!numbers) return;
  const one = panel.querySelector("[data-one]");
  const handles = ["no_below", "yes_from"].map((name) => panel.querySelector(`[data-handle="${name}"]`));
  /** One cutoff has one number and one handle, and the end of No follows it. */
  const together = () => {
    const [low, high] = numbers;
    if (!(one instanceof HTMLInputElement) || !low || !high) return;
    low.value = high.value;
    one.value = high.value;
  };
  /** @type {Moves | null} */
  const moves = panel.dataset.moves ? JSON.parse(panel.dataset.moves) : null;
  const measured = panel.querySelector("[data-measures]");
  /** @type {Record<string, (string[] | null)[]> | null} */
  const measures = measured instanceof HTMLElement ? JSON.parse(measured.dataset.measures ?? "null") : null;
  const sample = new Sample(form, panel);
  const draw = () => {
    performance.mark("lens-begin");
    const cutoffs = read(numbers);
    if (moves) counts(panel, cutoffs, moves);
    if (measures) measure(panel, cutoffs, measures);
    bands(panel, cutoffs);
    zones(panel, cutoffs);
    if (form.querySelector("[name=show]")) relabel(preview, cutoffs);
    else sample.show(preview, cutoffs);
    link(cutoffs);
    performance.measure("lens", "lens-begin");
  };
  for (const place of [0, 1]) {
    const [number, handle] = [numbers[place], handles[place]];
    if (!number) continue;
    number.addEventListener("input", () => {
      if (handle instanceof HTMLInputElement) handle.value = number.value;
      together();
      draw();
    });
    if (!(handle instanceof HTMLInputElement)) continue;
    handle.hidden = false;
    handle.addEventListener("focus", () => void sample.load());
    handle.addEventListener("pointerenter", () => void sample.load());
    handle.addEventListener("input", () => {
      const percent = Math.round(Number(handle.value));
      number.value = String(Math.min(HIGHEST, Math.max(LOWEST, percent)));
      handle.value = number.value;
      if (one) together();
      else keepOrder(numbers, handles, place);
      draw();
    });
  }
}

/**
 * @param {HTMLElement} panel
 * @returns {HTMLInputElement[] | null} the inputs of where No ends and where Yes begins
 */
function inputs(panel) {
  const found = ["no_below", "yes_from"].map((name) => panel.querySelector(`[data-cutoff="${name}"]`));
  const all = found.filter((input) => input instanceof HTMLInputElement);
  return all.length === 2 ? all : null;
}

/**
 * Pushes the other cutoff along: where No ends never lies above where Yes begins.
 *
 * @param {HTMLInputElement[]} numbers
 * @param {(Element | null)[]} handles
 * @param {number} moved
 */
function keepOrder(numbers, handles, moved) {
  const [low, high] = numbers;
  if (!low || !high || Number(low.value) <= Number(high.value)) return;
  const value = numbers[moved]?.value ?? "";
  for (const input of [numbers[1 - moved], handles[1 - moved]]) {
    if (input instanceof HTMLInputElement) input.value = value;
  }
}

/**
 * @param {HTMLInputElement[]} numbers
 * @returns {Cutoffs} in percent
 */
function read(numbers) {
  const noBelow = Math.min(100, Math.max(0, Number(numbers[0]?.value || 50)));
  const yesFrom = Math.min(100, Math.max(noBelow, Number(numbers[1]?.value || noBelow)));
  return { noBelow, yesFrom };
}

/**
 * @param {HTMLElement} panel
 * @param {Cutoffs} cutoffs
 * @param {Moves} moves
 */
function counts(panel, cutoffs, moves) {
  const labels = [0, 0, 0];
  let all = 0;
  moves.all.forEach((count, percent) => {
    const label = labelAt(percent, cutoffs);
    labels[label] = (labels[label] ?? 0) + count;
    all += count;
  });
  ["no", "unsure", "yes"].forEach((name, place) => {
    const count = labels[place] ?? 0;
    write(name, format.format(count));
    const share = panel.querySelector(`[data-share="${name}"]`);
    if (share && all) share.textContent = `${((100 * count) / all).toFixed(1)} %`;
  });
  let changed = moves.always;
  moves.alone.forEach((histogram, now) =>
    histogram.forEach((count, percent) => (changed += labelAt(percent, cutoffs) === now ? 0 : count)),
  );
  write("changed", format.format(changed));
}

/**
 * Shows the measures that the server computed for these percents.
 *
 * @param {HTMLElement} panel
 * @param {Cutoffs} cutoffs
 * @param {Record<string, (string[] | null)[]>} measures
 */
function measure(panel, cutoffs, measures) {
  for (const row of panel.querySelectorAll("[data-measure]")) {
    const name = row.getAttribute("data-measure") ?? "";
    const percent = Math.ceil(name === "no_precision" ? cutoffs.noBelow : cutoffs.yesFrom);
    const cells = measures[name]?.[percent] ?? [];
    row.querySelectorAll("td").forEach((cell, place) => {
      (cell.firstElementChild ?? cell).textContent = cells[place] ?? "";
    });
  }
}

/**
 * @param {string} name
 * @param {string} text
 */
function write(name, text) {
  for (const element of document.querySelectorAll(`[data-count="${name}"]`)) element.textContent = text;
}

/**
 * @param {HTMLElement} panel
 * @param {Cutoffs} cutoffs
 */
function bands(panel, { noBelow, yesFrom }) {
  /** @param {string} selector @param {Record<string, number>} values */
  const set = (selector, values) => {
    const element = panel.querySelector(`.histogram ${selector}`);
    for (const [name, value] of Object.entries(values)) element?.setAttribute(name, String(value));
  };
  set(".no", { width: noBelow });
  set(".unsure", { x: noBelow, width: yesFrom - noBelow });
  set(".yes", { x: yesFrom, width: 101 - yesFrom });
  set(".no-below", { x1: noBelow, x2: noBelow });
  set(".yes-from", { x1: yesFrom, x2: yesFrom });
}

/**
 * Moves the names of the labels and the values of the cutoffs, which the handles speak too.
 *
 * @param {HTMLElement} panel
 * @param {Cutoffs} cutoffs
 */
function zones(panel, { noBelow, yesFrom }) {
  const band = yesFrom - noBelow;
  /** @param {string} selector @param {number} percent */
  const place = (selector, percent) => {
    const element = panel.querySelector(`.zones ${selector}`);
    element?.setAttribute("x", `${(percent / 1.01).toFixed(2)}%`);
    return element;
  };
  place(".no", noBelow);
  place(".yes", yesFrom);
  const unsure = place(".unsure", noBelow + band / 2);
  unsure?.setAttribute("y", band < ROOM ? "2.4em" : "1.2em");
  unsure?.setAttribute("display", band > 0 ? "inline" : "none");
  for (const [name, percent] of Object.entries({ no_below: noBelow, yes_from: yesFrom })) {
    const text = `${Math.round(percent * 10) / 10} %`;
    const value = place(`.value.${name}`, percent);
    const handle = panel.querySelector(`[data-handle="${name}"]`);
    if (value) value.textContent = text;
    value?.setAttribute("display", handle ? "inline" : "none");
    handle?.setAttribute("aria-valuetext", `${text}: ${handle.getAttribute("data-meaning") ?? ""}`);
  }
}

/** @param {Cutoffs} cutoffs */
function link({ noBelow, yesFrom }) {
  const shown = document.getElementById("draft-link");
  if (!(shown instanceof HTMLAnchorElement)) return;
  const address = new URL(shown.href);
  address.searchParams.set("no_below", String(noBelow / 100));
  address.searchParams.set("yes_from", String(yesFrom / 100));
  shown.href = address.href;
}
