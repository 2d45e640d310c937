//! `refract try`: answers one text, saves the result and shows it.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::Args;
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::submission::{CallContext, FieldMismatch, Ref, SentFields, field_value_errors};
use refract_identity::people::AccountActor;
use refract_lens_rendering::Format;
use refract_service::CallError;
use refract_service::model::ModelGateway;
use refract_service::results::CreateCall;

use super::context::{self, AccountArg};
use super::shown_result::{self, Facts, ResultDisplay};
use crate::commands::files::InputPath;
use crate::settings::{DatabaseArgs, ModelArgs};
use crate::{arguments, output};

const EXAMPLES: &str = "\
Examples:
  refract try support-triage --text 'Where is my order?'
  refract try support-triage --file letter.txt --context 'A customer since 2019' --ref letter-4
  refract try support-triage --format json < letter.txt";

/// The arguments of `refract try`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TryCommand {
    /// Slug or id
    prism: String,

    /// The value of a prism's only field, `text`
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "fields",
        allow_hyphen_values = true
    )]
    text: Option<String>,

    /// The value of one field; once for each
    #[arg(long = "field", value_name = "KEY=VALUE", value_parser = key_and_value)]
    fields: Vec<(String, String)>,

    /// A file with the value of a prism's only field, `text`; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fields", "text"])]
    file: Option<InputPath>,

    /// Background for this call
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    context: Option<String>,

    /// The version that is to answer [default: the latest]
    #[arg(long, value_name = "N", value_parser = arguments::version)]
    version: Option<VersionNumber>,

    /// A reference of your own, saved with the result
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,

    /// json, raw, csv, tsv or jsonl as the API has it, or table [default: table on a terminal,
    /// else json]
    #[arg(long, value_parser = ResultDisplay::parse)]
    format: Option<ResultDisplay>,

    /// As --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    #[command(flatten)]
    account: AccountArg,

    #[command(flatten)]
    model: ModelArgs,
}

impl TryCommand {
    /// Runs `refract try`. A failed result is printed too, with exit status 1.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let mut gateway = ModelGateway::new(self.model.settings()?)?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let account = prism.account;
        let json = self.json.then_some(ResultDisplay::Format(Format::Json));
        let display = self
            .format
            .or(json)
            .unwrap_or_else(ResultDisplay::default_for_stdout);
        if let Some(version) = self.version {
            let history = refract.prisms().with_versions(prism.id).await?;
            context::check_version(&history, version)?;
        }
        let call = self.call(prism.selector())?;
        let refract = refract.with_gateway(&mut gateway).await?;
        context::say_if_for_trying_only(&refract);
        let results = refract.results();
        let result = results
            .create_as(AccountActor::operator(account), call)
            .await
            .map_err(with_advice)?;
        refract.keep_server_facts().await;
        let facts = match display {
            ResultDisplay::Table => {
                let results = refract.results();
                Facts::of_new(&results.provenance(account, result.id()).await?)
            }
            ResultDisplay::Format(_) => Facts::default(),
        };
        shown_result::print(&result, display, &facts)?;
        match result.view().status.error() {
            None => Ok(ExitCode::SUCCESS),
            Some(error) => Ok(output::fail_with(&format!("error: {error}"))),
        }
    }

    fn call(self, prism: PrismSelector) -> anyhow::Result<CreateCall> {
        let text = match (self.text, &self.file) {
            (Some(text), _) => Some(text),
            (None, Some(file)) => Some(text_of(file)?),
            (None, None) if self.fields.is_empty() => piped_text()?,
            (None, None) => None,
        };
        let fields = match text {
            Some(text) => vec![("text".to_owned(), text)],
            None => self.fields,
        };
        for (key, value) in &fields {
            let errors = field_value_errors(value);
            anyhow::ensure!(
                errors.is_empty(),
                context::invalid_argument(&format!("fields.{key}"), &errors)
            );
        }
        let context = self.context.map(CallContext::parse).transpose();
        let reference = self.reference.as_deref().map(Ref::parse).transpose();
        Ok(CreateCall {
            prism,
            fields: SentFields::new(fields),
            context: context
                .map_err(|errors| context::invalid_argument("--context", &errors))?
                .flatten(),
            reference: reference.map_err(|errors| context::invalid_argument("--ref", &errors))?,
            version: self.version,
            idempotency_key: None,
        })
    }
}

/// The error of a call, with what to write where fields are missing.
fn with_advice(error: CallError) -> anyhow::Error {
    if let CallError::Fields(FieldMismatch::Missing(_)) = error {
        return anyhow!("{error}: give --text TEXT, --field KEY=VALUE for each, or --file FILE");
    }
    error.into()
}

fn key_and_value(text: &str) -> anyhow::Result<(String, String)> {
    let (key, value) = text.split_once('=').context("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn text_of(file: &InputPath) -> anyhow::Result<String> {
    // the original error would contain the text
    let text = String::from_utf8(file.read()?).ok();
    let text = text.with_context(|| format!("{file} is not UTF-8"))?;
    Ok(without_last_break(&text).to_owned())
}

/// The text on stdin; `None` if empty.
fn piped_text() -> anyhow::Result<Option<String>> {
    let text = text_of(&InputPath::stdin())?;
    Ok((!text.is_empty()).then_some(text))
}

fn without_last_break(text: &str) -> &str {
    let line = text.strip_suffix('\n');
    line.map_or(text, |line| line.strip_suffix('\r').unwrap_or(line))
}
