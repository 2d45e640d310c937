//! The program's help: its commands in groups.

use std::fmt::Write as _;

/// The commands in the order and groups in which the program's help lists them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Ask", &["demo", "try", "run", "runs"]),
    ("Prisms", &["prism", "lens", "apply", "examples"]),
    ("Results", &["results", "marks", "events", "usage"]),
    (
        "Quality",
        &["evaluate", "compare", "check", "retest", "retests", "watch"],
    ),
    (
        "Operations",
        &[
            "serve",
            "health",
            "doctor",
            "model",
            "settings",
            "migrate",
            "backup",
            "account",
            "key",
            "person",
            "export-account",
            "import-account",
        ],
    ),
    ("Help", &["help", "completions"]),
];

/// The program, changed to list its commands in groups, for which clap has no headings.
pub(super) fn with_groups(program: clap::Command) -> clap::Command {
    let header = *program.get_styles().get_header();
    let literal = *program.get_styles().get_literal();
    let width = program
        .get_subcommands()
        .map(|command| command.get_name().len());
    let width = width.max().unwrap_or_default();
    let mut listed = String::new();
    for (group, names) in GROUPS {
        // writing into a text cannot fail
        let _ = writeln!(listed, "{header}{group}:{header:#}");
        for name in names {
            let command = program.find_subcommand(name);
            let about = command.and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(listed, "  {literal}{name:width$}{literal:#}  {about}");
        }
        listed.push('\n');
    }
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    program.help_template(template)
}
