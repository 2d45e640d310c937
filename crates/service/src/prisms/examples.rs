//! Example prisms, from which people start and with which the demo runs.
//!
//! They are the files under `docs/examples`, embedded.

/// An example of a prism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExamplePrism {
    /// The example's name in URLs; also the slug of the first prism that is made from it.
    pub slug: &'static str,
    /// The prism's name.
    pub name: &'static str,
    /// One sentence on what the prism answers.
    pub words: &'static str,
    /// The prism file.
    pub file: &'static [u8],
}

/// Messages to the support of a shop; the prism of the demo.
pub const SUPPORT_TRIAGE: ExamplePrism = ExamplePrism {
    slug: "support-triage",
    name: "Support triage",
    words: "What a customer's message is about, whether its writer is angry, and how urgent it is.",
    file: include_bytes!("../../../../docs/examples/support-triage.json"),
};

/// Every example, the simplest first.
pub const EXAMPLES: [ExamplePrism; 3] = [
    SUPPORT_TRIAGE,
    ExamplePrism {
        slug: "review-moderation",
        name: "Review moderation",
        words: "Whether a customer's review may be shown, whether it is about the product, and how \
                satisfied the customer is.",
        file: include_bytes!("../../../../docs/examples/review-moderation.json"),
    },
    ExamplePrism {
        slug: "lead-qualification",
        name: "Lead qualification",
        words: "What a company asks for, whether it names a date, and how close it is to booking.",
        file: include_bytes!("../../../../docs/examples/lead-qualification.json"),
    },
];

/// A prism file to begin with, whose comments explain it.
pub const NEW_PRISM: &[u8] = include_bytes!("../../../../docs/examples/new-prism.json");

/// The example whose name in URLs is `slug`.
pub fn find_example(slug: &str) -> Option<&'static ExamplePrism> {
    EXAMPLES.iter().find(|example| example.slug == slug)
}

#[cfg(test)]
mod tests {
    use refract_authoring::prism_file::PrismFile;
    use refract_authoring::{made_names, wording};

    use super::*;

    #[test]
    fn every_example_is_a_prism_of_its_name_without_warnings() {
        for example in &EXAMPLES {
            let file = PrismFile::read(example.file, None).unwrap();
            assert_eq!(file.name.as_str(), example.name);
            let slug = made_names::slugs(example.name).next().unwrap();
            assert_eq!(slug.as_str(), example.slug);
            assert_eq!(wording::lint(&file.version), [], "{}", example.name);
            assert_eq!(find_example(example.slug), Some(example));
        }
        assert_eq!(find_example("blank"), None);
    }

    #[test]
    fn the_file_to_begin_with_has_every_type_of_question_and_no_warnings() {
        let file = PrismFile::read(NEW_PRISM, None).unwrap();
        let types = file.version.questions().iter();
        let types: Vec<_> = types
            .map(|question| question.question_type().name())
            .collect();
        assert_eq!(types, ["choice", "yes_no", "scale"]);
        assert!(file.version.context().is_some());
        assert_eq!(wording::lint(&file.version), []);
    }
}
