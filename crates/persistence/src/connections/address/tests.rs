use super::*;
use crate::connections::DatabaseUrl;

fn refusal(url: &str) -> String {
    Address::parse(url).err().unwrap().to_string()
}

#[test]
fn a_sqlite_address_is_a_path() {
    for (url, path) in [
        ("sqlite:///var/a b?.db", "/var/a b?.db"),
        ("sqlite:///x%20", "/x%20"),
    ] {
        assert!(
            matches!(Address::parse(url), Ok(Address::Sqlite(p)) if p == *path),
            "{url}"
        );
    }
    let relative = Address::parse("sqlite://file:x.db").unwrap();
    assert!(matches!(relative, Address::Sqlite(p) if p.is_absolute() && p.ends_with("file:x.db")));
    assert!(refusal("sqlite://").contains("path of a file"));
    assert!(refusal("sqlite://:memory:").contains("path of a file"));
}

#[test]
fn a_sqlite_address_has_no_parameters_but_a_file_may_be_called_so() {
    for url in [
        "sqlite:///x.db?mode=rwc",
        "sqlite://x.db?cache=shared&mode=ro",
    ] {
        assert!(refusal(url).contains("has no parameters"), "{url}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.db?a=b");
    std::fs::write(&file, "").unwrap();
    let url = format!("sqlite://{}", file.display());
    assert!(matches!(Address::parse(&url), Ok(Address::Sqlite(path)) if path == file));
}

#[test]
fn quotes_and_line_breaks_around_an_address_are_none_of_it() {
    for url in ["\"postgres://u:p@h/d\"", "'sqlite:///x.db'"] {
        let refusal = refusal(url);
        assert!(refusal.contains("take the quotes out"), "{refusal}");
        assert!(!refusal.contains("u:p"), "{refusal}");
    }
    let given = DatabaseUrl::from("sqlite:///x.db\r\n").read();
    assert_eq!(given.ok().as_deref(), Some("sqlite:///x.db"));
}

#[test]
fn other_schemes_are_refused_with_those_that_there_are() {
    for url in ["mysql://h/d", "refract.db", "", "sqlite:x", "POSTGRES://h"] {
        assert_eq!(
            refusal(url),
            "the database address must begin with sqlite:// or postgres://",
            "{url}"
        );
    }
}

/// Runs in `cargo test -p refract-persistence --no-default-features --lib address`.
#[cfg(not(feature = "postgres"))]
#[test]
fn a_build_without_postgresql_refuses_its_addresses() {
    for url in ["postgres://u:secret@h/d", "postgresql://h/d?x=1"] {
        let refusal = refusal(url);
        assert!(refusal.contains("`make build`"), "{refusal}");
        assert!(!refusal.contains("secret"), "{refusal}");
    }
}
