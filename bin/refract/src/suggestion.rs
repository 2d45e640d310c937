//! Suggestions for mistyped names.

/// The least Jaro similarity of a suggestion, from 0 to 1; clap uses this threshold for flags.
const ALIKE: f64 = 0.7;

/// The end of a message about an unknown name: the most similar known name as a question, or
/// nothing when no known name is similar.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match most_similar(name, known) {
        Some(similar) => format!(": did you mean `{similar}`?"),
        None => String::new(),
    }
}

/// The known name that is most similar to a name, whatever their case; `None` when none is similar.
pub(crate) fn most_similar<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likenesses = known
        .into_iter()
        .map(|known| (likeness(&name, &known.to_lowercase()), known));
    let best = likenesses.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(likeness, _)| *likeness > ALIKE)
        .map(|(_, known)| known)
}

/// The similarity of two names; a part of a known name always counts as similar.
fn likeness(name: &str, known: &str) -> f64 {
    let is_part = name.len() >= 3 && known.contains(name);
    let part = if is_part { ALIKE + 0.01 } else { 0.0 };
    strsim::jaro(name, known).max(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_proposed() {
        let known = ["support-triage", "sales-leads", "prism"];
        for name in [
            "suport-triage",
            "support_triage",
            "Support-Triage",
            "triage",
            "support",
        ] {
            assert_eq!(
                did_you_mean(name, known),
                ": did you mean `support-triage`?",
                "{name}"
            );
        }
        assert_eq!(
            did_you_mean("sales", known),
            ": did you mean `sales-leads`?"
        );
        for name in ["nothing", "xy", ""] {
            assert_eq!(did_you_mean(name, known), "", "{name}");
        }
        assert_eq!(did_you_mean("support", []), "");
    }
}
