use super::*;

/// The head as the server sees it when it arrives in pieces of this length.
fn seen(head: &str, piece: usize) -> String {
    let mut fields = HeadFields::default();
    let mut room = vec![0; head.len() + 50];
    let mut buf = ReadBuf::new(&mut room);
    for (index, bytes) in head.as_bytes().chunks(piece).enumerate() {
        let from = buf.filled().len();
        buf.put_slice(bytes);
        fields.change(&mut buf, from, (index + 1) * piece >= head.len());
    }
    String::from_utf8(buf.filled().to_vec()).unwrap()
}

#[test]
fn offers_are_overwritten_however_the_head_is_cut() {
    for (sent, expected) in [
        ("Connection: Upgrade", "Connection: -pgrade"),
        (
            "CONNECTION:upgrade , HTTP2-Settings,\tUPGRADE\r",
            "CONNECTION:-pgrade , HTTP2-Settings,\t-PGRADE\r",
        ),
        (
            "connection: keep-alive, upgrade",
            "connection: keep-alive, -pgrade",
        ),
        ("upgrade: WebSocket", "upgrade: -ebSocket"),
        ("Upgrade: h2c", "Upgrade: h2c"),
        ("Connection: close, cup", "Connection: close, cup"),
        ("Proxy-Connection: upgrade", "Proxy-Connection: upgrade"),
        ("Connections: upgrade", "Connections: upgrade"),
        ("X: connection: upgrade", "X: connection: upgrade"),
        (
            "Upgrade-Insecure-Requests: w",
            "Upgrade-Insecure-Requests: w",
        ),
        (": upgrade", ": upgrade"),
    ] {
        let head = |line| format!("\r\nPOST upgrade: HTTP/1.1\r\nHost: u\r\n{line}\nX: u\r\n\r\n");
        for piece in 1..=head(sent).len() {
            assert_eq!(seen(&head(sent), piece), head(expected), "{piece}");
        }
    }
}

#[test]
fn an_old_post_without_a_length_gets_one() {
    let none = "Content-Length: 0\r\n";
    for (line, sent, added) in [
        ("POST / HTTP/1.0\r\n", "Host: a\r\n", none),
        ("\r\nPOST / HTTP/1.0\n", "", none),
        ("POST / HTTP/1.0\r\n", "content-length: 2\r\n", ""),
        ("POST / HTTP/1.1\r\n", "Host: a\r\n", ""),
        ("GET / HTTP/1.0\r\n", "Host: a\r\n", ""),
        ("POSTS / HTTP/1.0\r\n", "Host: a\r\n", ""),
    ] {
        let head = format!("{line}{sent}\r\n");
        for piece in [head.len(), head.len() - 2] {
            let expected = format!("{line}{sent}{added}\r\n");
            assert_eq!(seen(&head, piece), expected, "{piece}");
        }
    }
}

/// The heads of a text that arrives in pieces of this length.
fn heads(text: &str, piece: usize) -> Vec<String> {
    let (mut rest, mut last) = (text.as_bytes(), LastOfHead::default());
    let (mut heads, mut head) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let offered = &rest[..piece.min(rest.len())];
        let end = last.end_in(offered);
        let (through, left) = rest.split_at(end.unwrap_or(offered.len()));
        last.follow(through);
        head.extend_from_slice(through);
        if end.is_some() {
            heads.push(String::from_utf8(std::mem::take(&mut head)).unwrap());
            last = LastOfHead::default();
        }
        rest = left;
    }
    heads.push(String::from_utf8(head).unwrap());
    heads
}

#[test]
fn a_head_ends_with_its_first_empty_line_however_it_is_cut() {
    for end in ["\r\n\r\n", "\n\n", "\r\n\n", "\n\r\n"] {
        let (first, second) = (format!("a\r\nb: c{end}"), format!("d\ne: f{end}"));
        let text = format!("{first}{second}g\r\n");
        for piece in 1..=text.len() {
            assert_eq!(
                heads(&text, piece),
                [first.as_str(), &second, "g\r\n"],
                "{piece}"
            );
        }
    }
}

#[test]
fn empty_lines_before_a_head_end_nothing() {
    for line in ["\n", "\r\n"] {
        let empty = line.repeat(100);
        for piece in 1..9 {
            assert_eq!(heads(&empty, piece), [empty.as_str()]);
            let text = format!("{empty}a\n\n");
            assert_eq!(heads(&text, piece), [text.as_str(), ""]);
        }
    }
}
