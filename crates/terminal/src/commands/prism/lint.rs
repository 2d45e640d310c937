//! `refract prism lint`: warnings about the wording of a prism file.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use refract_authoring::prism_file::PrismFile;
use refract_authoring::wording::{self, WordingRule, WordingWarning};

use crate::commands::files::InputPath;
use crate::output;
use crate::terminal::{self, Palette, counted, widened};

/// Arguments of `refract prism lint`.
#[derive(Args)]
pub struct LintCommand {
    /// The prism file, JSON; `-` is stdin
    file: InputPath,

    /// Switches a rule off; can be given several times
    #[arg(long, value_name = "NAME", value_parser = rule_parser())]
    allow: Vec<WordingRule>,

    /// One JSON object a line for each warning instead of words
    #[arg(long)]
    json: bool,

    /// Ends with exit status 1 when there is a warning
    #[arg(long)]
    strict: bool,
}

impl LintCommand {
    /// Runs `refract prism lint`: prints each warning as a block of text or a line of JSON.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let file = self.file.read()?;
        let file = PrismFile::read(&file, None)?;
        let mut warnings = wording::lint(&file.version);
        warnings.retain(|warning| !self.allow.contains(&warning.rule));
        if self.json {
            warnings.iter().try_for_each(print_json)?;
        } else {
            output::text(&render(&warnings)?)?;
        }
        let found = match warnings.len() {
            0 => "no warnings".to_owned(),
            warnings => counted(widened(warnings), "warning"),
        };
        let path = &self.file;
        if self.strict && !warnings.is_empty() {
            bail!("{path} has {found}: change the wording, or switch a rule off with --allow");
        }
        output::say(&format!("{path} has {found}."));
        Ok(ExitCode::SUCCESS)
    }
}

fn rule_parser() -> impl TypedValueParser<Value = WordingRule> {
    let names = PossibleValuesParser::new(WordingRule::ALL.map(WordingRule::name));
    names.try_map(|name| WordingRule::parse(&name).ok_or("not a rule"))
}

fn print_json(warning: &WordingWarning) -> anyhow::Result<()> {
    output::object(&[
        ("rule", warning.rule.name().into()),
        ("path", warning.path.as_str().into()),
        ("message", warning.message.as_str().into()),
        ("reason", warning.rule.reason().into()),
    ])
}

fn render(warnings: &[WordingWarning]) -> anyhow::Result<String> {
    let palette = Palette::of_stdout();
    let mut words = String::new();
    for warning in warnings {
        writeln!(
            words,
            "{} {}\n  {}.\n  {}\n",
            palette.heading.apply_to(&warning.path),
            palette.bad.apply_to(warning.rule.name()),
            terminal::plain(&warning.message),
            palette.faint.apply_to(warning.rule.reason()),
        )?;
    }
    Ok(words)
}
