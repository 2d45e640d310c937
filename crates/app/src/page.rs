//! The layout of every page.

use actix_web::http::StatusCode;
use maud::{DOCTYPE, Markup, html};
use refract_domain::role::Role;

use crate::app_site::AppSite;
use crate::page_reply::PageReply;
use crate::visit::Visit;
use crate::visitor::Visitor;

/// The part of the app that a page belongs to, marked in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Prisms and everything below one.
    Prisms,
    /// API keys.
    Keys,
    /// People of the account.
    People,
    /// What was changed in the account.
    Events,
}

impl Section {
    const ALL: [Self; 4] = [Self::Prisms, Self::Keys, Self::People, Self::Events];

    fn name(self) -> &'static str {
        match self {
            Self::Prisms => "Prisms",
            Self::Keys => "Keys",
            Self::People => "People",
            Self::Events => "Events",
        }
    }

    fn address(self) -> &'static str {
        match self {
            Self::Prisms => "/",
            Self::Keys => "/keys",
            Self::People => "/people",
            Self::Events => "/events",
        }
    }

    /// The role from which on the section is of use.
    fn least_role(self) -> Role {
        match self {
            Self::Prisms => Role::Reviewer,
            Self::Keys | Self::People | Self::Events => Role::Owner,
        }
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
    main: Markup,
}

impl Visit {
    /// A page for the visitor. `title` stands in the browser's tab; `main` begins with an `h1`.
    pub(crate) fn page(&self, title: impl Into<String>, main: Markup) -> Page<'_> {
        Page::new(&self.site, Some(&self.visitor), title, main)
    }
}

impl<'a> Page<'a> {
    /// A page for somebody who may be signed in or not.
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
            main,
        }
    }

    /// Marks a section in the navigation.
    pub(crate) fn section(mut self, section: Section) -> Self {
        self.section = Some(section);
        self
    }

    /// Adds a script, an ES module among the assets.
    pub(crate) fn script(mut self, name: &'static str) -> Self {
        self.scripts.push(name);
        self
    }

    /// Sends the page with another status than 200.
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
                    @for script in scripts {
                        script type="module" src=(site.assets.address(script)) {}
                    }
                }
                body {
                    a.skip href="#main" { "Skip to the page" }
                    header.site { (navigation(visitor, section)) }
                    @if site.is_for_trying_only {
                        aside.toy aria-label="About this demo" {
                            "The built-in scorer answers here. It compares words and is for trying things only."
                        }
                    }
                    main #main { (main) }
                }
            }
        }
    }
}

fn navigation(visitor: Option<&Visitor>, current: Option<Section>) -> Markup {
    html! {
        a.name href="/" { "Refract" }
        @if let Some(visitor) = visitor {
            nav aria-label="Sections" {
                @for section in Section::ALL {
                    @if visitor.role.may(section.least_role()) {
                        a href=(section.address()) aria-current=[(current == Some(section)).then_some("page")] {
                            (section.name())
                        }
                    }
                }
            }
            @if visitor.untold_event.is_some() {
                a.untold href="/" { "Somebody changed your role or password" }
            }
            div.visitor {
                span title=(visitor.role.name()) { bdi { (visitor.name) } }
                form method="post" action="/sign-out" {
                    button.quiet type="submit" { "Sign out" }
                }
            }
        }
    }
}
