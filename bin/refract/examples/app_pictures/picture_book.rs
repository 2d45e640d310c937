//! Pictures of pages in a browser, in both themes and three widths.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use refract_test_support::browser::{Browser, BrowserSettings};
use serde_json::json;

use crate::few_colours::with_few_colours;

/// The widths of the pictures, in pixels: a phone, a tablet, and the laptop in which actions are done.
const WIDTHS: [u32; 3] = [360, 768, LAPTOP];
const LAPTOP: u32 = 1440;
const THEMES: [&str; 2] = ["dark", "light"];
/// The height of the window. Pictures of longer pages are taller.
const HEIGHT: u32 = 700;
/// The width of the pictures in documents, which are displayed about 900 pixels wide.
const DOCUMENT_WIDTH: u32 = 1100;

/// A browser, and the folders for its pictures.
pub(crate) struct PictureBook {
    pub(crate) browser: Browser,
    address: String,
    pictures: PathBuf,
    documents: PathBuf,
    axe: Option<String>,
    taken: usize,
    defects: Vec<String>,
}

impl PictureBook {
    /// Starts a browser for the app at an address. Removes the pictures of an earlier run.
    pub(crate) async fn open(address: &str, pictures: &Path, documents: &Path) -> Self {
        fs::remove_dir_all(pictures).ok();
        for folder in [pictures, documents] {
            fs::create_dir_all(folder).expect("a folder for pictures");
        }
        Self {
            browser: Browser::start(BrowserSettings::default()).await,
            address: address.to_owned(),
            pictures: pictures.to_owned(),
            documents: documents.to_owned(),
            axe: Browser::axe(),
            taken: 0,
            defects: Vec::new(),
        }
    }

    /// Opens a path of the app.
    pub(crate) async fn open_page(&self, path: &str) {
        self.browser.open(&format!("{}{path}", self.address)).await;
    }

    /// Opens a path of the app and takes pictures of the page.
    pub(crate) async fn take_page(&mut self, name: &str, path: &str) {
        self.open_page(path).await;
        self.take(name).await;
    }

    /// Takes pictures of the whole current page, in each width and theme.
    pub(crate) async fn take(&mut self, name: &str) {
        let leave = "document.activeElement?.blur(); window.scrollTo(0, 0);";
        self.browser.evaluate(leave, &[]).await;
        for width in WIDTHS {
            for theme in THEMES {
                self.show_as(width, theme).await;
                let file = format!("{name}-{width}-{theme}.png");
                let picture = self.browser.picture().await;
                fs::write(self.pictures.join(file), picture).expect("a picture can be written");
                self.taken += 1;
            }
            self.look_for_defects(name, width).await;
        }
    }

    /// Takes the picture of the page for documents, as high as the window.
    pub(crate) async fn take_for_documents(&self, name: &str, height: u32) {
        self.show_as(DOCUMENT_WIDTH, "light").await;
        let picture = self.browser.picture_of_beginning(height).await;
        let file = self.documents.join(format!("{name}.png"));
        fs::write(file, with_few_colours(&picture)).expect("a picture can be written");
        self.show_as(LAPTOP, THEMES[1]).await;
    }

    /// Prints what was done, and the faults of the pages.
    pub(crate) fn close(self, pictures: &Path) -> ExitCode {
        let shown = pictures.canonicalize().expect("the folder of pictures");
        println!("{} pictures are in {}", self.taken, shown.display());
        for defect in &self.defects {
            println!("{defect}");
        }
        if self.defects.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    async fn show_as(&self, width: u32, theme: &str) {
        let area =
            json!({ "width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": false });
        let command = "Emulation.setDeviceMetricsOverride";
        self.browser.cdp(command, area).await;
        let wish = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.browser.cdp("Emulation.setEmulatedMedia", wish).await;
    }

    async fn look_for_defects(&mut self, name: &str, width: u32) {
        let wide = "return document.documentElement.scrollWidth > window.innerWidth;";
        if self.browser.evaluate(wide, &[]).await == true {
            self.defects
                .push(format!("{name}: wider than {width} pixels"));
        }
        if let Some(axe) = &self.axe {
            let found = self.browser.accessibility_violations(axe).await;
            let lines = found
                .iter()
                .map(|defect| format!("{name}, {width} pixels wide: {defect}"));
            self.defects.extend(lines);
        }
    }
}
