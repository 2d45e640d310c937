//! The regular work of a node that serves.

use std::convert::Infallible;

use crate::Refract;

impl Refract {
    /// Counts results by day and answers by hour, looks at budgets and names the prisms of metrics,
    /// round after round until it is dropped.
    pub async fn work_in_rounds(&self) -> Infallible {
        // boxed, since the futures are large and moved before they run
        let watching = Box::pin(self.measures().watch_rounds().run());
        let counting = Box::pin(self.results().count_rounds().run());
        let budgets = Box::pin(self.budgets().rounds().run());
        let names = Box::pin(self.results().prism_names().run());
        tokio::select! {
            never = watching => never,
            never = counting => never,
            never = budgets => never,
            never = names => never,
        }
    }
}
