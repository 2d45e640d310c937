//! JSON bodies of create calls: valid ones, and ones broken as JSON or as a call.

use super::chance::Chance;

/// Keys of a create call, and unknown ones.
const KEYS: [&str; 12] = [
    "text",
    "fields",
    "context",
    "ref",
    "version",
    "idempotency_key",
    "Text",
    "",
    "te\\u0078t",
    "__proto__",
    "\\u0000",
    "\\ud800",
];
/// Values of every type, at and beyond the limits of their ranges, and invalid ones.
const VALUES: [&str; 62] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "1.0",
    "1e0",
    "1.5",
    "-1",
    "2147483647",
    "2147483648",
    "9007199254740993",
    "18446744073709551616",
    "1e400",
    "-1e400",
    "1e-400",
    "123456789e999999999",
    "0.1e1",
    "01",
    "+1",
    "1.",
    ".5",
    "1e",
    "0x1",
    "NaN",
    "Infinity",
    "-",
    "--1",
    "[]",
    "[1]",
    "{}",
    r#"{"text":"o"}"#,
    r#"{"text":1}"#,
    r#"{"text":"o","text":"p"}"#,
    r#"{"text":"o","more":"p"}"#,
    r#"{"te\u0078t":"o"}"#,
    r#"{"":""}"#,
    r#"{"\ud800":"o"}"#,
    r#"{"text":null}"#,
    r#""""#,
    r#"" ""#,
    r#""o""#,
    r#""\u0000""#,
    r#""\ud800""#,
    r#""\udc00\ud800""#,
    r#""\ud83d\ude00""#,
    r#""\uD83D""#,
    r#""\u12""#,
    r#""\x41""#,
    r#""\"#,
    "\"\u{1}\"",
    "\"\n\"",
    "\"\u{7f}\"",
    "\"\u{feff}\"",
    "\"é漢😀\"",
    "'o'",
    "o",
    "undefined",
    "",
    "/* o */ 1",
    r#""=1+1""#,
];
/// White space, real and false.
const SPACES: [&str; 8] = [
    " ", "\t", "\r\n", "\n\n", "\u{a0}", "\u{c}", "\u{feff}", "\0",
];

/// A valid body.
pub(super) fn valid(chance: &mut Chance) -> Vec<u8> {
    let text = chance.of(&[
        "Where is my order?",
        "I want my money back!",
        "",
        "=1+1",
        "漢字\\u00e9\\n",
    ]);
    let mut members = match chance.below(3) {
        0 => vec![format!(r#""fields":{{"text":"{text}"}}"#)],
        _ => vec![format!(r#""text":"{text}""#)],
    };
    if chance.one_in(3) {
        members.push(format!(r#""ref":"ref {}""#, chance.below(1000)));
    }
    if chance.one_in(4) {
        members.push(r#""context":"They have waited for a week.""#.to_owned());
    }
    if chance.one_in(4) {
        members.push(r#""version":1"#.to_owned());
    }
    // most keys are already in use: a replay takes no space in the database
    if !chance.one_in(4) {
        members.push(format!(r#""idempotency_key":"key {}""#, chance.below(2000)));
    }
    format!("{{{}}}", members.join(",")).into_bytes()
}

/// A body that may be broken.
pub(super) fn body(chance: &mut Chance) -> Vec<u8> {
    let mut body = match chance.below(8) {
        0 => chance.of(&VALUES).as_bytes().to_vec(),
        1 => nested(chance),
        2 => valid(chance),
        _ => object(chance).into_bytes(),
    };
    match chance.below(16) {
        0 => chance.scramble(&mut body),
        1 => body.truncate(chance.below(body.len() + 1)),
        2 => {
            let again = body.clone();
            body.extend_from_slice(&again);
        }
        3 => body.splice(0..0, chance.of(&SPACES).bytes()).for_each(drop),
        4 => body.extend_from_slice(chance.of(&SPACES).as_bytes()),
        5 => {
            let place = chance.below(body.len() + 1);
            let bytes = chance.of(&[
                &b"\xff"[..],
                b"\xc0\x80",
                b"\xed\xa0\x80",
                b"\xf4\x90\x80\x80",
                b"\0",
            ]);
            body.splice(place..place, bytes.iter().copied())
                .for_each(drop);
        }
        _ => {}
    }
    body
}

/// Values that are as long as a limit, or longer.
pub(super) fn long(chance: &mut Chance) -> Vec<u8> {
    let length = chance.of(&[
        200, 201, 99_999, 100_000, 100_001, 104_000, 400_000, 1_000_000,
    ]);
    let letter = chance.of(&["o", "é", "😀", r"\u0000", r"\n", "\\"]);
    let key = chance.of(&[
        "text",
        "context",
        "ref",
        "idempotency_key",
        "fields",
        "more",
    ]);
    let value = letter.repeat(length / letter.len());
    let rest = if key == "text" { "" } else { r#","text":"o""# };
    let value = if key == "fields" {
        format!(r#"{{"{value}":"o"}}"#)
    } else {
        format!(r#""{value}""#)
    };
    format!(r#"{{"{key}":{value}{rest}}}"#).into_bytes()
}

/// An object with known and unknown keys, some of them repeated.
fn object(chance: &mut Chance) -> String {
    let mut members: Vec<String> = Vec::new();
    for _ in 0..chance.below(7) {
        let key = KEYS[chance.below(KEYS.len()).min(chance.below(KEYS.len()))];
        let value = chance.of(&VALUES);
        members.push(match chance.below(24) {
            0 => format!(r#""{key}""#),
            1 => format!("{key}:{value}"),
            2 => format!(r#""{key}"={value}"#),
            3 => format!(r#" "{key}" : {value} "#),
            _ => format!(r#""{key}":{value}"#),
        });
    }
    if chance.one_in(2) {
        members.push(r#""text":"o""#.to_owned());
    }
    let comma = if chance.one_in(30) {
        chance.of(&[",,", ";", "", " "])
    } else {
        ","
    };
    let (open, close) = match chance.below(60) {
        0 => ("{", ""),
        1 => ("", "}"),
        2 => ("[", "]"),
        3 => ("{", ",}"),
        4 => ("{", "}}"),
        _ => ("{", "}"),
    };
    format!("{open}{}{close}", members.join(comma))
}

/// Arrays and objects within each other, deeper than a parser's stack.
fn nested(chance: &mut Chance) -> Vec<u8> {
    let depth = chance.of(&[1, 10, 126, 127, 128, 129, 1000, 20_000]);
    let (open, close) = chance.of(&[("[", "]"), (r#"{"a":"#, "}"), (r#"[{"a":"#, "}]")]);
    let inside = chance.of(&["", "1", "\"o\"", "null"]);
    let closed = if chance.one_in(4) {
        chance.below(depth + 1)
    } else {
        depth
    };
    let nested = format!("{}{inside}{}", open.repeat(depth), close.repeat(closed));
    let key = chance.of(&["text", "fields", "version", "more"]);
    format!(r#"{{"text":"o","{key}":{nested}}}"#).into_bytes()
}
