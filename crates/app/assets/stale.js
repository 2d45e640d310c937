// Hides what a form has found as soon as somebody changes the form: it belongs to another choice.

for (const form of document.querySelectorAll("form[data-found]")) {
  form.addEventListener("input", () => {
    const found = document.getElementById(form.getAttribute("data-found") ?? "");
    if (found) found.hidden = true;
  });
}
