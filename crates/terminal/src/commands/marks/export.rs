//! `refract marks export`: every marked result as a row for `refract marks import`.

use std::io::Write;

use clap::Args;
use refract_service::people::AccountActor;

use super::super::context::AccountArg;
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
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let actor = AccountActor::operator(prism.account);
        let marks = refract.marks();
        let export = async |out: &mut dyn Write| marks.export(&actor, prism.id, format, out).await;
        let written = self.output.write(export).await?;
        self.output.say_written(written, "marked result");
        Ok(())
    }
}
