//! A person's actions with a mouse, apart from clicking.
#![expect(
    clippy::panic,
    reason = "a test whose browser cannot do a step fails here with the reason"
)]

use fantoccini::actions::{InputSource as _, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};

use super::Browser;
use super::waiting::with_element;

impl Browser {
    /// Drags the first element that matches `css` to the middle of the first one that matches `to`,
    /// and drops it there. Both must be inside the window.
    ///
    /// # Panics
    ///
    /// When one of them is missing at the deadline, or is outside the window.
    pub async fn drag(&self, css: &str, to: &str) {
        let client = &self.session.client;
        let found = async |place: &str| {
            with_element(client, "drag", place, async |element| Ok(element)).await
        };
        let over = |element, x| PointerAction::MoveToElement {
            element,
            duration: None,
            x,
            y: 0.0,
        };
        let (from, to) = (found(css).await, found(to).await);
        let button = MOUSE_BUTTON_LEFT;
        // two moves: a page gets one event for the start of a drag and one for its continuation
        let mouse = MouseActions::new("mouse".to_owned())
            .then(over(from.clone(), 0.0))
            .then(PointerAction::Down { button })
            .then(over(to.clone(), 1.0))
            .then(over(to, 0.0))
            .then(PointerAction::Up { button });
        let moved = client.perform_actions(mouse).await;
        moved.unwrap_or_else(|error| panic!("drag {css:?}: {error}"));
    }
}
