//! The code in a Markdown page.

/// Characters that make a word in code a placeholder.
const PLACEHOLDERS: [char; 6] = ['…', '*', '<', '$', '{', '~'];

/// The text of each code span, and each line of a fenced block.
pub(super) fn of(page: &str) -> Vec<&str> {
    let mut code = Vec::new();
    let mut is_fenced = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced {
            code.push(line.trim());
        } else {
            code.extend(line.split('`').skip(1).step_by(2));
        }
    }
    code
}

/// The words of a piece of code, without surrounding quotes and without placeholders.
pub(super) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split_whitespace()
        .map(|word| word.trim_matches(['\'', '"', ',', ';', '(', ')']))
        .filter(|word| !word.contains(PLACEHOLDERS))
}

/// The identifiers in a text: letters, digits and underscores.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_')
}

/// The segments of a path such as `model_gateway::Model::answer`; `None` if the code is no path.
pub(super) fn rust_path(code: &str) -> Option<Vec<String>> {
    let segments: Vec<String> = code
        .trim_end_matches("()")
        .split("::")
        .map(ToOwned::to_owned)
        .collect();
    let is_name = |name: &String| {
        name.starts_with(|it: char| it.is_alphabetic() || it == '_')
            && name.chars().all(|it| it.is_alphanumeric() || it == '_')
    };
    (segments.len() > 1 && segments.iter().all(is_name)).then_some(segments)
}

#[test]
fn marks_and_fenced_lines_are_code() {
    let page = "Run `make demo` or:\n\n```sh\nmake test\n```\n\nthen `a::b()` and `c`.";
    assert_eq!(of(page), ["make demo", "make test", "a::b()", "c"]);
}

#[test]
fn words_that_stand_for_others_are_left_out() {
    let words: Vec<&str> = words("cat 'docs/a.md', crates/* migrations/<name> $HOME/x").collect();
    assert_eq!(words, ["cat", "docs/a.md"]);
}

#[test]
fn only_names_joined_by_colons_are_rust_paths() {
    let path = ["model_gateway", "Model", "answer"].map(ToOwned::to_owned);
    assert_eq!(
        rust_path("model_gateway::Model::answer()"),
        Some(path.to_vec())
    );
    for other in ["answering", "http://[::1]:8080", "clippy::", "a: b"] {
        assert_eq!(rust_path(other), None, "{other}");
    }
}
