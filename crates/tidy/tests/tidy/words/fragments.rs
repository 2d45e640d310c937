//! A source file in pieces: code, comments and string literals, each with its line.

use super::Place;

/// The part of a line that is in one place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fragment<'a> {
    /// The number of the line, from 1.
    pub(super) line: usize,
    pub(super) place: Place,
    pub(super) text: &'a str,
}

/// The fragments of a Rust file.
pub(super) fn of_source(source: &str) -> Vec<Fragment<'_>> {
    let mut fragments = Vec::new();
    let (mut line, mut begin) = (1, 0);
    while begin < source.len() {
        let (before, rest) = source.split_at(begin);
        let (place, length) = first_piece(before, rest);
        let (piece, _) = rest.split_at(length);
        fragments.extend(of_lines(piece, line, place));
        line += piece.matches('\n').count();
        begin += length;
    }
    fragments
}

/// The lines of a page.
pub(super) fn of_page(page: &str) -> Vec<Fragment<'_>> {
    of_lines(page, 1, Place::Pages).collect()
}

fn of_lines(text: &str, first: usize, place: Place) -> impl Iterator<Item = Fragment<'_>> {
    let lines = text.split('\n').enumerate();
    lines.map(move |(index, text)| Fragment {
        line: first + index,
        place,
        text,
    })
}

/// The place and the length of what the rest of a source begins with.
fn first_piece(before: &str, rest: &str) -> (Place, usize) {
    if rest.starts_with("//") {
        (Place::Comments, rest.find('\n').unwrap_or(rest.len()))
    } else if rest.starts_with("/*") {
        (Place::Comments, end_of(rest, "*/", 2))
    } else if rest.starts_with('"') {
        let without_hashes = before.trim_end_matches('#');
        if without_hashes.ends_with('r') {
            let hashes = "#".repeat(before.len() - without_hashes.len());
            (Place::Messages, end_of(rest, &format!("\"{hashes}"), 1))
        } else {
            (Place::Messages, length_of_quoted(rest))
        }
    } else if rest.starts_with('\'') {
        (Place::Names, length_of_character(rest))
    } else {
        let marks = rest.char_indices().skip(1);
        let mut marks = marks.filter(|(_, it)| ['/', '"', '\''].contains(it));
        (Place::Names, marks.next().map_or(rest.len(), |(at, _)| at))
    }
}

/// The length up to the end of the first `end`, which is searched from this byte on.
fn end_of(text: &str, end: &str, from: usize) -> usize {
    let found = text.get(from..).and_then(|text| text.find(end));
    found.map_or(text.len(), |at| from + at + end.len())
}

/// The length of a string literal that is not raw.
fn length_of_quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        if it == '"' && !is_escaped {
            return at + 1;
        }
        is_escaped = it == '\\' && !is_escaped;
    }
    text.len()
}

/// The length of a character literal, or of the quote that begins a lifetime.
fn length_of_character(text: &str) -> usize {
    let mut characters = text.chars().skip(1);
    match (characters.next(), characters.next()) {
        (Some('\\'), Some(_)) => end_of(text, "'", 3),
        (Some(it), Some('\'')) => it.len_utf8() + 2,
        _ => 1,
    }
}

#[test]
fn code_comments_and_literals_are_separate() {
    let source = "let a = \"b \\\" // c\"; // d\nlet 'e: f = ('\"', '\\'', r#\"g\nh \"\"#);";
    let fragments = of_source(source);
    let of = |place: Place| -> Vec<(usize, &str)> {
        let of_place = fragments.iter().filter(|it| it.place == place);
        of_place.map(|it| (it.line, it.text)).collect()
    };
    assert_eq!(of(Place::Comments), [(1, "// d")]);
    assert_eq!(
        of(Place::Messages),
        [(1, "\"b \\\" // c\""), (2, "\"g"), (3, "h \"\"#")]
    );
    let code: String = of(Place::Names).into_iter().map(|(_, text)| text).collect();
    assert_eq!(code, "let a = ; let 'e: f = ('\"', '\\'', r#);");
}
