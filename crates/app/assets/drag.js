// Items of a form that are dragged to another place. Buttons do the same by keyboard.

/**
 * Gives every item a handle to drag it by.
 *
 * @param {HTMLFormElement} form
 * @param {(value: string) => void} press does what a button with this value does
 */
export function addHandles(form, press) {
  for (const item of form.querySelectorAll("[data-item]")) {
    const handle = document.createElement("span");
    handle.className = "handle";
    handle.setAttribute("aria-hidden", "true");
    handle.textContent = "⠿";
    handle.addEventListener("pointerdown", (event) => drag(event, item, handle, press));
    const tools = item.querySelector(":scope > .rearranging, :scope > .question-tools > .rearranging");
    (tools ?? item).prepend(handle);
  }
}

/**
 * Follows the pointer until it is let go, then moves the item to the place of the one below it.
 *
 * @param {PointerEvent} event
 * @param {Element} item
 * @param {HTMLElement} handle
 * @param {(value: string) => void} press
 */
function drag(event, item, handle, press) {
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  const siblings = [...(item.parentElement?.children ?? [])].filter((one) => one.hasAttribute("data-item"));
  /** @type {Element | undefined} */
  let over;
  const move = (/** @type {PointerEvent} */ moved) => {
    over?.classList.remove("over");
    over = siblings.find((one) => {
      const box = one.getBoundingClientRect();
      return moved.clientY >= box.top && moved.clientY <= box.bottom;
    });
    if (over !== item) over?.classList.add("over");
  };
  const end = () => {
    stop();
    if (over && over !== item) press(`${item.getAttribute("data-item")}.to.${siblings.indexOf(over)}`);
  };
  const stop = () => {
    handle.removeEventListener("pointermove", move);
    handle.removeEventListener("pointerup", end);
    handle.removeEventListener("pointercancel", stop);
    over?.classList.remove("over");
  };
  handle.addEventListener("pointermove", move);
  handle.addEventListener("pointerup", end);
  handle.addEventListener("pointercancel", stop);
}
