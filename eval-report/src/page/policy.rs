//! The content security policy of the page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Allows these styles and scripts and nothing else: no other code, no request, no frame, no form. Nothing makes HTML of
/// text either, where a browser knows trusted types.
///
/// With `asks`, the page may ask the server that it came from, and nobody else.
pub fn policy(styles: &[&str], scripts: &[&str], asks: bool) -> String {
    let hashes =
        |parts: &[&str]| parts.iter().map(|it| format!("'{}'", hash(it))).collect::<Vec<_>>().join(" ");
    format!(
        "default-src 'none'; style-src {}; script-src {}; {}img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hashes(styles),
        hashes(scripts),
        if asks { "connect-src 'self'; " } else { "" }
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the specification of content security policies.
    #[test]
    fn the_published_hash_comes_out() {
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}
