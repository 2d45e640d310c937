//! Reads arbitrary bytes as a lens file, for a prism with every question type. The result is an
//! error message or columns. Columns read back unchanged from their saved form and from their shown
//! form.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use refract_authoring::lens_file::{self, ShownLens};
use refract_authoring::prism_file::PrismFile;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::PrismVersion;

static PRISM: LazyLock<PrismVersion> = LazyLock::new(|| {
    let file = include_bytes!("../../../../docs/examples/support-triage.json");
    PrismFile::read(file, None)
        .expect("the example is a prism file")
        .version
});

fuzz_target!(|bytes: &[u8]| {
    let columns = match lens_file::read(bytes, &PRISM) {
        Ok(columns) => columns,
        Err(problems) => {
            assert!(problems.to_string().starts_with("Invalid request: "));
            return;
        }
    };
    let saved = serde_json::to_string(&columns).expect("columns have JSON");
    let read: Vec<Column> = serde_json::from_str(&saved).expect("saved columns read back");
    assert_eq!(read, columns);
    let lens = Lens::Custom(columns.clone());
    let mut shown =
        serde_json::to_value(ShownLens::new(&lens, PRISM.columns(&lens))).expect("a lens is shown");
    shown.as_object_mut().expect("an object").remove("mode");
    let shown = serde_json::to_vec(&shown).expect("JSON");
    assert_eq!(
        lens_file::read(&shown, &PRISM).expect("what is shown is a lens file"),
        columns
    );
});
