//! The measured pages, with their addresses on a filled database.

use chrono::{Days, Utc};
use refract_domain::ids::ResultId;

use crate::filling::FilledDatabase;
use crate::made_results::{COMMON_REF, RARE_REF};

/// The prism whose pages are measured.
const PRISM: &str = "/prisms/support-triage";

/// A measured page.
pub(crate) struct MeasuredPage {
    pub(crate) name: &'static str,
    pub(crate) path: String,
    /// Whether the page reads more results in a larger database, up to a limit, so that it may take
    /// longer there.
    pub(crate) is_bounded: bool,
}

impl MeasuredPage {
    fn new(name: &'static str, path: impl Into<String>) -> Self {
        Self {
            name,
            path: path.into(),
            is_bounded: false,
        }
    }

    fn bounded(self) -> Self {
        Self {
            is_bounded: true,
            ..self
        }
    }
}

/// Pages that list or count results.
pub(crate) fn lists(database: &FilledDatabase) -> Vec<MeasuredPage> {
    let results = |name, query: &str| MeasuredPage::new(name, format!("{PRISM}/results{query}"));
    let making = &database.making;
    let [key, rare_key] = making.keys;
    let day = |ago| {
        let today = Utc::now().date_naive();
        today.checked_sub_days(Days::new(ago)).unwrap()
    };
    let common_ref = format!("?ref={COMMON_REF}");
    let rare_ref = format!("?ref={}", RARE_REF.replace(' ', "+"));
    vec![
        MeasuredPage::new("Prisms", "/"),
        MeasuredPage::new("Prism (counts 5,000 at most)", PRISM).bounded(),
        MeasuredPage::new("Keys", "/keys"),
        results("Results", ""),
        results(
            "Results, in the middle",
            &format!("?older={}", database.middle()),
        ),
        results(
            "Results, the oldest",
            &format!("?newer={}", ResultId::LOWEST),
        ),
        results("… status ok", "?status=ok"),
        results("… status failed, a few", "?status=failed"),
        results("… failed and not retried, a few", "?status=unretried"),
        results("… a version, many", "?version=1"),
        results("… a version, a few", "?version=2"),
        results("… the last week", &format!("?from={}", day(7))),
        results(
            "… four days of two weeks ago",
            &format!("?from={}&to={}", day(17), day(14)),
        ),
        results("… a ref, many (counts 1,000 at most)", &common_ref).bounded(),
        results("… a ref, a few", &rare_ref),
        results(
            "… a ref, four days (a few rows among a thousand)",
            &format!("{common_ref}&from={}&to={}", day(17), day(14)),
        )
        .bounded(),
        results("… a key, most", &format!("?by=key%3A{key}")),
        results("… a key, a few", &format!("?by=key%3A{rare_key}")),
        results(
            "… a person, a few",
            &format!("?by=person%3A{}", making.person),
        ),
        results("… the terminal, a few", "?by=terminal"),
        results("… an answer, many", "?value=angry%3Ayes"),
        results(
            "… an answer, a few (looks at 5,000 at most)",
            "?value=topic%3Aproduct",
        )
        .bounded(),
        MeasuredPage::new("a result", format!("/results/{}", database.middle())),
        MeasuredPage::new(
            "a failed result",
            format!("/results/{}", making.first_failed()),
        ),
        MeasuredPage::new("Lens (counts 10,000 at most)", format!("{PRISM}/lens")).bounded(),
    ]
}

/// One page of each kind.
pub(crate) fn kinds(database: &FilledDatabase) -> Vec<MeasuredPage> {
    let of_prism = |name, rest: &str| MeasuredPage::new(name, format!("{PRISM}{rest}"));
    vec![
        MeasuredPage::new("Prisms", "/"),
        MeasuredPage::new("New prism", "/prisms/new"),
        of_prism("Prism", ""),
        of_prism("Version", "/versions/3"),
        of_prism("Edit", "/edit"),
        of_prism("Try", "/try"),
        of_prism("Lens", "/lens"),
        of_prism("Results", "/results"),
        MeasuredPage::new("a result", format!("/results/{}", database.middle())),
        MeasuredPage::new("Keys", "/keys"),
        MeasuredPage::new("People", "/people"),
        MeasuredPage::new("Usage", "/usage"),
        MeasuredPage::new("Events", "/events"),
    ]
}
