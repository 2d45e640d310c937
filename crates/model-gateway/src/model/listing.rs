//! The names of the models that a server lists at `GET /models` below its base address.
//!
//! Sources: OpenAI's `{"data": [{"id"}]}`; `{"models": [{"name"}]}` of Jev's host and Google.

use std::cell::Cell;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::connection::request_body::RequestBody;
use crate::error::ModelError;
use crate::json::{list, nested, object, string};
use crate::model::Model;
use crate::report::usage::kept_name;
use crate::servers::place::ServerPlace;
use crate::settings::endpoint::ModelEndpoint;

impl Model {
    /// The names of the models that the first server lists, in its order. Empty if it lists none,
    /// and for the built-in scorer and the whole address of an endpoint, which are not asked.
    ///
    /// # Errors
    /// No answer came within `wait`.
    pub async fn listed_models(&self, wait: Duration) -> Result<Vec<String>, ModelError> {
        let ModelEndpoint::Servers(addresses) = &self.settings.endpoint else {
            return Ok(Vec::new());
        };
        let first = ServerPlace::default();
        let path = addresses.of(first).path_below("models");
        let (Some(server), Some(path)) = (&self.server, path) else {
            return Ok(Vec::new());
        };
        let connections = server.sender.connections.of(first);
        let head = Cell::default();
        let exchange = connections.exchange(RequestBody::none(&path), None, &head);
        let reply = timeout(wait, exchange).await;
        let reply = reply.map_err(|_| ModelError::TimedOut(wait))??;
        Ok(names_in(reply.body()))
    }
}

/// The names in the body of an answer with any status.
fn names_in(body: &[u8]) -> Vec<String> {
    let listing: ListingJson<'_> = object(body).unwrap_or_default();
    let lists = [listing.data, listing.models].into_iter().flatten();
    let mut names = lists.map(|raw| {
        let entries = list(raw).unwrap_or_default();
        entries.into_iter().filter_map(name).collect::<Vec<_>>()
    });
    let names = names.find(|names| !names.is_empty());
    names.unwrap_or_default()
}

fn name(entry: &RawValue) -> Option<String> {
    let entry: ListedModelJson<'_> = nested(entry)?;
    let name = entry.id.and_then(string);
    let name = name.or_else(|| entry.name.and_then(string))?;
    kept_name(&name)
}

#[derive(Default, Deserialize)]
struct ListingJson<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    models: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ListedModelJson<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_servers_list_them() {
        for (body, names) in [
            (
                r#"{"object":"list","data":[{"id":"qwen","object":"model"},{"id":"gemma"}]}"#,
                &["qwen", "gemma"][..],
            ),
            (
                r#"{"models":[{"name":"jev-latest","description":"…"},{"name":"jev-1.13.0"}]}"#,
                &["jev-latest", "jev-1.13.0"],
            ),
            // llama.cpp has both lists
            (
                r#"{"models":[{"name":"a","model":"a"}],"data":[{"id":"a.gguf"}]}"#,
                &["a.gguf"],
            ),
            (r#"{"data":[],"models":[{"name":"m"}]}"#, &["m"]),
            (r#"{"data":[7,{},{"id":" "},{"id":7,"name":"m"}]}"#, &["m"]),
            (r#"{"data":{"id":"m"}}"#, &[]),
            (r#"{"detail":"Not Found"}"#, &[]),
            ("<html>", &[]),
            ("", &[]),
        ] {
            assert_eq!(names_in(body.as_bytes()), names, "{body}");
        }
    }
}
