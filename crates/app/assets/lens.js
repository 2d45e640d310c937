// Sliders on the lens page: everything follows them at once, out of counts that are in the page. The
// server then renders the preview exactly.

import { refresh, whenQuiet } from "./fragment.js";

/**
 * Counts by whole percent: of all results, and, by the label that they have now, of those that no
 * other column changes.
 *
 * @typedef {{ all: number[], alone: number[][], always: number }} Moves
 */

const LABELS = ["No", "Unsure", "Yes"];
const format = new Intl.NumberFormat("en");

const form = document.getElementById("lens");
const preview = document.getElementById("preview");
if (form instanceof HTMLFormElement && preview) {
  const ask = whenQuiet(() => {
    void refresh(form, form.dataset.preview ?? "", preview);
  }, 250);
  form.addEventListener("input", ask);
  for (const group of form.querySelectorAll(".label-column")) {
    if (group instanceof HTMLElement) follow(group);
  }
}

/**
 * Links the sliders of a column with its numbers, and draws what they say.
 *
 * @param {HTMLElement} group
 */
function follow(group) {
  const numbers = inputs(group, "cutoff");
  const sliders = inputs(group, "slider");
  if (!numbers || !sliders) return;
  /** @type {Moves | null} */
  const moves = group.dataset.moves ? JSON.parse(group.dataset.moves) : null;
  for (const place of [0, 1]) {
    const [number, slider] = [numbers[place], sliders[place]];
    if (!number || !slider) continue;
    slider.hidden = false;
    slider.addEventListener("input", () => {
      number.value = slider.value;
      keepOrder(numbers, sliders, place);
      draw(group, numbers, moves);
    });
    number.addEventListener("input", () => {
      slider.value = number.value;
      draw(group, numbers, moves);
    });
  }
}

/**
 * @param {HTMLElement} group
 * @param {"cutoff" | "slider"} kind
 * @returns {HTMLInputElement[] | null} the inputs of where no ends and where yes begins
 */
function inputs(group, kind) {
  const found = ["no_below", "yes_from"].map((name) => group.querySelector(`[data-${kind}="${name}"]`));
  const all = found.filter((input) => input instanceof HTMLInputElement);
  return all.length === 2 ? all : null;
}

/**
 * Pushes the other cutoff along: where no ends never lies above where yes begins.
 *
 * @param {HTMLInputElement[]} numbers
 * @param {HTMLInputElement[]} sliders
 * @param {number} moved
 */
function keepOrder(numbers, sliders, moved) {
  const [low, high] = numbers;
  if (!low || !high || Number(low.value) <= Number(high.value)) return;
  const other = 1 - moved;
  const value = numbers[moved]?.value ?? "";
  for (const input of [numbers[other], sliders[other]]) if (input) input.value = value;
}

/**
 * @param {HTMLElement} group
 * @param {HTMLInputElement[]} numbers
 * @param {Moves | null} moves
 */
function draw(group, numbers, moves) {
  performance.mark("lens-begin");
  const noBelow = Math.min(100, Math.max(0, Number(numbers[0]?.value || 50)));
  const yesFrom = Math.min(100, Math.max(noBelow, Number(numbers[1]?.value || noBelow)));
  /** @param {number} percent */
  const label = (percent) => (percent < noBelow ? 0 : percent < yesFrom ? 1 : 2);
  if (moves) {
    const counts = [0, 0, 0];
    moves.all.forEach((count, percent) => (counts[label(percent)] = (counts[label(percent)] ?? 0) + count));
    ["no", "unsure", "yes"].forEach((name, place) => say(group, name, counts[place] ?? 0));
    let changed = moves.always;
    moves.alone.forEach((histogram, now) =>
      histogram.forEach((count, percent) => (changed += label(percent) === now ? 0 : count)),
    );
    say(document, "changed", changed);
  }
  bands(group, noBelow, yesFrom);
  for (const cell of document.querySelectorAll(`[data-cell="${group.dataset.column}"]`)) {
    if (!(cell instanceof HTMLElement)) continue;
    const text = LABELS[label(Number(cell.dataset.percent))] ?? "";
    cell.textContent = text;
    cell.classList.toggle("changed", cell.dataset.now !== undefined && cell.dataset.now !== text);
  }
  performance.measure("lens", "lens-begin");
}

/**
 * @param {ParentNode} place
 * @param {string} name
 * @param {number} count
 */
function say(place, name, count) {
  const element = place.querySelector(`[data-count="${name}"]`);
  if (element) element.textContent = format.format(count);
}

/**
 * @param {HTMLElement} group
 * @param {number} noBelow
 * @param {number} yesFrom
 */
function bands(group, noBelow, yesFrom) {
  /** @param {string} selector @param {Record<string, number>} values */
  const set = (selector, values) => {
    const element = group.querySelector(`.histogram ${selector}`);
    for (const [name, value] of Object.entries(values)) element?.setAttribute(name, String(value));
  };
  set(".no", { width: noBelow });
  set(".unsure", { x: noBelow, width: yesFrom - noBelow });
  set(".yes", { x: yesFrom, width: 101 - yesFrom });
  set(".no-below", { x1: noBelow, x2: noBelow });
  set(".yes-from", { x1: yesFrom, x2: yesFrom });
}
