//! Reads arbitrary bytes as a prism file. The result is an error message or a version. A version
//! reads back unchanged from its saved form and from its shown form.

#![no_main]

use libfuzzer_sys::fuzz_target;
use refract_authoring::earlier_versions::{EarlierVersions, KeyHistory};
use refract_authoring::prism_file::{PrismFile, ShownPrism};
use refract_domain::lens::Lens;
use refract_domain::prism::PrismVersion;

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
    let earlier = EarlierVersions {
        keys: KeyHistory::of([&file.version]),
        latest: file.version.clone(),
        lens: Lens::Automatic,
    };
    let next = PrismFile::read(bytes, Some(&earlier)).expect("a file makes a next version too");
    assert_eq!(next.version, file.version, "labels keep their keys");
});
