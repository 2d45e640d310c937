//! Lists of 50 rows, which stay light.

use refract_test_stack::browser::joined;
use refract_test_stack::service::{Backend, PRISM, Service};
use serde_json::json;

/// Most bytes of a page with 50 rows.
const MOST: usize = 100_000;

#[tokio::test]
async fn a_page_with_fifty_rows_is_below_100_kb() {
    let service = Service::start(Backend::Sqlite).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let question = json!({"key": "urgent", "type": "yes_no", "text": "Is it urgent?"});
    for region in 0..50 {
        let prism = json!({
            "name": format!("Support triage for region {region}"),
            "fields": [{"key": "text", "label": "Text"}],
            "questions": [question],
        });
        let pasted = prism.to_string();
        let made = ada.post("/prisms/new", &[("pasted", &pasted)]).await;
        assert_eq!(made.status, 303, "{made:?}");
        let name = format!("importer of region {region} in production");
        let key = [
            ("name", name.as_str()),
            ("networks", "10.0.0.0/8, 192.0.2.7"),
        ];
        assert_eq!(ada.post("/keys", &key).await.status, 200);
        let texts = ["顾客说订单还没有到", "\"The customer\" asks when"];
        let text = format!("{region} {}", texts[region % 2].repeat(20));
        let reference = format!("order-{region}");
        service
            .create(&json!({"text": text, "ref": reference}))
            .await;
    }
    let results = format!("/prisms/{PRISM}/results");
    let least_sure = format!("{results}?order=least_sure");
    let lists = ["/", "/keys", "/events", &results, &least_sure];
    for (path, rows) in lists.into_iter().zip([51, 51, 50, 50, 50]) {
        let page = ada.get(path).await.body;
        let body = page.split_once("<tbody>").unwrap().1;
        assert_eq!(body.matches("<tr").count(), rows, "{path}");
        assert!(page.len() < MOST, "{path}: {} bytes", page.len());
    }
    // the oldest prism is in no event of the newest page
    let prism = ada.get(&format!("/prisms/{PRISM}")).await.body;
    let oldest = format!("/events?target=prism:{}", service.prism_id);
    assert!(prism.contains(&format!("href=\"{oldest}\"")), "{prism}");
    for (path, offered) in [("/events", 50), (&oldest, 51)] {
        let page = ada.get(path).await.body;
        let prisms = page.matches("<option value=\"prism:").count();
        assert_eq!(prisms, offered, "{path}");
        assert_eq!(
            page.contains(" selected>Support triage</option>"),
            offered == 51
        );
    }
    for person in 0..55 {
        let invited = [
            ("email", format!("person-{person}@example.com")),
            ("role", "reviewer".to_owned()),
        ];
        let invited = invited
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        assert_eq!(ada.post("/people", &invited).await.status, 200);
    }
    let page = ada.get("/events").await.body;
    let (actors, _) = page.split_once("</select>").unwrap();
    let offered = actors.matches("<option value=").count();
    assert_eq!(offered, 52, "anybody, the newest 50, and Ada");
}
