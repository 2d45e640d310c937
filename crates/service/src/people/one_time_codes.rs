//! One-time codes (RFC 6238) as a second factor for people who sign in by password, with recovery
//! codes for those who lost their device.

mod code_check;
mod code_error;
mod code_try;
mod recovery_code;
mod requirement;
mod setup;
mod switch;
mod typed_code;

pub use self::code_error::CodeError;
pub(super) use self::code_try::CodeTry;
pub use self::recovery_code::RecoveryCode;
pub use self::setup::{CodesSetup, OneTimeCodes};
pub(super) use self::typed_code::TypedCode;
