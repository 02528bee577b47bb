//! The secret of a server.

use std::fmt;
use std::hint::black_box;

/// A secret that a request can show.
#[derive(Clone)]
pub(crate) struct Token(String);

/// The fewest bytes of a token that is given.
const SHORTEST: usize = 16;

impl Token {
    /// A new one of 128 random bits.
    pub(crate) fn random() -> Result<Self, String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| format!("the system has no random numbers: {error}"))?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    /// One that was chosen. It must be long, and stand in a URL and a header as it is.
    pub(crate) fn chosen(text: &str) -> Result<Self, String> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if text.len() < SHORTEST {
            return Err(format!("the token has {} characters; {SHORTEST} are the fewest", text.len()));
        }
        if !text.bytes().all(fits) {
            return Err(
                "the token has other characters than letters, digits, `-`, `.`, `_` and `~`".to_owned()
            );
        }
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the token. It takes as long for each wrong one of its length.
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
        for wrong in ["short", "0123456789abcdef&x=1", "0123456789abcdef\n"] {
            assert!(Token::chosen(wrong).is_err(), "{wrong}");
        }
    }
}
