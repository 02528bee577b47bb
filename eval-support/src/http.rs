//! HTTP clients without redirects and, for this machine, without a proxy. The time to connect and the size of
//! error bodies are limited.

use std::net::Ipv4Addr;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, Error, Response, Url, redirect};

use crate::secrets::first_words;

const CONNECT_TIME: Duration = Duration::from_secs(20);

/// The number of bytes that are read of the body of an error. Messages show fewer.
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

    /// The client for an address. A client keeps the `user_agent` of the call that creates it.
    pub fn client(&self, url: &Url, user_agent: &str) -> Result<&Client, Error> {
        let is_here = is_loopback(url);
        let cell = if is_here { &self.here } else { &self.outside };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        let mut builder = Client::builder()
            .user_agent(user_agent)
            .connect_timeout(CONNECT_TIME)
            // A redirect must not send a header with a token to another server.
            .redirect(redirect::Policy::none())
            .referer(false)
            // Each test has its own runtime, and a connection ends with its runtime. So no connection is
            // reused.
            .http1_only()
            .pool_max_idle_per_host(0);
        if is_here {
            builder = builder.no_proxy();
        }
        let client = builder.build()?;
        Ok(cell.get_or_init(|| client))
    }
}

/// Whether an address names this machine. The name is not resolved.
fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback()),
        None => false,
    }
}

/// The beginning of an error's body, limited in size. Secrets in it are not masked.
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
