//! `refract marks schema`: the JSON Schema of a row of marks.

use clap::Args;
use refract_file_runs::row_schema;

use super::super::context::AccountArg;
use crate::output;
use crate::settings::DatabaseArgs;

/// Arguments of `refract marks schema`.
#[derive(Args)]
pub struct MarksSchemaCommand {
    /// Slug or id
    prism: String,

    /// The schema of a row of a gold file, which has the text too
    #[arg(long)]
    gold: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl MarksSchemaCommand {
    /// Runs `refract marks schema`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let found = refract
            .lenses()
            .find(prism.account, &prism.selector())
            .await?;
        let schema = if self.gold {
            row_schema::gold_row(&found.latest)
        } else {
            row_schema::marks_row(&found.latest)
        };
        output::json(&schema)
    }
}
