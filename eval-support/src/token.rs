//! Secrets that nothing can guess, for whoever may ask a server of this process.

use std::io;

/// A token of 32 hexadecimal digits, from the random numbers of the system.
///
/// ```
/// let token = eval_support::token::fresh_token()?;
/// assert_eq!(token.len(), 32);
/// assert_ne!(token, eval_support::token::fresh_token()?);
/// # Ok::<_, std::io::Error>(())
/// ```
pub fn fresh_token() -> Result<String, io::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
