// Folds what comes before the rows of a list on narrow screens. Without scripts nothing is folded.

const narrow = matchMedia("(max-width: 44rem)");

function follow() {
  for (const fold of document.querySelectorAll("details.more")) {
    if (fold instanceof HTMLDetailsElement && !fold.hasAttribute("data-used")) fold.open = !narrow.matches;
  }
}

narrow.addEventListener("change", follow);
follow();
