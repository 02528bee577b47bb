//! The arguments of the attribute: what is in the parentheses of `#[eval_set(...)]`.
//!
//! Each option is parsed on its own, so that all mistakes are reported at once. An option with a mistake keeps its
//! default.

mod criteria;
mod matrix;
mod metrics;
mod model_faults;
mod running;
mod value;

use eval_format::ToolSource;
use eval_format::options::MOST_RUNS;
use eval_support::words::{code_list, did_you_mean};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Path};

pub(crate) use criteria::{Criteria, InlineConfig};
pub(crate) use matrix::Matrix;
pub(crate) use metrics::CustomMetric;
pub(crate) use model_faults::AttributeFaults;
pub(crate) use running::{Running, Runtime};
use value::Arg;

use crate::diagnostics::{Diagnostics, error, error_on};
use crate::features::Feature;
use crate::package::renamed_eval_core;

#[derive(Default)]
pub(crate) struct Args {
    /// The file, directory or glob; `None` if it is missing or wrong, which has been reported.
    pub(crate) path: Option<LitStr>,
    pub(crate) criteria: Criteria,
    pub(crate) metrics: Vec<CustomMetric>,
    pub(crate) judge: Option<Path>,
    /// Globs on case ids; a `!` in front excludes.
    pub(crate) cases: Vec<LitStr>,
    /// The session of old test files.
    pub(crate) session: Option<LitStr>,
    /// The file of faults of golden tools.
    pub(crate) faults: Option<LitStr>,
    /// The faults of models.
    pub(crate) model_faults: Option<AttributeFaults>,
    pub(crate) matrix: Option<Matrix>,
    pub(crate) running: Running,
    pub(crate) runtime: Runtime,
    /// The path of eval-core, if it is not `::eval_core`.
    pub(crate) krate: Option<Path>,
}

/// Reads the value of an option into the arguments.
type Read = fn(&mut Args, &Arg, &mut Diagnostics) -> syn::Result<()>;

/// Every option, with an example of its use.
const OPTIONS: &[(&str, &str, Read)] = &[
    ("config", r#"config = "evals/strict.json""#, |args, value, _| {
        args.criteria.replace(&value.name, Criteria::File(value.string()?))
    }),
    ("criteria", "criteria(response_match_score = 0.8)", |args, value, _| {
        let config = InlineConfig::parse(value.name.span(), value.list()?)?;
        args.criteria.replace(&value.name, Criteria::Inline(config))
    }),
    ("metrics", "metrics(brevity, tone = style::tone)", |args, value, diagnostics| {
        metrics::read(value, diagnostics).map(|metrics| args.metrics = metrics)
    }),
    ("judge", "judge = my_judge", |args, value, diagnostics| {
        let path = value.function()?;
        diagnostics.needs(Feature::JUDGES, path.span(), "`judge`");
        args.judge = Some(path);
        Ok(())
    }),
    ("cases", r#"cases = ["refund_*", "tag:smoke"]"#, |args, value, _| {
        value.strings().map(|globs| args.cases = globs)
    }),
    ("matrix", r#"matrix(model = ["flash", "pro"])"#, |args, value, diagnostics| {
        Matrix::read(value, diagnostics).map(|matrix| args.matrix = Some(matrix))
    }),
    ("runs", "runs = 3", |args, value, _| value.count_up_to(MOST_RUNS).map(|runs| args.running.runs = runs)),
    ("pass", r#"pass = "at_least(2)""#, |args, value, _| args.running.read_pass(value)),
    ("gate", r#"gate = "every_turn""#, |args, value, _| args.running.read_gate(value)),
    ("retry", "retry = 2", |args, value, _| args.running.read_retry(value)),
    ("timeout", r#"timeout = "30s""#, |args, value, _| args.running.read_timeout(value)),
    ("tools", r#"tools = "golden""#, |args, value, _| args.running.read_tools(value)),
    ("faults", r#"faults = "evals/outage.json""#, |args, value, _| {
        value.string().map(|path| args.faults = Some(path))
    }),
    ("model_faults", model_faults::EXAMPLE, |args, value, diagnostics| {
        AttributeFaults::read(value, diagnostics).map(|faults| args.model_faults = Some(faults))
    }),
    ("session", r#"session = "evals/trip.session.json""#, |args, value, _| {
        value.string().map(|path| args.session = Some(path))
    }),
    ("flavor", r#"flavor = "multi_thread""#, |args, value, _| args.runtime.read_flavor(value)),
    ("worker_threads", "worker_threads = 2", |args, value, _| args.runtime.read_worker_threads(value)),
    ("crate", "crate = my_facade::eval_core", |args, value, _| {
        value.path().map(|path| args.krate = Some(path))
    }),
];

impl Args {
    /// Reads all arguments. An argument with a mistake is reported and keeps its default.
    pub(crate) fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut reader = Reader { args: Self::default(), seen: Vec::new(), path_seen: false, diagnostics };
        for argument in split_at_commas(tokens) {
            reader.argument(&argument);
        }
        reader.finish()
    }

    /// Reports a renamed eval-core without the argument `crate`. The expansion uses the new name all the
    /// same: otherwise rustc would report each path in it.
    pub(crate) fn check_crate(&mut self, diagnostics: &mut Diagnostics) {
        if self.krate.is_none()
            && let Some(name) = renamed_eval_core()
            && let Ok(path) = syn::parse_str(&name)
        {
            diagnostics.error(
                Span::call_site(),
                format!("this package calls `eval-core` `{name}`, and the attribute was not told"),
                format!("add `crate = {name}` to its arguments"),
            );
            self.krate = Some(path);
        }
    }

    pub(crate) fn metric_names(&self) -> Vec<&str> {
        self.metrics.iter().map(|metric| metric.name.as_str()).collect()
    }
}

struct Reader<'d> {
    args: Args,
    seen: Vec<Ident>,
    path_seen: bool,
    diagnostics: &'d mut Diagnostics,
}

