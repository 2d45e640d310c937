//! A QR code as SVG inside the page: the content security policy allows no picture from elsewhere.

use std::fmt::Write as _;

use maud::{Markup, html};
use qrcode::{Color, EcLevel, QrCode};

/// Light modules around the code, as its standard asks for.
const QUIET: usize = 4;

/// The QR code of a text, with an accessible name; nothing for a text that is too long for one.
pub(super) fn qr_code(text: &str, name: &str) -> Markup {
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::M) else {
        return html! {};
    };
    let width = code.width();
    let whole = width + 2 * QUIET;
    html! {
        svg.qr viewBox={ "0 0 " (whole) " " (whole) } role="img" aria-label=(name) {
            path d=(dark_modules(&code.to_colors(), width));
        }
    }
}

/// The dark modules as a path, a rectangle for each run of them in a line.
fn dark_modules(colors: &[Color], width: usize) -> String {
    let mut path = String::new();
    for (y, line) in colors.chunks(width).enumerate() {
        let mut x = QUIET;
        for run in line.chunk_by(|one, other| one == other) {
            let length = run.len();
            if run.first() == Some(&Color::Dark) {
                let y = y + QUIET;
                // writing to a text does not fail
                let _ = write!(path, "M{x} {y}h{length}v1h-{length}z");
            }
            x += length;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_runs_become_rectangles() {
        use Color::{Dark, Light};
        let colors = [Dark, Dark, Light, Light, Dark, Dark, Dark, Light, Dark];
        assert_eq!(
            dark_modules(&colors, 3),
            "M4 4h2v1h-2zM5 5h2v1h-2zM4 6h1v1h-1zM6 6h1v1h-1z"
        );
    }

    #[test]
    fn the_longest_address_has_a_code() {
        let link = format!("otpauth://totp/Refract:{}", "%40".repeat(254));
        assert!(qr_code(&link, "a name").into_string().contains("<path"));
        assert!(qr_code(&"a".repeat(4_000), "").into_string().is_empty());
    }
}
