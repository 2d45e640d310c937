//! The three routes, matched by method and raw path.
//!
//! Actix decodes a path before matching and keeps some escapes, but `{prism}` must be decoded fully
//! and once (readings). So the raw path is split here, and its parts stay percent-encoded.

use actix_web::http::Method;

/// The route of a request, with its path parameter still percent-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// `POST /v1/prisms/{prism}/results` (spec 4.1).
    CreateResult { prism: &'a str },
    /// `GET /v1/results/{result_id}` (spec 4.2).
    ReadResult { result_id: &'a str },
    /// `POST /v1/results/{result_id}/retry` (spec 4.3).
    RetryResult { result_id: &'a str },
    /// Any other path or method, including `HEAD`, `OPTIONS` and a trailing slash.
    Unknown,
}

impl<'a> Route<'a> {
    /// Finds the route for a method and a raw path.
    pub(crate) fn find(method: &Method, path: &'a str) -> Self {
        let Some(path) = path.strip_prefix("/v1/") else {
            return Self::Unknown;
        };
        let mut segments = path.split('/');
        let parts = [
            segments.next(),
            segments.next(),
            segments.next(),
            segments.next(),
        ];
        match (method, parts) {
            (&Method::POST, [Some("prisms"), Some(prism), Some("results"), None])
                if !prism.is_empty() =>
            {
                Self::CreateResult { prism }
            }
            (&Method::GET, [Some("results"), Some(result_id), None, None])
                if !result_id.is_empty() =>
            {
                Self::ReadResult { result_id }
            }
            (&Method::POST, [Some("results"), Some(result_id), Some("retry"), None])
                if !result_id.is_empty() =>
            {
                Self::RetryResult { result_id }
            }
            _ => Self::Unknown,
        }
    }

    /// The route's path pattern, for logs and metrics: never a caller's value.
    pub(crate) fn pattern(self) -> &'static str {
        match self {
            Self::CreateResult { .. } => "/v1/prisms/{prism}/results",
            Self::ReadResult { .. } => "/v1/results/{result_id}",
            Self::RetryResult { .. } => "/v1/results/{result_id}/retry",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether a path is under `/v1`, where a draining server answers 503 (readings, "Draining").
pub(crate) fn is_under_v1(path: &str) -> bool {
    path.strip_prefix("/v1")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_routes_are_found_with_their_part_as_sent() {
        let find = |method, path| Route::find(&method, path);
        assert_eq!(
            find(Method::POST, "/v1/prisms/a%2Fb%20/results"),
            Route::CreateResult { prism: "a%2Fb%20" }
        );
        assert_eq!(
            find(Method::GET, "/v1/results/x"),
            Route::ReadResult { result_id: "x" }
        );
        assert_eq!(
            find(Method::POST, "/v1/results/x/retry"),
            Route::RetryResult { result_id: "x" }
        );
    }

    #[test]
    fn another_method_is_no_route() {
        let paths = [
            "/v1/prisms/a/results",
            "/v1/results/x",
            "/v1/results/x/retry",
        ];
        for path in paths {
            for method in [
                Method::HEAD,
                Method::OPTIONS,
                Method::PUT,
                Method::PATCH,
                Method::DELETE,
                Method::TRACE,
                Method::CONNECT,
                Method::from_bytes(b"post").unwrap(),
            ] {
                assert_eq!(
                    Route::find(&method, path),
                    Route::Unknown,
                    "{method} {path}"
                );
            }
        }
        assert_eq!(Route::find(&Method::GET, paths[0]), Route::Unknown);
        assert_eq!(Route::find(&Method::POST, paths[1]), Route::Unknown);
        assert_eq!(Route::find(&Method::GET, paths[2]), Route::Unknown);
    }

    #[test]
    fn another_path_is_no_route() {
        for path in [
            "",
            "*",
            "/",
            "/v1",
            "/v1/",
            "/v2/results/x",
            "/results/x",
            "//v1/results/x",
            "/v1//results/x",
            "/v1/results",
            "/v1/results/",
            "/v1/results/x/",
            "/v1/results//retry",
            "/v1/results/x/retry/",
            "/v1/results/x/y",
            "/v1/prisms//results",
            "/v1/prisms/a/results/",
            "/v1/prisms/a/b/results",
            "/v1/prisms/a/results/x",
            "/V1/results/x",
            "/v1/Results/x",
        ] {
            for method in [Method::GET, Method::POST] {
                assert_eq!(
                    Route::find(&method, path),
                    Route::Unknown,
                    "{method} {path}"
                );
            }
        }
    }

    #[test]
    fn everything_below_v1_belongs_to_the_api() {
        for path in ["/v1", "/v1/", "/v1/results/x", "/v1//", "/v1/nothing"] {
            assert!(is_under_v1(path), "{path}");
        }
        for path in ["", "*", "/", "/v10/results/x", "/v2", "/healthz"] {
            assert!(!is_under_v1(path), "{path}");
        }
    }
}
