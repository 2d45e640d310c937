//! The file of settings, as an argument.

use std::path::PathBuf;

use clap::Args;

/// The file of settings. It is read before the command line is parsed, since it holds values of
/// other arguments.
#[derive(Args, Clone)]
#[command(next_help_heading = "Settings file")]
pub struct ConfigArgs {
    /// A TOML file of settings; a variable or flag overrides its setting
    #[arg(long, env = "REFRACT_CONFIG", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}
