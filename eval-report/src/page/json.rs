//! JSON inside of HTML.

use serde::Serialize;

/// A value as JSON that can stand in a script element: no character of it begins a tag or a comment, or ends a line of
/// JavaScript. `null` if it cannot be written, which no type of the page allows.
pub(super) fn inside_html(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element_and_the_value_stays() {
        let text = "</script><!--<script>&amp;\u{2028}\"'";
        let json = inside_html(&text);
        assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
