//! Compares typed codes with a secret: SHA-1, six digits, steps of 30 seconds, which every
//! authenticator app supports. Without a clock and a database.

use chrono::{DateTime, Utc};
use refract_domain::account::one_time_secret::OneTimeSecret;
use totp_rs::{Builder, Secret, Totp};

/// The step since 1970 whose code this is; `None` for a wrong code. The step before this moment's
/// and the one after are accepted too, since clocks differ and typing takes time.
pub(super) fn step_of_code(secret: OneTimeSecret, code: &str, now: DateTime<Utc>) -> Option<i64> {
    let seconds = u64::try_from(now.timestamp()).ok()?;
    let step = codes(secret).check(code, seconds)?;
    i64::try_from(step).ok()
}

/// The secret as text in base 32, as apps read it.
pub(super) fn secret_text(secret: OneTimeSecret) -> String {
    Secret::new_stack(secret.bytes()).to_base32()
}

/// The crate's defaults are the values above; nothing about them could be invalid.
fn codes(secret: OneTimeSecret) -> Totp {
    let builder = Builder::new().with_secret(Secret::new_stack(secret.bytes()));
    builder.build_noncompliant()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    /// The secret of the test vectors in RFC 6238, appendix B.
    const SECRET: OneTimeSecret = OneTimeSecret::new(*b"12345678901234567890");

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    #[test]
    fn the_codes_are_those_of_rfc_6238() {
        // the vectors have eight digits, of which these are the last six
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let step = step_of_code(SECRET, code, at(seconds));
            assert_eq!(step, Some(seconds / 30), "{seconds}");
        }
        assert_eq!(secret_text(SECRET), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn a_clock_may_be_off_by_one_step_and_not_by_two() {
        let (code, second) = ("005924", 1_234_567_890);
        let step = Some(second / 30);
        for (off, expected) in [
            (-60, None),
            (-31, None),
            (-30, step),
            (-1, step),
            (0, step),
            (29, step),
            (59, step),
            (60, None),
        ] {
            let seconds = second / 30 * 30 + off;
            assert_eq!(step_of_code(SECRET, code, at(seconds)), expected, "{off}");
        }
    }

    #[test]
    fn what_is_no_code_is_wrong() {
        for wrong in ["", "005925", "5924", "0005924", "+05924", "00592४"] {
            let found = step_of_code(SECRET, wrong, at(1_234_567_890));
            assert_eq!(found, None, "{wrong}");
        }
        assert_eq!(step_of_code(SECRET, "287082", at(-59)), None);
        let other = OneTimeSecret::new([7; 20]);
        assert_eq!(step_of_code(other, "005924", at(1_234_567_890)), None);
    }
}
