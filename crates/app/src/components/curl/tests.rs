use std::process::Command;

use chrono::DateTime;
use refract_domain::ids::{AccountId, PrismId};
use refract_domain::key::FieldKey;
use refract_domain::prism::{Slug, VersionNumber};

use super::*;

fn prism() -> Prism {
    Prism {
        id: PrismId::new(uuid::Uuid::nil()),
        account: AccountId::new(uuid::Uuid::nil()),
        slug: Slug::saved("triage".to_owned()),
        name: "Triage".to_owned(),
        latest_version: VersionNumber::FIRST,
        lens_revision: 0,
        created_at: DateTime::UNIX_EPOCH,
        archived_at: None,
    }
}

fn fields(labels: &[&str]) -> Vec<Field> {
    let labels = labels.iter().enumerate();
    let field = |(place, label): (usize, &&str)| Field {
        key: FieldKey::parse(&format!("field_{place}")).unwrap(),
        label: (*label).to_owned(),
    };
    labels.map(field).collect()
}

/// The words into which a shell splits a command: the arguments of `curl`.
fn words_of(command: &str) -> Vec<String> {
    let script = format!("curl() {{ printf '%s\\0' \"$@\"; }}\n{command}");
    let output = Command::new("sh")
        .env("REFRACT_KEY", "rk_secret")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}");
    let output = String::from_utf8(output.stdout).unwrap();
    let words = output.split_terminator('\0');
    words.map(str::to_owned).collect()
}

#[test]
fn the_command_has_a_line_for_each_field() {
    let command = create_result(
        "http://127.0.0.1:8080/v1",
        &prism(),
        &fields(&["Subject", "It's"]),
        None,
    );
    assert_eq!(
        command,
        r#"curl -sS 'http://127.0.0.1:8080/v1/prisms/triage/results' \
  -H "Authorization: Bearer $REFRACT_KEY" \
  -H 'Content-Type: application/json' \
  -d '{
  "fields": {
    "field_0": "Subject",
    "field_1": "It'\''s"
  }
}'"#
    );
}

#[test]
fn a_sample_text_takes_the_place_of_the_first_label() {
    let fields = fields(&["Subject", "Message"]);
    let command = create_result("http://a/v1", &prism(), &fields, Some("Where is it?"));
    assert!(
        command.contains("\"field_0\": \"Where is it?\""),
        "{command}"
    );
    assert!(command.contains("\"field_1\": \"Message\""), "{command}");
}

#[test]
fn a_shell_hands_on_exactly_the_labels_that_were_written() {
    let labels = [
        "a 'quoted' \"label\"",
        "`id` $(id) $HOME \\ \\n !!",
        "two\nlines\tand \u{1b}[31m",
        "\u{202e}turned\u{202c} \u{e0041}",
        "日本 🦊 עברית",
        "@/etc/passwd",
    ];
    let words = words_of(&create_result(
        "http://a b/v1",
        &prism(),
        &fields(&labels),
        None,
    ));
    assert_eq!(words.len(), 8, "{words:?}");
    assert_eq!(words[1], "http://a b/v1/prisms/triage/results");
    assert_eq!(words[3], "Authorization: Bearer rk_secret");
    let body: serde_json::Value = serde_json::from_str(&words[7]).unwrap();
    for (place, label) in labels.iter().enumerate() {
        assert_eq!(body["fields"][format!("field_{place}")], **label);
    }
}

#[test]
fn what_cannot_be_seen_is_escaped() {
    let command = create_result(
        "http://a/v1",
        &prism(),
        &fields(&["\u{202e}x\u{1b}\u{e0041}é"]),
        None,
    );
    assert!(
        command.contains(r#""\u202ex\u001b\udb40\udc41é""#),
        "{command}"
    );
}

#[test]
fn the_key_is_set_as_it_is() {
    let script = format!("{}; printf %s \"$REFRACT_KEY\"", set_key("rk_a-b_'c"));
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(output.stdout, b"rk_a-b_'c");
}
