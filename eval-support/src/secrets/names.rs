//! Names of variables that hold secrets.

/// Words that mark a name as the name of a secret, as a part between `_`.
const WORDS: [&str; 17] = [
    "KEY",
    "KEYS",
    "TOKENS",
    "SECRETS",
    "PASSWORDS",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "PW",
    "PAT",
    "AUTH",
    "CREDENTIAL",
    "CREDS",
    "COOKIE",
    "DSN",
    "JWT",
    "BEARER",
];

/// Words that a part of a name may be or end in: `APIKEY`, `DBPASSWORD`, `AUTHTOKEN`.
const ENDS: [&str; 7] = ["APIKEY", "ACCESSKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS"];

/// Last words of names whose value is a place or an id, and not the secret itself.
const PLACES: [&str; 8] = ["FILE", "PATH", "DIR", "SOCK", "SOCKET", "HOME", "ID", "NAME"];

/// The entries of a model's configuration that hold headers or keys, in lower case and without `_` and `-`.
const SECRET_ENTRIES: [&str; 7] =
    ["headers", "extraheaders", "defaultheaders", "httpoptions", "apikey", "authorization", "credentials"];

/// Whether an entry of a model's configuration holds headers or keys, whatever their values are.
pub fn is_secret_entry(key: &str) -> bool {
    let plain: String = key.chars().filter(|c| !matches!(c, '_' | '-')).collect();
    SECRET_ENTRIES.contains(&plain.to_ascii_lowercase().as_str())
}

/// Whether the name of a variable says that it holds a secret. Digits at the end of a part are ignored.
pub(super) fn says_secret(name: &str) -> bool {
    let name = words(name);
    let parts = || {
        let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
        parts.map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit())).filter(|part| !part.is_empty())
    };
    // `PWD` and `OLDPWD` are folders of the shell.
    if parts().count() == 1 && name.ends_with("PWD")
        || parts().next_back().is_some_and(|end| PLACES.contains(&end))
    {
        return false;
    }
    let connection = name.contains("CONNECTION_STRING") || name.contains("CONN_STR");
    connection || parts().any(|part| WORDS.contains(&part) || ENDS.iter().any(|end| part.ends_with(end)))
}

/// A name in capitals, with `_` between the words of `camelCase`.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len());
    let mut before = '_';
    for c in name.chars() {
        if before.is_ascii_lowercase() && c.is_ascii_uppercase() {
            words.push('_');
        }
        words.push(c.to_ascii_uppercase());
        before = c;
    }
    words
}

/// Whether a value is a path, which is no secret.
pub(super) fn is_harmless(value: &str) -> bool {
    let is_path =
        value.starts_with(['/', '.', '~']) && value.contains('/') && !value.contains(char::is_whitespace);
    let is_windows_path = value.get(1..3).is_some_and(|start| start == ":\\");
    (is_path && !value.contains('=')) || is_windows_path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_contain_such_words_say_secret() {
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "OPENAI_API_KEY",
            "OPENAI_KEY",
            "DB_PASS",
            "DB_PASSWORD",
            "DB_PWD",
            "DBPASSWORD",
            "MYSQL_ROOT_PASSWORD",
            "PGPASSWORD",
            "APIKEY",
            "APIKEY2",
            "MyApiKey",
            "myApiKey",
            "api_key",
            "MY_PAT",
            "AZURE_DEVOPS_EXT_PAT",
            "MY_API_KEY_2",
            "MY_API_KEY2",
            "GITHUB_TOKEN",
            "github_token",
            "NPM_AUTH",
            "HTTP_BASIC_AUTH",
            "CLIENT_SECRET",
            "SLACK_BOT_TOKEN_DEV",
            "SENTRY_DSN",
            "AZURE_STORAGE_CONNECTION_STRING",
            "SIGNING_KEY_PASSPHRASE",
            "SESSION_COOKIE",
            "GOOGLE_CREDENTIALS",
        ] {
            assert!(says_secret(name), "{name}");
        }
    }

    #[test]
    fn other_names_do_not() {
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "USER",
            "TOKENIZERS_PARALLELISM",
            "KEYBOARD",
            "MONKEY",
            "PATTERN",
            "COMPASS",
            "BYPASS_CACHE",
            "AUTHOR",
            "PASSENGERS",
            "SSH_AUTH_SOCK",
            "API_KEY_FILE",
            "AWS_ACCESS_KEY_ID",
            "SECRET_NAME",
            "CARGO_PKG_AUTHORS",
            "EVALSET_JUDGE_MODEL",
            "",
        ] {
            assert!(!says_secret(name), "{name}");
        }
    }
}
