//! How a browser shows pages.

/// What a browser shows pages in.
#[derive(Clone, Copy, Debug)]
pub struct BrowserSettings {
    /// Whether the scripts of pages run.
    pub scripts: bool,
    /// The colours that pages are asked for.
    pub theme: BrowserTheme,
    /// The width of the page's area, in CSS pixels. A picture has as many pixels.
    pub width: u32,
    /// The height of the page's area, in CSS pixels.
    pub height: u32,
    /// Whether Chromium records what it does, for
    /// [`Browser::end_trace`](super::Browser::end_trace). It is a little slower then.
    pub is_traced: bool,
}

impl Default for BrowserSettings {
    /// A light page with scripts on a laptop's screen.
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
