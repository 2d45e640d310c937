//! The people of an account and their roles, its API keys, its budget, the secrets of one-time codes,
//! and the hashes of keys and tokens.

pub mod key_networks;
pub mod key_use;
pub mod month_budget;
pub mod one_time_secret;
pub mod person;
pub mod role;
pub mod secret_hash;

pub use self::key_networks::KeyNetworks;
pub use self::key_use::{KeyReminder, KeyTimes, days_left};
pub use self::month_budget::MonthBudget;
pub use self::one_time_secret::OneTimeSecret;
pub use self::person::{Email, PersonName};
pub use self::role::Role;
pub use self::secret_hash::{ApiKeyHash, TokenHash};
