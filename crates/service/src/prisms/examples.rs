//! Example prisms, from which people start and with which the demo runs.
//!
//! They are the files under `docs/examples`, embedded.

use refract_authoring::prism_file::PrismFile;
use refract_domain::prism::PrismVersion;

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
    /// Texts for its first field, to try the prism with.
    pub sample_texts: [&'static str; 3],
}

/// Messages to the support of a shop; the prism of the demo.
pub const SUPPORT_TRIAGE: ExamplePrism = ExamplePrism {
    slug: "support-triage",
    name: "Support triage",
    words: "What a customer's message is about, whether its writer is angry, and how urgent it is.",
    file: include_bytes!("../../../../docs/examples/support-triage.json"),
    sample_texts: [
        "I was charged twice for one order, and this is the third time that I write. Give me my \
         money back today!",
        "Hello, my parcel was to arrive on Monday. Do you know where it is?",
        "Just wanted to say that the new shoes are lovely. Thank you.",
    ],
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
        sample_texts: [
            "The kettle boils fast and is easy to clean. I would buy it again.",
            "Broke after two days. The courier threw the box over the fence, too.",
            "Buy cheap watches at my shop, link in my profile!!!",
        ],
    },
    ExamplePrism {
        slug: "lead-qualification",
        name: "Lead qualification",
        words: "What a company asks for, whether it names a date, and how close it is to booking.",
        file: include_bytes!("../../../../docs/examples/lead-qualification.json"),
        sample_texts: [
            "We are 60 people and need a place for our yearly meeting on 14 May. Please send an offer.",
            "Do you also rent out rooms for weddings? No date yet, we are only looking around.",
            "Please remove us from your mailing list.",
        ],
    },
];

/// A prism file to begin with, whose comments explain it.
pub const NEW_PRISM: &[u8] = include_bytes!("../../../../docs/examples/new-prism.json");

/// Texts to try a version with: those of the example that asks the same questions; none for other
/// versions.
pub fn sample_texts(version: &PrismVersion) -> &'static [&'static str] {
    let asks_alike = |example: &&ExamplePrism| {
        let file = PrismFile::read(example.file, None);
        file.is_ok_and(|file| {
            let keys = |version: &PrismVersion| {
                let questions = version.questions().iter();
                questions
                    .map(|question| question.key.clone())
                    .collect::<Vec<_>>()
            };
            keys(&file.version) == keys(version)
        })
    };
    let found = EXAMPLES.iter().find(asks_alike);
    found.map_or(&[], |example| &example.sample_texts)
}

/// The example whose name in URLs is `slug`.
pub fn find_example(slug: &str) -> Option<&'static ExamplePrism> {
    EXAMPLES.iter().find(|example| example.slug == slug)
}

#[cfg(test)]
mod tests {
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
            assert_eq!(sample_texts(&file.version), example.sample_texts);
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
