//! The options with a small language of their own: `pass`, `gate`, `timeout`, `flavor`.

use syn::LitStr;

use crate::diagnostics::error;

/// How a case is run and judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) runs: u32,
    pub(crate) pass: Pass,
    pub(crate) gate: Gate,
    pub(crate) timeout_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { runs: 1, pass: Pass::Mean, gate: Gate::Mean, timeout_ms: 120_000 }
    }
}

/// When the runs of a case pass together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    Mean,
    All,
    Any,
    AtLeast(u32),
}

impl Pass {
    /// `mean`, `all`, `any` or `at_least(2)`.
    pub(super) fn parse(text: &LitStr) -> syn::Result<Self> {
        let value = text.value();
        match value.as_str() {
            "mean" => return Ok(Self::Mean),
            "all" => return Ok(Self::All),
            "any" => return Ok(Self::Any),
            _ => {}
        }
        let least = value.strip_prefix("at_least(").and_then(|rest| rest.strip_suffix(')'));
        match least.map(|count| count.trim().parse()) {
            Some(Ok(0)) => Err(error(
                text.span(),
                "`at_least(0)` would pass whatever the agent does",
                "ask for at least 1 passing run",
            )),
            Some(Ok(count)) => Ok(Self::AtLeast(count)),
            _ => Err(error(
                text.span(),
                format!("unknown `pass`: `{value}`"),
                r#"it is "mean", "all", "any" or "at_least(2)""#,
            )),
        }
    }
}

/// What is compared with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Mean,
    EveryTurn,
}

impl Gate {
    /// `mean` or `every_turn`.
    pub(super) fn parse(text: &LitStr) -> syn::Result<Self> {
        match text.value().as_str() {
            "mean" => Ok(Self::Mean),
            "every_turn" => Ok(Self::EveryTurn),
            other => Err(error(
                text.span(),
                format!("unknown `gate`: `{other}`"),
                r#"it is "mean" (over the turns, as ADK does) or "every_turn""#,
            )),
        }
    }
}

/// A duration such as `30s`, `500ms` or `2m`, in milliseconds.
pub(super) fn timeout(text: &LitStr) -> syn::Result<u64> {
    let value = text.value();
    let help = r#"write a whole number and a unit: "500ms", "30s" or "2m""#;
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return Err(error(text.span(), format!("`{value}` is no duration"), help)),
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        Some(0) => Err(error(text.span(), "a timeout of zero would end every turn before it began", help)),
        Some(milliseconds) => Ok(milliseconds),
        None => Err(error(text.span(), format!("`{value}` is no duration"), help)),
    }
}

/// `current_thread` or `multi_thread`.
pub(super) fn flavor(text: LitStr) -> syn::Result<LitStr> {
    match text.value().as_str() {
        "current_thread" | "multi_thread" => Ok(text),
        other => Err(error(
            text.span(),
            format!("unknown `flavor`: `{other}`"),
            r#"it is "current_thread" or "multi_thread""#,
        )),
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn literal(text: &str) -> LitStr {
        LitStr::new(text, Span::call_site())
    }

    #[test]
    fn a_timeout_is_a_number_and_a_unit() {
        for (text, expected) in [("500ms", 500), ("30s", 30_000), ("2m", 120_000)] {
            assert_eq!(timeout(&literal(text)).unwrap(), expected, "{text}");
        }
        for text in ["", "30", "s", "0s", "1.5s", "-1s", "30 s", "1h", "18446744073709551615m", "３s"] {
            assert!(timeout(&literal(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn pass_is_one_of_four() {
        for (text, expected) in
            [("mean", Pass::Mean), ("all", Pass::All), ("any", Pass::Any), ("at_least(2)", Pass::AtLeast(2))]
        {
            assert_eq!(Pass::parse(&literal(text)).unwrap(), expected, "{text}");
        }
        for text in ["", "most", "at_least(0)", "at_least()", "at_least(-1)", "at_least(2", "at_least 2"] {
            assert!(Pass::parse(&literal(text)).is_err(), "{text}");
        }
    }
}
