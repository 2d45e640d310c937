//! The codes of a question, read from its prompt, and what the beginning of an answer spells.

use serde_json::Value;

/// Most characters of a code.
const LONGEST_CODE: usize = 3;

/// The codes of a question, in the order of its outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuestionCodes {
    codes: Vec<String>,
    /// Whether letters of either case spell a code, as in `Yes` and `yes`.
    any_case: bool,
}

/// What a token adds to a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// The whole code with this index.
    Code(usize),
    /// The beginning of one code or of several.
    Begun(Vec<u8>),
    /// Only characters that may precede a code: white space, quotes, emphasis, opening brackets,
    /// characters outside ASCII, or nothing at all.
    Lead,
    /// Anything else.
    Other,
}

impl QuestionCodes {
    /// Reads the codes from the last lines of the last message, `A) Billing`, or of the block in the
    /// first message that the last one names: `topic = `.
    pub(crate) fn of_request(body: &Value) -> Option<Self> {
        let messages = body.get("messages")?.as_array()?;
        let content =
            |message: Option<&Value>| message?.get("content")?.as_str().map(str::to_owned);
        let last = content(messages.last())?;
        let named = last.lines().next_back()?.trim_end().strip_suffix(" =");
        let outcomes = match named {
            None => last,
            Some(key) => {
                let first = content(messages.first())?;
                let (_, block) = first.split_once(&format!("\n## {key}\n"))?;
                block.split("\n\n## ").next()?.to_owned()
            }
        };
        let lines = outcomes.lines().rev();
        let mut codes: Vec<String> = lines.map_while(code_of_line).collect();
        codes.reverse();
        let is_word = |code: &String| code.bytes().all(|byte| byte.is_ascii_lowercase());
        let any_case = codes.iter().all(is_word);
        (codes.len() > 1).then_some(Self { codes, any_case })
    }

    pub(crate) fn count(&self) -> usize {
        self.codes.len()
    }

    /// Whether the codes are words, `yes` and `no`.
    pub(crate) fn are_words(&self) -> bool {
        self.any_case
    }

    /// Reads what a token spells after the beginning `begun` of a code, which is empty at first.
    pub(crate) fn read(&self, begun: &[u8], token: &[u8]) -> Spelling {
        let is_lead = |byte: &u8| byte.is_ascii_whitespace() || !byte.is_ascii() || is_mark(*byte);
        let lead = token.iter().take_while(|byte| is_lead(byte)).count();
        let token = token.get(lead..).unwrap_or_default();
        if token.is_empty() {
            return Spelling::Lead;
        }
        let is_of_word =
            |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || *byte == b'_';
        let end = token.iter().take_while(|byte| is_of_word(byte)).count();
        let mut word = [begun, token.get(..end).unwrap_or_default()].concat();
        if self.any_case {
            word.make_ascii_lowercase();
        }
        let mut codes = self.codes.iter();
        if let Some(place) = codes.position(|code| code.as_bytes() == word) {
            return Spelling::Code(place);
        }
        let is_beginning = |code: &String| code.as_bytes().starts_with(&word);
        if end == token.len() && self.codes.iter().any(is_beginning) {
            return Spelling::Begun(word);
        }
        Spelling::Other
    }
}

/// Whether a quote, emphasis or an opening bracket stands before the first word of a token.
pub(crate) fn is_marked(token: &[u8]) -> bool {
    let is_lead = |byte: &&u8| byte.is_ascii_whitespace() || !byte.is_ascii() || is_mark(**byte);
    token.iter().take_while(is_lead).copied().any(is_mark)
}

fn is_mark(byte: u8) -> bool {
    b"\"'`*([{#".contains(&byte)
}

/// The code at the beginning of an outcome's line.
fn code_of_line(line: &str) -> Option<String> {
    let (code, _) = line.split_once(") ")?;
    let is_code = code.len() <= LONGEST_CODE && code.bytes().all(|b| b.is_ascii_alphanumeric());
    is_code.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(outcomes: &str) -> QuestionCodes {
        let content = format!("Material:\n{{}}\n\nQ) What?\n\nAnswers:\n{outcomes}");
        let body = json!({"messages": [{"role": "user", "content": content}]});
        QuestionCodes::of_request(&body).unwrap()
    }

    #[test]
    fn codes_are_the_last_lines_of_the_prompt() {
        let found = codes("A0) Billing: x) y\nA1) Delivery");
        assert_eq!(found.codes, ["A0", "A1"]);
        assert_eq!(found.count(), 2);
        let without = json!({"messages": [{"role": "user", "content": "Hello"}]});
        assert_eq!(QuestionCodes::of_request(&without), None);
    }

    #[test]
    fn tokens_spell_codes_with_and_without_a_lead() {
        let found = codes("A0) Billing\nA1) Delivery\nB0) Other");
        for (begun, token, expected) in [
            ("", "A", Spelling::Begun(b"A".to_vec())),
            ("", " B", Spelling::Begun(b"B".to_vec())),
            ("A", "1", Spelling::Code(1)),
            ("A", " 1)", Spelling::Code(1)),
            ("", " \"B0\"", Spelling::Code(2)),
            ("", "\n", Spelling::Lead),
            ("", "", Spelling::Lead),
            ("", "C", Spelling::Other),
            ("", "A)", Spelling::Other),
            ("A", "12", Spelling::Other),
            ("", "Answer", Spelling::Other),
            ("", "a", Spelling::Other),
        ] {
            let read = found.read(begun.as_bytes(), token.as_bytes());
            assert_eq!(read, expected, "{begun}{token}");
        }
    }

    #[test]
    fn yes_and_no_are_spelled_in_any_case() {
        let found = codes("yes) Yes\nno) No");
        assert_eq!(found.read(b"", b" YES"), Spelling::Code(0));
        assert_eq!(found.read(b"", b"No."), Spelling::Code(1));
        assert_eq!(found.read(b"", b"Y"), Spelling::Begun(b"y".to_vec()));
        assert_eq!(found.read(b"y", b"es"), Spelling::Code(0));
        assert_eq!(found.read(b"", b"None"), Spelling::Other);
    }
}
