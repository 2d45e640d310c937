//! `refract try`: answers one text, saves the result and prints it.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use refract_answering::api_keys::KeyUses;
use refract_answering::{Answering, AnsweringMetrics, CreateCall};
use refract_domain::call::Ref;
use refract_domain::prism::VersionNumber;
use refract_domain::slug::PrismSelector;
use refract_domain::submission::{CallContext, SentFields, field_value_faults};
use refract_lens_rendering::{Format, render};
use refract_model_gateway::ModelGateway;

use super::operator::{self, AccountArg};
use crate::output;
use crate::settings::{DatabaseArgs, ModelArgs};

/// One text for a prism.
#[derive(Args)]
pub(crate) struct TryCommand {
    /// Slug or id
    prism: String,

    /// The value of a prism's only field, `text`
    #[arg(long, value_name = "TEXT", conflicts_with = "fields")]
    text: Option<String>,

    /// The value of one field; once for each
    #[arg(long = "field", value_name = "KEY=VALUE", value_parser = key_and_value)]
    fields: Vec<(String, String)>,

    /// Background for this call
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,

    /// The version that is to answer [default: the latest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    version: Option<i32>,

    /// A reference of your own, saved with the result
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,

    /// json, raw, csv, tsv or jsonl
    #[arg(long, default_value = "json", value_parser = format)]
    format: Format,

    #[command(flatten)]
    account: AccountArg,

    #[command(flatten)]
    model: ModelArgs,
}

impl TryCommand {
    /// Carries it out; a failed result is printed and ends with status 1.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let gateway = ModelGateway::new(self.model.settings()?)?;
        let database = operator::open(&database.settings()).await?;
        let account = self.account.find(&database).await?;
        if gateway.is_for_trying_only() {
            output::say("The built-in scorer answers: it is for trying things only.");
        }
        let format = self.format;
        let prism = operator::find_prism(&database, account, &self.prism).await?;
        let call = self.call(prism)?;
        let (uses, counts) = (KeyUses::default(), AnsweringMetrics::default());
        let answering = Answering::new(database, gateway.model(), uses, counts);
        let result = answering.create_result_in(account, call).await?;
        let mut bytes = Vec::new();
        render(format, &result.columns(), &result.view(), &mut bytes)?;
        if matches!(format, Format::Json | Format::Raw) {
            bytes.push(b'\n');
        }
        output::data(&bytes)?;
        match result.view().status.error() {
            None => Ok(ExitCode::SUCCESS),
            Some(error) => Ok(output::fail_with(&format!("error: {error}"))),
        }
    }

    fn call(self, prism: PrismSelector) -> anyhow::Result<CreateCall> {
        let fields = match self.text {
            Some(text) => vec![("text".to_owned(), text)],
            None => self.fields,
        };
        for (key, value) in &fields {
            let faults = field_value_faults(value);
            anyhow::ensure!(
                faults.is_empty(),
                operator::faulty(&format!("fields.{key}"), &faults)
            );
        }
        let context = self.context.map(CallContext::parse).transpose();
        let reference = self.reference.as_deref().map(Ref::parse).transpose();
        Ok(CreateCall {
            prism,
            fields: SentFields(fields),
            context: context
                .map_err(|faults| operator::faulty("--context", &faults))?
                .flatten(),
            reference: reference.map_err(|faults| operator::faulty("--ref", &faults))?,
            version: self.version.and_then(VersionNumber::new),
            idempotency_key: None,
        })
    }
}

fn key_and_value(text: &str) -> anyhow::Result<(String, String)> {
    let (key, value) = text.split_once('=').context("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn format(name: &str) -> anyhow::Result<Format> {
    Format::parse(name).context("expected json, raw, csv, tsv or jsonl")
}
