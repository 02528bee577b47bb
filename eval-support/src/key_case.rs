//! Keys in `snake_case` and in camelCase: ADK's files have the first, its servers the second.

/// A key in `snake_case`. A key without capitals stays as it is.
pub fn snake(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// A key in camelCase.
pub fn camel(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    let mut upper = false;
    for c in key.chars() {
        match c {
            '_' if !out.is_empty() => upper = true,
            c if upper => {
                out.push(c.to_ascii_uppercase());
                upper = false;
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_change_their_spelling_and_back() {
        for (snake_case, camel_case) in [
            ("text", "text"),
            ("inline_data", "inlineData"),
            ("parameters_json_schema", "parametersJsonSchema"),
        ] {
            assert_eq!((snake(camel_case).as_str(), snake(snake_case).as_str()), (snake_case, snake_case));
            assert_eq!((camel(snake_case).as_str(), camel(camel_case).as_str()), (camel_case, camel_case));
        }
    }
}
