//! Arbitrary files: each is read or refused with paths, and none panics.

use proptest::prelude::*;

use super::*;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[a-z_]{1,8}".prop_map(Value::from),
        Just(json!("choice")),
        Just(json!("scale")),
    ];
    let key = prop_oneof![
        Just("name".to_owned()),
        Just("fields".to_owned()),
        Just("questions".to_owned()),
        Just("key".to_owned()),
        Just("label".to_owned()),
        Just("type".to_owned()),
        Just("text".to_owned()),
        Just("options".to_owned()),
        Just("levels".to_owned()),
        "[a-z]{1,4}".prop_map(String::from),
    ];
    leaf.prop_recursive(6, 96, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(key.clone(), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_sent_is_read_or_refused_with_paths(file in any_json()) {
        if let Err(words) = read(&file) {
            prop_assert!(words.starts_with("Invalid request: "), "{}", words);
        }
    }

    #[test]
    fn whatever_bytes_are_sent_end_in_words(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(PrismFile::read(&bytes, None).is_err());
    }
}
