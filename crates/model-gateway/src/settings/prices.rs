//! What tokens cost where the model's host does not say so.

use std::str::FromStr;

use refract_domain::result::Cost;

use crate::report::ReportedUsage;
use crate::settings::setting_error::SettingError;

/// The tokens that a price is for.
const TOKENS: u128 = 1_000;

/// Prices for a thousand tokens, in the currency of the host. They are used for answers whose host
/// reports tokens and no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelPrices {
    /// Tokens that the model reads.
    pub read: Cost,
    /// Tokens that the server has in its cache.
    pub cached: Cost,
    /// Tokens that the model writes.
    pub written: Cost,
}

impl ModelPrices {
    /// The cost of reading this many tokens, none of which is cached.
    pub fn of_reading(&self, tokens: u64) -> Cost {
        let attos = u128::from(tokens).saturating_mul(self.read.attos());
        Cost::from_attos(attos / TOKENS)
    }

    /// The cost of an answer, rounded to 18 decimals; `None` if its server reports no tokens.
    pub(crate) fn cost(&self, usage: &ReportedUsage) -> Option<Cost> {
        let parts = [
            (usage.uncached_tokens(), self.read),
            (usage.cached_tokens, self.cached),
            (usage.output_tokens, self.written),
        ];
        let known = parts
            .into_iter()
            .filter_map(|(tokens, price)| Some((tokens?, price)));
        let known: Vec<_> = known.collect();
        let attos = known.iter().map(|(tokens, price)| {
            let attos = u128::from(*tokens).saturating_mul(price.attos());
            attos.saturating_add(TOKENS / 2) / TOKENS
        });
        (!known.is_empty()).then(|| Cost::from_attos(attos.fold(0, u128::saturating_add)))
    }
}

impl FromStr for ModelPrices {
    type Err = SettingError;

    /// Reads three decimals with commas between them: read, cached and written.
    fn from_str(text: &str) -> Result<Self, SettingError> {
        let prices: Option<Vec<Cost>> = text
            .split(',')
            .map(|price| Cost::parse(price.trim()))
            .collect();
        match prices.as_deref() {
            Some(&[read, cached, written]) => Ok(Self {
                read,
                cached,
                written,
            }),
            Some(_) | None => Err(SettingError::Prices),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> ModelPrices {
        "0.15, 0.075,0.6".parse().unwrap()
    }

    fn cost(usage: &ReportedUsage) -> Option<String> {
        prices().cost(usage).map(|cost| cost.to_string())
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = ReportedUsage {
            input_tokens: Some(1_000),
            cached_tokens: Some(400),
            output_tokens: Some(10),
            ..ReportedUsage::default()
        };
        // 600 at 0.15, 400 at 0.075 and 10 at 0.6 for a thousand
        assert_eq!(cost(&usage).as_deref(), Some("0.126"));
        let apart = ReportedUsage {
            newly_cached_tokens: Some(50),
            is_cache_apart: true,
            ..usage
        };
        assert_eq!(cost(&apart).as_deref(), Some("0.1935"));
    }

    #[test]
    fn an_answer_without_tokens_has_no_cost() {
        assert_eq!(cost(&ReportedUsage::default()), None);
        let written = ReportedUsage {
            output_tokens: Some(1),
            ..ReportedUsage::default()
        };
        assert_eq!(cost(&written).as_deref(), Some("0.0006"));
    }

    #[test]
    fn three_decimals_are_needed() {
        for text in ["", "1", "1,2", "1,2,3,4", "1,2,x", "1,,2", "-1,0,0"] {
            let read = text.parse::<ModelPrices>();
            assert_eq!(read, Err(SettingError::Prices), "{text}");
        }
    }
}
