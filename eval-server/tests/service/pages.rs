//! Pages that a program adds: the token becomes a cookie, which changes nothing by itself.

use eval_server::ServerOptions;
use eval_server::axum::Router;
use eval_server::axum::routing::{get, post};

use crate::support::Service;

fn service() -> Service {
    let pages = Router::new()
        .route("/", get(|| async { "home" }))
        .route("/runs/{id}", get(|| async { "a run" }))
        .route("/do", post(|| async { "done" }));
    Service::start(ServerOptions::new().pages(pages))
}

/// The cookie that a browser gets for the token, as it sends it.
fn cookie_of(service: &Service) -> String {
    let answer = service.get(&format!("/?token={}", service.token));
    let (_, cookie) = answer.headers.split_once("set-cookie: ").unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn the_token_in_the_url_becomes_a_cookie_and_leaves_the_url() {
    let service = service();
    let first = service.get(&format!("/runs/a?token={}&b=1", service.token));
    assert_eq!(first.status, 303, "{first:?}");
    assert!(first.headers.contains("location: /runs/a?b=1\r"), "{}", first.headers);
    let set = format!("set-cookie: {}; path=/; httponly; samesite=lax\r", cookie_of(&service));
    assert!(first.headers.contains(&set), "{}", first.headers);
    assert!(!first.headers.contains(&service.token), "{}", first.headers);
    let cookie = format!("cookie: {}\r\n", cookie_of(&service));
    assert_eq!(service.request("GET /runs/a", &cookie, b"").body, "a run");
    assert_eq!(service.request("GET /", &cookie, b"").body, "home");
    // Programs show the token in a header, and are not led anywhere.
    let bearer = format!("authorization: Bearer {}\r\n", service.token);
    assert_eq!(service.request("GET /", &bearer, b"").body, "home");
    let elsewhere = service.get(&format!("//example.com/?token={}", service.token));
    assert!(elsewhere.headers.contains("location: /example.com/\r"), "{}", elsewhere.headers);
}

#[test]
fn without_the_token_there_are_words_and_no_pages() {
    let service = service();
    let root = service.get("/");
    assert!(root.status == 200 && root.body.contains("need the token"), "{root:?}");
    let person = service.request("GET /runs/a", "accept: text/html\r\n", b"");
    assert!(person.status == 401 && person.body.contains("need the token"), "{person:?}");
    let program = service.get("/runs/a");
    assert!(program.status == 401 && program.body.contains("Bearer"), "{program:?}");
    for wrong in ["0123456789abcdef", &service.token] {
        let cookie = format!("cookie: evalset-{}={wrong}\r\n", service.address.port());
        assert_eq!(service.request("GET /runs/a", &cookie, b"").status, 401, "{wrong}");
    }
    assert_eq!(service.get("/?token=wrong").status, 401);
    assert_eq!(service.get("/nothing").status, 401);
    assert_eq!(service.get("/api/health").status, 200);
}

#[test]
fn a_cookie_alone_changes_nothing() {
    let service = service();
    let cookie = format!("cookie: {}\r\n", cookie_of(&service));
    let post = |headers: &str| service.request("POST /do", &format!("{cookie}{headers}"), b"").status;
    assert_eq!(post(""), 401, "a form of another site can send as much");
    assert_eq!(post("content-type: text/plain\r\n"), 401);
    assert_eq!(post("x-evalset: page\r\n"), 200);
    assert_eq!(post("x-evalset: page\r\norigin: http://localhost\r\n"), 200);
    assert_eq!(post("x-evalset: page\r\norigin: http://localhost:3000\r\n"), 403);
    assert_eq!(post("x-evalset: page\r\norigin: null\r\n"), 403);
    assert_eq!(post("x-evalset: page\r\nsec-fetch-site: same-site\r\n"), 403);
}
