//! Addresses of providers.

use reqwest::Url;

/// The address that a text is, if HTTP can reach it.
pub(super) fn parse(base: &str) -> Option<Url> {
    let url = Url::parse(base).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// The address of a path below a base.
pub(super) fn below(mut base: Url, path: Vec<String>) -> Url {
    // Addresses with a host have paths.
    if let Ok(mut segments) = base.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    base
}

#[cfg(test)]
mod tests {
    use super::super::wires::wire;
    use super::*;
    use crate::judge::model::Model;

    #[test]
    fn paths_are_appended_to_any_base() {
        let url = |model: &str, base: &str| {
            let Model { provider, name } = Model::parse(model).unwrap();
            below(parse(base).unwrap(), wire(provider).path(&name)).to_string()
        };
        for (model, base, expected) in [
            (
                "gemini-2.5-flash",
                "https://g.test",
                "https://g.test/v1beta/models/gemini-2.5-flash:generateContent",
            ),
            (
                "gemini/a/../b?c",
                "https://g.test/",
                "https://g.test/v1beta/models/a%2F..%2Fb%3Fc:generateContent",
            ),
            ("openai/gpt", "http://h.test:8000/v1", "http://h.test:8000/v1/chat/completions"),
            (
                "openai/gpt",
                "http://h.test/v1/?api-version=2",
                "http://h.test/v1/chat/completions?api-version=2",
            ),
            ("ollama/llama", "http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            ("claude-x", "https://a.test", "https://a.test/v1/messages"),
        ] {
            assert_eq!(url(model, base), expected);
        }
    }
}
