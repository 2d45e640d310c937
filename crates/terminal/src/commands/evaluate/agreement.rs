//! `refract evaluate --agreement`: how far people agree who marked the same texts.

use std::fmt::Write as _;

use refract_domain::key::QuestionKey;
use refract_domain::prism::QuestionType;
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::measures::{AlphaLevel, UndefinedAgreement};
use refract_evaluation::report::{number, range};
use refract_service::Refract;
use refract_service::measures::QuestionAgreement;
use refract_service::prisms::PrismHistory;
use refract_service::results::ResultFilter;

use crate::output::{self, report, value};
use crate::terminal::{self, Palette, counted};

/// Prints the agreement about each question, or about `only` one.
pub(super) async fn print(
    refract: &Refract,
    history: &PrismHistory,
    only: Option<&QuestionKey>,
    filter: ResultFilter,
    from: MarksFrom,
    as_json: bool,
) -> anyhow::Result<()> {
    let prism = &history.prism;
    let people = refract.marks().annotators(prism.account, prism.id).await?;
    let made = people.iter().map(|it| {
        let settled = match it.settled {
            0 => String::new(),
            settled => format!(", {settled} settled"),
        };
        let marks = counted(it.marks, "mark");
        terminal::plain(&format!("{}: {marks}{settled}", people.label(&it.by)))
    });
    let made: Vec<String> = made.collect();
    if !made.is_empty() {
        output::say(&made.join("; "));
    }
    let measuring = refract.measures().agreement(history, only, filter, from);
    for (place, measured) in measuring.await?.iter().enumerate() {
        if as_json {
            print_json(measured, from)?;
            continue;
        }
        if place > 0 {
            output::text("\n")?;
        }
        output::text(&text(measured, terminal::width()))?;
    }
    Ok(())
}

/// Prints the object of a question; what is not defined is null, and `undefined` says why.
fn print_json(measured: &QuestionAgreement, from: MarksFrom) -> anyhow::Result<()> {
    let agreement = &measured.agreement;
    // the pairs of more than two people are not independent
    let interval = agreement.pairs.interval().filter(|_| agreement.people == 2);
    let question_type = measured.question.question_type();
    let undefined = agreement.undefined.map(UndefinedAgreement::message);
    let mut members = vec![
        ("question", value(&measured.question.key)),
        ("type", value(&question_type)),
        ("people", value(&agreement.people)),
        ("texts", value(&agreement.texts)),
        ("agreement", value(&agreement.pairs.value())),
        ("agreement_low", value(&interval.map(|it| it.low))),
        ("agreement_high", value(&interval.map(|it| it.high))),
        ("kappa", value(&agreement.kappa)),
        ("alpha", value(&agreement.alpha)),
        ("alpha_level", value(&agreement.level)),
        ("undefined", value(&undefined)),
        ("marks_from", value(&from.name())),
    ];
    if question_type == QuestionType::Scale {
        members.push(("quadratic_kappa", value(&agreement.quadratic_kappa)));
    }
    output::object(&members)
}

fn text(measured: &QuestionAgreement, width: usize) -> String {
    let (question, agreement) = (&measured.question, &measured.agreement);
    let palette = Palette::of_stdout();
    let kind = format!(" ({})", question.question_type().name());
    let mut lines = vec![report::heading(question, &kind, &palette, width)];
    if agreement.texts > 0 {
        let texts = counted(agreement.texts, "text");
        lines.push(format!("{texts} marked by {} people", agreement.people));
        let interval = agreement.pairs.interval().filter(|_| agreement.people == 2);
        let mut figures = format!("agreement {}", range(agreement.pairs.value(), interval));
        let level = match agreement.level {
            AlphaLevel::Nominal => "alpha (nominal)",
            AlphaLevel::Ordinal => "alpha (ordinal)",
        };
        for (name, figure) in [
            ("kappa", agreement.kappa),
            ("quadratic kappa", agreement.quadratic_kappa),
            (level, agreement.alpha),
        ] {
            if figure.is_some() {
                let _ = write!(figures, "   {name} {}", number(figure));
            }
        }
        lines.push(figures);
    }
    if let Some(undefined) = agreement.undefined {
        lines.push(undefined.message().to_owned());
    }
    lines.push(String::new());
    lines.join("\n")
}
