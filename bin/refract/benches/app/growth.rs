//! Lists in a small and in a large database.

use crate::figures::{Durations, percentile, verdict};
use crate::filling::FilledDatabase;
use crate::pages::{MeasuredPage, lists};
use crate::served_app::ServedApp;

/// Rounds in which each page is read once from each database.
const ROUNDS: usize = 80;
/// Uncounted rounds before these.
const WARM_UP: usize = 5;
/// The most times as long that a list may take in the large database as in the small one.
const AT_MOST: f64 = 1.5;

/// Reads every list from both databases in turn, and prints how long it took.
pub(crate) fn measure(databases: &[FilledDatabase; 2], apps: &mut [ServedApp; 2]) {
    let pages = databases.each_ref().map(lists);
    let count = pages[0].len();
    let mut took: [Vec<Durations>; 2] = [(); 2].map(|()| vec![Durations::default(); count]);
    for round in 0..WARM_UP + ROUNDS {
        for page in 0..count {
            // each database is first as often as second
            for turn in 0..2 {
                let which = (round + turn) % 2;
                let sent = apps[which].page(&pages[which][page].path);
                if round >= WARM_UP {
                    took[which][page].add(sent.took);
                }
            }
        }
    }
    let [few, many] = databases.each_ref().map(|database| database.results);
    println!(
        "\nMilliseconds of whole pages over HTTP, {ROUNDS} rounds; the medians' ratio, and the middle half of the rounds' ratios. Yardstick: at most {AT_MOST}.\n"
    );
    println!("| page | median of {few} | median of {many} | ratio | spread | |");
    println!("|---|--:|--:|--:|--:|---|");
    let [small, large] = &took;
    for ((page, small), large) in pages[0].iter().zip(small).zip(large) {
        print(page, small, large);
    }
}

fn print(page: &MeasuredPage, small: &Durations, large: &Durations) {
    let [few, many] = [small, large].map(|took| took.percentile(50));
    let ratio = many / few;
    let [low, high] = [25, 75].map(|percent| percentile(small.ratios(large), percent));
    let verdict = if page.is_bounded {
        "bounded"
    } else {
        verdict(ratio <= AT_MOST)
    };
    let name = page.name;
    println!("| {name} | {few:.2} | {many:.2} | {ratio:.2} | {low:.2}–{high:.2} | {verdict} |");
}
