//! JSON that is nearly valid, as some servers send it, made readable.

/// The body with valid JSON values in place of `Infinity` and `NaN`, which Python writes, and with
/// U+FFFD in place of half characters; `None` if it has neither.
pub(super) fn readable(body: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(body);
    let finite = text
        .replace("-Infinity", "-9999")
        .replace("Infinity", "9999")
        .replace("NaN", "null");
    let whole = without_unpaired_surrogates(&finite).into_bytes();
    (whole != body).then_some(whole)
}

/// JSON with `\ufffd` in place of each escape of a surrogate without its other half.
fn without_unpaired_surrogates(json: &str) -> String {
    let unit = |at: usize| {
        let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let is_low = |at: usize| unit(at).is_some_and(|unit| (0xDC00..0xE000).contains(&unit));
    let mut whole = String::with_capacity(json.len());
    let mut rest = 0;
    while let Some(found) = json.get(rest..).and_then(|json| json.find('\\')) {
        let at = rest + found;
        let (length, is_whole) = match unit(at) {
            Some(0xD800..0xDC00) if is_low(at + 6) => (12, true),
            Some(0xD800..0xE000) => (6, false),
            Some(_) => (6, true),
            // the character behind may be a backslash too
            None => {
                let escaped = json.get(at + 1..).and_then(|json| json.chars().next());
                (1 + escaped.map_or(0, char::len_utf8), true)
            }
        };
        let end = at + length;
        let kept = if is_whole { end } else { at };
        whole.push_str(json.get(rest..kept).unwrap_or_default());
        if !is_whole {
            whole.push_str("\\ufffd");
        }
        rest = end;
    }
    whole.push_str(json.get(rest..).unwrap_or_default());
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_half_characters_are_replaced() {
        for (sent, expected) in [
            (r#"{"a":"\udce2"}"#, r#"{"a":"\ufffd"}"#),
            (r#"["\ud83d\ude00\ud83d"]"#, r#"["\ud83d\ude00\ufffd"]"#),
            (r#"["\ud83d\ud83d\uDE00x"]"#, r#"["\ufffd\ud83d\uDE00x"]"#),
            (
                r#"["\\ud83d", "\u00e4\n\""]"#,
                r#"["\\ud83d", "\u00e4\n\""]"#,
            ),
            (r#"["\ud83"#, r#"["\ud83"#),
            ("[\"\\", "[\"\\"),
            ("[\"\\ä", "[\"\\ä"),
        ] {
            assert_eq!(without_unpaired_surrogates(sent), expected);
        }
    }
}
