//! Translates paths of the prism file into labels of the form.

/// A path of the prism file in words: `Question 1, option 3, label` for
/// `questions.0.options.2.label`.
pub(crate) fn describe(path: &str) -> String {
    let mut named = Vec::new();
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let place = parts.peek().and_then(|next| next.parse::<usize>().ok());
        named.push(match place {
            Some(place) => {
                parts.next();
                let noun = part.strip_suffix('s').unwrap_or(part);
                format!("{noun} {}", place.saturating_add(1))
            }
            None => part.to_owned(),
        });
    }
    let words = named.join(", ");
    let mut letters = words.chars();
    let first = letters.next();
    first.map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The index of the question that contains a path of the prism file.
pub(crate) fn question_of(path: &str) -> Option<usize> {
    let rest = path.strip_prefix("questions.")?;
    rest.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_reported_in_the_words_of_the_form() {
        for (path, words) in [
            ("name", "Name"),
            ("questions", "Questions"),
            ("fields.0.label", "Field 1, label"),
            ("questions.1.options", "Question 2, options"),
            ("questions.1.options.2.key", "Question 2, option 3, key"),
            ("questions.9.levels.0", "Question 10, level 1"),
            ("", ""),
        ] {
            assert_eq!(describe(path), words);
        }
        assert_eq!(question_of("questions.12.options.3.key"), Some(12));
        assert_eq!(question_of("questions"), None);
        assert_eq!(question_of("fields.0.key"), None);
    }
}
