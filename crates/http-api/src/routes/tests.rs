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
