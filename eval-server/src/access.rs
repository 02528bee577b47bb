//! Access to the routes: `Host` and `Origin`, and the token.
//!
//! A page of a foreign site that is open in a browser on this machine reaches loopback too. `Origin` and
//! `Sec-Fetch-Site` identify it, and `Host` if its name was made to resolve to this machine (DNS rebinding).

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri};

use crate::refusal::Refusal;
use crate::token::Token;

#[derive(Debug)]
pub(crate) struct Access {
    address: SocketAddr,
    /// Further names, such as a proxy's.
    hosts: Vec<String>,
    pub(crate) token: Token,
    cookie: Token,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A caller on this machine without the token.
    Local,
    Trusted,
    /// A caller from elsewhere without the token.
    Remote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: the answer reveals only that the service runs.
    Nothing,
    /// The route only computes, which costs time.
    Computing,
    /// The route reads records, writes files or starts something.
    Token,
}

const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A header of our pages. No HTML form can send it, and a script of another site would need a CORS preflight.
const PAGE_HEADER: HeaderName = HeaderName::from_static("x-evalset");

impl Access {
    pub(crate) fn new(address: SocketAddr, hosts: &[String], token: Token, cookie: Token) -> Self {
        Self { address, hosts: hosts.to_vec(), token, cookie }
    }

    /// The name of the cookie: browsers send cookies to all ports of a host.
    fn cookie_name(&self) -> String {
        format!("evalset-{}", self.address.port())
    }

    /// The cookie of a browser that showed the token. It ends with this server, and other servers of the host see it.
    pub(crate) fn set_cookie(&self, headers: &HeaderMap) -> String {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
        // Browsers send `Sec-Fetch-Site` only over TLS or to loopback.
        let is_secure = host.is_some_and(|host| !is_local(host.host())) && headers.contains_key(FETCH_SITE);
        let secure = if is_secure { "; Secure" } else { "" };
        let (name, value) = (self.cookie_name(), self.cookie.as_str());
        // Lax: a link to a run is opened from other sites too. A request that changes something needs more than the cookie.
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}")
    }

    /// The caller of a request. Refuses requests for other hosts, and requests from foreign pages.
    pub(crate) fn caller(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Caller, Refusal> {
        let host = self.host(uri, headers)?;
        // A followed link only reads, and no page of another site sees the answer: its origin is not checked.
        if !(*method == Method::GET && is_followed_link(headers)) {
            Self::check_origin(&host, headers)?;
        }
        let shown = bearer(headers).or_else(|| query(uri, "token"));
        match shown {
            Some(shown) if self.token.is(shown) => Ok(Caller::Trusted),
            Some(_) => Err(Refusal::new(StatusCode::UNAUTHORIZED, "this is not the token of this server")),
            // The cookie of an earlier server is ignored.
            None if self.has_cookie(headers) && (method.is_safe() || headers.contains_key(PAGE_HEADER)) => {
                Ok(Caller::Trusted)
            }
            // `Host` is checked too: the caller behind a proxy on this machine may be elsewhere.
            None if self.address.ip().is_loopback() && is_local(host.host()) => Ok(Caller::Local),
            None => Ok(Caller::Remote),
        }
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let mut pairs = cookies.flat_map(|it| it.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, value)| key == name && self.cookie.is(value))
    }

    pub(crate) fn check(caller: Caller, needs: Needs) -> Result<(), Refusal> {
        let is_enough = match needs {
            Needs::Nothing => true,
            Needs::Computing => caller != Caller::Remote,
            Needs::Token => caller == Caller::Trusted,
        };
        if is_enough {
            return Ok(());
        }
        Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "this needs the token of the server: the header `Authorization: Bearer ..`, or `?token=..` as in the URL that it \
             printed when it started",
        ))
    }

    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Refusal> {
        let mut all = headers.get_all(HOST).iter();
        let (Some(host), None) = (all.next(), all.next()) else {
            return Err(Refusal::bad("the request needs one header `Host`"));
        };
        let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
        let host = host.ok_or_else(|| Refusal::bad("`Host` is no name of a host"))?;
        let in_line = uri.authority().is_none_or(|authority| *authority == host);
        if in_line && !host.as_str().contains('@') && self.answers_to(host.host()) {
            return Ok(host);
        }
        Err(Refusal::new(
            StatusCode::MISDIRECTED_REQUEST,
            "this server does not answer to this `Host`; behind a proxy, name it with `--allow-host`",
        ))
    }

    fn answers_to(&self, host: &str) -> bool {
        let address = ip(host);
        is_local(host)
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
            || address.is_some_and(|address| address == self.address.ip())
            // DNS rebinding works with names only, not with addresses.
            || self.address.ip().is_unspecified() && address.is_some()
    }

    fn check_origin(host: &Authority, headers: &HeaderMap) -> Result<(), Refusal> {
        let foreign =
            || Err(Refusal::new(StatusCode::FORBIDDEN, "pages of other sites may not ask this server"));
        if headers.get(FETCH_SITE).is_some_and(|site| site == "cross-site" || site == "same-site") {
            return foreign();
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
            // Behind a TLS proxy the origin has `https`, although the request arrives without TLS.
            let is_own = origin.is_some_and(|origin| {
                matches!(origin.scheme_str(), Some("http" | "https")) && origin.authority() == Some(host)
            });
            if !is_own {
                return foreign();
            }
        }
        Ok(())
    }
}