impl Reader<'_> {
    fn argument(&mut self, tokens: &TokenStream) {
        let is_literal = begins_with_literal(tokens.clone());
        match syn::parse2::<Arg>(tokens.clone()) {
            Ok(arg) => {
                let result = self.option(arg);
                self.diagnostics.ok(result);
            }
            // A first argument that is not an option was meant as the path.
            Err(_) if is_literal || (self.seen.is_empty() && !self.path_seen) => {
                let path = self.path(tokens);
                self.args.path = self.diagnostics.ok(path).or(self.args.path.take());
            }
            Err(_) => self.diagnostics.push(error_on(
                tokens,
                "expected `name = value`",
                "the path of the set comes first, then options such as `runs = 3`",
            )),
        }
    }

    fn path(&mut self, tokens: &TokenStream) -> syn::Result<LitStr> {
        if std::mem::replace(&mut self.path_seen, true) {
            return Err(error_on(
                tokens,
                "more than one path",
                r#"one attribute takes one path; a glob or a directory, such as `"evals"`, means many files"#,
            ));
        }
        syn::parse2(tokens.clone()).map_err(|_| {
            error_on(
                tokens,
                "the path of the set is not a plain string literal",
                r#"write it as in `#[eval_set("evals/weather.evalset.json")]`"#,
            )
        })
    }

    fn option(&mut self, arg: Arg) -> syn::Result<()> {
        let name = &arg.name;
        let Some((_, example, read)) = OPTIONS.iter().find(|(known, ..)| name == known) else {
            return Err(unknown_option(name));
        };
        if self.seen.contains(name) {
            return Err(error(name.span(), format!("`{name}` is given twice"), "keep one of the two"));
        }
        self.seen.push(name.clone());
        read(&mut self.args, &Arg { example, ..arg }, self.diagnostics)
    }

    fn finish(self) -> Args {
        let Self { args, path_seen, diagnostics, .. } = self;
        if !path_seen {
            diagnostics.error(
                Span::call_site(),
                "the path of an eval set is missing",
                r#"name the file, relative to the folder of `Cargo.toml`: `#[eval_set("evals/weather.evalset.json")]`"#,
            );
        }
        args.running.check(diagnostics);
        if let (Some(path), ToolSource::Real) = (&args.faults, args.running.tools) {
            diagnostics.error(
                path.span(),
                "nothing plays the faults of a file, as the tools of the agent run",
                r#"add `tools = "golden"`, or leave `faults` out"#,
            );
        }
        args.runtime.check(diagnostics);
        args
    }
}

fn unknown_option(name: &Ident) -> syn::Error {
    let key = name.to_string();
    let names: Vec<&str> = OPTIONS.iter().map(|(name, ..)| *name).collect();
    let meant = did_you_mean(&key, names.iter().copied());
    let help = meant.unwrap_or_else(|| format!("the options are {}", code_list(&names)));
    error(name.span(), format!("unknown option `{key}`"), help)
}

/// The arguments, each with its own tokens. Commas inside brackets of any kind do not count.
fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut arguments = vec![TokenStream::new()];
    for token in tokens {
        match (&token, arguments.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => arguments.push(TokenStream::new()),
            (_, Some(last)) => last.extend([token]),
            (_, None) => {}
        }
    }
    arguments.retain(|argument| !argument.is_empty());
    arguments
}

/// Whether a literal comes first. A literal that a macro passes on as `$path:literal` is in a group without
/// delimiters.
fn begins_with_literal(tokens: TokenStream) -> bool {
    match tokens.into_iter().next() {
        Some(TokenTree::Literal(_)) => true,
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
            begins_with_literal(group.stream())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
