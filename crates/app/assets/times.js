// Shows moments and days by the reader's clock. Without scripts they are in UTC, and the page says so.

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY = 24 * 60 * 60 * 1000;
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** A moment as a whole, for the tooltip. */
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

showAll(document);
new MutationObserver((changes) => {
  for (const change of changes) {
    for (const node of change.addedNodes) if (node instanceof Element) showAll(node);
  }
}).observe(document.body, { childList: true, subtree: true });
for (const form of document.querySelectorAll("form")) {
  if (form.querySelector("input[type=date][name=from]")) days(form);
}

/** @param {Document | Element} root */
function showAll(root) {
  if (root instanceof HTMLTimeElement) show(root);
  for (const time of root.querySelectorAll("time")) show(time);
}

/** @param {HTMLTimeElement} time */
function show(time) {
  const moment = new Date(time.dateTime);
  if (Number.isNaN(moment.getTime())) return;
  const words = short(moment, new Date());
  // a text that stays is no change to observe
  if (time.textContent !== words) time.textContent = words;
  time.title = `${whole.format(moment)} (${zone})`;
}

/**
 * A moment as short as it can be, as the server writes it.
 *
 * @param {Date} moment
 * @param {Date} now
 */
function short(moment, now) {
  const clock = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  const ago = Math.round((midnight(now).getTime() - midnight(moment).getTime()) / DAY);
  const date = `${moment.getDate()} ${MONTHS[moment.getMonth()]}`;
  if (ago === 0) return clock;
  if (ago >= 1 && ago <= 6) return `${DAYS[moment.getDay()]} ${clock}`;
  const isNear = (ago >= 7 && ago < 300) || moment.getFullYear() === now.getFullYear();
  return isNear ? `${date} ${clock}` : `${date} ${moment.getFullYear()}`;
}

/**
 * Sends the days of a form as the reader's: each with the offset of its midnight.
 *
 * @param {HTMLFormElement} form
 */
function days(form) {
  for (const label of form.querySelectorAll("label[for=from], label[for=to]")) {
    if (zone === "UTC") continue;
    label.textContent = (label.textContent ?? "").replace(" (UTC)", "");
    if (label instanceof HTMLElement) label.title = zone;
  }
  form.addEventListener("formdata", ({ formData }) => {
    const begin = beginOf(String(formData.get("period") ?? ""));
    if (begin) {
      formData.delete("period");
      formData.delete("to");
      formData.set("from", begin);
    }
    for (const name of ["from", "to"]) {
      const day = String(formData.get(name) ?? "");
      if (/^\d{4}-\d{2}-\d{2}$/.test(day)) formData.set(name, day + offset(day, name === "to"));
    }
  });
}

/**
 * The first day of a period that a button names; none for all time.
 *
 * @param {string} period
 */
function beginOf(period) {
  const today = midnight(new Date());
  const back = { today: 0, week: (today.getDay() + 6) % 7, "7days": 6, "30days": 29 }[period];
  if (back === undefined) return undefined;
  today.setDate(today.getDate() - back);
  return `${today.getFullYear()}-${two(today.getMonth() + 1)}-${two(today.getDate())}`;
}

/**
 * The offset from UTC at the begin of a day or at its end, such as `+02:00`; empty for none.
 *
 * @param {string} day
 * @param {boolean} isEnd
 */
function offset(day, isEnd) {
  const at = new Date(`${day}T00:00`);
  if (isEnd) at.setDate(at.getDate() + 1);
  const minutes = -at.getTimezoneOffset();
  if (!minutes) return "";
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.trunc(size / 60))}:${two(size % 60)}`;
}

/** @param {Date} moment */
function midnight(moment) {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate());
}

/** @param {number} number */
function two(number) {
  return String(number).padStart(2, "0");
}
