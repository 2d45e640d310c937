//! Runs every command of `docs/TOUR.md` and of `docs/QUALITY.md`, each page in one shell and an
//! empty folder, and compares the output with the page.

use std::path::Path;
use std::process::Stdio;

use refract_test_stack::http::within_patience;
use tokio::process::Command;

const TOUR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/TOUR.md");
const QUALITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/QUALITY.md");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples");
/// Separates the output of one step from the output of the next.
const STEP_SEPARATOR: &str = "-- the next step --";

/// Commands of the page, and their output according to the page.
#[derive(Default)]
struct Step {
    commands: String,
    printed: Vec<String>,
}

/// The steps of the page: each fenced `sh` block with the fenced `text` block after it.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for fenced in page.split("\n```").skip(1).step_by(2) {
        let (kind, lines) = fenced.split_once('\n').expect("a fence has lines");
        match kind {
            "sh" => steps.push(Step {
                commands: lines.to_owned(),
                ..Step::default()
            }),
            "text" => {
                let step = steps.last_mut().expect("commands come first");
                step.printed = lines.lines().map(str::to_owned).collect();
            }
            other => assert_eq!(other, "sh setup"),
        }
    }
    steps
}

/// Whether a line matches an expected line, in which `…` matches any text.
fn is_like(line: &str, expected: &str) -> bool {
    let parts: Vec<&str> = expected.split('…').collect();
    let [first, middle @ .., last] = parts.as_slice() else {
        return line == expected;
    };
    let between = line.strip_prefix(first);
    let mut rest = between.and_then(|rest| rest.strip_suffix(last));
    for part in middle {
        rest = rest.and_then(|rest| Some(rest.split_once(part)?.1));
    }
    rest.is_some()
}

/// Runs the page's commands and checks their output. Returns the folder in which they ran.
async fn run_page(page: &str) -> tempfile::TempDir {
    let steps = steps(&std::fs::read_to_string(page).unwrap());
    assert!(steps.len() > 8, "the page is read: {}", steps.len());
    let folder = tempfile::tempdir().unwrap();
    let script: Vec<_> = steps.iter().map(|step| step.commands.as_str()).collect();
    let script = script.join(&format!("\necho '{STEP_SEPARATOR}'\n"));
    let binaries = Path::new(env!("CARGO_BIN_EXE_refract")).parent().unwrap();
    let shell = Command::new("sh")
        .args(["-eu", "-c", &format!("exec 2>&1\n{script}")])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", binaries.display()))
        .env("EXAMPLES", EXAMPLES)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ended = within_patience(shell).await.unwrap();
    let printed = String::from_utf8(ended.stdout).unwrap();
    assert!(ended.status.success(), "{printed}");
    let printed: Vec<&str> = printed.split(STEP_SEPARATOR).collect();
    assert_eq!(printed.len(), steps.len());
    for (step, printed) in steps.iter().zip(&printed) {
        let mut lines = printed.lines();
        for expected in &step.printed {
            assert!(
                lines.any(|line| is_like(line.trim_end(), expected)),
                "{expected:?} is not in its place after {}:\n{printed}",
                step.commands
            );
        }
    }
    folder
}

#[tokio::test]
async fn every_command_of_the_tour_works_as_the_tour_describes() {
    let folder = run_page(TOUR).await;
    // the files have all rows of the sample, and results of the old version go through the new lens
    let rows = |name: &str| {
        let bytes = std::fs::read_to_string(folder.path().join(name)).unwrap();
        bytes.matches("\r\n").count()
    };
    assert_eq!((rows("answers.csv"), rows("answers-2.csv")), (201, 201));
    let answers = std::fs::read_to_string(folder.path().join("answers.csv")).unwrap();
    assert!(answers.contains(",Unsure,"), "{answers}");
    let exported = std::fs::read_to_string(folder.path().join("all.csv")).unwrap();
    assert_eq!(exported.matches("\r\n").count(), 403);
    assert!(exported.contains(",M-009,1,ok,"), "{exported}");
    assert!(exported.contains(",'=1+1,"), "{exported}");
}

#[tokio::test]
async fn every_command_of_the_page_on_quality_works_as_the_page_describes() {
    let folder = run_page(QUALITY).await;
    let lens = std::fs::read_to_string(folder.path().join("lens.json")).unwrap();
    assert!(lens.contains("\"no_below\": 0.5"), "{lens}");
    let junit = std::fs::read_to_string(folder.path().join("check.xml")).unwrap();
    assert!(junit.contains("failures=\"0\""), "{junit}");
}

#[test]
fn a_line_of_the_tour_may_leave_out_what_differs() {
    assert!(is_like(
        "200 rows in 0.4 s (486/s): 200 ok",
        "200 rows in … s (…/s): 200 ok"
    ));
    assert!(is_like(
        "{\"id\":\"x\",\"version\":1}",
        "{\"id\":\"…\",\"version\":1}"
    ));
    assert!(is_like("▸ Billing   70%", "▸ …"));
    assert!(!is_like(
        "200 rows in 0.4 s (486/s): 199 ok, 1 failed",
        "200 rows in … s (…/s): 200 ok"
    ));
    assert!(!is_like("a 200 ok, 3 failed", "…200 ok"));
    assert!(!is_like("aa", "a") && !is_like("b", "a") && is_like("a", "a"));
}
