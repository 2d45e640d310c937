// The results below the handles of the lens page: their labels follow the handles, and the changed
// ones nearest to a cutoff are shown at once.

/** @typedef {{ noBelow: number, yesFrom: number }} Cutoffs in percent */
/** @typedef {{ row: HTMLTableRowElement, millionths: number }} SampledRow */

const LABELS = ["No", "Unsure", "Yes"];
/** The most rows that follow a handle. */
const ROWS = 20;

/**
 * The place in LABELS of a probability in percent.
 *
 * @param {number} percent
 * @param {Cutoffs} cutoffs
 */
export function labelAt(percent, { noBelow, yesFrom }) {
  return percent < noBelow ? 0 : percent < yesFrom ? 1 : 2;
}

/**
 * Shows the labels of the rows with these cutoffs.
 *
 * @param {ParentNode} place
 * @param {Cutoffs} cutoffs
 */
export function relabel(place, cutoffs) {
  for (const row of place.querySelectorAll("tr[data-millionths]")) {
    if (row instanceof HTMLTableRowElement) show(row, cutoffs);
  }
}

/**
 * Shows the label of a row with these cutoffs.
 *
 * @param {HTMLTableRowElement} row
 * @param {Cutoffs} cutoffs
 */
function show(row, cutoffs) {
  const text = LABELS[labelAt(Number(row.dataset.millionths) / 10_000, cutoffs)] ?? "";
  const label = row.querySelector(".new");
  if (label) label.textContent = text;
  const isChanged = row.dataset.now !== undefined && row.dataset.now !== text;
  row.querySelector(".label-change")?.classList.toggle("changed", isChanged);
  // its sign and its colour
  row.className = text.toLowerCase();
}

/** Rows at every percent, from which the changed ones nearest to a handle are shown. */
export class Sample {
  /** @param {HTMLFormElement} form @param {HTMLElement} panel */
  constructor(form, panel) {
    this.address = form.dataset.sample ?? "";
    this.column = panel.dataset.name;
    /** @type {SampledRow[] | undefined} */
    this.rows = undefined;
    /** @type {Promise<void> | undefined} */
    this.loading = undefined;
  }

  /** Fetches the rows, once. */
  load() {
    this.loading ??= this.fetch();
    return this.loading;
  }

  async fetch() {
    if (this.column === undefined) return;
    try {
      const body = new URLSearchParams({ name: this.column });
      const reply = await fetch(this.address, { method: "POST", body });
      if (!reply.ok) return;
      const holder = document.createElement("template");
      holder.innerHTML = await reply.text();
      const rows = [...holder.content.querySelectorAll("tr")];
      this.rows = rows.map((row) => ({ row, millionths: Number(row.dataset.millionths) }));
    } catch {
      // the rows change when the handle rests
    }
  }

  /**
   * Puts the changed rows nearest to a cutoff into the table.
   *
   * @param {ParentNode} place
   * @param {Cutoffs} cutoffs
   */
  show(place, cutoffs) {
    const body = place.querySelector("tbody");
    if (!body || !this.rows) return;
    const changed = this.rows.flatMap((it) => {
      const percent = it.millionths / 10_000;
      const [now, label] = [LABELS.indexOf(it.row.dataset.now ?? ""), labelAt(percent, cutoffs)];
      // the cutoffs between the label now and the new one
      const crossed = [];
      if ((now === 0) !== (label === 0)) crossed.push(Math.abs(percent - cutoffs.noBelow));
      if ((now === 2) !== (label === 2)) crossed.push(Math.abs(percent - cutoffs.yesFrom));
      return crossed.length ? [{ row: it.row, distance: Math.min(...crossed) }] : [];
    });
    changed.sort((one, other) => one.distance - other.distance);
    const shown = changed.slice(0, ROWS).map((it) => it.row);
    for (const row of shown) show(row, cutoffs);
    body.replaceChildren(...shown);
    place.querySelector(".no-change")?.toggleAttribute("hidden", shown.length > 0);
  }
}
