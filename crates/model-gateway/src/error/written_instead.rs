//! What a model wrote instead of a code, as a kind: its words may be those of the text.

use std::fmt;

/// The kind of an answer that does not begin with a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenInstead {
    /// Nothing, or only white space.
    Nothing,
    /// A marker such as `<|im_end|>`: the server fills another template than the model's.
    TemplateMarker,
    /// The words of an answer, such as `Billing`.
    AnswerWords,
    /// A code in another form, such as `a` or `Option A`.
    OtherForm,
    /// Anything else.
    Prose,
}

impl fmt::Display for WrittenInstead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "it wrote nothing",
            Self::TemplateMarker => "it wrote a marker of a chat template",
            Self::AnswerWords => "it wrote the words of an answer",
            Self::OtherForm => "it wrote a code in another form",
            Self::Prose => "it wrote prose",
        })
    }
}
