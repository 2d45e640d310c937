//! Asks about many texts at once, for measures that save nothing.

use std::cell::Cell;
use std::future::ready;
use std::num::NonZeroUsize;

use futures_util::stream::{self, StreamExt as _};

use crate::runs::EarlyEnd;

/// Lets some requests be under way at once, and hands over each reply as it arrives. When `take`
/// returns false, no further request is begun, and what is under way is awaited. When `stop`
/// resolves, what is under way is dropped, since nothing of it would be saved.
///
/// Returns why the asking ended early, if it was stopped.
pub(super) async fn ask_each<Request: Future>(
    requests: impl Iterator<Item = Request>,
    at_once: NonZeroUsize,
    stop: impl Future<Output = ()>,
    mut take: impl FnMut(Request::Output) -> bool,
) -> Option<EarlyEnd> {
    let is_over = Cell::new(false);
    let requests = stream::iter(requests).take_while(|_| ready(!is_over.get()));
    let replies = requests.buffer_unordered(at_once.get());
    let (mut replies, mut stop) = (std::pin::pin!(replies), std::pin::pin!(stop));
    loop {
        let reply = tokio::select! {
            biased;
            () = &mut stop, if !is_over.get() => return Some(EarlyEnd::Asked),
            reply = replies.next() => reply,
        };
        if !take(reply?) {
            is_over.set(true);
        }
    }
}
