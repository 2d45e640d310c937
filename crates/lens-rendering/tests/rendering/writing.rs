//! Writing many rows, and writers that fail.

use std::io::{self, Write};

use refract_domain::prism::VersionNumber;
use refract_lens_rendering::{Format, RefusedRowView, RowFormat, RowWriter, TableStyle, render};

use crate::sample::{Sample, sample};

const FORMATS: [Format; 5] = [
    Format::Json,
    Format::Raw,
    Format::Csv,
    Format::Tsv,
    Format::Jsonl,
];

fn download(format: RowFormat, results: &[Sample]) -> String {
    let columns = sample();
    let mut rows = RowWriter::new(format, columns.columns(), Vec::new());
    rows.write_header().unwrap();
    for result in results {
        rows.write_row(&result.view()).unwrap();
    }
    String::from_utf8(rows.finish().unwrap()).unwrap()
}

#[test]
fn a_download_has_one_header_and_then_the_rows_that_the_api_answers_with() {
    let results = [sample(), sample().failed("No answer"), sample()];
    for (row_format, format) in [
        (RowFormat::Csv, Format::Csv),
        (RowFormat::Tsv, Format::Tsv),
        (RowFormat::Jsonl, Format::Jsonl),
    ] {
        let whole = results[0].render(format);
        let header = whole.strip_suffix(&results[0].row(format)).unwrap();
        let rows: String = results.iter().map(|result| result.row(format)).collect();
        assert_eq!(download(row_format, &results), format!("{header}{rows}"));
    }
}

#[test]
fn a_download_without_results_is_the_header_alone() {
    let header = "result_id,ref,version,status,error,created_at,text,topic,angry,urgency\r\n";
    assert_eq!(download(RowFormat::Csv, &[]), header);
    assert_eq!(download(RowFormat::Jsonl, &[]), "");
}

/// A writer that accepts a number of bytes and then fails, like a full disk.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(taken)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_anywhere_is_an_error() {
    let result = sample();
    for format in FORMATS {
        let length = result.render(format).len();
        for room in 0..length {
            let written = render(format, &result.columns(), &result.view(), &mut Full(room));
            assert_eq!(
                written.map_err(|error| error.kind()),
                Err(io::ErrorKind::StorageFull),
                "{} with room for {room} bytes",
                format.name()
            );
        }
        assert!(render(format, &result.columns(), &result.view(), &mut Full(length)).is_ok());
    }
}

#[test]
fn finishing_flushes_the_writer() {
    let mut file = Vec::new();
    let buffered = io::BufWriter::with_capacity(1 << 20, &mut file);
    let result = sample();
    let mut rows = RowWriter::new(RowFormat::Jsonl, result.columns(), buffered);
    rows.write_row(&result.view()).unwrap();
    let buffered = rows.finish().unwrap();
    assert_eq!(buffered.get_ref().len(), result.row(Format::Jsonl).len());
}

/// One row beside those of another table, whose row lacks the last cell.
fn beside(format: RowFormat, result: &Sample) -> String {
    let own = ["=note", "a \"key\"", "last"].map(str::to_owned);
    let rows = RowWriter::new(format, result.columns(), Vec::new());
    let mut rows = rows.beside(&own);
    rows.write_header().unwrap();
    let cells = ["=1+1", "two\nlines"].map(str::to_owned);
    rows.write_row_beside(&cells, &result.view()).unwrap();
    String::from_utf8(rows.finish().unwrap()).unwrap()
}

#[test]
fn a_negative_number_of_another_table_is_no_formula() {
    let result = sample();
    let cells = ["-5.25", "-5,25", "-12", "-", "-.5", "-1+1", "-1.2.3", "+5"];
    let names = cells.map(|cell| format!("of {cell}"));
    for (format, line_end, written) in [
        (
            RowFormat::Csv,
            "\r\n",
            "-5.25,\"-5,25\",-12,'-,'-.5,'-1+1,'-1.2.3,'+5,",
        ),
        (
            RowFormat::Tsv,
            "\n",
            "-5.25\t-5,25\t-12\t'-\t'-.5\t'-1+1\t'-1.2.3\t'+5\t",
        ),
    ] {
        let rows = RowWriter::new(format, result.columns(), Vec::new());
        let mut rows = rows.beside(&names);
        rows.write_header().unwrap();
        rows.write_row_beside(&cells.map(str::to_owned), &result.view())
            .unwrap();
        let text = String::from_utf8(rows.finish().unwrap()).unwrap();
        let row = text.split(line_end).nth(1).unwrap();
        assert!(row.starts_with(written), "{row}");
    }
}

