//! `refract evaluate`: the measures of marked answers, checked against the same measures computed
//! here.

use refract_test_stack::marked_texts::marked_texts;
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, PRISM};
use refract_test_support::on_both;

use crate::terminal::OnTerminal;

on_both!(the_measures_of_a_question_fit_on_one_screen);

async fn the_measures_of_a_question_fit_on_one_screen(backend: Backend) {
    let service = service(backend).await;
    service.ask_and_mark(&marked_texts(200)).await;
    let settings = [("DATABASE_URL", service.database_url.as_str())];
    for width in [80, 100, 120] {
        for question in ["topic", "angry", "urgency"] {
            let arguments = ["evaluate", PRISM, "--question", question];
            let mut program =
                OnTerminal::start(service.folder.path(), width, &settings, &arguments);
            assert_eq!(program.end().await, Some(0));
            // the progress precedes the heading
            let (_, screen) = program
                .seen
                .split_once(&format!("{question}\u{1b}[0m ("))
                .unwrap();
            let screen = format!("{question} ({screen}");
            let plain = without_styles(&screen);
            let lines: Vec<_> = plain.lines().collect();
            assert!(lines.len() <= 40, "{width}: {plain}");
            let widest = lines.iter().map(|line| line.chars().count()).max();
            assert!(widest <= Some(usize::from(width)), "{width}: {plain}");
            for part in [
                "accuracy 0.",
                "PRECISION",
                "MARKED AS",
                "SAID",
                "COVERED",
                "0.950",
            ] {
                assert!(plain.contains(part), "{part}: {plain}");
            }
        }
    }
}

/// The text without the terminal's colour codes.
fn without_styles(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |plain, part| {
        plain + part.split_once('m').map_or("", |(_, rest)| rest)
    })
}
