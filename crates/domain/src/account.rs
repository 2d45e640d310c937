//! The people of an account and their roles, its API keys, its budget, the secrets of one-time codes,
//! and the hashes of keys and tokens.

pub mod key_networks;

use std::fmt;
use std::ops::RangeInclusive;

use chrono::{DateTime, TimeDelta, Utc};

use crate::prism::display_name;
use crate::problem::{ValidationError, text};
use crate::result::Cost;

pub use self::key_networks::KeyNetworks;

/// Length of an email address after trimming.
const EMAIL_CHARS: RangeInclusive<usize> = 3..=254;

display_name! {
    /// A person's name as others see it, trimmed, 1 to 200 characters.
    PersonName
}

/// An email address with which a person signs in: trimmed, in lower case, 3 to 254 characters. It
/// gets no mail.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    /// Trims an address, puts it in lower case and checks it: it has one `@` with something on both
    /// sides, neither white space nor control characters, and none by which it looks like another
    /// address: invisible ones, marks of the reading direction, and letters that become an ASCII
    /// letter in lower case.
    ///
    /// # Errors
    /// The faults of the address.
    pub fn parse(text: &str) -> Result<Self, Vec<ValidationError>> {
        let typed = text.trim();
        let email = typed.to_lowercase();
        let mut errors = text::errors(&email, &EMAIL_CHARS);
        let is_address = email.split_once('@').is_some_and(|(name, domain)| {
            !name.is_empty() && !domain.is_empty() && !domain.contains('@')
        });
        let is_plain = !email.chars().any(|c| c.is_whitespace() || c.is_control());
        if errors.is_empty() && !(is_address && is_plain) {
            errors.push(ValidationError::rule(
                "must be an email address such as ada@example.com",
            ));
        }
        if errors.is_empty()
            && let Some(character) = typed.chars().find(|c| disguises(*c))
        {
            errors.push(ValidationError::rule(format!(
                "must not have the character U+{:04X}, which looks like another one or like none",
                u32::from(character)
            )));
        }
        if errors.is_empty() {
            Ok(Self(email))
        } else {
            Err(errors)
        }
    }

    /// An address read from the database, which is not checked again.
    pub fn saved(email: String) -> Self {
        Self(email)
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a character makes an address look like another one.
fn disguises(character: char) -> bool {
    let becomes_ascii =
        !character.is_ascii() && character.to_lowercase().all(|lower| lower.is_ascii());
    text::is_invisible(character) || becomes_ascii
}

/// Hides the address, so that no log shows one by accident.
impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(…)")
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a person may do. Each role includes the permissions of the roles before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads, tries texts and marks.
    Reviewer,
    /// Also changes prisms and lenses, and runs files.
    Editor,
    /// Also creates API keys and invites people.
    Owner,
}

impl Role {
    /// Every role, from the fewest permissions to the most.
    pub const ALL: [Self; 3] = [Self::Reviewer, Self::Editor, Self::Owner];

    /// The role's name: `reviewer`, `editor` or `owner`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reviewer => "reviewer",
            Self::Editor => "editor",
            Self::Owner => "owner",
        }
    }

    /// The role with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether this role includes the permissions of `least`.
    pub fn may(self, least: Self) -> bool {
        self >= least
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The secret that the database and a person's device share: 160 bits, as RFC 4226 recommends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OneTimeSecret([u8; 20]);

impl OneTimeSecret {
    /// The secret with these bytes.
    pub const fn new(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The bytes of the secret.
    pub const fn bytes(self) -> [u8; 20] {
        self.0
    }
}

/// Hides the secret, so that no log shows one by accident.
impl fmt::Debug for OneTimeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OneTimeSecret(…)")
    }
}

/// SHA-256 of an API key: 192 random bits need no salt and no slow hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ApiKeyHash([u8; 32]);

impl ApiKeyHash {
    /// The hash with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Debug for ApiKeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeyHash(…)")
    }
}

/// SHA-256 of a token: 258 random bits need no salt and no slow hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Characters of a hash as text.
    const DIGITS: usize = 64;

    /// The hash with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// The hash as 64 hexadecimal digits. The app uses it as the id of a session, since nobody can
    /// sign in with it.
    pub fn to_hex(&self) -> String {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16));
        digits.collect()
    }

    /// Reads a hash from its hexadecimal digits; `None` for any other text.
    pub fn from_hex(text: &str) -> Option<Self> {
        let is_hex = text.len() == Self::DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_hex {
            return None;
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * place..2 * place + 2)?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// A key without a used successor is in use for this long after a call: programs may call weekly.
const IN_USE: TimeDelta = TimeDelta::days(14);
/// A key whose successor is used is in use for this long after a call.
const IN_USE_BESIDE_SUCCESSOR: TimeDelta = TimeDelta::days(1);
/// Owners are reminded this long before a key in use ends.
const REMINDED: TimeDelta = TimeDelta::days(14);
/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// When a key was made, used and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTimes {
    /// When the key was made.
    pub created_at: DateTime<Utc>,
    /// When the key was last used; `None` for never.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The key is refused from this moment on; `None` for a key that never expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// When the key was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// What the owners of a key should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyReminder {
    /// The key is in use and ends within 14 days.
    EndsSoon {
        /// When the key ends.
        ends_at: DateTime<Utc>,
    },
    /// The key was used after its successor was made, and the successor never was.
    SuccessorUnused,
}

