//! The table of the visitor's sessions, with buttons to end them.

use maud::{Markup, html};
use refract_domain::account::secret_hash::TokenHash;
use refract_service::people::OwnSession;

use crate::components::moment::moment;
use crate::components::table::stacked_table;

/// A row for each session, with the current one marked, and a button that ends all others.
pub(super) fn session_table(sessions: &[OwnSession], present: TokenHash) -> Markup {
    let rows = html! { @for session in sessions { (row(session, present)) } };
    html! {
        (stacked_table("Your sessions", &["Began", "Last used, to the hour", ""], &rows))
        @if sessions.len() > 1 {
            form method="post" action="/me/sessions/end-others" {
                button.danger type="submit" { "End all others" }
            }
        }
    }
}

fn row(session: &OwnSession, present: TokenHash) -> Markup {
    let address = format!("/me/sessions/{}/end", session.hash.to_hex());
    html! {
        tr {
            th scope="row" { (moment(session.began_at)) }
            td data-label="Last used" { (moment(session.last_used_at)) }
            td {
                @if session.hash == present {
                    span.tag { "this one" }
                } @else {
                    form method="post" action=(address) {
                        button type="submit" aria-label={ "End the session that began " (session.began_at.format("%Y-%m-%d %H:%M")) } {
                            "End"
                        }
                    }
                }
            }
        }
    }
}
