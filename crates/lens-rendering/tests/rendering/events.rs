//! Rows of events.

use refract_domain::account::Role;
use refract_domain::event::{
    Actor, Event, EventAction, EventDetail, EventRequest, EventStamp, EventTarget,
};
use refract_domain::ids::{AccountId, EventId, PersonId, PrismId};
use refract_lens_rendering::{EventRow, EventRowWriter, RowFormat};

fn event(note: &str) -> Event {
    let account = AccountId::parse("0190b8f2-0000-7000-8000-000000000001").unwrap();
    let person = PersonId::parse("0190b8f2-0000-7000-8000-000000000002").unwrap();
    let stamp = EventStamp {
        id: EventId::parse("0190b8f2-0000-7000-8000-0000000000aa").unwrap(),
        account,
        at: "2026-05-04T09:08:07.060Z".parse().unwrap(),
        actor: Actor::Person(person),
        request: Some(EventRequest::new(&"req-7")),
        note: Some(EventDetail::note(note).unwrap()),
    };
    Event {
        from: Some(Role::Editor.into()),
        to: Some(Role::Owner.into()),
        ..stamp.event(EventAction::RoleSet, EventTarget::Person(person))
    }
}

fn written(format: RowFormat, events: &[Event], by: &str) -> String {
    let mut rows = EventRowWriter::new(format, Vec::new());
    rows.write_header().unwrap();
    for event in events {
        let target = "grace@example.com";
        rows.write_row(EventRow { event, by, target }).unwrap();
    }
    String::from_utf8(rows.finish().unwrap()).unwrap()
}

#[test]
fn an_event_is_a_row_under_the_names_of_its_columns() {
    let mut nobody = event("x");
    nobody.stamp.actor = Actor::Operator;
    nobody.stamp.request = None;
    nobody.stamp.note = None;
    nobody.from = None;
    nobody.to = None;
    nobody.action = EventAction::PrismArchived;
    nobody.target = EventTarget::Prism(PrismId::new(nobody.target.id()));
    let events = [event("she \"asked\", twice"), nobody];
    assert_eq!(
        written(RowFormat::Csv, &events, "ada@example.com"),
        "id,at,by,by_kind,action,target_kind,target,from,to,note,request_id\r\n\
         0190b8f2-0000-7000-8000-0000000000aa,2026-05-04T09:08:07.060Z,ada@example.com,person,\
         role_set,person,grace@example.com,editor,owner,\"she \"\"asked\"\", twice\",req-7\r\n\
         0190b8f2-0000-7000-8000-0000000000aa,2026-05-04T09:08:07.060Z,ada@example.com,operator,\
         prism_archived,prism,grace@example.com,,,,\r\n"
    );
    assert_eq!(
        written(RowFormat::Jsonl, &events, "ada@example.com"),
        "{\"id\":\"0190b8f2-0000-7000-8000-0000000000aa\",\"at\":\"2026-05-04T09:08:07.060Z\",\
         \"by\":\"ada@example.com\",\"by_kind\":\"person\",\"action\":\"role_set\",\
         \"target_kind\":\"person\",\"target\":\"grace@example.com\",\"from\":\"editor\",\
         \"to\":\"owner\",\"note\":\"she \\\"asked\\\", twice\",\"request_id\":\"req-7\"}\n\
         {\"id\":\"0190b8f2-0000-7000-8000-0000000000aa\",\"at\":\"2026-05-04T09:08:07.060Z\",\
         \"by\":\"ada@example.com\",\"by_kind\":\"operator\",\"action\":\"prism_archived\",\
         \"target_kind\":\"prism\",\"target\":\"grace@example.com\",\"from\":null,\
         \"to\":null,\"note\":null,\"request_id\":null}\n"
    );
}

#[test]
fn no_cell_is_taken_for_a_formula_or_breaks_its_line() {
    for format in [RowFormat::Csv, RowFormat::Tsv] {
        let rows = written(format, &[event("=1+1\n\tb")], "@ada");
        let separator = if format == RowFormat::Csv {
            b','
        } else {
            b'\t'
        };
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader
            .delimiter(separator)
            .quoting(format == RowFormat::Csv)
            .from_reader(rows.as_bytes());
        let records: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), 1, "{rows}");
        assert_eq!(&records[0][2], "'@ada");
        assert!(records[0][9].starts_with("'=1+1"), "{rows}");
    }
}
