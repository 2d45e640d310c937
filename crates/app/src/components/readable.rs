//! Texts, moments and numbers in readable form: texts that are too long to show whole, or to copy;
//! moments as short as they can be, and whole in the tooltip, in UTC.

use chrono::{DateTime, Datelike as _, SecondsFormat, Utc};
use maud::{Markup, html};
use refract_domain::answer::Probability;
use refract_domain::submission::Submission;

/// Splits a text after `most` characters: its beginning and the rest.
pub(crate) fn beginning(text: &str, most: usize) -> (&str, &str) {
    let end = text.char_indices().nth(most);
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// The first `most` characters of a text, with an ellipsis when it is longer.
pub(crate) fn clamped(text: &str, most: usize) -> String {
    let (shown, rest) = beginning(text, most);
    let mark = if rest.is_empty() { "" } else { "…" };
    format!("{shown}{mark}")
}

/// The beginning of a text that takes at most this many bytes in a page, with an ellipsis when the
/// text is longer. A list of long texts keeps its size in every script.
pub(crate) fn fitting(text: &str, most_bytes: usize) -> String {
    let mut bytes = 0;
    let fits = text.chars().take_while(|letter| {
        bytes += match letter {
            '"' => "&quot;".len(),
            '&' => "&amp;".len(),
            '<' | '>' => "&lt;".len(),
            other => other.len_utf8(),
        };
        bytes <= most_bytes
    });
    let fitting = fits.count();
    clamped(text, fitting)
}

/// The beginning of a submission's texts.
pub(crate) fn in_short(submission: &Submission, most: usize) -> String {
    let fields = submission.fields().iter().map(|(_, text)| text.as_str());
    let texts: Vec<_> = fields.filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return "(empty)".to_owned();
    }
    clamped(&texts.join("\n"), most)
}

/// The number of characters in the rest of a text.
pub(crate) fn more_characters(rest: &str) -> Markup {
    html! { "and " (count(rest.chars().count())) " more characters" }
}

/// The number of characters shown above the fold.
const BEGINNING: usize = 2_000;

/// A text exactly as it was sent, with all but its beginning folded.
pub(crate) fn whole_text(text: &str) -> Markup {
    let (beginning, rest) = beginning(text, BEGINNING);
    html! {
        @if text.is_empty() { span.soft { "empty" } }
        div.text dir="auto" { (beginning) }
        @if !rest.is_empty() {
            details {
                summary { (more_characters(rest)) }
                div.text dir="auto" { (rest) }
            }
        }
    }
}

/// The script that copies.
pub(crate) const COPY_SCRIPT: &str = "copy.js";

/// Preformatted text. `words` is its accessible label. The page must include [`COPY_SCRIPT`];
/// without scripts, the text can be selected.
pub(crate) fn copyable(id: &str, words: &str, text: &str) -> Markup {
    html! {
        div.copyable {
            pre #(id) dir="ltr" role="group" aria-label=(words) { (text) }
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}

/// A moment: `14:02` today, `Mon 14:02` in the last six days, `4 Mar 14:02` in the last months, and
/// `4 Mar 2025` before. The `datetime` attribute and the tooltip have it to the millisecond.
pub(crate) fn moment(moment: DateTime<Utc>) -> Markup {
    let exact = moment.to_rfc3339_opts(SecondsFormat::Millis, true);
    let whole = moment.format("%a %-d %b %Y, %H:%M:%S UTC").to_string();
    html! {
        time datetime=(exact) title=(whole) { (short(moment, Utc::now())) }
    }
}

/// Words of an error, with each moment in them as people read it.
pub(crate) fn with_moments(words: &str) -> Markup {
    html! {
        @for (place, word) in words.split(' ').enumerate() {
            @if place > 0 { " " }
            @let ends = word.trim_end_matches('.');
            @match DateTime::parse_from_rfc3339(ends) {
                Ok(found) => { (moment(found.to_utc())) noscript { " UTC" } (word.strip_prefix(ends).unwrap_or_default()) }
                Err(_) => (word)
            }
        }
    }
}

fn short(moment: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let days = (now.date_naive() - moment.date_naive()).num_days();
    let format = match days {
        0 => "%H:%M",
        1..=6 => "%a %H:%M",
        7..300 => "%-d %b %H:%M",
        _ if moment.year() == now.year() => "%-d %b %H:%M",
        _ => "%-d %b %Y",
    };
    moment.format(format).to_string()
}

/// Millionths in a tenth of a percent.
const TENTH: u32 = 1000;

/// A probability in percent with one decimal, without the percent sign: `37.2`.
pub(crate) fn percent(probability: Probability) -> String {
    let tenths = (probability.millionths() + TENTH / 2) / TENTH;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A count with thousands separators: `12,480`.
pub(crate) fn count(count: impl TryInto<u64>) -> String {
    let digits = count.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share in percent with one decimal, without the percent sign: `0.4`. `None` if `whole` is 0.
pub(crate) fn share(part: u64, whole: u64) -> Option<String> {
    if whole == 0 {
        return None;
    }
    let tenths = (u128::from(part) * 2000 / u128::from(whole)).div_ceil(2);
    Some(format!("{}.{}", tenths / 10, tenths % 10))
}

/// A measured share in percent, without the percent sign: the three decimals that the terminal
/// prints (`0.863`), with the point moved (`86.3`). A dash if undefined.
pub(crate) fn measured_percent(share: Option<f64>) -> String {
    let Some(share) = share else {
        return "–".to_owned();
    };
    let decimals = format!("{share:.3}").replace('.', "");
    let (whole, tenth) = decimals.split_at(decimals.len().saturating_sub(1));
    let whole = whole.trim_start_matches('0');
    format!("{}.{tenth}", if whole.is_empty() { "0" } else { whole })
}

/// A number with its noun: `1 result`, `2 results`.
pub(crate) fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// Converts a number from 0 to 1 to percent, without losing a digit: `62.5`.
pub(crate) fn to_percent(share: f64) -> String {
    let written = share.to_string();
    let (ones, decimals) = written.split_once('.').unwrap_or((&written, ""));
    let padded = format!("{decimals:0<2}");
    let (hundredths, rest) = padded.split_at_checked(2).unwrap_or((&padded, ""));
    let whole = format!("{ones}{hundredths}");
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if rest.is_empty() {
        whole.to_owned()
    } else {
        format!("{whole}.{rest}")
    }
}

#[cfg(test)]
mod tests;
