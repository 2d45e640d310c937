//! Compares the gateway's answers with the exact probabilities of a llama.cpp server
//! (`make check-fidelity`).
//!
//! Each row of the table is a question with a number of outcomes, asked about several texts. The
//! gateway asks in the protocol `chat`, through a `relay` that records its requests. Then
//! `reference::exact_answer` walks the model's whole distribution after the recorded prompt,
//! token by token, through the server's native endpoints (`native`). The difference is printed as
//! a total variation distance (`distances`).
//!
//! The reference shares no code with the gateway: it takes the codes from the prompt (`codes`),
//! so a mistake in the gateway's reading cannot hide in both.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures prints what it found"
)]

mod codes;
mod cost;
mod distances;
mod http;
mod material;
mod measurement;
mod native;
mod reference;
mod relay;
mod server;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use refract_model_gateway::ChatPrompt;

use crate::material::Asked;
use crate::measurement::Measurement;
use crate::relay::AlternativesLimit;
use crate::server::ModelServerProcess;

/// Compares the gateway's answers with the exact probabilities of a llama.cpp server.
///
/// Exit status 0: every row is within its bound; 1: a row misses it; 2: nothing was measured.
#[derive(Parser)]
struct FidelityArguments {
    /// Path of a `llama-server` program, or the http://… address of one that runs
    #[arg(long)]
    server: String,
    /// Model file that the program loads
    #[arg(long, value_name = "FILE.gguf")]
    model: Option<PathBuf>,
    /// Alternatives that the server shows for each token, where it would show more
    #[arg(long, value_name = "N")]
    alternatives: Option<u32>,
    /// Shows fewer alternatives than are asked for instead of refusing the request
    #[arg(long, requires = "alternatives")]
    cut: bool,
    /// Version of the prompt, 3 or 4; without it both
    #[arg(long, value_name = "VERSION")]
    prompt: Option<ChatPrompt>,
    /// Texts for each row
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    texts: u64,
    /// Outcomes of the only choice to ask; without it the whole table
    #[arg(long, value_name = "OUTCOMES", value_parser = clap::value_parser!(u32).range(3..=255))]
    choice: Option<u32>,
    /// Largest numbers of outcomes to ask about; without it all up to 255
    #[arg(
        long,
        value_name = "OUTCOMES",
        default_value_t = 255,
        conflicts_with = "choice"
    )]
    up_to: u32,
    /// Asks only one question of each kind of codes (yes/no, a scale of 7, choices of 20 and of 32),
    /// and counts the noise twice
    #[arg(long, conflicts_with = "choice")]
    brief: bool,
    /// Tokens of a long text: also counts what calls about it make the server read (needs its
    /// --metrics)
    #[arg(long, value_name = "TOKENS")]
    long_text: Option<usize>,
    /// Compares the time of such a call with other orders of sending
    #[arg(long, requires = "long_text")]
    orders: bool,
    /// Chooses the texts and the order of the options
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let arguments = FidelityArguments::parse();
    match actix_rt::System::new().block_on(compare_all(&arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Compares the answers to each prompt. Returns `false` if a row misses its bound.
async fn compare_all(arguments: &FidelityArguments) -> anyhow::Result<bool> {
    let server = ModelServerProcess::reach(&arguments.server, arguments.model.as_deref()).await?;
    let both = [ChatPrompt::MaterialFirst, ChatPrompt::QuestionsFirst];
    let mut is_fine = true;
    for prompt in arguments
        .prompt
        .map_or(both.to_vec(), |prompt| vec![prompt])
    {
        println!("Prompt {}", prompt.version());
        is_fine &= compare(arguments, &server, prompt).await?;
        println!();
    }
    Ok(is_fine)
}

/// Prints a row for each question. Returns `false` if a row misses its bound.
async fn compare(
    arguments: &FidelityArguments,
    server: &ModelServerProcess,
    prompt: ChatPrompt,
) -> anyhow::Result<bool> {
    let limit = arguments
        .alternatives
        .map(|most| AlternativesLimit::new(most, arguments.cut));
    let measurement =
        Measurement::start(server.address.clone(), limit, prompt, arguments.seed).await?;
    let shown = limit.map(|limit| limit.most);
    println!("{}", measurement.introduction().await?);
    println!("{}", distances::heading(arguments.texts));
    let asked = match arguments.choice {
        None if arguments.brief => Asked::of_each_kind(),
        None => Asked::up_to(arguments.up_to),
        Some(outcomes) => vec![Asked::Choice(outcomes)],
    };
    let noise_counts = if arguments.brief { 2.0 } else { 1.0 };
    let mut missed = Vec::new();
    let mut rows = Vec::new();
    for asked in asked {
        let row = measurement
            .row(asked, arguments.texts, noise_counts)
            .await?;
        println!("{}", row.line(shown));
        if row.misses(shown) {
            missed.push(asked.to_string());
        }
        rows.push(row);
    }
    println!("{}", distances::verdict(&missed));
    let is_short = distances::print_written(&rows);
    let is_cheap = match arguments.long_text {
        Some(tokens) => {
            let cost = measurement.cost(tokens);
            let is_cheap = cost.print_call(arguments.orders).await?;
            (arguments.brief || cost.print_choice().await?) && is_cheap
        }
        None => true,
    };
    Ok(missed.is_empty() && is_short && is_cheap)
}
