//! Clients for HTTP: no redirects, no proxy to this machine, a time limit to connect, and little of an error.

use std::net::Ipv4Addr;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, Error, Response, Url, redirect};

use crate::secrets::first_words;

/// The time limit for connecting.
const CONNECT_TIME: Duration = Duration::from_secs(20);

/// The most bytes that are read of the body of an error. No message shows as many.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// HTTP clients, made when they are first needed.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    /// Uses the proxy of the environment.
    outside: OnceLock<Client>,
    /// Uses no proxy: a server on this machine is reached directly.
    here: OnceLock<Client>,
}

impl Clients {
    /// Clients that are not made yet.
    pub const fn new() -> Self {
        Self { outside: OnceLock::new(), here: OnceLock::new() }
    }

    /// The client for an address. `user_agent` is what the first call says.
    pub fn client(&self, url: &Url, user_agent: &str) -> Result<&Client, Error> {
        let is_here = is_loopback(url);
        let cell = if is_here { &self.here } else { &self.outside };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        let mut builder = Client::builder()
            .user_agent(user_agent)
            .connect_timeout(CONNECT_TIME)
            // A header with a token is not for others.
            .redirect(redirect::Policy::none())
            .referer(false)
            // Tests have a runtime each, and a connection dies with its runtime.
            .http1_only()
            .pool_max_idle_per_host(0);
        if is_here {
            builder = builder.no_proxy();
        }
        let client = builder.build()?;
        Ok(cell.get_or_init(|| client))
    }
}

/// Whether an address is of this machine, by its name alone.
fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback()),
        None => false,
    }
}

/// The begin of an error's body, masked and limited in size.
pub async fn error_body(response: &mut Response) -> String {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ERROR_BYTES {
            break;
        }
    }
    first_words(body, MAX_ERROR_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_machine_needs_no_proxy() {
        for (address, expected) in [
            ("http://localhost:8000/", true),
            ("http://127.0.0.1/", true),
            ("http://127.8.0.1/", true),
            ("http://[::1]:1/", true),
            ("http://localhost.example.com/", false),
            ("http://10.0.0.1/", false),
            ("http://128.0.0.1/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(address).unwrap()), expected, "{address}");
        }
    }
}
