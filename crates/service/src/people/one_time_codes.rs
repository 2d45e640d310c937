//! One-time codes (RFC 6238) as a second factor for people who sign in by password, with recovery
//! codes for those who lost their device.

mod code;
mod code_try;
mod setup;
mod switch;

pub(super) use self::code::TypedCode;
pub use self::code::{CodeError, RecoveryCode};
pub(super) use self::code_try::CodeTry;
pub use self::setup::{CodesSetup, OneTimeCodes};
