//! Where a model's thinking ends in an answer, and whether it ends at all.

/// Where the answer begins behind thinking; `None` where the thinking does not end.
pub(super) fn after_thinking(text: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"<think>";
    const END: &[u8] = b"</think>";
    match text.windows(END.len()).rposition(|bytes| bytes == END) {
        Some(at) => Some(at + END.len()),
        None => (!text.trim_ascii_start().starts_with(BEGIN)).then_some(0),
    }
}

/// Whether an answer ended before its thinking did: in a block of thinking that has no end, or with
/// thoughts that the server keeps apart and no words besides. Where the model has stopped by itself,
/// such thoughts are the answer: some servers keep every word apart.
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
