use std::sync::Arc;

use parquet::basic::{GzipLevel, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use refract_domain::key::QuestionKey;

use super::*;
use crate::gold::GoldFile;
use crate::input::column_mapping::{WantedColumn, WantedColumns};
use crate::input::{InputFile, InputSource, StoredInput};
use crate::marks_file::MarksFile;

const SCHEMA: &str = "message m {
    REQUIRED BYTE_ARRAY text (STRING);
    OPTIONAL BYTE_ARRAY ref (STRING);
    OPTIONAL INT64 id;
    REQUIRED INT32 small (INTEGER(8,false));
    REQUIRED INT64 at (TIMESTAMP(NANOS,false));
    REQUIRED INT64 utc (TIMESTAMP(MICROS,true));
    REQUIRED INT32 day (DATE);
    REQUIRED INT32 clock (TIME(MILLIS,false));
    REQUIRED INT64 price (DECIMAL(12,2));
    REQUIRED FIXED_LEN_BYTE_ARRAY (5) large (DECIMAL(10,4));
    REQUIRED INT96 old;
    REQUIRED BOOLEAN ok;
    OPTIONAL DOUBLE p;
    REQUIRED FLOAT f;
    OPTIONAL group list (LIST) { REPEATED group list { OPTIONAL INT32 element; } }
}";

/// A file with this many rows in groups of `group`.
fn written(rows: usize, group: usize, compression: Compression) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = WriterProperties::builder().set_compression(compression);
    let properties = Arc::new(properties.build());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut first = 0;
    while first < rows {
        let count = group.min(rows - first);
        let numbers = first..first + count;
        let mut group = file.next_row_group().unwrap();
        macro_rules! column {
            ($type:ty, $value:expr) => {
                column!($type, |number| Some($value(number)), None::<()>)
            };
            ($type:ty, $value:expr, $null:expr) => {{
                let mut column = group.next_column().unwrap().unwrap();
                let cells: Vec<Option<_>> = numbers.clone().map($value).collect();
                let levels: Vec<i16> = cells.iter().map(|it| i16::from(it.is_some())).collect();
                let values: Vec<_> = cells.into_iter().flatten().collect();
                let typed = column.typed::<$type>();
                typed.write_batch(&values, Some(&levels), None).unwrap();
                column.close().unwrap();
            }};
        }
        column!(ByteArrayType, |number| ByteArray::from(
            format!("text {number} ä").into_bytes()
        ));
        column!(
            ByteArrayType,
            |number| (number % 2 == 0).then(|| ByteArray::from("007")),
            None::<()>
        );
        column!(
            Int64Type,
            |number| (number % 3 == 0).then_some(i64::MIN),
            None::<()>
        );
        column!(Int32Type, |_| 255);
        column!(Int64Type, |_| 1_777_885_687_500_000_000);
        column!(Int64Type, |_| -1);
        column!(Int32Type, |_| 20_577);
        column!(Int32Type, |_| 32_887_060);
        column!(Int64Type, |_| -5);
        column!(FixedLenByteArrayType, |_| FixedLenByteArray::from(vec![
            0, 0, 1, 0xe2, 0x40
        ]));
        column!(Int96Type, |_| {
            let mut moment = Int96::new();
            moment.set_data(705_032_704, 1, 2_440_588);
            moment
        });
        column!(BoolType, |number| number % 2 == 0);
        column!(
            DoubleType,
            |number| match number {
                0 => None,
                1 => Some(f64::NAN),
                _ => Some(5.0),
            },
            None::<()>
        );
        column!(FloatType, |_| 0.1);
        let mut list = group.next_column().unwrap().unwrap();
        let levels = vec![0; count];
        let typed = list.typed::<Int32Type>();
        typed
            .write_batch(&[], Some(&levels), Some(&levels))
            .unwrap();
        list.close().unwrap();
        group.close().unwrap();
        first += count;
    }
    file.into_inner().unwrap()
}

fn open(bytes: Vec<u8>) -> Result<ParquetFile, InputError> {
    ParquetFile::open(InputBytes::Stored(StoredInput::of_bytes("a", bytes)))
}

/// The cells of all rows, the names first.
fn rows(file: &ParquetFile) -> Result<Vec<Vec<String>>, InputError> {
    let mut records = file.records();
    let mut record = ByteRecord::new();
    let mut rows = Vec::new();
    while let Some(number) = records.next(&mut record)? {
        assert_eq!(usize::try_from(number).unwrap(), rows.len());
        let cells = record.iter();
        rows.push(
            cells
                .map(|cell| String::from_utf8_lossy(cell).into_owned())
                .collect(),
        );
    }
    assert_eq!(records.next(&mut record)?, None);
    Ok(rows)
}

