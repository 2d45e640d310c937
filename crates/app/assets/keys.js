// Whether single keys act on a page: a choice that the browser keeps, made on one's own page.

const NAME = "single-keys";

export function areKeysOn() {
  return localStorage.getItem(NAME) !== "off";
}

const choice = document.querySelector("#keys input");
if (choice instanceof HTMLInputElement) {
  choice.checked = areKeysOn();
  choice.addEventListener("change", () => localStorage.setItem(NAME, choice.checked ? "on" : "off"));
  document.getElementById("keys")?.removeAttribute("hidden");
}
