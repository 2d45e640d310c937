//! What is made of the commands' definitions: the program's help, with its commands in groups; and
//! the scripts that complete command lines: clap's, which know commands and flags, and around them
//! a function that offers values from the database, by `refract __complete`. Elvish and PowerShell
//! get clap's alone.

use std::fmt::Write as _;

use clap_complete::Shell;

use crate::output;

/// Offers the values of the word at the cursor, else what clap's function offers. The word is quoted
/// unless the person began to.
const BASH: &str = r#"
_refract_values() {
    local value word=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    while IFS= read -r value; do
        [[ $word == [\'\"]* ]] || printf -v value %q "$value"
        COMPREPLY+=("$value")
    done < <("${1/#\~/$HOME}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -gt 0 ]] || _refract "$@"
}
complete -F _refract_values -o nosort -o bashdefault -o default refract 2>/dev/null \
    || complete -F _refract_values -o bashdefault -o default refract
"#;

const ZSH: &str = r#"
_refract() {
    local -a values
    values=(${(f)"$(${~words[1]} __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#values )); then
        compadd -- $values
    else
        _refract_static "$@"
    fi
}
"#;

const FISH: &str = r"
function __refract_values
    set -l words (commandline -opc) (commandline -ct)
    command -q $words[1]; or return
    $words[1] __complete -- $words[2..-1] 2>/dev/null | string replace -r -- '^--[a-z-]+=' ''
end
complete -c refract -n 'test (count (__refract_values)) -gt 0' -f -a '(__refract_values)'
for option in account advise key question version
    complete -c refract -n 'test (count (__refract_values)) -gt 0' -l $option -x -a '(__refract_values)'
end
";

/// The function that clap's script defines, and what it is called inside of ours.
const ZSH_FUNCTION: (&str, &str) = ("\n_refract() {\n", "\n_refract_static() {\n");
/// The end of clap's script, which calls the function.
const ZSH_END: &str = "\nif [ \"$funcstack[1]\" = \"_refract\" ]";

/// Writes a shell's completions to stdout.
pub(crate) fn write_completions(program: &clap::Command, shell: Shell) -> anyhow::Result<()> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut without_hidden(program), name, &mut script);
    let script = String::from_utf8(script)?;
    output::data(with_values(script, shell).as_bytes())
}

/// The program as far as it is completed: without hidden commands, which clap's scripts would offer.
fn without_hidden(program: &clap::Command) -> clap::Command {
    let commands = program.get_subcommands();
    let shown = commands.filter(|command| !command.is_hide_set()).cloned();
    // scripts have the flag, not the version
    clap::Command::new("refract")
        .version("0")
        .disable_help_subcommand(program.is_disable_help_subcommand_set())
        .args(program.get_arguments().cloned())
        .groups(program.get_groups().cloned())
        .subcommands(shown)
}

fn with_values(script: String, shell: Shell) -> String {
    match shell {
        Shell::Bash => script + BASH,
        Shell::Zsh => {
            let script = script.replacen(ZSH_FUNCTION.0, ZSH_FUNCTION.1, 1);
            script.replacen(ZSH_END, &format!("{ZSH}{ZSH_END}"), 1)
        }
        Shell::Fish => script + FISH,
        Shell::Elvish | Shell::PowerShell | _ => script,
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_three_shells_ask_for_values() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let commands = ["try", "help", "man"].map(clap::Command::new);
            let commands = commands.map(|command| {
                let is_hidden = command.get_name() == "man";
                command.hide(is_hidden)
            });
            let program = clap::Command::new("refract").disable_help_subcommand(true);
            let mut program = without_hidden(&program.subcommands(commands));
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut program, "refract", &mut script);
            let script = with_values(String::from_utf8(script).unwrap(), shell);
            assert_eq!(
                script.matches("__complete -- ").count(),
                1,
                "{shell}: {script}"
            );
            if shell == Shell::Zsh {
                let functions = [
                    "_refract() {",
                    "_refract_static() {",
                    "_refract_static \"$@\"",
                ];
                for words in functions {
                    assert_eq!(script.matches(words).count(), 1, "{script}");
                }
            }
        }
    }
}
