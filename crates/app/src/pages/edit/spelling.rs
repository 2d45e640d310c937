//! Words of other scripts in Latin letters, from which keys and slugs are proposed.

use std::borrow::Cow;

use any_ascii::any_ascii;
use refract_authoring::made_names;

/// The words that a key is made from: in Latin letters, by how they sound or by tables that come close
/// to it, where they have none of their own.
pub(super) fn spelled(words: &str) -> Cow<'_, str> {
    if made_names::has_words(words) {
        Cow::Borrowed(words)
    } else {
        // a quotation mark stands for a sound within a word
        Cow::Owned(any_ascii(words).replace(['\'', '`'], ""))
    }
}

/// Whether a key made from these words has to be asked for: they have no Latin letters.
pub(super) fn is_foreign(words: &str) -> bool {
    !words.trim().is_empty() && !made_names::has_words(words)
}

#[cfg(test)]
mod tests {
    use refract_authoring::made_names::slugs;
    use refract_domain::prism::slug::Slug;

    use super::*;

    #[test]
    fn words_of_other_scripts_are_spelled_in_latin_letters() {
        let cases = [
            ("怒り", "nuri"),
            ("これは苦情ですか", "korehakuqingdesuka"),
            ("כועס", "khvs"),
            ("غاضب", "ghdb"),
            ("Сердитый клиент", "serdityy-klient"),
            ("Θυμωμένος", "thymomenos"),
            ("화난 고객", "hwanan-gogaeg"),
            ("ไทย", "aithy"),
            ("नमस्ते", "nmste"),
            ("በርበሬ", "berbere"),
            ("怒り 2", "nuri-2"),
            ("2024", "2024"),
            ("blog 한글", "blog"),
            ("Ärger", "arger"),
            ("!?", "prism"),
        ];
        let made = cases.map(|(words, _)| slugs(&spelled(words)).next().unwrap());
        let made: Vec<_> = made.iter().map(Slug::as_str).collect();
        assert_eq!(made, cases.map(|(_, slug)| slug));
        assert!(is_foreign("怒り") && is_foreign("怒り 2") && is_foreign("!?"));
        assert!(!is_foreign("Ärger") && !is_foreign("2024") && !is_foreign(" "));
        let long = slugs(&spelled(&"知识库 ".repeat(30))).next().unwrap();
        assert!(!long.as_str().ends_with('-'), "{}", long.as_str());
    }
}
