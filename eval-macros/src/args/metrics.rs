//! `metrics(brevity, tone = style::tone)`: metrics of the user's own.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Path, Token};

use super::value::Arg;
use crate::diagnostics::Diagnostics;

pub(crate) struct CustomMetric {
    /// The name that criteria use; by default the last segment of the path.
    pub(crate) name: String,
    pub(crate) path: Path,
    span: Span,
}

impl Parse for CustomMetric {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            Some((text.value(), text.span()))
        } else if input.peek(Ident::peek_any) && input.peek2(Token![=]) {
            let ident = Ident::parse_any(input)?;
            Some((ident.unraw().to_string(), ident.span()))
        } else {
            None
        };
        if key.is_some() {
            input.parse::<Token![=]>()?;
        }
        let path = input.parse::<syn::ExprPath>()?.path;
        let (name, span) = key.unwrap_or_else(|| last_segment(&path));
        Ok(Self { name, path, span })
    }
}

/// Reads the metrics. If two have one name, that is reported and the first is kept.
pub(super) fn read(value: &Arg, diagnostics: &mut Diagnostics) -> syn::Result<Vec<CustomMetric>> {
    let mut metrics: Vec<CustomMetric> = Vec::new();
    for metric in value.items::<CustomMetric>("paths of functions", "at least one function")? {
        let name = &metric.name;
        if eval_format::metric::metric(name).is_some() {
            diagnostics.error(
                metric.span,
                format!("`{name}` is a built-in metric, which a metric of yours would replace"),
                format!(
                    "give yours another name, and use that in the criteria: `my_{name} = path::to::function`"
                ),
            );
        }
        if metrics.iter().any(|other| other.name == *name) {
            diagnostics.error(
                metric.span,
                format!("two custom metrics are named `{name}`"),
                format!("give one of them another name: `other_{name} = path::to::function`"),
            );
        } else {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

fn last_segment(path: &Path) -> (String, Span) {
    match path.segments.last() {
        Some(last) => (last.ident.unraw().to_string(), last.ident.span()),
        None => (String::new(), Span::call_site()),
    }
}
