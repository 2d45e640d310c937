//! Finds the end of a model's thinking in an answer.

/// Position of the answer after the thinking; `None` if the thinking does not end.
pub(super) fn after_thinking(text: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"<think>";
    const END: &[u8] = b"</think>";
    match text.windows(END.len()).rposition(|bytes| bytes == END) {
        Some(at) => Some(at + END.len()),
        None => (!text.trim_ascii_start().starts_with(BEGIN)).then_some(0),
    }
}

/// Whether an answer ended during the thinking: in a block without an end, or with separate
/// thoughts and no other words. If the model stopped by itself, separate thoughts are the answer:
/// some servers put every word there.
pub(super) fn is_unfinished(content: &str, thoughts: &str, has_stopped: bool) -> bool {
    let has_thoughts_alone = content.trim().is_empty() && !thoughts.trim().is_empty();
    after_thinking(content.as_bytes()).is_none() || has_thoughts_alone && !has_stopped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_unfinished_without_an_end_or_without_an_answer() {
        for (content, thoughts, has_stopped, expected) in [
            ("yes", "", true, false),
            ("yes", "It is.", false, false),
            ("<think>\nIt is", "", false, true),
            ("<think></think>yes", "", false, false),
            ("<think>It is.</think>", "", false, false),
            ("\n", "It is", false, true),
            ("", "yes", true, false),
            ("", "", false, false),
        ] {
            let is = is_unfinished(content, thoughts, has_stopped);
            assert_eq!(is, expected, "{content:?} {thoughts:?} {has_stopped}");
        }
    }
}
