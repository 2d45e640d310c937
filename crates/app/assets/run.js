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
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    // what somebody is typing or choosing is not replaced under their hands
    if (document.hidden || place.querySelector("form :focus")) continue;
    try {
      const reply = await fetch(place.dataset.address ?? "", { cache: "no-store" });
      if (reply.redirected || reply.status === 401) return;
      if (!reply.ok) continue;
      if (reply.headers.get("x-run-state") !== place.dataset.state) {
        location.reload();
        return;
      }
      place.innerHTML = await reply.text();
    } catch {
      // the server is away: the page stays as it is, and looks again
    }
  }
}
