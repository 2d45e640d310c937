//! Names and media types of the formats (spec 4.0).

use refract_lens_rendering::{Format, RowFormat};

#[test]
fn a_format_has_the_media_type_of_the_specification() {
    let table = [
        ("json", "application/json; charset=utf-8"),
        ("raw", "application/json; charset=utf-8"),
        ("csv", "text/csv; charset=utf-8"),
        ("tsv", "text/tab-separated-values; charset=utf-8"),
        ("jsonl", "application/x-ndjson; charset=utf-8"),
    ];
    for (name, content_type) in table {
        let format = Format::parse(name).unwrap();
        assert_eq!((format.name(), format.content_type()), (name, content_type));
    }
    assert_eq!(table.map(|(name, _)| name), Format::NAMES);
}

#[test]
fn json_is_the_format_by_default() {
    assert_eq!(Format::default(), Format::Json);
}

#[test]
fn a_name_in_another_case_is_no_format() {
    for name in ["", "JSON", "Csv", "json ", "xml", "ndjson"] {
        assert_eq!(Format::parse(name), None, "{name}");
        assert_eq!(RowFormat::parse(name), None, "{name}");
    }
}

#[test]
fn rows_are_csv_tsv_or_jsonl() {
    for name in RowFormat::NAMES {
        assert_eq!(RowFormat::parse(name).unwrap().name(), name);
    }
    assert_eq!(RowFormat::parse("json"), None);
    assert_eq!(RowFormat::parse("raw"), None);
}
