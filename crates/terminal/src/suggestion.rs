//! Suggestions for mistyped names.

/// The least Jaro similarity of a suggestion, from 0 to 1; the threshold that clap uses for flags.
const ALIKE: f64 = 0.7;
/// The most names that are listed.
const MOST_LISTED: usize = 20;

/// The end of a message about an unknown name: the most similar known name as a question; empty if
/// none is similar.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match most_similar(name, known) {
        Some(similar) => format!(": did you mean `{similar}`?"),
        None => String::new(),
    }
}

/// The known name most similar to a name, ignoring case; `None` if none is similar.
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

/// The end of a message about an unknown name: the most similar known name, or all known names.
pub(crate) fn did_you_mean_or_list<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let known: Vec<_> = known.into_iter().collect();
    match did_you_mean(name, known.iter().copied()) {
        none if none.is_empty() && !known.is_empty() => {
            let listed: Vec<_> = known.iter().take(MOST_LISTED).copied().collect();
            let more = if known.len() > MOST_LISTED {
                ", …"
            } else {
                ""
            };
            format!(": it has {}{more}", listed.join(", "))
        }
        suggested => suggested,
    }
}

/// The similarity of two names; a substring of a known name always counts as similar.
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
        assert_eq!(
            did_you_mean_or_list("suport", known),
            ": did you mean `support-triage`?"
        );
        assert_eq!(
            did_you_mean_or_list("xy", known),
            ": it has support-triage, sales-leads, prism"
        );
        let many = vec!["abc"; 21];
        assert!(did_you_mean_or_list("xy", many).ends_with("abc, …"));
        assert_eq!(did_you_mean_or_list("xy", []), "");
    }
}
