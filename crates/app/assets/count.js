// Goes on counting the results of a filter where the page has not counted all: each reply says how many
// there are so far, and where to go on.

let place = document.querySelector("#matches");
while (place instanceof HTMLElement && place.dataset.address) {
  const reply = await fetch(place.dataset.address, { cache: "no-store" }).catch(() => null);
  // the link that counts all stays
  if (!reply?.ok || reply.redirected) break;
  const box = document.createElement("div");
  box.innerHTML = await reply.text();
  const next = box.firstElementChild;
  if (!(next instanceof HTMLElement)) break;
  place.replaceWith(next);
  place = next;
}
