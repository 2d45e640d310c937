//! Properties of every result of every prism under every lens.

mod any_sample;
mod expected;

use proptest::prelude::*;
use refract_lens_rendering::{Format, RowFormat, RowWriter, cell_text, render};

use crate::json_oracle::Json;
use crate::raw_results;
use any_sample::any_sample;
use expected::{Cell, expected_cells, expected_json_answers, header};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_result_that_is_read_back_renders_as_before(sample in any_sample()) {
        let result = raw_results::read(&sample, &sample.render(Format::Raw)).unwrap();
        let result = result.with_fields(raw_results::sent(&sample)).unwrap();
        for format in [Format::Json, Format::Raw, Format::Csv, Format::Tsv, Format::Jsonl] {
            let mut out = Vec::new();
            render(format, &sample.columns(), &result.view(), &mut out).unwrap();
            prop_assert_eq!(String::from_utf8(out).unwrap(), sample.render(format));
        }
    }

    #[test]
    fn a_csv_reader_gives_back_the_cells(sample in any_sample()) {
        let body = sample.render(Format::Csv);
        let records = read_csv(&body);
        prop_assert_eq!(records.len(), 2);
        prop_assert_eq!(&records[0], &header(&sample));
        let cells: Vec<_> = expected_cells(&sample).iter().map(Cell::guarded).collect();
        prop_assert_eq!(&records[1], &cells);
    }

    #[test]
    fn csv_quotes_and_ends_lines_as_a_csv_writer_does(sample in any_sample()) {
        let body = sample.render(Format::Csv);
        let mut writer = csv::WriterBuilder::new()
            .terminator(csv::Terminator::CRLF)
            .from_writer(Vec::new());
        for record in read_csv(&body) {
            writer.write_record(record).unwrap();
        }
        prop_assert_eq!(String::from_utf8(writer.into_inner().unwrap()).unwrap(), body);
    }

    #[test]
    fn a_single_cell_is_that_of_csv_without_quotes_and_guard(sample in any_sample()) {
        let view = sample.view();
        let values = view.values(&sample.lens).map(cell_text);
        let values: Vec<_> = values.collect();
        let expected = expected_cells(&sample);
        let expected = expected.iter().skip(expected.len() - values.len());
        let expected: Vec<_> = expected.map(Cell::as_stored).collect();
        prop_assert_eq!(values, expected);
    }

    #[test]
    fn tsv_has_one_tab_fewer_than_columns_in_every_line(sample in any_sample()) {
        let body = sample.render(Format::Tsv);
        let lines: Vec<_> = body.strip_suffix('\n').unwrap().split('\n').collect();
        prop_assert_eq!(lines.len(), 2);
        prop_assert!(!body.contains('\r'));
        let lines: Vec<Vec<_>> = lines.iter().map(|line| line.split('\t').collect()).collect();
        prop_assert_eq!(&lines[0], &header(&sample));
        let cells: Vec<_> = expected_cells(&sample).iter().map(Cell::spaced).collect();
        prop_assert_eq!(&lines[1], &cells);
    }

    #[test]
    fn no_text_cell_starts_like_a_formula_and_no_number_is_altered(sample in any_sample()) {
        let csv = read_csv(&sample.render(Format::Csv)).remove(1);
        let tsv = sample.row(Format::Tsv);
        let tsv = tsv.strip_suffix('\n').unwrap().split('\t').map(str::to_owned).collect();
        for written in [csv, tsv] {
            for (cell, written) in expected_cells(&sample).into_iter().zip(written) {
                match cell {
                    Cell::Text(_) => {
                        prop_assert!(!written.starts_with(['=', '+', '-', '@', '\t', '\r']));
                    }
                    Cell::Number(number) => prop_assert_eq!(written, number),
                }
            }
        }
    }

    #[test]
    fn jsonl_is_one_line_with_the_keys_of_the_header(sample in any_sample()) {
        let body = sample.render(Format::Jsonl);
        let line = body.strip_suffix('\n').unwrap();
        prop_assert!(!line.contains(['\n', '\r']));
        let row = Json::read(line);
        prop_assert_eq!(row.keys(), header(&sample));
        for (field, cell) in sample.latest.fields().iter().zip(&expected_cells(&sample)[6..]) {
            prop_assert_eq!(row.get(field.key.as_str()), &Json::String(cell.as_stored().to_owned()));
        }
        let fields = sample.latest.fields().len();
        prop_assert_eq!(&row.object()[6 + fields..], expected_json_answers(&sample));
        prop_assert_eq!(serde_json::to_string(&row).unwrap(), line);
    }

    #[test]
    fn json_and_raw_are_compact_with_the_envelopes_keys_in_order(sample in any_sample()) {
        for format in [Format::Json, Format::Raw] {
            let body = sample.render(format);
            let envelope = Json::read(&body);
            prop_assert_eq!(envelope.keys(), [
                "id", "ref", "prism", "version", "status", "error", "took_ms", "created_at",
                "answers",
            ]);
            prop_assert_eq!(serde_json::to_string(&envelope).unwrap(), body);
        }
    }

    #[test]
    fn json_has_one_entry_a_column_and_raw_one_answer_a_question(sample in any_sample()) {
        let json = Json::read(&sample.render(Format::Json));
        let raw = Json::read(&sample.render(Format::Raw));
        let Some(answers) = sample.status.answers() else {
            prop_assert_eq!(json.get("answers"), &Json::Null);
            prop_assert_eq!(raw.get("answers"), &Json::Null);
            return Ok(());
        };
        prop_assert_eq!(json.get("answers").object(), expected_json_answers(&sample));
        // the stored answers read back from raw
        let stored = serde_json::to_string(raw.get("answers")).unwrap();
        prop_assert_eq!(&serde_json::from_str::<refract_domain::answer::Answers>(&stored).unwrap(), answers);
    }

    #[test]
    fn every_number_is_a_plain_decimal(sample in any_sample()) {
        for format in [Format::Json, Format::Raw, Format::Jsonl] {
            for number in Json::read(&sample.render(format)).numbers() {
                prop_assert!(is_plain_decimal(number), "{}", number);
            }
        }
        for cell in expected_cells(&sample) {
            if let Cell::Number(number) = cell {
                prop_assert!(is_plain_decimal(&number), "{}", number);
            }
        }
    }

    #[test]
    fn a_row_of_many_is_the_row_of_one(samples in prop::collection::vec(any_sample(), 1..4)) {
        let columns = &samples[0];
        let formats =
            [(RowFormat::Csv, Format::Csv), (RowFormat::Tsv, Format::Tsv), (RowFormat::Jsonl, Format::Jsonl)];
        for (row_format, format) in formats {
            let mut rows = RowWriter::new(row_format, columns.columns(), Vec::new());
            let mut alone = String::new();
            for sample in &samples {
                rows.write_row(&sample.view()).unwrap();
                let mut sample = sample.clone();
                sample.latest = columns.latest.clone();
                sample.lens.clone_from(&columns.lens);
                alone += &sample.row(format);
            }
            prop_assert_eq!(String::from_utf8(rows.finish().unwrap()).unwrap(), alone);
        }
    }
}

fn read_csv(body: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(body.as_bytes());
    let records = reader
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect());
    records.collect()
}

/// Whether a number is digits only, or digits with one to six decimals that do not end in 0.
fn is_plain_decimal(number: &str) -> bool {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "1"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let whole_is_plain = whole == "0" || !whole.starts_with('0');
    !whole.is_empty()
        && whole_is_plain
        && digits(whole)
        && digits(decimals)
        && (1..=6).contains(&decimals.len())
        && !decimals.ends_with('0')
}