#[test]
fn values_are_texts_as_a_person_writes_them() {
    let file = open(written(3, 10, Compression::SNAPPY)).unwrap();
    let rows = rows(&file).unwrap();
    assert_eq!(
        rows[0],
        [
            "text", "ref", "id", "small", "at", "utc", "day", "clock", "price", "large", "old",
            "ok", "p", "f", "list"
        ]
    );
    let of = |first: [&str; 3], ok, p| {
        let middle = [
            "255",
            "2026-05-04T09:08:07.500",
            "1969-12-31T23:59:59.999999Z",
            "2026-05-04",
            "09:08:07.060",
            "-0.05",
            "12.3456",
            "1970-01-01T00:00:05",
        ];
        let mut row = first.to_vec();
        row.extend(middle);
        row.extend([ok, p, "0.1", ""]);
        row.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let id = "-9223372036854775808";
    assert_eq!(rows[1], of(["text 0 ä", "007", id], "true", ""));
    assert_eq!(rows[2], of(["text 1 ä", "", ""], "false", ""));
    assert_eq!(rows[3], of(["text 2 ä", "007", ""], "true", "5"));
}

#[test]
fn a_list_that_is_read_refuses_the_file_and_is_no_mark() {
    let source = || {
        let bytes = written(2, 10, Compression::SNAPPY);
        InputSource::Stored(StoredInput::of_bytes("a.parquet", bytes))
    };
    let question = r#""questions": [{ "key": "angry", "type": "yes_no", "text": "?" }]"#;
    let version = |field: &str| {
        let fields = format!(r#""fields": [{{ "key": "{field}", "label": "F" }}]"#);
        Arc::new(serde_json::from_str(&format!("{{ {fields}, {question} }}")).unwrap())
    };
    let refused = GoldFile::read(source(), &version("list")).unwrap_err();
    let words = "its column list: Expected string, received array: write it as text";
    assert_eq!(refused.to_string(), words);
    assert_eq!(
        GoldFile::read(source(), &version("text"))
            .unwrap()
            .texts
            .len(),
        2
    );

    let marks = MarksFile::open(source(), &[QuestionKey::parse("list").unwrap()]).unwrap();
    let errors = marks.read().unwrap().errors;
    let words = format!("{errors:?}");
    assert!(words.contains("Expected string, received array"), "{words}");
}

#[test]
fn kept_cells_that_are_no_text_are_counted() {
    let schema = "message m { REQUIRED BYTE_ARRAY text (STRING); REQUIRED BYTE_ARRAY raw; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    for values in [&[b"a", b"b"], &[b"\xff", b"c"]] {
        let mut column = group.next_column().unwrap().unwrap();
        let values = values.map(|value: &[u8; 1]| ByteArray::from(value.to_vec()));
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    let bytes = file.into_inner().unwrap();

    let wanted = WantedColumns(vec![WantedColumn {
        name: "text".to_owned(),
        is_required: true,
    }]);
    let source = InputSource::Stored(StoredInput::of_bytes("a.parquet", bytes));
    let input = InputFile::open(source, &wanted).unwrap();
    let mut rows = input.rows(&wanted).unwrap();
    let columns = rows.columns();
    let mut kept = Vec::new();
    while rows.next().unwrap().is_some() {
        kept.push(rows.cells_of_last(&columns));
    }
    assert_eq!(kept, [["a", "\u{fffd}"], ["b", "c"]]);
    assert_eq!(rows.odd_cells().not_text, 1);
}

#[test]
fn rows_of_all_groups_are_read_in_every_compression() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let file = open(written(1_000, 333, compression)).unwrap();
        let rows = rows(&file).unwrap();
        assert_eq!(rows.len(), 1_001, "{compression:?}");
        let texts = rows[1..].iter().enumerate();
        for (number, row) in texts {
            assert_eq!(row[0], format!("text {number} ä"));
        }
    }
    let empty = open(written(0, 1, Compression::SNAPPY)).unwrap();
    assert_eq!(rows(&empty).unwrap().len(), 1);
}

#[test]
fn a_cut_file_is_refused_in_a_sentence() {
    let bytes = written(10, 10, Compression::SNAPPY);
    let cut = open(bytes[..bytes.len() - 9].to_vec()).err().unwrap();
    let words = "the Parquet file is damaged or cut off: write it again";
    assert_eq!(cut.to_string(), words);
}

proptest! {
    #[test]
    fn a_damaged_file_is_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = written(20, 8, Compression::SNAPPY);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if is_cut {
            bytes.truncate(end.index(bytes.len()));
        }
        if let Ok(file) = open(bytes) {
            let _ = rows(&file);
        }
    }
}