impl KeyTimes {
    /// Whether the key opens its account at a moment.
    pub fn is_accepted(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }

    /// Whether programs still use the key. `successor` is the key that replaces it.
    pub fn is_in_use(&self, successor: Option<&Self>, now: DateTime<Utc>) -> bool {
        let is_replaced = successor.is_some_and(|key| key.last_used_at.is_some());
        let in_use = if is_replaced {
            IN_USE_BESIDE_SUCCESSOR
        } else {
            IN_USE
        };
        self.is_accepted(now) && self.last_used_at.is_some_and(|used| now - used < in_use)
    }

    /// What the owners should know; `None` for a key that needs nothing. `successor` is the key
    /// that replaces it.
    pub fn reminder(&self, successor: Option<&Self>, now: DateTime<Utc>) -> Option<KeyReminder> {
        if !self.is_in_use(successor, now) {
            return None;
        }
        let is_unused = |successor: &Self| {
            successor.is_accepted(now)
                && successor.last_used_at.is_none()
                && self.last_used_at > Some(successor.created_at)
        };
        if successor.is_some_and(is_unused) {
            return Some(KeyReminder::SuccessorUnused);
        }
        let soon = self.expires_at.filter(|end| *end - now <= REMINDED);
        soon.map(|ends_at| KeyReminder::EndsSoon { ends_at })
    }
}

/// The days until a moment, with their fraction; 0 for a moment that has passed.
pub fn days_left(ends_at: DateTime<Utc>, now: DateTime<Utc>) -> f64 {
    ((ends_at - now).as_seconds_f64() / DAY).max(0.0)
}

/// Most digits before the decimal point, and most decimals.
const MOST_DIGITS: usize = 9;

/// What an account may spend in a calendar month in UTC, in the currency of the costs: over 0 and
/// below a billion, exact to 9 decimals.
///
/// ```
/// # use refract_domain::account::MonthBudget;
/// assert_eq!(MonthBudget::parse("200.50").unwrap().to_string(), "200.5");
/// assert!(MonthBudget::parse("0").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthBudget {
    nanos: u64,
}

impl MonthBudget {
    /// Reads a plain decimal, such as `200` or `12.50`.
    ///
    /// # Errors
    /// The rule that the text breaks.
    pub fn parse(typed: &str) -> Result<Self, ValidationError> {
        let read = || {
            let (whole, decimals) = typed.split_once('.').unwrap_or((typed, "0"));
            let is_number = |digits: &str| {
                (1..=MOST_DIGITS).contains(&digits.len())
                    && digits.bytes().all(|digit| digit.is_ascii_digit())
            };
            if !is_number(whole) || !is_number(decimals) {
                return None;
            }
            let nanos = format!("{whole}{decimals:0<9}").parse().ok()?;
            Self::from_nanos(nanos)
        };
        read().ok_or_else(|| {
            ValidationError::rule(
                "must be a decimal over 0 with at most 9 digits before the point and 9 after it",
            )
        })
    }

    /// The budget of this many billionths; `None` for 0.
    pub fn from_nanos(nanos: u64) -> Option<Self> {
        (nanos > 0).then_some(Self { nanos })
    }

    /// The budget in billionths.
    pub fn nanos(self) -> u64 {
        self.nanos
    }

    /// The budget as a cost.
    pub fn as_cost(self) -> Cost {
        Cost::from_nanos(self.nanos.into())
    }

    /// The whole percents of the budget that this much is.
    pub fn percent(self, spent: Cost) -> u128 {
        spent.attos().saturating_mul(100) / self.as_cost().attos()
    }

    /// The part of the budget that this much is; 1 for all of it.
    pub fn used_ratio(self, spent: Cost) -> f64 {
        spent.to_f64() / self.as_cost().to_f64()
    }
}

/// A plain decimal without trailing zeros.
impl fmt::Display for MonthBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_cost().fmt(f)
    }
}

#[cfg(test)]
mod tests;
