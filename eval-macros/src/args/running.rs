//! Arguments that become the fields of eval-core's `Options`, and arguments for `#[tokio::test]`: `flavor` and
//! `worker_threads`.

use std::str::FromStr;

use eval_format::options::{ParseOptionError, parse_timeout};
use eval_format::{PassRule, ToolSource, TurnAggregation};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use syn::LitStr;

use super::value::Arg;
use crate::diagnostics::{Diagnostics, error};
use crate::features::Feature;

#[derive(Debug)]
pub(crate) struct Running {
    pub(super) runs: u32,
    pub(super) pass: PassRule,
    /// The value of `pass`, if it is given.
    pub(super) pass_span: Option<Span>,
    pub(crate) gate: TurnAggregation,
    pub(crate) tools: ToolSource,
    /// The given options that the macro only passes on, as fields with their values.
    pub(super) others: Vec<(&'static str, TokenStream)>,
}

impl Default for Running {
    fn default() -> Self {
        let (pass, gate) = (PassRule::default(), TurnAggregation::default());
        Self { runs: 1, pass, pass_span: None, gate, tools: ToolSource::Real, others: Vec::new() }
    }
}

impl Running {
    pub(super) fn read_pass(&mut self, value: &Arg) -> syn::Result<()> {
        let text = value.string()?;
        self.pass = parsed(&text)?;
        self.pass_span = Some(text.span());
        Ok(())
    }

    pub(super) fn read_gate(&mut self, value: &Arg) -> syn::Result<()> {
        self.gate = parsed(&value.string()?)?;
        Ok(())
    }

    pub(super) fn read_tools(&mut self, value: &Arg) -> syn::Result<()> {
        self.tools = parsed(&value.string()?)?;
        Ok(())
    }

    pub(super) fn read_retry(&mut self, value: &Arg) -> syn::Result<()> {
        let retry = Literal::u32_unsuffixed(value.count()?);
        self.others.push(("retry", quote!(#retry)));
        Ok(())
    }

    pub(super) fn read_timeout(&mut self, value: &Arg) -> syn::Result<()> {
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
        let tools =
            (self.tools == ToolSource::Golden).then(|| quote!(options.tools = #private::ToolSource::Golden;));
        let (names, values): (Vec<_>, Vec<_>) =
            self.others.iter().map(|(name, value)| (Ident::new(name, Span::call_site()), value)).unzip();
        quote! {{
            let mut options = #private::Options::DEFAULT;
            options.runs = #runs;
            options.pass = #private::PassRule::#pass;
            options.gate = #private::TurnAggregation::#gate;
            #tools
            #(options.#names = #values;)*
            options
        }}
    }
}

fn parsed<T: FromStr<Err = ParseOptionError>>(text: &LitStr) -> syn::Result<T> {
    text.value().parse().map_err(|wrong: ParseOptionError| error(text.span(), wrong.message(), wrong.help()))
}

#[derive(Default)]
pub(crate) struct Runtime {
    flavor: Option<LitStr>,
    worker_threads: Option<(u32, Span)>,
}

impl Runtime {
    pub(super) fn read_flavor(&mut self, value: &Arg) -> syn::Result<()> {
        let text = value.string()?;
        if !matches!(text.value().as_str(), "current_thread" | "multi_thread") {
            return Err(error(
                text.span(),
                format!("unknown `flavor`: `{}`", text.value()),
                r#"it is "current_thread" or "multi_thread""#,
            ));
        }
        self.flavor = Some(text);
        Ok(())
    }

    pub(super) fn read_worker_threads(&mut self, value: &Arg) -> syn::Result<()> {
        self.worker_threads = Some((value.count()?, value.name.span()));
        Ok(())
    }

    /// Checks that the options fit together, and notes the feature that the runtime needs.
    pub(super) fn check(&self, diagnostics: &mut Diagnostics) {
        if let (Some((_, span)), false) = (self.worker_threads, self.is_multi_thread()) {
            diagnostics.error(
                span,
                "`worker_threads` has no effect on one thread",
                r#"add `flavor = "multi_thread"`, or leave `worker_threads` out"#,
            );
        }
        if let (Some(flavor), true) = (&self.flavor, self.is_multi_thread()) {
            diagnostics.needs(Feature::MULTI_THREAD, flavor.span(), "`flavor = \"multi_thread\"`");
        }
    }

    pub(crate) fn is_multi_thread(&self) -> bool {
        self.flavor.as_ref().is_some_and(|flavor| flavor.value() == "multi_thread")
    }

    /// The arguments of `#[tokio::test]`, each with a comma in front.
    pub(crate) fn tokens(&self) -> TokenStream {
        let flavor = self.flavor.iter().map(|flavor| quote!(, flavor = #flavor));
        let threads = self.worker_threads.iter().map(|(count, _)| {
            let count = Literal::u32_unsuffixed(*count);
            quote!(, worker_threads = #count)
        });
        quote!(#(#flavor)* #(#threads)*)
    }
}
