//! Reading a few fields of a line that has the form in which it was written, and passing over the rest.
//!
//! A journal of half a gigabyte holds little that a report shows. Values that nobody asks for are passed over byte by byte,
//! without a tree of them. Only sealed lines are read so: what was changed may be no JSON.

/// The fields of an object: each name with the bytes of its value. `None` if this is no object.
pub(super) fn fields<'b>(object: &'b [u8], mut take: impl FnMut(&'b [u8], &'b [u8])) -> Option<()> {
    walk_fields(object, 0, |name, start| {
        let end = value_end(object, start)?;
        take(name, object.get(start..end)?);
        Some(end)
    })?;
    Some(())
}

/// The items of an array. `None` if this is no array.
pub(super) fn items<'b>(array: &'b [u8], mut take: impl FnMut(&'b [u8])) -> Option<()> {
    walk_items(array, 0, |start| {
        let end = value_end(array, start)?;
        take(array.get(start..end)?);
        Some(end)
    })?;
    Some(())
}

/// Walks the object that begins here. For each field, `take` gets the name and where the value begins, and returns where it
/// ends: it may walk the value itself, so that no byte is read twice. Returns where the object ends.
pub(super) fn walk_fields<'b>(
    bytes: &'b [u8],
    start: usize,
    mut take: impl FnMut(&'b [u8], usize) -> Option<usize>,
) -> Option<usize> {
    let mut at = open(bytes, start, b'{')?;
    loop {
        match *bytes.get(at)? {
            b'}' => return Some(at + 1),
            b',' => at += 1,
            _ => {}
        }
        let name_end = value_end(bytes, at)?;
        let name = bytes.get(at + 1..name_end - 1)?;
        at = take(name, name_end + usize::from(*bytes.get(name_end)? == b':'))?;
    }
}

/// Walks the array that begins here, as [`walk_fields`] walks an object.
pub(super) fn walk_items(
    bytes: &[u8],
    start: usize,
    mut take: impl FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    let mut at = open(bytes, start, b'[')?;
    loop {
        match *bytes.get(at)? {
            b']' => return Some(at + 1),
            b',' => at += 1,
            _ => {}
        }
        at = take(at)?;
    }
}

fn open(bytes: &[u8], start: usize, bracket: u8) -> Option<usize> {
    (bytes.get(start) == Some(&bracket)).then_some(start + 1)
}

/// Where the value ends that begins here.
pub(super) fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        match *bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                // The end of what holds a number.
                let Some(less) = depth.checked_sub(1) else { return (at > start).then_some(at) };
                depth = less;
                at += 1;
            }
            b',' | b':' if depth == 0 => return (at > start).then_some(at),
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Where the string ends that begins here.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        // Most of a journal is within strings, so they are passed over eight bytes at a time.
        while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            let block = u64::from_ne_bytes(*block);
            if holds(block, b'"') || holds(block, b'\\') {
                break;
            }
            at += 8;
        }
        at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Whether one of eight bytes equals `byte`. The exclusive or makes an equal byte 0, and subtracting 1 from a byte that is 0 sets
/// its highest bit.
fn holds(block: u64, byte: u8) -> bool {
    const LOWEST: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = u64::from_ne_bytes([0x80; 8]);
    let differs = block ^ (LOWEST * u64::from(byte));
    differs.wrapping_sub(LOWEST) & !differs & HIGHEST != 0
}

/// A number without a sign and a fraction.
pub(super) fn number<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<Vec<String>> {
        let text = text.as_bytes();
        let mut found = Vec::new();
        let mut add = |part: &[u8]| found.push(String::from_utf8_lossy(part).into_owned());
        if text.first() == Some(&b'{') {
            fields(text, |name, value| {
                add(name);
                add(value);
            })?;
        } else {
            items(text, add)?;
        }
        Some(found)
    }

    #[test]
    fn strings_end_where_their_quotation_mark_is() {
        for length in 0..40 {
            for escape in ["", "\\\"", "\\\\", "\\n"] {
                for at in 0..=length {
                    let text = format!("\"{}{escape}{}\"", "é".repeat(at), "x".repeat(length - at));
                    assert_eq!(
                        string_end(format!("{text},\"more\"").as_bytes(), 0),
                        Some(text.len()),
                        "{text}"
                    );
                    assert_eq!(string_end(&text.as_bytes()[..text.len() - 1], 0), None, "{text}");
                }
            }
        }
    }

    #[test]
    fn values_are_passed_over_whole() {
        for (text, expected) in [
            ("{}", &[][..]),
            ("[]", &[]),
            (
                r#"{"a":1,"b":"x,}\"]","c":{"d":[1,{"e":"]"}],"f":{}},"g":null}"#,
                &["a", "1", "b", r#""x,}\"]""#, "c", r#"{"d":[1,{"e":"]"}],"f":{}}"#, "g", "null"],
            ),
            (r#"[1,"\\",[[]],-1e5,NaN]"#, &["1", r#""\\""#, "[[]]", "-1e5", "NaN"]),
        ] {
            assert_eq!(shown(text).unwrap(), expected, "{text}");
        }
        for text in [
            "",
            "1",
            "{",
            "[1",
            r#"{"a""#,
            r#"{"a":"#,
            r#"{"a":"b"#,
            r#"["\"#,
            r#"{"a":}"#,
            r#"{"a":,"b":1}"#,
            "[,]",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_walk_ends_behind_what_it_walked() {
        let text = br#"[1,{"a":2,"b":[]},3]"#;
        let mut found = Vec::new();
        let end = walk_fields(text, 3, |name, at| {
            found.push((name, at));
            value_end(text, at)
        });
        assert_eq!((end, found), (Some(17), vec![(&b"a"[..], 8), (b"b", 14)]));
        assert_eq!(walk_items(text, 14, |at| value_end(text, at)), Some(16));
        assert_eq!(walk_items(text, 0, |at| value_end(text, at)), Some(text.len()));
        assert_eq!(walk_fields(text, 0, |_, at| value_end(text, at)), None, "an array");
        assert_eq!(walk_items(text, 3, |at| value_end(text, at)), None, "an object");
    }

    #[test]
    fn numbers_have_no_sign_and_no_fraction() {
        for (text, expected) in [("0", Some(0)), ("120", Some(120)), ("-1", None), ("1.5", None), ("", None)]
        {
            assert_eq!(number::<u32>(text.as_bytes()), expected, "{text}");
        }
    }
}
