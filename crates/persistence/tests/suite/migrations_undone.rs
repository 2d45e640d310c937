//! Migrating to a number and back with the program: the tables, their rows and the list of
//! migrations.

use refract_persistence::{Database, MigrateError, MigrationStep, RemovedData};
use refract_test_support::postgres::fresh_database;

use crate::fixture::{account, connect, scripts, sqlite_url};

fn removed(table: &str, column: Option<&str>, rows: u64) -> RemovedData {
    RemovedData {
        table: table.to_owned(),
        column: column.map(ToOwned::to_owned),
        rows,
    }
}

fn names(steps: &[MigrationStep], is_undone: bool) -> Vec<&str> {
    let of_kind = steps.iter().filter(|step| step.is_undone() == is_undone);
    of_kind.map(MigrationStep::name).collect()
}

async fn there_and_back(database: &Database) {
    let migrations = scripts("postgres", "up.sql").len();
    // up to one migration, and no further
    let up = database.migrate_to(4).await.unwrap();
    let first = [
        "0001_create_tables",
        "0002_add_provenance",
        "0003_index_failures",
        "0004_add_coverage",
    ];
    assert_eq!(
        (names(&up.steps, false), up.removed),
        (first.to_vec(), vec![])
    );
    assert_eq!(database.migrate().await.unwrap(), migrations - 4);
    account(database, "kept").await;
    let node = refract_domain::ids::NodeId::new(uuid::Uuid::now_v7());
    let now = chrono::Utc::now();
    let until = now + chrono::TimeDelta::minutes(1);
    assert!(database.take_lease("x", node, now, until).await.unwrap());
    // a plan reports what would be removed, and changes nothing
    for _ in 0..2 {
        let plan = database.plan_migration(Some(5)).await.unwrap();
        let undone = names(&plan.steps, true);
        assert_eq!(undone.len(), migrations - 5);
        assert!(undone.is_sorted_by(|one, other| one > other), "{undone:?}");
        for expected in [
            removed("leases", None, 1),
            removed("people", None, 0),
            removed("results", Some("made_by"), 0),
        ] {
            assert!(plan.removed.contains(&expected), "{plan:?}");
        }
        let is_kept = |it: &RemovedData| {
            ["accounts", "marks"].contains(&it.table.as_str()) && it.column.is_none()
        };
        assert!(!plan.removed.iter().any(is_kept), "{plan:?}");
    }
    let (nobody, later) = (refract_domain::ids::NodeId::new(uuid::Uuid::nil()), now);
    assert!(
        !database
            .take_lease("x", nobody, later, until)
            .await
            .unwrap()
    );
    let down = database.migrate_to(5).await.unwrap();
    assert_eq!(names(&down.steps, true).len(), migrations - 5);
    assert!(database.take_lease("x", node, now, until).await.is_err());
    assert_eq!(database.list_accounts().await.unwrap().len(), 1);
    // nothing is left to do, and migrating up is possible
    assert_eq!(database.migrate_to(5).await.unwrap().steps, []);
    let plan = database.plan_migration(None).await.unwrap();
    assert_eq!(names(&plan.steps, false).len(), migrations - 5);
    assert_eq!(plan.removed, []);
    assert_eq!(database.migrate().await.unwrap(), migrations - 5);
    assert!(
        database
            .take_lease("x", nobody, later, until)
            .await
            .unwrap()
    );
    for number in [0, 9_999] {
        let refused = database.migrate_to(number).await.unwrap_err();
        assert!(
            matches!(refused, MigrateError::NoSuchMigration { .. }),
            "{refused}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_goes_back_to_a_migration_and_forth_again() {
    let folder = tempfile::tempdir().unwrap();
    there_and_back(&connect(&sqlite_url(&folder)).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_goes_back_to_a_migration_and_forth_again() {
    let server = fresh_database().await;
    there_and_back(&connect(server.url()).await).await;
}
