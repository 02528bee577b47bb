//! Secrets in the environment. Their values must not be written to any file.

/// How the names of variables with secrets end.
const SECRET_VARIABLES: [&str; 4] = ["_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD"];
/// The length of the shortest value that is taken for a secret. A shorter one would be found in any text.
const SHORTEST: usize = 8;

/// The names and values of the variables that are named like a secret.
pub(crate) fn secret_variables() -> impl Iterator<Item = (String, String)> {
    let texts = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts.filter(|(name, value)| is_secret(name, value))
}

fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    value.len() >= SHORTEST && SECRET_VARIABLES.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_named_like_secrets_are_told_from_others() {
        for (name, value, secret) in [
            ("OPENAI_API_KEY", "sk-12345678", true),
            ("github_token", "12345678", true),
            ("OPENAI_API_KEY", "short", false),
            ("TOKENIZERS", "12345678", false),
        ] {
            assert_eq!(is_secret(name, value), secret, "{name}");
        }
    }
}
