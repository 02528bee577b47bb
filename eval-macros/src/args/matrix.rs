//! `matrix(model = ["flash", "pro"], prompt = ["a", "b"], exclude = [(model = "pro", prompt = "b")])`: variants of the
//! agent, each with tests of its own.

use eval_format::matrix::{Axis, Variant, check_axes, check_excluded, variants};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token};

use super::value::Arg;
use crate::diagnostics::{Diagnostics, error};

/// The axes, and the variants that are left of their product.
pub(crate) struct Matrix {
    /// The place of the argument.
    pub(crate) span: Span,
    /// The names of the axes, in order.
    pub(crate) axes: Vec<Ident>,
    pub(crate) variants: Vec<Variant>,
}

/// One `name = [..]` in the parentheses.
enum Item {
    Axis(Ident, Vec<LitStr>),
    Exclude(Vec<Excluded>),
}

/// One `(model = "pro", prompt = "b")`.
struct Excluded {
    span: Span,
    variant: Variant,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = Ident::parse_any(input)?;
        input.parse::<Token![=]>()?;
        let list;
        syn::bracketed!(list in input);
        if name == "exclude" {
            let excluded = Punctuated::<Excluded, Token![,]>::parse_terminated(&list)?;
            return Ok(Self::Exclude(excluded.into_iter().collect()));
        }
        let values = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?;
        Ok(Self::Axis(name, values.into_iter().collect()))
    }
}

impl Parse for Excluded {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let list;
        syn::parenthesized!(list in input);
        let span = list.span();
        let value = |input: ParseStream<'_>| {
            let axis = Ident::parse_any(input)?;
            input.parse::<Token![=]>()?;
            Ok((axis.unraw().to_string(), input.parse::<LitStr>()?.value()))
        };
        let values = list.parse_terminated(value, Token![,])?;
        Ok(Self { span, variant: Variant(values.into_iter().collect()) })
    }
}

impl Matrix {
    /// Reads the matrix. Mistakes in its axes are reported, and so are variants to leave out that it does not have.
    pub(super) fn read(value: &Arg, diagnostics: &mut Diagnostics) -> syn::Result<Self> {
        let items = value.items::<Item>("axes, each with a list of strings", "at least one axis")?;
        let (mut written, mut excluded) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Item::Axis(name, values) => written.push((name, values)),
                Item::Exclude(more) => excluded.extend(more),
            }
        }
        if written.is_empty() {
            return Err(error(
                value.name.span(),
                "`matrix` takes at least one axis",
                "for example `model = [\"flash\"]`",
            ));
        }
        let axes: Vec<Axis> = written
            .iter()
            .map(|(name, values)| Axis::new(name.unraw().to_string(), values.iter().map(LitStr::value)))
            .collect();
        let problems = check_axes(&axes);
        for problem in &problems {
            let (name, values) = &written[problem.axis];
            let span = problem.value.map_or(name.span(), |value| values[value].span());
            diagnostics.error(span, problem.message.clone(), problem.help.clone());
        }
        for Excluded { span, variant } in &excluded {
            if let Some((message, help)) = check_excluded(&axes, variant) {
                diagnostics.error(*span, message, help);
            }
        }
        // Axes with mistakes may have a product that no memory holds.
        let mut left = if problems.is_empty() { variants(&axes) } else { Vec::new() };
        left.retain(|variant| !excluded.iter().any(|excluded| variant.has(&excluded.variant)));
        if left.is_empty() && problems.is_empty() {
            let help = "leave `exclude` out, or exclude less";
            return Err(error(value.name.span(), "`exclude` leaves no variant", help));
        }
        // An axis with a mistake in its name is no field.
        let wrong: Vec<usize> =
            problems.iter().filter(|problem| problem.value.is_none()).map(|problem| problem.axis).collect();
        let names = written.into_iter().enumerate().filter(|(at, _)| !wrong.contains(at));
        let span = value.name.span();
        Ok(Self { span, axes: names.map(|(_, (name, _))| name).collect(), variants: left })
    }
}
