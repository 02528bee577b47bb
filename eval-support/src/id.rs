//! Ids that are new each time, and tokens that cannot be guessed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// An id that no other call in this or another process has, for a session or a user: `eval-session-18f..-1a2b-0`.
///
/// ```
/// use eval_support::id::fresh_id;
///
/// assert!(fresh_id("record").starts_with("record-"));
/// assert_ne!(fresh_id("record"), fresh_id("record"));
/// ```
pub fn fresh_id(of_what: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{of_what}-{now:x}-{:x}-{:x}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A secret of 32 hexadecimal digits, from the random numbers of the system.
///
/// ```
/// use eval_support::id::fresh_token;
///
/// assert_eq!(fresh_token()?.len(), 32);
/// assert_ne!(fresh_token()?, fresh_token()?);
/// # Ok::<_, std::io::Error>(())
/// ```
#[cfg(feature = "tokens")]
pub fn fresh_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