/// Whether a browser asks for a page to show it in a window of its own.
fn is_followed_link(headers: &HeaderMap) -> bool {
    let is = |name, value: &str| headers.get(name).is_some_and(|found| found == value);
    is(FETCH_MODE, "navigate") && is(FETCH_DEST, "document") && !headers.contains_key(ORIGIN)
}

fn ip(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_local(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || ip(host).is_some_and(|address| address.is_loopback())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (kind, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The value of a parameter of the URL, undecoded.
pub(crate) fn query<'u>(uri: &'u Uri, name: &str) -> Option<&'u str> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::response::IntoResponse;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";
    const COOKIE: &str = "fedcba9876543210";

    fn access(address: &str, hosts: &[&str]) -> Access {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let cookie = Token::chosen(COOKIE).unwrap();
        Access::new(address.parse().unwrap(), &hosts, Token::chosen(TOKEN).unwrap(), cookie)
    }

    fn ask(access: &Access, uri: &str, headers: &[(&'static str, &str)]) -> Result<Caller, u16> {
        ask_by(&Method::GET, access, uri, headers)
    }

    fn ask_by(
        method: &Method,
        access: &Access,
        uri: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Caller, u16> {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        let mut all = HeaderMap::new();
        headers.for_each(|(name, value)| {
            all.append(name, value);
        });
        access
            .caller(method, &uri.parse().unwrap(), &all)
            .map_err(|refusal| refusal.into_response().status().as_u16())
    }

    #[test]
    fn a_server_on_loopback_answers_to_names_of_this_machine_alone() {
        let access = access("127.0.0.1:8001", &["Evals.example.com"]);
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8001", "127.8.9.1", "[::1]:8001"] {
            assert_eq!(ask(&access, "/", &[("host", host)]), Ok(Caller::Local), "{host}");
        }
        for host in
            ["example.com", "localhost.example.com", "10.0.0.1", "u@localhost", "localhost@example.com"]
        {
            assert_eq!(ask(&access, "/", &[("host", host)]), Err(421), "{host}");
        }
        for host in ["", "a b", "localhost:x:y"] {
            assert_eq!(ask(&access, "/", &[("host", host)]), Err(400), "{host}");
        }
        assert_eq!(ask(&access, "/", &[]), Err(400));
        assert_eq!(ask(&access, "/", &[("host", "localhost"), ("host", "localhost")]), Err(400));
        assert_eq!(ask(&access, "http://example.com/", &[("host", "localhost")]), Err(421));
        assert_eq!(ask(&access, "/", &[("host", "evals.example.com")]), Ok(Caller::Remote));
    }

    #[test]
    fn a_server_on_all_addresses_answers_to_addresses_and_needs_the_token() {
        let access = access("0.0.0.0:8001", &[]);
        for host in ["10.0.0.1:8001", "localhost:8001", "[2001:db8::1]"] {
            assert_eq!(ask(&access, "/", &[("host", host)]), Ok(Caller::Remote), "{host}");
        }
        assert_eq!(ask(&access, "/", &[("host", "rebound.example.com")]), Err(421));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let access = access("127.0.0.1:8001", &[]);
        let from = |origin| ask(&access, "/", &[("host", "localhost:8001"), ("origin", origin)]);
        assert_eq!(from("http://localhost:8001"), Ok(Caller::Local));
        for origin in
            ["null", "http://localhost:3000", "http://example.com", "file://", "ftp://localhost:8001", ""]
        {
            assert_eq!(from(origin), Err(403), "{origin}");
        }
        for (site, allowed) in
            [("cross-site", false), ("same-site", false), ("same-origin", true), ("none", true)]
        {
            let asked = ask(&access, "/", &[("host", "localhost"), ("sec-fetch-site", site)]);
            assert_eq!(asked, if allowed { Ok(Caller::Local) } else { Err(403) }, "{site}");
        }
    }

    #[test]
    fn the_token_is_taken_from_the_header_or_the_url() {
        let access = access("127.0.0.1:8001", &[]);
        let host = ("host", "localhost");
        let with = |token: &str| ask(&access, "/", &[host, ("authorization", token)]);
        assert_eq!(with(&format!("Bearer {TOKEN}")), Ok(Caller::Trusted));
        assert_eq!(with("Bearer 0123456789abcdeg"), Err(401));
        assert_eq!(with("Basic abc"), Ok(Caller::Local));
        assert_eq!(ask(&access, &format!("/?a=b&token={TOKEN}"), &[host]), Ok(Caller::Trusted));
        assert_eq!(ask(&access, "/?token=wrong", &[host]), Err(401));
    }

    #[test]
    fn a_cookie_shows_the_token_and_changes_nothing_without_the_header_of_a_page() {
        let access = access("127.0.0.1:8001", &[]);
        let host = ("host", "localhost");
        let own = format!("a=b; evalset-8001={COOKIE}");
        let own = ("cookie", own.as_str());
        assert_eq!(ask(&access, "/", &[host, own]), Ok(Caller::Trusted));
        let other = format!("evalset-8002={COOKIE}; evalset-8001={TOKEN}");
        assert_eq!(ask(&access, "/", &[host, ("cookie", &other)]), Ok(Caller::Local));
        let post = |headers: &[_]| ask_by(&Method::POST, &access, "/", headers);
        assert_eq!(post(&[host, own]), Ok(Caller::Local));
        assert_eq!(post(&[host, own, ("x-evalset", "1")]), Ok(Caller::Trusted));
        assert_eq!(post(&[host, own, ("x-evalset", "1"), ("origin", "http://localhost:3000")]), Err(403));
    }

    #[test]
    fn a_link_on_another_site_can_be_followed_and_nothing_else_of_it_asks() {
        let access = access("127.0.0.1:8001", &["evals.example.com"]);
        let own = format!("evalset-8001={COOKIE}");
        let from = |dest, mode| {
            [
                ("host", "localhost"),
                ("cookie", own.as_str()),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", mode),
                ("sec-fetch-dest", dest),
            ]
        };
        let link = from("document", "navigate");
        assert_eq!(ask(&access, "/runs/a", &link), Ok(Caller::Trusted));
        assert_eq!(ask_by(&Method::POST, &access, "/run", &link), Err(403));
        for (dest, mode) in [("iframe", "navigate"), ("empty", "cors"), ("image", "no-cors")] {
            assert_eq!(ask(&access, "/runs/a", &from(dest, mode)), Err(403), "{dest}");
        }
    }

    #[test]
    fn a_cookie_stays_on_connections_that_nobody_reads() {
        let access = access("127.0.0.1:8001", &["evals.example.com"]);
        let of = |host| {
            let headers = [("host", host), ("sec-fetch-site", "none")];
            let headers =
                headers.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            access.set_cookie(&HeaderMap::from_iter(headers))
        };
        assert_eq!(of("localhost:8001"), format!("evalset-8001={COOKIE}; Path=/; HttpOnly; SameSite=Lax"));
        assert!(of("evals.example.com").ends_with("; Secure"), "{}", of("evals.example.com"));
    }

    #[test]
    fn what_only_computes_needs_no_token_on_this_machine() {
        let table = [
            (Caller::Local, [true, true, false]),
            (Caller::Remote, [true, false, false]),
            (Caller::Trusted, [true, true, true]),
        ];
        for (caller, allowed) in table {
            let checked =
                [Needs::Nothing, Needs::Computing, Needs::Token].map(|it| Access::check(caller, it).is_ok());
            assert_eq!(checked, allowed, "{caller:?}");
        }
    }
}
