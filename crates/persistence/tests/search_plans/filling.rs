//! A million results, most of one prism: most of these are alike, and a few are what a search is
//! for.

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use refract_domain::ids::PrismId;
use tokio_postgres::{Client, NoTls};

/// Number of results.
pub(crate) const RESULTS: usize = 1_000_000;
/// One in this many results is one of the few.
pub(crate) const ONE_IN: usize = 50_000;
/// The moment of the first result, in milliseconds since 1970.
pub(crate) const FIRST: i64 = 1_764_000_000_000;
/// Milliseconds between two results: all of them are of 30 days.
pub(crate) const APART: i64 = 2_592;

/// What differs between the databases in the SQL that fills them.
struct Dialect {
    /// Numbers from 1 to `RESULTS`, as a table `series (n)`.
    series: &'static str,
    /// The id with these hexadecimal digits: 12 of milliseconds, then 20.
    id: fn(milliseconds: &str, number: &str) -> String,
    /// An id as an SQL literal.
    literal: fn(&str) -> String,
    /// The moment of these milliseconds since 1970.
    moment: fn(milliseconds: &str) -> String,
}

/// The id of a key, a person or a file run that made few results, in hexadecimal digits.
pub(crate) fn rare_id(byte: u8) -> String {
    format!("{byte:032x}")
}

/// Fills a PostgreSQL database and returns a client of it.
pub(crate) async fn fill_postgres(url: &str, prisms: [PrismId; 2]) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let dialect = Dialect {
        series: "generate_series(1::bigint, 1000000) AS series (n)",
        id: |milliseconds, number| {
            format!(
                "(lpad(to_hex({milliseconds}), 12, '0') || '70008000' || \
                 lpad(to_hex({number}), 12, '0'))::uuid"
            )
        },
        literal: |digits| format!("'{digits}'::uuid"),
        moment: |milliseconds| format!("to_timestamp({milliseconds} / 1000.0)"),
    };
    client
        .batch_execute(&filling(&dialect, prisms))
        .await
        .unwrap();
    client
        .batch_execute("VACUUM ANALYZE results")
        .await
        .unwrap();
    client
}

/// Fills an SQLite database and returns a connection to it.
pub(crate) fn fill_sqlite(url: &str, prisms: [PrismId; 2]) -> SqliteConnection {
    let path = url.strip_prefix("sqlite://").unwrap();
    let mut connection = SqliteConnection::establish(path).unwrap();
    let dialect = Dialect {
        series: "(WITH RECURSIVE series (n) AS \
                 (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < 1000000) \
                 SELECT n FROM series) AS series",
        id: |milliseconds, number| {
            format!("unhex(printf('%012x70008000%012x', {milliseconds}, {number}))")
        },
        literal: |digits| format!("x'{digits}'"),
        moment: str::to_owned,
    };
    let filling = format!("PRAGMA synchronous = OFF; {}", filling(&dialect, prisms));
    connection.batch_execute(&filling).unwrap();
    connection
}

fn filling(dialect: &Dialect, prisms: [PrismId; 2]) -> String {
    let [prism, other] = prisms.map(|prism| (dialect.literal)(&prism.uuid().simple().to_string()));
    let milliseconds = format!("({FIRST} + n * {APART})");
    // the last 32 bits of ids are spread evenly, as random ones are
    let id = (dialect.id)(&milliseconds, "(n * 2654435761 % 4294967296)");
    let moment = (dialect.moment)(&milliseconds);
    let epoch = (dialect.moment)("0");
    let [rare_key, person, run] = [1, 2, 3].map(|byte| (dialect.literal)(&rare_id(byte)));
    let series = dialect.series;
    format!(
        "INSERT INTO prism_versions (prism_id, version, definition, created_at)
            SELECT id, number, '{{}}', {epoch} FROM prisms, (SELECT 2 AS number UNION SELECT 3) AS later;
        INSERT INTO results (id, account_id, prism_id, version, api_key_id, made_by, file_run_id,
                reference,
                status, answers, error, fields, took_ms, created_at)
            SELECT {id}, (SELECT id FROM accounts),
                CASE WHEN n % 10 = 9 THEN {other} ELSE {prism} END,
                CASE WHEN n % {ONE_IN} = 7 THEN 3 ELSE 1 + n % 2 END,
                CASE n % {ONE_IN} WHEN 13 THEN {rare_key} WHEN 17 THEN NULL WHEN 23 THEN NULL
                    ELSE (SELECT id FROM api_keys LIMIT 1) END,
                CASE n % {ONE_IN} WHEN 17 THEN {person} ELSE NULL END,
                CASE n % {ONE_IN} WHEN 27 THEN {run} ELSE NULL END,
                CASE WHEN n % {ONE_IN} = 11 THEN 'rare' WHEN n % 4 = 0 THEN 'order ' || n
                    WHEN n % 4 = 2 THEN 'common' ELSE NULL END,
                CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'ok' END,
                CASE WHEN n % 100 = 0 THEN NULL ELSE '{{}}' END,
                CASE WHEN n % 100 = 0 THEN 'no answer' ELSE NULL END,
                '{{}}', 1, {moment}
            FROM {series};"
    )
}
