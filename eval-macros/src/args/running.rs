//! Arguments for running and deciding a case: the fields of eval-core's `Options`.

use std::str::FromStr;

use eval_format::options::{ParseOptionError, parse_timeout};
use eval_format::{PassRule, TurnAggregation};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use syn::LitStr;

use super::value::OptionValue;
use crate::diagnostics::{Diagnostics, error};

/// The options for running and deciding a case.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) runs: u32,
    pub(super) pass: PassRule,
    /// The value of `pass`, if it is given.
    pub(super) pass_span: Option<Span>,
    /// The aggregation of a run's turns.
    pub(crate) gate: TurnAggregation,
    /// The given options that the macro only passes on, as fields with their values.
    pub(super) others: Vec<(&'static str, TokenStream)>,
}

impl Default for Running {
    fn default() -> Self {
        let (pass, gate) = (PassRule::default(), TurnAggregation::default());
        Self { runs: 1, pass, pass_span: None, gate, others: Vec::new() }
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

    /// Reads `gate = "every_turn"`.
    pub(super) fn read_gate(&mut self, value: &OptionValue<'_>) -> syn::Result<()> {
        self.gate = parsed(&value.string()?)?;
        Ok(())
    }

    /// Reads `retry = 2`.
    pub(super) fn read_retry(&mut self, value: &OptionValue<'_>) -> syn::Result<()> {
        let retry = Literal::u32_unsuffixed(value.count()?);
        self.others.push(("retry", quote!(#retry)));
        Ok(())
    }

    /// Reads `timeout = "30s"`.
    pub(super) fn read_timeout(&mut self, value: &OptionValue<'_>) -> syn::Result<()> {
        let text = value.string()?;
        let timeout = parse_timeout(&text.value())
            .map_err(|wrong| error(text.span(), wrong.message(), wrong.help()))?;
        // It fits into a `u64`: it was parsed as a number of milliseconds.
        let timeout = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.others.push(("timeout", quote!(::core::time::Duration::from_millis(#timeout))));
        Ok(())
    }

    /// Checks that the options fit together.
    pub(super) fn check(&self, diagnostics: &mut Diagnostics) {
        let Self { runs, pass, pass_span, .. } = *self;
        if let (Some(span), PassRule::AtLeast(least)) = (pass_span, pass)
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
        let pass = match self.pass {
            PassRule::Mean => quote!(Mean),
            PassRule::All => quote!(All),
            PassRule::Any => quote!(Any),
            PassRule::AtLeast(least) => quote!(AtLeast(#least)),
        };
        let gate = match self.gate {
            TurnAggregation::Mean => quote!(Mean),
            TurnAggregation::EveryTurn => quote!(EveryTurn),
        };
        let (names, values): (Vec<_>, Vec<_>) =
            self.others.iter().map(|(name, value)| (Ident::new(name, Span::call_site()), value)).unzip();
        quote! {{
            let mut options = #private::Options::DEFAULT;
            options.runs = #runs;
            options.pass = #private::PassRule::#pass;
            options.gate = #private::TurnAggregation::#gate;
            #(options.#names = #values;)*
            options
        }}
    }
}

fn parsed<T: FromStr<Err = ParseOptionError>>(text: &LitStr) -> syn::Result<T> {
    text.value().parse().map_err(|wrong: ParseOptionError| error(text.span(), wrong.message(), wrong.help()))
}
