//! Random texts, for the secrets of people and programs.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes 6 bits of each random byte as one character.
pub(crate) fn from_random(random: &[u8]) -> impl Iterator<Item = char> {
    let letters = random
        .iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 63)));
    letters.map(|letter| char::from(*letter))
}

/// Whether a text has this many characters, all of them from the alphabet of random texts.
pub(crate) fn has_shape(text: &str, characters: usize) -> bool {
    text.len() == characters && text.bytes().all(|byte| ALPHABET.contains(&byte))
}
