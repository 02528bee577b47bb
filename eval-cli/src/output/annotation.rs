//! Annotations of GitHub Actions: how their parts are escaped.

/// The message of an annotation.
pub(crate) fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property. Commas and colons would end it.
pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_github_reads_is_escaped() {
        assert_eq!(data("50%\r\n::error::x, y"), "50%25%0D%0A::error::x, y");
        assert_eq!(property("C:\\a,b%.json"), "C%3A\\a%2Cb%25.json");
    }
}
