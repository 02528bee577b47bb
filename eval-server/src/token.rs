//! The secret of a server.

use std::error::Error;
use std::hint::black_box;
use std::{fmt, io};

use eval_support::id::fresh_token;

#[derive(Clone)]
pub(crate) struct Token(String);

const MIN_TOKEN_BYTES: usize = 16;

/// An error of making a token.
#[derive(Debug)]
#[non_exhaustive]
pub enum TokenError {
    /// The token that was given is short enough to be guessed.
    Short {
        /// The number of its bytes.
        length: usize,
    },
    /// The given token cannot be in a URL and a header unescaped.
    Characters,
    /// The system has no random numbers for a token.
    Random {
        /// The cause.
        source: io::Error,
    },
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { length } => {
                write!(f, "the token has {length} characters; {MIN_TOKEN_BYTES} are the fewest")
            }
            Self::Characters => {
                f.write_str("the token has other characters than letters, digits, `-`, `.`, `_` and `~`")
            }
            Self::Random { source } => write!(f, "the system has no random numbers: {source}"),
        }
    }
}

impl Error for TokenError {}

impl Token {
    pub(crate) fn random() -> Result<Self, TokenError> {
        fresh_token().map(Self).map_err(|source| TokenError::Random { source })
    }

    /// A given token. It must be long, and fit into a URL and a header unescaped.
    pub(crate) fn chosen(text: &str) -> Result<Self, TokenError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if text.len() < MIN_TOKEN_BYTES {
            return Err(TokenError::Short { length: text.len() });
        }
        if !text.bytes().all(fits) {
            return Err(TokenError::Characters);
        }
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the token. The comparison takes the same time for each wrong token of its length.
    pub(crate) fn is(&self, shown: &str) -> bool {
        let (own, shown) = (self.0.as_bytes(), shown.as_bytes());
        let differ = own.iter().zip(shown).fold(0, |differ, (one, other)| black_box(differ | (one ^ other)));
        own.len() == shown.len() && differ == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_itself_alone() {
        let token = Token::random().unwrap();
        let text = token.as_str().to_owned();
        assert!(text.len() == 32 && token.is(&text));
        for other in
            ["", &text[1..], &format!("{text}0"), &text.to_uppercase().replace(char::is_numeric, "x")]
        {
            assert!(!token.is(other), "{other}");
        }
        assert!(!Token::random().unwrap().is(&text));
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn a_chosen_token_is_long_and_plain() {
        assert!(Token::chosen("0123456789abcdef").is_ok());
        assert!(matches!(Token::chosen("short"), Err(TokenError::Short { length: 5 })));
        for wrong in ["0123456789abcdef&x=1", "0123456789abcdef\n"] {
            assert!(matches!(Token::chosen(wrong), Err(TokenError::Characters)), "{wrong}");
        }
    }
}
