//! How what is packed with gzip is known.

/// The bytes with which it begins. No text holds the first of them.
pub const GZIP: [u8; 2] = [0x1f, 0x8b];
