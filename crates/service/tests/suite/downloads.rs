//! Downloads of the results of a search.

use futures_util::TryStreamExt as _;
use refract_domain::key::ColumnName;
use refract_identity::people::AccountActor;
use refract_lens_rendering::RowFormat;
use refract_persistence::ResultOrder;
use refract_service::results::{ColumnValue, ExportColumns, ResultSearch};
use refract_test_support::on_both;

use crate::fixture::{Described, Fixture, key, save_all};

on_both!(
    the_chunks_of_a_download_are_what_an_export_writes,
    a_download_of_nothing_is_a_header,
);

fn results() -> Vec<Described> {
    let result = |at: i64| Described {
        at,
        version: 2,
        answers: Some(("billing", if at % 3 == 0 { 90 } else { 10 })),
        reference: Some("=1+1"),
        actor: key(1),
        is_retried: false,
    };
    (0..120).map(result).collect()
}

fn angry(value: &str) -> ResultSearch {
    ResultSearch {
        values: vec![ColumnValue {
            column: ColumnName::parse("angry").unwrap(),
            value: value.to_owned(),
        }],
        ..ResultSearch::default()
    }
}

async fn the_chunks_of_a_download_are_what_an_export_writes(it: Fixture) {
    let saved = save_all(&it, it.account, &results()).await;
    let actor = AccountActor::operator(it.account);
    for format in [RowFormat::Csv, RowFormat::Tsv, RowFormat::Jsonl] {
        let found = || {
            let (lens, order) = (saved.lens.clone(), ResultOrder::OldestFirst);
            it.refract
                .results()
                .of_search(lens, angry("yes"), order)
                .unwrap()
        };
        let columns = ExportColumns::default();
        let mut written = Vec::new();
        let rows = found()
            .export(&actor, format, &columns, &mut written, |_| ())
            .await;
        assert_eq!(rows.unwrap(), 40);
        let chunks = found()
            .export_chunks(&actor, format, columns)
            .await
            .unwrap();
        let chunks: Vec<_> = chunks.try_collect().await.unwrap();
        assert!(chunks.len() > 2, "it comes in parts");
        assert_eq!(chunks.concat(), written, "{format:?}");
    }
}

async fn a_download_of_nothing_is_a_header(it: Fixture) {
    let saved = save_all(&it, it.account, &results()).await;
    let actor = AccountActor::operator(it.account);
    let lens = saved.lens.clone();
    let found = it
        .refract
        .results()
        .of_search(lens, angry("unsure"), ResultOrder::OldestFirst);
    let chunks = found
        .unwrap()
        .export_chunks(&actor, RowFormat::Csv, ExportColumns::default());
    let chunks = chunks.await.unwrap();
    let chunks: Vec<_> = chunks.try_collect().await.unwrap();
    let header = "result_id,ref,version,status,error,created_at,text,topic,angry\r\n";
    assert_eq!(chunks, [header]);
}
