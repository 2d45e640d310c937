//! The form of a lens and the lens file made from it.

use super::*;
use refract_authoring::lens_file;
use refract_authoring::prism_file::PrismFile;

const PRISM: &[u8] = include_bytes!("../../../../../../docs/examples/support-triage.json");
const LENS: &[u8] = include_bytes!("../../../../../../docs/examples/support-triage.lens.json");

#[test]
fn a_lens_comes_back_from_its_form() {
    let prism = PrismFile::read(PRISM, None).unwrap().version;
    let columns = lens_file::read(LENS, &prism).unwrap();
    let form = LensForm::of(&columns);
    assert_eq!(lens_file::read(&form.file(), &prism).unwrap(), columns);
}

#[test]
fn a_finer_cutoff_is_kept() {
    let prism = PrismFile::read(PRISM, None).unwrap().version;
    let file = br#"{"columns":[{"name":"a","question":"angry","output":"label","no_below":0.405,"yes_from":0.4571}]}"#;
    let columns = lens_file::read(file, &prism).unwrap();
    let form = LensForm::of(&columns);
    assert_eq!(form.columns[0].no_below, "40.5");
    assert_eq!(form.columns[0].yes_from, "45.71");
    assert_eq!(lens_file::read(&form.file(), &prism).unwrap(), columns);
}

#[test]
fn what_is_no_number_is_refused_where_it_stands() {
    let prism = PrismFile::read(PRISM, None).unwrap().version;
    let mut form = LensForm::default();
    form.apply("add", "angry/label", &prism);
    form.columns[0].no_below = "4o".to_owned();
    let problems = lens_file::read(&form.file(), &prism).unwrap_err();
    assert_eq!(problems.as_slice()[0].path, "columns.0.no_below");
}

#[test]
fn one_input_moves_both_cutoffs_until_a_band_is_asked_for() {
    let prism = PrismFile::read(PRISM, None).unwrap().version;
    let typed = |one: &str, no_below: &str, yes_from: &str| {
        let mut sent = Form::default();
        sent.push("columns.0.shows", "angry/label");
        sent.push("columns.0.one", one);
        sent.push("columns.0.no_below", no_below);
        sent.push("columns.0.yes_from", yes_from);
        LensForm::read(&sent)
    };
    let cutoffs = |form: &LensForm| {
        let column = &form.columns[0];
        (column.no_below.clone(), column.yes_from.clone())
    };
    let pair = |no_below: &str, yes_from: &str| (no_below.to_owned(), yes_from.to_owned());
    let mut form = typed("50", "50", "70");
    assert_eq!(cutoffs(&form), pair("70", "70"));
    assert!(!form.columns[0].has_band());
    form.apply("band", "", &prism);
    assert_eq!(cutoffs(&form), pair("60", "70"));
    form.apply("no-band", "", &prism);
    assert_eq!(cutoffs(&form), pair("70", "70"));
    assert_eq!(cutoffs(&typed("50", "40", "70")), pair("40", "70"));
    assert_eq!(cutoffs(&typed("", "50", "70")), pair("50", "70"));
    let mut lowest = typed("5", "5", "5");
    lowest.apply("band", "", &prism);
    assert_eq!(cutoffs(&lowest), pair("1", "5"));
}

#[test]
fn buttons_add_move_and_remove() {
    let prism = PrismFile::read(PRISM, None).unwrap().version;
    let mut form = LensForm::default();
    for shows in ["topic/top", "angry/label", "urgency", "nothing"] {
        form.apply("add", shows, &prism);
    }
    assert_eq!(form.open(), Some(2), "a new column is open");
    let mut form = form.with_view("", "0");
    form.apply("up.2", "", &prism);
    form.apply("down.0", "", &prism);
    assert_eq!((form.chosen(), form.open()), (Some(2), Some(1)));
    let shows = |form: &LensForm| {
        let columns = form.columns.iter();
        columns.map(|it| it.shows.clone()).collect::<Vec<_>>()
    };
    assert_eq!(shows(&form), ["urgency/level", "topic/top", "angry/label"]);
    form.apply("remove.1", "", &prism);
    for nothing in ["up.0", "down.1", "remove.7", "up.x", "", "add"] {
        form.apply(nothing, "", &prism);
    }
    assert_eq!(shows(&form), ["urgency/level", "angry/label"]);
}

