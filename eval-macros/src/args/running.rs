//! How a case is run and decided: `runs`, `pass`, `gate`, `retry`, `timeout`.

use std::str::FromStr;

use eval_format::options::ParseOptionError;
use std::time::Duration;

use eval_format::{DEFAULT_TIMEOUT, Gate, Pass};
use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use syn::LitStr;

use super::value::OptionValue;
use crate::diagnostics::{Diagnostics, error};

/// How a case is run and decided.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) runs: u32,
    pub(super) pass: Pass,
    /// The value of `pass`, if it is given.
    pub(super) pass_span: Option<Span>,
    pub(super) gate: Gate,
    pub(super) retry: u32,
    pub(super) timeout: Duration,
}

impl Default for Running {
    fn default() -> Self {
        Self {
            runs: 1,
            pass: Pass::default(),
            pass_span: None,
            gate: Gate::default(),
            retry: 0,
            timeout: DEFAULT_TIMEOUT,
        }
    }
}

impl Running {
    /// Reads `pass = "at_least(2)"`.
    pub(super) fn read_pass(&mut self, value: &OptionValue<'_>) -> syn::Result<()> {
        let text = value.string()?;
        self.pass = parsed(&text)?;
        self.pass_span = Some(text.span());
        Ok(())
    }

    /// How scores are compared with thresholds.
    pub(crate) fn gate(&self) -> Gate {
        self.gate
    }

    /// Reads `gate = "every_turn"`.
    pub(super) fn read_gate(&mut self, value: &OptionValue<'_>) -> syn::Result<()> {
        self.gate = parsed(&value.string()?)?;
        Ok(())
    }

    /// Reads `timeout = "30s"`.
    pub(super) fn read_timeout(&mut self, value: &OptionValue<'_>) -> syn::Result<()> {
        self.timeout = timeout(&value.string()?)?;
        Ok(())
    }

    /// Checks what only makes sense together.
    pub(super) fn check(&self, diagnostics: &mut Diagnostics) {
        let Self { runs, pass, pass_span, .. } = *self;
        if let (Some(span), Pass::AtLeast(least)) = (pass_span, pass)
            && least > runs
        {
            diagnostics.error(
                span,
                format!("`pass` asks for {least} passing runs of {runs}"),
                format!("write `runs = {least}` or more, or ask for fewer passing runs"),
            );
        }
    }

    /// The value of eval-core's `Options`. `private` is the path of `__private`.
    pub(crate) fn tokens(&self, private: &TokenStream) -> TokenStream {
        let runs = Literal::u32_unsuffixed(self.runs);
        let retry = Literal::u32_unsuffixed(self.retry);
        // At most what `u64` holds: it was read as a number of milliseconds.
        let timeout = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        let pass = match self.pass {
            Pass::Mean => quote!(Mean),
            Pass::All => quote!(All),
            Pass::Any => quote!(Any),
            Pass::AtLeast(least) => quote!(AtLeast(#least)),
        };
        let gate = match self.gate {
            Gate::Mean => quote!(Mean),
            Gate::EveryTurn => quote!(EveryTurn),
        };
        quote! {
            #private::Options {
                runs: #runs,
                pass: #private::Pass::#pass,
                gate: #private::Gate::#gate,
                retry: #retry,
                timeout: ::core::time::Duration::from_millis(#timeout),
            }
        }
    }
}

fn parsed<T: FromStr<Err = ParseOptionError>>(text: &LitStr) -> syn::Result<T> {
    text.value().parse().map_err(|wrong: ParseOptionError| error(text.span(), wrong.message(), wrong.help()))
}

/// A duration such as `30s`, `500ms` or `2m`.
fn timeout(text: &LitStr) -> syn::Result<Duration> {
    let value = text.value();
    let help = r#"write a whole number and a unit: "500ms", "30s" or "2m""#;
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return Err(error(text.span(), format!("`{value}` is not a duration"), help)),
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        Some(0) => Err(error(text.span(), "a timeout of zero would end every turn before it begins", help)),
        Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        None => Err(error(text.span(), format!("`{value}` is not a duration"), help)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_a_number_and_a_unit() {
        let timeout = |text| timeout(&LitStr::new(text, Span::call_site()));
        for (text, expected) in [("500ms", 500), ("30s", 30_000), ("2m", 120_000)] {
            assert_eq!(timeout(text).unwrap(), Duration::from_millis(expected), "{text}");
        }
        for text in ["", "30", "s", "0s", "1.5s", "-1s", "30 s", "1h", "18446744073709551615m", "３s"] {
            assert!(timeout(text).is_err(), "{text}");
        }
    }
}
