//! What tokens cost, in words: beside every number of tokens that is said before they are spent.

use refract_domain::result::cost::Cost;
use refract_model_gateway::{Model, ModelPrices};

use crate::Refract;

/// What tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenPrice {
    /// Nothing: the built-in scorer answers.
    Free,
    /// These prices, unless the host states a cost.
    Known(ModelPrices),
    /// What the host states, if it does.
    Unknown,
}

impl TokenPrice {
    /// What is said where no cost is known.
    pub const NONE_KNOWN: &str =
        "no price is known (unless the host states one, set REFRACT_MODEL_PRICES)";

    /// What reading this many tokens costs, in words; `None` if it costs nothing.
    pub fn of_reading(self, tokens: u64) -> Option<String> {
        match self {
            Self::Free => None,
            Self::Unknown | Self::Known(_) if tokens == 0 => None,
            Self::Unknown => Some(Self::NONE_KNOWN.to_owned()),
            Self::Known(prices) => Some(format!(
                "about {:.4} by REFRACT_MODEL_PRICES",
                prices.of_reading(tokens).to_f64()
            )),
        }
    }

    /// What saved results cost, in words; `None` if the built-in scorer answered.
    pub fn of_results(self, cost: Option<Cost>) -> Option<String> {
        match (cost, self) {
            (Some(cost), _) => Some(cost.to_string()),
            (None, Self::Free) => None,
            (None, Self::Known(_) | Self::Unknown) => Some(Self::NONE_KNOWN.to_owned()),
        }
    }
}

impl Refract {
    /// What tokens of the model cost.
    pub fn token_price(&self) -> TokenPrice {
        if self.is_for_trying_only() {
            return TokenPrice::Free;
        }
        let prices = self.model.as_ref().and_then(Model::prices);
        prices.map_or(TokenPrice::Unknown, TokenPrice::Known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_tokens_has_its_cost_beside_it() {
        let known = TokenPrice::Known("0.00015,0.00007,0.0006".parse().unwrap());
        let words = known.of_reading(41_170).unwrap();
        assert_eq!(words, "about 0.0062 by REFRACT_MODEL_PRICES");
        let unknown = TokenPrice::Unknown.of_reading(1).unwrap();
        assert!(unknown.contains("set REFRACT_MODEL_PRICES"), "{unknown}");
        assert_eq!(known.of_reading(0), None);
        assert_eq!(TokenPrice::Free.of_reading(41_170), None);
    }
}
