// Sends a form in the background and gets a part of the page back.

/**
 * Sends a form's values to an address and puts the markup that comes back into an element. A later
 * call for the same element makes an earlier one that is still on its way be dropped.
 *
 * @param {HTMLFormElement} form
 * @param {string} address
 * @param {Element} place
 * @returns {Promise<boolean>} whether the markup was put into its place
 */
export async function refresh(form, address, place) {
  const before = waiting.get(place);
  before?.abort();
  const mine = new AbortController();
  waiting.set(place, mine);
  try {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string") body.append(name, value);
    }
    const reply = await fetch(address, { method: "POST", body, signal: mine.signal });
    if (!reply.ok || mine.signal.aborted) return false;
    place.innerHTML = await reply.text();
    return true;
  } catch {
    // the page stays as it is: its form can be sent as a whole
    return false;
  }
}

/** @type {WeakMap<Element, AbortController>} */
const waiting = new WeakMap();

/**
 * Calls a function once things have been quiet for a while.
 *
 * @param {() => void} work
 * @param {number} milliseconds
 * @returns {() => void}
 */
export function whenQuiet(work, milliseconds) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}
