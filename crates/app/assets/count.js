// Goes on counting the results of a filter where the page has not counted all: each reply says how many
// there are so far, and where to go on.

const matches = document.querySelector("#matches");
if (matches instanceof HTMLElement) void countOn(matches);

/** @param {HTMLElement} shown */
async function countOn(shown) {
  while (shown.dataset.address) {
    const reply = await fetch(shown.dataset.address, { cache: "no-store" }).catch(() => null);
    // the link that counts all stays
    if (!reply?.ok || reply.redirected) return;
    const box = document.createElement("div");
    box.innerHTML = await reply.text();
    const next = box.firstElementChild;
    if (!(next instanceof HTMLElement)) return;
    shown.replaceWith(next);
    shown = next;
  }
}
