//! The measures as one HTML file without scripts, to attach to a merge request: tables, plots as
//! inline SVG, wrong answers by their ids and keys. It holds no texts.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use refract_domain::ids::ResultId;
use refract_domain::prism::QuestionType;
use refract_evaluation::measures::{ConfusionCell, HistogramBar, Interval, ReliabilityBin, STEP};
use refract_evaluation::report::{Cell, Report, ReportPart, ReportTable, number, range};

use super::super::requirement_finding::RequirementFinding;
use super::MeasuredQuestion;
use crate::output::file::OutputFile;
use crate::output::report::{cell, sentence};

/// The most outcomes whose confusion is a table; of more, the mistakes are listed.
const MOST_IN_MATRIX: usize = 30;
/// Size of a plot's area, and the room left of and below it, in units of the drawing.
const SIZE: f64 = 200.0;
const EDGE: f64 = 34.0;
/// The browser loads and runs nothing, wherever the file is opened.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1b1f24;background:#fff}\
table{border-collapse:collapse;margin:.5rem 0 1rem}td,th{padding:.15rem .6rem;border-bottom:1px solid #d7dce1;text-align:left}\
td.n{text-align:right;font-variant-numeric:tabular-nums}td.right{background:#e8f1e8;font-weight:600}\
.plots{display:flex;flex-wrap:wrap;gap:1rem 2rem}figure{margin:0}figcaption{max-width:16rem;color:#59636e;font-size:.85rem}\
svg{width:16rem;height:auto}svg text{font-size:10px;fill:#59636e}.bad{color:#a3201b;font-weight:600}.soft{color:#59636e}\
.scroll{overflow-x:auto}";

/// A wrong answer.
pub(crate) struct WrongLine {
    /// The row of the gold file or the result's `ref`; empty for none.
    pub(crate) row: String,
    /// The result.
    pub(crate) result: ResultId,
    /// The key of the question.
    pub(crate) question: String,
    /// The key of the right outcome.
    pub(crate) marked: String,
    /// The key of the answered outcome.
    pub(crate) answered: String,
}

/// What a file shows.
pub(crate) struct HtmlReport<'a> {
    /// The heading.
    pub(crate) title: &'a str,
    /// The questions.
    pub(crate) measured: &'a [MeasuredQuestion],
    /// The requirements of a check.
    pub(crate) requirements: &'a [RequirementFinding],
    /// Listed wrong answers.
    pub(crate) wrong: &'a [WrongLine],
    /// The number of all wrong answers.
    pub(crate) all_wrong: u64,
}

/// The file, opened before anything is measured.
pub(crate) struct HtmlFile {
    path: PathBuf,
    file: OutputFile,
}

impl HtmlFile {
    /// Starts writing a file, which is deleted unless it is finished.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: OutputFile::create(path)?,
        })
    }

    /// Writes the report.
    pub(crate) fn write(mut self, report: &HtmlReport<'_>) -> anyhow::Result<()> {
        let page = report.page().into_string();
        let written = self.file.write_all(page.as_bytes());
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.file.finish()
    }
}

impl HtmlReport<'_> {
    fn page(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    h1 { (self.title) }
                    (self.requirements())
                    @for measured in self.measured { (question(measured)) }
                    (self.wrong_answers())
                }
            }
        }
    }

    fn requirements(&self) -> Markup {
        html! {
            @if !self.requirements.is_empty() {
                h2 { "Requirements" }
                table {
                    thead { tr { th { "Requirement" } th { "Value" } th { "" } } }
                    tbody { @for finding in self.requirements {
                        tr {
                            td { (finding.requirement) }
                            td.n { (finding.describe_value()) }
                            td { @if finding.holds { "ok" } @else { span.bad { "failed" } } }
                        }
                    } }
                }
            }
        }
    }

    fn wrong_answers(&self) -> Markup {
        let listed = u64::try_from(self.wrong.len()).unwrap_or(u64::MAX);
        html! {
            h2 { "Wrong answers: " (self.all_wrong) }
            @if !self.wrong.is_empty() {
                div.scroll { table {
                    thead { tr { th { "Row" } th { "Question" } th { "Right" } th { "Answered" } th { "Result" } } }
                    tbody { @for wrong in self.wrong {
                        tr {
                            td { bdi { (wrong.row) } }
                            td { (wrong.question) }
                            td { (wrong.marked) }
                            td { (wrong.answered) }
                            td { (wrong.result) }
                        }
                    } }
                } }
                @if self.all_wrong > listed { p.soft { "and " (self.all_wrong - listed) " more" } }
            }
        }
    }
}

fn question(measured: &MeasuredQuestion) -> Markup {
    let numbers = &measured.measures;
    let question = &measured.question;
    html! {
        h2 { (question.key) }
        p { bdi { (question.text) } }
        @if numbers.marks == 0 { p { "No marks." } } @else {
            p {
                (numbers.marks) " marks, " (numbers.answered) " of them answered; "
                @match measured.version { Some(version) => { "version " (version.get()) } None => { "several versions" } }
                "; "
                @match &measured.model { Some(model) => { "model " bdi { (model) } } None => { "several or unknown models" } }
            }
            p { "Accuracy " b { (range(numbers.accuracy.value(), numbers.accuracy.interval())) } }
            (table(&numbers.figures()))
            @if let Some(sentence) = numbers.log_loss_of_zero() { p.soft { (sentence) } }
            div.plots {
                (reliability(&numbers.reliability, question.question_type()))
                (histogram(&measured.histogram, question.question_type()))
            }
            (parts(&numbers.by_outcome(usize::MAX)))
            (confusion(measured))
            (parts(&measured.automation))
        }
    }
}

