//! What is packed with gzip: unpacked within limits.

use std::io::Read;

use axum::http::StatusCode;
use eval_support::file::GZIP;
use flate2::bufread::GzDecoder;

use crate::refusal::Refusal;

/// How much is unpacked at a time.
const PIECE: usize = 32 << 10;

/// The most parts of a packed file: each costs time, also where nothing is in it.
const MOST_PARTS: usize = 1000;

/// Whether bytes are packed: no text begins so.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP)
}

/// Whether something in the bytes may be packed: no text holds the byte with which that begins.
pub(crate) fn may_hold_packed(bytes: &[u8]) -> bool {
    bytes.contains(&GZIP[0])
}

/// What the bytes are when they are unpacked: at most `left` bytes, which become fewer. `grow` takes memory for a piece.
/// `what` is packed, in messages.
pub(crate) fn unpacked(
    packed: &[u8],
    what: &str,
    left: &mut usize,
    mut grow: impl FnMut(usize) -> Result<(), Refusal>,
) -> Result<Vec<u8>, Refusal> {
    let (mut rest, mut all, most) = (packed, Vec::new(), *left);
    let mut piece = vec![0; PIECE];
    for _ in 0..MOST_PARTS {
        let mut part = GzDecoder::new(&mut rest);
        loop {
            let read = part.read(&mut piece).map_err(|error| {
                Refusal::bad(format!("{what} is packed with gzip, and cannot be unpacked: {error}"))
            })?;
            if read == 0 {
                break;
            }
            *left = left.checked_sub(read).ok_or_else(|| {
                let why = format!("{what} has more than {most} bytes when it is unpacked");
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
            })?;
            grow(read)?;
            all.extend_from_slice(&piece[..read]);
        }
        if rest.is_empty() {
            return Ok(all);
        }
    }
    Err(Refusal::bad(format!("{what} is packed with gzip in more than {MOST_PARTS} parts")))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn unpack(packed: &[u8], mut left: usize) -> Result<Vec<u8>, String> {
        unpacked(packed, "it", &mut left, |_| Ok(())).map_err(|refusal| format!("{refusal:?}"))
    }

    #[test]
    fn what_fits_is_unpacked_also_in_several_parts() {
        let text = "traces ".repeat(10_000);
        assert_eq!(unpack(&packed(text.as_bytes()), text.len()).as_deref(), Ok(text.as_bytes()));
        let parts = [packed(b"one, "), packed(b""), packed(b"two")].concat();
        assert_eq!(unpack(&parts, 100).as_deref(), Ok(&b"one, two"[..]));
    }

    #[test]
    fn bombs_are_refused_before_they_are_unpacked() {
        let bomb = packed(&vec![0; 64 << 20]);
        let mut taken = 0;
        let refused = unpacked(&bomb, "it", &mut (1 << 20), |bytes| {
            taken += bytes;
            Ok(())
        });
        let why = format!("{:?}", refused.unwrap_err());
        assert!(why.contains("413") && why.contains("more than 1048576 bytes"), "{why}");
        assert!(taken <= 1 << 20, "{taken}");
        // Parts with nothing in them.
        let why = unpack(&packed(b"").repeat(MOST_PARTS + 1), 100).unwrap_err();
        assert!(why.contains("more than 1000 parts"), "{why}");
    }

    #[test]
    fn what_is_broken_is_refused() {
        let whole = packed(b"traces");
        for broken in [&whole[..whole.len() - 1], &[&whole[..], b"x"].concat(), &[0x1f, 0x8b], b"text"] {
            let why = unpack(broken, 100).unwrap_err();
            assert!(why.contains("cannot be unpacked"), "{why}");
        }
    }
}
