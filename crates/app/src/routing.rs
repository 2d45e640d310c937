//! From an address to its handler: the route table, and the checks common to all routes.

mod dispatch;
mod routes;

use actix_web::http::Method;
use futures_util::future::LocalBoxFuture;
use percent_encoding::percent_decode_str;
use refract_domain::account::Role;

use crate::replies::{PageError, PageReply};
use crate::requests::{ArrivingForm, FormSize, OpenVisit, PathValues, Visit};

pub(crate) use self::dispatch::Dispatcher;
pub use self::routes::{RouteFacts, route_table};

/// The future of a handler.
pub(crate) type Handling = LocalBoxFuture<'static, Result<PageReply, PageError>>;

/// An address of the app with its handler.
pub(crate) struct AppRoute {
    pub(crate) method: Method,
    /// The path, with names in braces for the segments that vary.
    pub(crate) pattern: &'static str,
    pub(crate) access: Access,
    /// Whether its form may carry another form, submitted after its session had ended.
    pub(crate) carries_another_form: bool,
}

/// The handler of a route.
pub(crate) trait PageHandler<V>: Sync {
    /// Begins to handle a visit; returns the future of the reply.
    fn handle(&self, visit: V) -> Handling;
}

impl<V, F, W> PageHandler<V> for F
where
    F: Fn(V) -> W + Sync,
    W: Future<Output = Result<PageReply, PageError>> + 'static,
{
    fn handle(&self, visit: V) -> Handling {
        Box::pin(self(visit))
    }
}

/// The handler of a route that takes a file.
pub(crate) trait UploadHandler: Sync {
    /// Begins to handle a visit and the form that arrives with it; returns the future of the reply.
    fn handle_upload(&self, visit: Visit, form: ArrivingForm) -> Handling;
}

impl<F, W> UploadHandler for F
where
    F: Fn(Visit, ArrivingForm) -> W + Sync,
    W: Future<Output = Result<PageReply, PageError>> + 'static,
{
    fn handle_upload(&self, visit: Visit, form: ArrivingForm) -> Handling {
        Box::pin(self(visit, form))
    }
}

/// The access rule of a route, with its handler.
pub(crate) enum Access {
    /// Everybody, signed in or not.
    Open(&'static dyn PageHandler<OpenVisit>),
    /// People with this role or a higher one.
    For(Role, &'static dyn PageHandler<Visit>),
    /// People with this role or a higher one, who send a file. It is stored while it arrives.
    Upload(Role, &'static dyn UploadHandler),
}

impl AppRoute {
    /// A page for people with a role.
    pub(crate) const fn get(
        pattern: &'static str,
        least: Role,
        handler: &'static dyn PageHandler<Visit>,
    ) -> Self {
        Self::new(Method::GET, pattern, Access::For(least, handler), false)
    }

    /// An action for people with a role, which may change data.
    pub(crate) const fn post(
        pattern: &'static str,
        least: Role,
        handler: &'static dyn PageHandler<Visit>,
    ) -> Self {
        Self::new(Method::POST, pattern, Access::For(least, handler), false)
    }

    /// An action for people with a role that takes a file.
    pub(crate) const fn upload(
        pattern: &'static str,
        least: Role,
        handler: &'static dyn UploadHandler,
    ) -> Self {
        Self::new(Method::POST, pattern, Access::Upload(least, handler), false)
    }

    /// A page for everybody.
    pub(crate) const fn open_get(
        pattern: &'static str,
        handler: &'static dyn PageHandler<OpenVisit>,
    ) -> Self {
        Self::new(Method::GET, pattern, Access::Open(handler), false)
    }

    /// An action for everybody.
    pub(crate) const fn open_post(
        pattern: &'static str,
        handler: &'static dyn PageHandler<OpenVisit>,
    ) -> Self {
        Self::new(Method::POST, pattern, Access::Open(handler), false)
    }

    /// An action for everybody whose form may carry another form.
    pub(crate) const fn open_post_with_another_form(
        pattern: &'static str,
        handler: &'static dyn PageHandler<OpenVisit>,
    ) -> Self {
        Self::new(Method::POST, pattern, Access::Open(handler), true)
    }

    const fn new(
        method: Method,
        pattern: &'static str,
        access: Access,
        carries_another_form: bool,
    ) -> Self {
        Self {
            method,
            pattern,
            access,
            carries_another_form,
        }
    }

    /// Whether the route takes a file.
    pub(crate) fn takes_file(&self) -> bool {
        matches!(self.access, Access::Upload(..))
    }

    /// Whether the route is one by which people set up one-time codes. People who lack required
    /// codes may use no other route that needs a session.
    pub(crate) fn sets_up_codes(&self) -> bool {
        let inside = self.pattern.strip_prefix("/me/codes");
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The size limit of the route's form.
    pub(crate) fn form_size(&self, is_signed_in: bool) -> FormSize {
        match self.access {
            Access::Open(_) if self.carries_another_form => FormSize::OwnWithKept,
            Access::Open(_) => FormSize::Own,
            Access::For(..) | Access::Upload(..) if is_signed_in => FormSize::Whole,
            Access::For(..) | Access::Upload(..) => FormSize::Kept,
        }
    }

    /// The varying segments of a raw path; `None` if the path does not match.
    pub(crate) fn matches(&self, path: &str) -> Option<PathValues> {
        let mut values = Vec::new();
        let mut pattern = self.pattern.split('/');
        let mut path = path.split('/');
        loop {
            let (wanted, sent) = match (pattern.next(), path.next()) {
                (None, None) => return Some(PathValues::new(values)),
                (Some(wanted), Some(sent)) => (wanted, sent),
                (Some(_), None) | (None, Some(_)) => return None,
            };
            let name = wanted
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            match name {
                Some(_) if sent.is_empty() => return None,
                Some(name) => {
                    let value = percent_decode_str(sent).decode_utf8().ok()?;
                    values.push((name, value.into_owned()));
                }
                None if wanted == sent => {}
                None => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pattern: &'static str, path: &str) -> Option<PathValues> {
        let handler = &|_: OpenVisit| async { Err(PageError::NotFound) };
        AppRoute::open_get(pattern, handler).matches(path)
    }

    #[test]
    fn varying_segments_are_decoded_by_name() {
        let found = values("/prisms/{slug}/versions/{n}", "/prisms/a%20b/versions/3").unwrap();
        assert_eq!((found.get("slug"), found.get("n")), ("a b", "3"));
        assert_eq!(found.get("other"), "");
    }

    #[test]
    fn another_path_is_not_the_routes() {
        for path in [
            "/prisms",
            "/prisms/",
            "/prisms/a/b",
            "/prisms//",
            "prisms/a",
            "/Prisms/a",
            "/prisms/%ff",
        ] {
            assert_eq!(values("/prisms/{slug}", path), None, "{path}");
        }
        assert!(values("/", "/").is_some());
        assert!(values("/", "").is_none());
    }
}
