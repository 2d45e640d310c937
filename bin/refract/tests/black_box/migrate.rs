//! `refract migrate --to`: forward and back, run by the program, with the tables, their rows and
//! the list of migrations.

use refract_test_stack::service::{Backend, Service, Setup, TEXT};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::program;
use crate::program::{setup, start};

on_both!(a_database_goes_back_and_forth_by_the_program);

async fn a_database_goes_back_and_forth_by_the_program(backend: Backend) {
    let mut service = start(backend).await;
    service.create(&json!({"text": TEXT})).await;
    service.nodes.remove(0).stop().await;
    let newest = service.run(&["migrate", "--to", "9999"]).await.refused();
    let (_, newest) = newest.rsplit_once("the newest is ").expect(&newest);
    // both forms of the number
    for to in ["5", "0005"] {
        let plan = service.run(&["migrate", "--to", to, "--dry-run"]).await;
        assert_eq!((plan.code, plan.stdout.as_str()), (Some(0), ""), "{plan:?}");
        for line in [
            "What is removed:",
            "  table people: 0 rows",
            "  column results.made_by: 0 values",
            "0006_create_people: would be undone",
            "Nothing is changed.",
        ] {
            assert!(plan.stderr.lines().any(|it| it == line), "{line}: {plan:?}");
        }
    }
    assert_eq!(
        service.run(&["migrate"]).await.stderr,
        "The database is up to date.\n"
    );
    let plan = service.run(&["migrate", "--dry-run"]).await;
    assert_eq!(plan.stderr, "The database is up to date.\n");
    // nobody can be asked here
    let asked = service.run(&["migrate", "--to", "5"]).await;
    assert_eq!((asked.code, asked.stdout.as_str()), (Some(1), ""));
    assert!(asked.stderr.starts_with("What is removed:\n"), "{asked:?}");
    let last = asked.stderr.lines().last().unwrap();
    assert!(
        last.starts_with("error: nothing was changed:") && last.contains("--yes"),
        "{last}"
    );
    let plan = service.run(&["migrate", "--dry-run"]).await;
    assert_eq!(plan.stderr, "The database is up to date.\n");
    let down = service.run(&["migrate", "--to", "5", "--yes"]).await;
    assert_eq!(down.code, Some(0), "{down:?}");
    let lines: Vec<_> = down.stderr.lines().collect();
    let place = |line: &str| lines.iter().position(|it| *it == line).expect(line);
    // what is removed is printed before, latest first
    assert!(place("What is removed:") < place("  table people: 0 rows"));
    assert!(place("  table people: 0 rows") < place("0007_forget_results: undone"));
    assert!(place("0007_forget_results: undone") < place("0006_create_people: undone"));
    assert_eq!(lines.last(), Some(&"The database is at migration 5."));
    let again = service.run(&["migrate", "--to", "5"]).await;
    assert_eq!(again.stderr, "The database is at migration 5.\n");
    let plan = service.run(&["migrate", "--dry-run"]).await.stderr;
    assert!(
        plan.starts_with("0006_create_people: would be run\n")
            && plan.ends_with("\nNothing is changed.\n"),
        "{plan}"
    );
    let up = service.run(&["migrate", "--to", newest, "--json"]).await;
    let report: Value = serde_json::from_str(&up.stdout).unwrap();
    assert_eq!(
        (&report["undone"], &report["removed"]),
        (&json!(0), &json!([]))
    );
    let up = up.stderr;
    assert!(
        up.starts_with("0006_create_people: run\n0007_forget_results: run\n"),
        "{up}"
    );
    service.start_node(&[]).await;
    assert_eq!(service.results_made().await, 1);
    assert_eq!(service.create(&json!({"text": TEXT})).await.status, 200);
}

#[tokio::test]
async fn what_is_no_migration_is_refused_in_words() {
    let setup = Setup {
        nodes: 0,
        ..setup()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let line = service.run(&["migrate", "--to", "9999"]).await.refused();
    assert!(
        line.starts_with("error: there is no migration 9999: the newest is "),
        "{line}"
    );
    for wrong in ["0", "0007_forget_results", "latest"] {
        let ended = service.run(&["migrate", "--to", wrong]).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended.stderr.contains("expected a whole number, 1 or more"),
            "{ended:?}"
        );
    }
    // a new file is migrated to the requested version
    let folder = tempfile::tempdir().unwrap();
    let new = program::run(folder.path(), &[], &["migrate", "--to", "2"]).await;
    assert!(
        new.stderr.ends_with("The database is at migration 2.\n"),
        "{new:?}"
    );
}
