//! Strings as JSON.

use super::line::Line;

/// Writes a string.
pub(super) fn write_text(text: &str, out: &mut Line) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = first_special(rest) {
        let (plain, special) = rest.split_at(at);
        out.add(plain);
        let Some((byte, after)) = special.split_first() else { break };
        match byte {
            b'"' | b'\\' => out.add(&[b'\\', *byte]),
            b'\n' => out.add(b"\\n"),
            _ => out.add(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = after;
    }
    out.add(rest);
    out.push(b'"');
}

/// The first byte that a string cannot hold as it is.
///
/// Sixteen bytes at a time: journals are written by tests, which are built without optimisation, where a step for
/// each byte costs more than all the rest of a record.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = if bytes.len() < BLOCK { (&[][..], bytes) } else { bytes.as_chunks::<BLOCK>() };
    let mut at = 0;
    while at < blocks.len() {
        if has_special(u128::from_le_bytes(blocks[at])) {
            return position_of_special(&blocks[at]).map(|found| at * BLOCK + found);
        }
        at += 1;
    }
    let mut padded = [b' '; BLOCK];
    padded[..rest.len()].copy_from_slice(rest);
    if has_special(u128::from_le_bytes(padded)) {
        return position_of_special(rest).map(|found| at * BLOCK + found);
    }
    None
}

const BLOCK: usize = 16;

fn position_of_special(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte < b' ' || *byte == b'"' || *byte == b'\\')
}

/// Whether one of sixteen bytes is special.
///
/// A byte below another one borrows from its highest bit when that is taken from each.
fn has_special(block: u128) -> bool {
    const ONES: u128 = u128::MAX / 0xff;
    const HIGHEST: u128 = ONES << 7;
    let has_zero = |block: u128| block.wrapping_sub(ONES) & !block & HIGHEST;
    let of = |byte: u8| ONES * u128::from(byte);
    let controls = block.wrapping_sub(of(b' ')) & !block & HIGHEST;
    controls | has_zero(block ^ of(b'"')) | has_zero(block ^ of(b'\\')) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bytes_are_found_wherever_they_stand() {
        for special in (0..b' ').chain([b'"', b'\\']) {
            for at in 0..40 {
                let mut bytes = [b'~'; 40];
                bytes[at] = special;
                assert_eq!(first_special(&bytes), Some(at), "{special}");
            }
        }
        let plain: Vec<u8> = (b' '..=0xff).filter(|byte| !b"\"\\".contains(byte)).collect();
        assert_eq!(first_special(&plain), None);
    }
}
