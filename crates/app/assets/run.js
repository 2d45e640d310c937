// Follows a file run or a retest: fetches the part of the page that changes, and the whole page when it
// is in another state.

/** Milliseconds between two looks. */
const EVERY = 2_000;
/** States in which a node works on it, or will; `finishing` after a pause, until its figures are final. */
const WORKED_ON = ["checking", "previewing", "running", "finishing", "waiting", "asking"];

const place = document.querySelector("#run-progress");
if (place instanceof HTMLElement && WORKED_ON.includes(place.dataset.state ?? "")) void follow(place);

/** @param {HTMLElement} place */
async function follow(place) {
  // what somebody types, chooses or presses is not replaced under their hands, and a reload would take back
  // what is being sent
  const isUsed = () => place.querySelector("form :focus, :active, [aria-busy]") !== null;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    if (document.hidden || isUsed()) continue;
    try {
      const reply = await fetch(place.dataset.address ?? "", { cache: "no-store" });
      if (reply.redirected || reply.status === 401) return;
      if (!reply.ok) continue;
      const text = await reply.text();
      if (isUsed()) continue;
      if (reply.headers.get("x-run-state") !== place.dataset.state) {
        location.reload();
        return;
      }
      place.innerHTML = text;
    } catch {
      // the server is away: the page stays as it is, and looks again
    }
  }
}
