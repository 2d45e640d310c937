//! Any bytes as a prism file: a refusal in words or a version, and what is accepted is saved,
//! shown and read again as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismVersion, KeyHistory};
use refract_domain::prism_file::{Past, PrismFile, ShownPrism};

fuzz_target!(|bytes: &[u8]| {
    let file = match PrismFile::read(bytes, None) {
        Ok(file) => file,
        Err(problems) => {
            assert!(problems.to_string().starts_with("Invalid request: "));
            return;
        }
    };
    let saved = serde_json::to_string(&file.version).expect("a version has JSON");
    let read: PrismVersion = serde_json::from_str(&saved).expect("a saved version reads back");
    assert_eq!(read, file.version);
    let shown = ShownPrism::new(file.name.as_str(), &file.version);
    let shown = serde_json::to_vec(&shown).expect("a version is shown");
    let again = PrismFile::read(&shown, None).expect("what is shown is a prism file");
    assert_eq!(again, file);
    let past = Past {
        keys: KeyHistory::of([&file.version]),
        latest: file.version.clone(),
        lens: Lens::Automatic,
    };
    let next = PrismFile::read(bytes, Some(&past)).expect("the same file is a next version");
    assert_eq!(next.version, file.version, "labels keep their keys");
});
