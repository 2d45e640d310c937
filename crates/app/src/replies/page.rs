//! The layout of every page.

use actix_web::http::StatusCode;
use maud::{DOCTYPE, Markup, html};
use refract_domain::account::Role;
use refract_service::prisms::Prism;

use crate::app_site::AppSite;
use crate::components::{AFTER_TABS, NoticeKind, PrismTab, notice, prism_heading};
use crate::replies::page_reply::PageReply;
use crate::requests::{OpenVisit, Visit, Visitor};

/// The section of a page, marked in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Prisms, and all pages below a prism.
    Prisms,
    /// API keys.
    Keys,
    /// People of the account.
    People,
    /// What results used.
    Usage,
    /// The audit log of the account.
    Events,
    /// The visitor's own page, linked from their name.
    Me,
}

impl Section {
    /// The sections in the navigation.
    const LISTED: [Self; 5] = [
        Self::Prisms,
        Self::Keys,
        Self::People,
        Self::Usage,
        Self::Events,
    ];

    /// The section's label, its address, and the least role that can use it.
    fn facts(self) -> (&'static str, &'static str, Role) {
        match self {
            Self::Prisms => ("Prisms", "/", Role::Reviewer),
            Self::Keys => ("Keys", "/keys", Role::Owner),
            Self::People => ("People", "/people", Role::Owner),
            Self::Usage => ("Usage", "/usage", Role::Owner),
            Self::Events => ("Events", "/events", Role::Owner),
            Self::Me => ("You", "/me", Role::Reviewer),
        }
    }

    /// The value of `aria-current` for a link to the section: set if it is the open one.
    fn marked(self, current: Option<Self>) -> Option<&'static str> {
        (current == Some(self)).then_some("page")
    }
}

/// A page before it is put into the layout.
pub(crate) struct Page<'a> {
    site: &'a AppSite,
    visitor: Option<&'a Visitor>,
    title: String,
    section: Option<Section>,
    scripts: Vec<&'static str>,
    status: StatusCode,
    /// Where the link past the navigation leads.
    content: &'static str,
    /// Where a second link leads, past what comes before a list, and its words.
    list: Option<(&'static str, &'static str)>,
    main: Markup,
}

impl Visit {
    /// A page for the visitor. `title` is shown in the browser's tab; `main` begins with an `h1`.
    pub(crate) fn page(&self, title: impl Into<String>, main: Markup) -> Page<'_> {
        Page::new(&self.site, Some(&self.visitor), title, main)
    }

    /// The notice of the action before the redirect, looked up by its name in the address.
    pub(crate) fn done(&self, words: impl FnOnce(&str) -> Option<&'static str>) -> Option<Markup> {
        let words = self.sent.query.get("done").and_then(words)?;
        Some(notice(NoticeKind::Done, &html! { (words) }))
    }

    /// A page of a prism, with the prism's tabs before `main`.
    pub(crate) fn prism_page(
        &self,
        prism: &Prism,
        tab: PrismTab,
        title: impl Into<String>,
        main: &Markup,
    ) -> Page<'_> {
        let main = html! { (prism_heading(prism, tab, self.visitor.role)) (main) };
        let page = self.page(title, main).section(Section::Prisms);
        Page {
            content: AFTER_TABS,
            ..page
        }
    }
}

impl OpenVisit {
    /// A page for any visitor, signed in or not. `main` begins with an `h1`.
    pub(crate) fn page(&self, title: impl Into<String>, main: Markup) -> Page<'_> {
        Page::new(&self.site, self.visitor.as_ref(), title, main)
    }
}

impl<'a> Page<'a> {
    /// A page for any visitor, signed in or not.
    pub(crate) fn new(
        site: &'a AppSite,
        visitor: Option<&'a Visitor>,
        title: impl Into<String>,
        main: Markup,
    ) -> Self {
        Self {
            site,
            visitor,
            title: title.into(),
            section: None,
            scripts: Vec::new(),
            status: StatusCode::OK,
            content: "main",
            list: None,
            main,
        }
    }

    /// Marks a section in the navigation.
    pub(crate) fn section(mut self, section: Section) -> Self {
        self.section = Some(section);
        self
    }

    /// Adds a script: an ES module from the assets.
    pub(crate) fn script(mut self, name: &'static str) -> Self {
        self.scripts.push(name);
        self
    }

    /// Adds a link past what comes before a list to the element `id`.
    pub(crate) fn skipping_to(mut self, id: &'static str, words: &'static str) -> Self {
        self.list = Some((id, words));
        self
    }

    /// Sets a status other than 200.
    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The reply.
    pub(crate) fn reply(self) -> PageReply {
        PageReply::html(self.status, self.markup())
    }

    fn markup(self) -> Markup {
        let Self {
            site,
            visitor,
            title,
            section,
            scripts,
            content,
            list,
            main,
            status: _,
        } = self;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) " · Refract" }
                    link rel="icon" href=(site.assets.address("icon.svg")) type="image/svg+xml";
                    link rel="stylesheet" href=(site.assets.address("app.css"));
                    // the last ones: the scripts of a page may send its forms themselves
                    @for script in scripts.into_iter().chain(["send.js", "typed.js", "times.js"]) {
                        script type="module" src=(site.assets.address(script)) {}
                    }
                }
                body {
                    a.skip href={ "#" (content) } { @if content == "main" { "Skip the navigation" } @else { "Skip navigation and tabs" } }
                    @if let Some((id, words)) = list { a.skip href={ "#" (id) } { (words) } }
                    header.site { (navigation(visitor, section)) }
                    @if site.is_for_trying_only {
                        aside.toy aria-label="About this demo" {
                            "The built-in scorer answers here. It compares words and is for trying things only."
                        }
                    }
                    main #main { (main) }
                    @if visitor.is_some() {
                        noscript { footer.site { "Without scripts, times are in UTC." } }
                    }
                }
            }
        }
    }
}

/// The mark of the app: a ray that a prism parts into Yes, Unsure and No.
fn mark() -> Markup {
    html! {
        svg viewBox="0 0 24 16" aria-hidden="true" focusable="false" {
            path d="M1 10 6 8M10 1.5 17.5 14.5H2.5z" {}
            path.yes d="M13.5 7 23 3" {}
            path.unsure d="M15 9 23 8.5" {}
            path.no d="M16 11 23 14" {}
        }
    }
}

fn navigation(visitor: Option<&Visitor>, current: Option<Section>) -> Markup {
    html! {
        a.name href="/" { (mark()) "Refract" }
        @if let Some(visitor) = visitor {
            nav aria-label="Sections" {
                @for section in Section::LISTED {
                    @let (name, address, least) = section.facts();
                    @if visitor.role.may(least) {
                        a href=(address) aria-current=[section.marked(current)] { (name) }
                    }
                }
            }
            @if visitor.first_unseen_event.is_some() {
                a.account-change href="/" { "Somebody changed your role or sign-in" }
            }
            div.visitor {
                @let (_, own_page, _) = Section::Me.facts();
                a href=(own_page) title="Your own page"
                    aria-current=[Section::Me.marked(current)] { bdi { (visitor.name) } }
                span.role { (visitor.role.name()) }
                form method="post" action="/sign-out" {
                    button.quiet type="submit" { "Sign out" }
                }
            }
        }
    }
}
