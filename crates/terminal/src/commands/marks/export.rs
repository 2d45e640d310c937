//! `refract marks export`: every marked result as a row that can be imported again.

use std::io::Write;

use clap::Args;
use refract_service::people::Caller;

use super::super::operator::{self, AccountArg};
use super::super::output_args::OutputArgs;
use crate::settings::DatabaseArgs;

/// Arguments of `refract marks export`.
#[derive(Args)]
pub struct ExportMarksCommand {
    /// Slug or id
    prism: String,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    account: AccountArg,
}

impl ExportMarksCommand {
    /// Runs `refract marks export`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let format = self.output.format()?;
        let (refract, account) = self.account.open(database).await?;
        let prism = operator::find_prism(&refract, account, &self.prism)
            .await?
            .id;
        let caller = Caller::operator(account);
        let marks = refract.marks();
        let export = async |out: &mut dyn Write| marks.export(&caller, prism, format, out).await;
        let written = self.output.write(export).await?;
        self.output.say_written(written, "marked result");
        Ok(())
    }
}
