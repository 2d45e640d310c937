// The form of a prism without reloads: the server changes the form, this script puts it into place.

import { refresh, whenQuiet } from "./fragment.js";

const found = document.getElementById("edit");
if (found instanceof HTMLFormElement) begin(found);

/** @param {HTMLFormElement} form */
function begin(form) {
  let isChanged = form.hasAttribute("data-changed");
  /** Inputs that somebody typed into: only these are told what is wrong while typing. */
  /** @type {Set<string>} */
  const touched = new Set();

  const check = whenQuiet(async () => {
    const place = document.getElementById("state");
    if (place && (await refresh(form, `${form.action}/check`, place))) showFaults();
  }, 400);

  form.addEventListener("input", (event) => {
    isChanged = true;
    if (event.target instanceof Element) touched.add(event.target.id);
    check();
  });

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    const value = button instanceof HTMLButtonElement ? button.value : "";
    if (value.includes(".")) {
      event.preventDefault();
      void press(value);
    } else {
      isChanged = false;
    }
  });

  window.addEventListener("beforeunload", (event) => {
    if (isChanged) event.preventDefault();
  });

  form.addEventListener("keydown", (event) => {
    const change = event.key === "ArrowUp" ? "up" : event.key === "ArrowDown" ? "down" : "";
    const item = event.target instanceof Element ? event.target.closest("[data-item]") : null;
    if (!event.altKey || !change || !item) return;
    event.preventDefault();
    void press(`${item.getAttribute("data-item")}.${change}`);
  });

  addHandles();

  /**
   * Lets the server do what a button says, and puts the changed form into place.
   *
   * @param {string} value
   */
  async function press(value) {
    const body = new FormData(form);
    body.set("act", value);
    body.set("fragment", "1");
    const pairs = new URLSearchParams();
    for (const [name, text] of body) if (typeof text === "string") pairs.append(name, text);
    try {
      const reply = await fetch(form.action, { method: "POST", body: pairs });
      if (!reply.ok) throw new Error();
      form.innerHTML = await reply.text();
    } catch {
      // the pressed button does the same with a reload, which shows what was refused
      isChanged = false;
      const pressed = document.createElement("input");
      pressed.type = "hidden";
      pressed.name = "act";
      pressed.value = value;
      form.append(pressed);
      form.submit();
      return;
    }
    isChanged = true;
    touched.clear();
    addHandles();
    const next = form.querySelector("[autofocus]");
    if (next instanceof HTMLElement) next.focus();
  }

  /** Puts what is wrong beside the inputs that were typed into. */
  function showFaults() {
    for (const id of touched) {
      const input = document.getElementById(id);
      if (!input) continue;
      const place = input.closest(".field");
      place?.querySelector(".fault")?.remove();
      input.removeAttribute("aria-invalid");
      const problem = document.querySelector(`#state [data-path="${CSS.escape(id)}"]`);
      if (!problem || !place) continue;
      const fault = document.createElement("p");
      fault.className = "fault";
      fault.id = `${id}-fault`;
      fault.textContent = problem.getAttribute("data-fault");
      place.append(fault);
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", fault.id);
    }
  }

  /** Gives every item a handle to drag it by. The buttons do the same by keyboard. */
  function addHandles() {
    for (const item of form.querySelectorAll("[data-item]")) {
      const handle = document.createElement("span");
      handle.className = "handle";
      handle.setAttribute("aria-hidden", "true");
      handle.textContent = "⠿";
      handle.addEventListener("pointerdown", (event) => drag(event, item, handle));
      item.querySelector(":scope > .rearranging, :scope > .row > .rearranging")?.prepend(handle);
    }
  }

  /**
   * Follows the pointer until it is let go, then moves the item to the place of the one below it.
   *
   * @param {PointerEvent} event
   * @param {Element} item
   * @param {HTMLElement} handle
   */
  function drag(event, item, handle) {
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
      handle.removeEventListener("pointermove", move);
      over?.classList.remove("over");
      if (over && over !== item) {
        void press(`${item.getAttribute("data-item")}.to.${siblings.indexOf(over)}`);
      }
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end, { once: true });
    handle.addEventListener("pointercancel", () => handle.removeEventListener("pointermove", move), { once: true });
  }
}