fn parts(report: &Report<'_>) -> Markup {
    html! {
        @for part in &report.parts {
            @match part {
                ReportPart::Sentence(_, pieces) => p { (sentence(pieces)) },
                ReportPart::Table(it) => (table(it)),
            }
        }
    }
}

fn table(table: &ReportTable<'_>) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { @for heading in table.headings { th { (heading) } } } }
            tbody { @for row in &table.rows {
                tr { @for piece in row { td.n[Cell::is_number(piece)] { (cell(piece)) } } }
            } }
        } }
    }
}

/// Rows by marked outcome, columns by answered one; of many outcomes the mistakes alone.
fn confusion(measured: &MeasuredQuestion) -> Markup {
    let numbers = &measured.measures;
    let keys: Vec<_> = numbers
        .outcomes
        .iter()
        .map(|outcome| &outcome.key)
        .collect();
    html! {
        h3 { "Confusion" }
        @if keys.len() > MOST_IN_MATRIX {
            table {
                thead { tr { th { "Marked" } th { "Answered" } th { "Count" } } }
                tbody { @for cell in numbers.mistakes() {
                    tr { td { (cell.marked) } td { (cell.predicted) } td.n { (cell.count) } }
                } }
            }
        } @else {
            div.scroll { table {
                thead { tr { th { "Marked, answered as" } @for key in &keys { th { (key) } } } }
                tbody { @for marked in &keys {
                    tr {
                        th { (marked) }
                        @for predicted in &keys {
                            @let is_here = |cell: &&ConfusionCell| cell.marked == **marked && cell.predicted == **predicted;
                            td.n.right[marked == predicted] {
                                @if let Some(cell) = numbers.confusion.iter().find(is_here) { (cell.count) } @else { "·" }
                            }
                        }
                    }
                } }
            } }
        }
    }
}

/// The share that came true over the stated probability, with its interval, beside the diagonal.
fn reliability(bins: &[ReliabilityBin], question_type: QuestionType) -> Markup {
    let words = match question_type {
        QuestionType::YesNo => "Share marked yes over the probability of yes",
        QuestionType::Choice | QuestionType::Scale => {
            "Share right over the probability of the answer"
        }
    };
    let x = |share: f64| format!("{:.1}", EDGE + share * SIZE);
    let y = |share: f64| format!("{:.1}", (1.0 - share) * SIZE + 6.0);
    plot(
        words,
        "On the dashed line, probabilities are as often right as they state; lines are 95 % intervals.",
        &html! {
            line x1=(x(0.0)) y1=(y(0.0)) x2=(x(1.0)) y2=(y(1.0)) stroke="#8c959f" stroke-dasharray="4 3" {}
            @for bin in bins {
                @let Interval { low, high } = bin.interval();
                line x1=(x(bin.mean_probability)) x2=(x(bin.mean_probability)) y1=(y(low)) y2=(y(high)) stroke="#8c959f" {}
                circle cx=(x(bin.mean_probability)) cy=(y(bin.share_right)) r="3" fill="#1f6feb" {
                    title { (number(Some(bin.mean_probability))) " stated, " (number(Some(bin.share_right))) " of " (bin.count) }
                }
            }
            (ticks("1", "1"))
        },
    )
}

/// How many answers have which probability; the darker part came true.
fn histogram(bars: &[HistogramBar], question_type: QuestionType) -> Markup {
    let words = match question_type {
        QuestionType::YesNo => "Marks by the probability of yes; the darker part is marked yes",
        QuestionType::Choice | QuestionType::Scale => {
            "Marks by the probability of the answer; the darker part is right"
        }
    };
    let most = bars
        .iter()
        .map(|bar| bar.came_true.of)
        .max()
        .unwrap_or(0)
        .max(1);
    let share = |count: u64| {
        let share = refract_evaluation::measures::proportion::Proportion { count, of: most };
        share.value().unwrap_or_default() * SIZE
    };
    let width = SIZE * f64::from(STEP) / 100.0;
    let bar = |from: u32, count: u64, colour: &str| {
        html! {
            rect x=(format!("{:.1}", EDGE + SIZE * f64::from(from) / 100.0)) y=(format!("{:.1}", SIZE + 6.0 - share(count)))
                width=(format!("{:.1}", width - 1.0)) height=(format!("{:.1}", share(count))) fill=(colour) {}
        }
    };
    plot(
        words,
        "",
        &html! {
            @for one in bars {
                g {
                    title { (one.from) " to " (one.from + STEP) " %: " (one.came_true.of) ", of these " (one.came_true.count) }
                    (bar(one.from, one.came_true.of, "#b6d4fe"))
                    (bar(one.from, one.came_true.count, "#1f6feb"))
                }
            }
            (ticks("1", &most.to_string()))
        },
    )
}

fn plot(words: &str, more: &str, marks: &Markup) -> Markup {
    html! {
        figure {
            svg viewBox="0 0 250 230" role="img" aria-label=(words) {
                rect x=(EDGE) y="6" width=(SIZE) height=(SIZE) fill="none" stroke="#d7dce1" {}
                (marks)
            }
            figcaption { (words) ". " (more) }
        }
    }
}

fn ticks(right: &str, top: &str) -> Markup {
    html! {
        text x=(EDGE) y="222" { "0" }
        text x=(EDGE + SIZE) y="222" text-anchor="end" { (right) }
        text x=(EDGE - 4.0) y="16" text-anchor="end" { (top) }
        text x=(EDGE - 4.0) y="206" text-anchor="end" { "0" }
    }
}