#[test]
fn another_table_takes_the_place_of_ref_and_fields() {
    let result = sample();
    let csv = beside(RowFormat::Csv, &result);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header: Vec<_> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let names = [
        "'=note",
        "a \"key\"",
        "last",
        "result_id",
        "version",
        "status",
        "error",
        "created_at",
        "topic",
        "angry",
        "urgency",
    ];
    assert_eq!(header, names);
    let row = reader.records().next().unwrap().unwrap();
    let first: Vec<_> = row.iter().take(3).collect();
    assert_eq!(first, ["'=1+1", "two\nlines", ""]);
    let tsv = beside(RowFormat::Tsv, &result);
    assert!(tsv.contains("\n'=1+1\ttwo lines\t\t"), "{tsv}");
    let json = beside(RowFormat::Jsonl, &result);
    let begins = r#"{"=note":"=1+1","a \"key\"":"two\nlines","last":"","result_id":""#;
    assert!(json.starts_with(begins), "{json}");
    assert!(
        !json.contains("\"ref\"") && !json.contains("\"text\""),
        "{json}"
    );
}

#[test]
fn a_byte_order_mark_begins_a_table_only() {
    let result = sample();
    for (row_format, format) in [
        (RowFormat::Csv, Format::Csv),
        (RowFormat::Tsv, Format::Tsv),
        (RowFormat::Jsonl, Format::Jsonl),
    ] {
        let rows = RowWriter::new(row_format, result.columns(), Vec::new());
        let mut rows = rows.with_style(TableStyle::Excel);
        rows.write_header().unwrap();
        rows.write_row(&result.view()).unwrap();
        let written = String::from_utf8(rows.finish().unwrap()).unwrap();
        let mark = match row_format {
            RowFormat::Csv | RowFormat::Tsv => "\u{feff}",
            RowFormat::Jsonl => "",
        };
        assert_eq!(written, format!("{mark}{}", result.render(format)));
    }
}

#[test]
fn a_refused_row_has_a_reason_and_no_answers() {
    let result = sample();
    let fields = [("text", "=1+1"), ("gone", "x")];
    let row = RefusedRowView {
        reference: Some("order 7"),
        version: VersionNumber::FIRST,
        reason: "ref: too long",
        fields: &fields,
    };
    let own = ["note".to_owned()];
    let written = |format, own: Option<&[String]>| {
        let mut rows = RowWriter::new(format, result.columns(), Vec::new());
        if let Some(own) = own {
            rows = rows.beside(own);
        }
        rows.write_header().unwrap();
        rows.write_refused_row(&["@a".to_owned()], &row).unwrap();
        String::from_utf8(rows.finish().unwrap()).unwrap()
    };
    let csv = "result_id,ref,version,status,error,created_at,text,topic,angry,urgency\r\n\
               ,order 7,1,refused,ref: too long,,'=1+1,,,\r\n";
    assert_eq!(written(RowFormat::Csv, None), csv);
    assert_eq!(
        written(RowFormat::Tsv, Some(&own)),
        "note\tresult_id\tversion\tstatus\terror\tcreated_at\ttopic\tangry\turgency\n\
         '@a\t\t1\trefused\tref: too long\t\t\t\t\n"
    );
    assert_eq!(
        written(RowFormat::Jsonl, None),
        "{\"result_id\":null,\"ref\":\"order 7\",\"version\":1,\"status\":\"refused\",\
         \"error\":\"ref: too long\",\"created_at\":null,\"text\":\"=1+1\",\"topic\":null,\
         \"angry\":null,\"urgency\":null}\n"
    );
    assert!(
        written(RowFormat::Jsonl, Some(&own))
            .starts_with("{\"note\":\"@a\",\"result_id\":null,\"version\"")
    );
}
