// Puts what is wrong beside the inputs of a form.

/**
 * Shows the problems that the state panel lists beside the inputs and lists with these ids, and takes
 * back what is right now. A form that was checked as a whole shows every problem.
 *
 * @param {HTMLFormElement} form
 * @param {Set<string>} touched
 */
export function showFaults(form, touched) {
  /** @type {Map<string, string[]>} */
  const problems = new Map();
  for (const problem of document.querySelectorAll("#state [data-problem]")) {
    const path = problem.getAttribute("data-problem") ?? "";
    problems.set(path, [...(problems.get(path) ?? []), problem.getAttribute("data-fault") ?? ""]);
  }
  const isAsked = form.querySelector("[name=asked]") !== null;
  const ids = isAsked ? [...form.querySelectorAll(".field > [name], .list-fault, .field.key")].map((one) => one.id) : touched;
  for (const id of ids) {
    const input = id ? document.getElementById(id) : null;
    if (input) showFault(input, (problems.get(id) ?? []).join("; "));
  }
}

/**
 * @param {HTMLElement} input an input, or the element of a list
 * @param {string} words empty when nothing is wrong
 */
function showFault(input, words) {
  const place = input.closest(".field") ?? input;
  const shown = place.querySelector(":scope > .fault");
  if ((shown?.textContent ?? "") === words) return;
  shown?.remove();
  const hint = place.querySelector(":scope > .hint")?.id ?? "";
  const described = [hint];
  if (words) {
    const fault = document.createElement("p");
    fault.className = "fault";
    fault.id = `${input.id}-fault`;
    fault.textContent = words;
    place.append(fault);
    described.push(fault.id);
  }
  if (!input.hasAttribute("name")) return;
  input.toggleAttribute("aria-invalid", false);
  if (words) input.setAttribute("aria-invalid", "true");
  const ids = described.filter((id) => id).join(" ");
  if (ids) input.setAttribute("aria-describedby", ids);
  else input.removeAttribute("aria-describedby");
}