#[test]
fn an_address_puts_cutoffs_into_the_draft() {
    let prism = PrismFile::read(PRISM, None).unwrap().version;
    let columns = lens_file::read(LENS, &prism).unwrap();
    let query = Query::parse("question=angry&no_below=0.3&yes_from=0.75");
    let form = LensForm::of(&columns)
        .with_view("", "")
        .with_cutoffs_of(&query);
    let label = form.chosen_column().unwrap();
    assert_eq!((&*label.no_below, &*label.yes_from), ("30", "75"));
}

#[test]
fn an_address_has_the_cutoffs_of_every_question_that_was_moved() {
    let label = |question: &str, no_below: &str, yes_from: &str| ColumnInput {
        shows: format!("{question}/label"),
        no_below: no_below.to_owned(),
        yes_from: yes_from.to_owned(),
        ..ColumnInput::default()
    };
    let form = |columns: [ColumnInput; 4], chosen: &str| {
        let columns = columns.to_vec();
        let note = String::new();
        LensForm { columns, note }.with_view(chosen, "")
    };
    let saved = || [("a", "40.0", "60"), ("b", "50", "50"), ("c", "50", "50")];
    let saved = saved().map(|(question, no, yes)| label(question, no, yes));
    let [a, b, c] = saved;
    let again = label("a", "20", "30");
    let saved = form([a.clone(), b.clone(), c, again.clone()], "");
    let draft = form(
        [
            a,
            label("b", "12.5", "80"),
            label("c", "5", "x"),
            label("a", "25", "35"),
        ],
        "0",
    );
    let moved = draft.moved_beside(&saved);
    assert_eq!(moved, "1-b-0.125-0.80 3-a-0.25-0.35");
    assert_eq!(saved.moved_beside(&saved), "");

    let address = |text: &str| Query::default().with(ALSO, Some(text));
    let shown = saved.clone().with_cutoffs_of(&address(&moved));
    let cutoffs = |form: &LensForm| {
        let columns = form.columns.iter();
        let texts = columns.map(|it| format!("{} {}", it.no_below, it.yes_from));
        texts.collect::<Vec<_>>()
    };
    assert_eq!(cutoffs(&shown), ["40.0 60", "12.5 80", "50 50", "25 35"]);
    let other = saved.clone().with_cutoffs_of(&address("7-b-0.1-0.2"));
    assert_eq!(
        cutoffs(&other)[1],
        "10 20",
        "the lens has other columns now"
    );
    for wrong in ["1-b-0.1", "1-b-x-0.2", "1-z-0.1-0.2", "-", ""] {
        let form = saved.clone().with_cutoffs_of(&address(wrong));
        assert_eq!(form, saved, "{wrong}");
    }
}

#[test]
fn the_point_moves_and_no_digit_is_lost() {
    for (percent, share) in [
        ("40", "0.40"),
        ("5", "0.05"),
        ("100", "1.00"),
        ("45.7", "0.457"),
        ("0.01", "0.0001"),
    ] {
        assert_eq!(to_share(percent).as_deref(), Some(share));
        assert_eq!(to_percent(share.parse().unwrap()), percent);
    }
    for other in ["", "x", "-1", "1e2", "4 0", "1000", ".5", "40,5"] {
        assert_eq!(to_share(other), None, "{other}");
    }
}

#[test]
fn every_cutoff_of_six_decimals_comes_back() {
    for millionths in (1..1_000_000).step_by(997) {
        let share = f64::from(millionths) / 1e6;
        let back: f64 = to_share(&to_percent(share)).unwrap().parse().unwrap();
        assert!((back - share).abs() < f64::EPSILON, "{share}");
    }
}
