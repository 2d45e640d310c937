//! How a browser shows pages.

/// Window size, scripts and theme of a browser.
#[derive(Clone, Copy, Debug)]
pub struct BrowserSettings {
    /// Whether the scripts of pages run.
    pub scripts: bool,
    /// The colour scheme that pages are asked for.
    pub theme: BrowserTheme,
    /// The width of the page's area, in CSS pixels; also the width of pictures in pixels.
    pub width: u32,
    /// The height of the page's area, in CSS pixels.
    pub height: u32,
    /// Whether Chromium records a trace for [`Browser::end_trace`](super::Browser::end_trace),
    /// which slows it down a little.
    pub is_traced: bool,
}

impl Default for BrowserSettings {
    /// A light page with scripts on a laptop screen.
    fn default() -> Self {
        Self {
            scripts: true,
            theme: BrowserTheme::Light,
            width: 1440,
            height: 900,
            is_traced: false,
        }
    }
}

/// The value of the media query `prefers-color-scheme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserTheme {
    /// Dark text on a light ground.
    Light,
    /// Light text on a dark ground.
    Dark,
}
