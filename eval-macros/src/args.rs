//! What stands in the parentheses of `#[eval_set(...)]`.
//!
//! Each option is parsed on its own, so that all mistakes are reported at once; an option with a
//! mistake keeps its default.

mod options;
mod value;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Path, Token};

use crate::criteria::InlineConfig;
use crate::diagnostics::{Diagnostics, code_list, error, error_on};
pub(crate) use options::{Gate, Options, Pass};
use value::Value;

/// Every option, with an example of how it is written.
const OPTIONS: &[(&str, &str)] = &[
    ("config", r#"config = "evals/strict.json""#),
    ("criteria", "criteria(response_match_score = 0.8)"),
    ("metrics", "metrics(brevity, tone = style::tone)"),
    ("judge", "judge = my_judge"),
    ("cases", r#"cases = ["refund_*", "!*_slow"]"#),
    ("runs", "runs = 3"),
    ("pass", r#"pass = "at_least(2)""#),
    ("gate", r#"gate = "every_turn""#),
    ("timeout", r#"timeout = "30s""#),
    ("session", r#"session = "evals/trip.session.json""#),
    ("flavor", r#"flavor = "multi_thread""#),
    ("worker_threads", "worker_threads = 2"),
    ("crate", "crate = my_facade::eval_core"),
];

/// The arguments of the attribute.
pub(crate) struct Args {
    /// The file, directory or glob; absent when it was missing or wrong, which has been reported.
    pub(crate) path: Option<LitStr>,
    /// Where the criteria come from.
    pub(crate) criteria: Criteria,
    /// The custom metrics by name.
    pub(crate) metrics: Vec<CustomMetric>,
    /// The function that makes the judge.
    pub(crate) judge: Option<Path>,
    /// Globs on ids; those that begin with `!` exclude.
    pub(crate) cases: Vec<LitStr>,
    /// The session of old test files.
    pub(crate) session: Option<LitStr>,
    /// How a case is run and judged.
    pub(crate) options: Options,
    /// What is handed to `#[tokio::test]`.
    pub(crate) runtime: Runtime,
    /// Where eval-core is, if not at `::eval_core`.
    pub(crate) krate: Option<Path>,
}

/// Where the criteria come from.
pub(crate) enum Criteria {
    /// A `test_config.json` beside each set, else ADK's own.
    Beside,
    /// `config = "..."`.
    File(LitStr),
    /// `criteria(...)`.
    Inline(InlineConfig),
}

/// A metric of the user's own: `tone = style::tone`.
pub(crate) struct CustomMetric {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) path: Path,
}

/// What is handed to `#[tokio::test]`.
#[derive(Default)]
pub(crate) struct Runtime {
    pub(crate) flavor: Option<LitStr>,
    pub(crate) worker_threads: Option<(u32, Span)>,
}

/// One `name = value` or `name(...)`.
struct Arg {
    name: Ident,
    value: Value,
}

impl Parse for Arg {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // `crate` is a keyword, which `Ident` alone would not take.
        let name = Ident::parse_any(input)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Value::Assigned(input.parse()?)
        } else if input.peek(syn::token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            Value::List(list.parse()?)
        } else {
            Value::Absent
        };
        if input.is_empty() { Ok(Self { name, value }) } else { Err(input.error("expected a comma")) }
    }
}

impl Args {
    /// Reads all arguments; what is wrong is reported and left at its default.
    pub(crate) fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut reader = Reader {
            args: Self {
                path: None,
                criteria: Criteria::Beside,
                metrics: Vec::new(),
                judge: None,
                cases: Vec::new(),
                session: None,
                options: Options::default(),
                runtime: Runtime::default(),
                krate: None,
            },
            seen: Vec::new(),
            pass: None,
            path_seen: false,
            diagnostics,
        };
        for argument in split_at_commas(tokens) {
            reader.argument(&argument);
        }
        reader.finish()
    }

    /// The names that the custom metrics answer to.
    pub(crate) fn metric_names(&self) -> Vec<&str> {
        self.metrics.iter().map(|metric| metric.name.as_str()).collect()
    }
}

struct Reader<'d> {
    args: Args,
    seen: Vec<Ident>,
    pass: Option<LitStr>,
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
            // What comes first and is no option was meant as the path.
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
                r#"one attribute takes one path; a glob or a directory, such as `"evals"`, stands for many files"#,
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
        let Arg { name, value } = arg;
        let key = name.to_string();
        let Some((_, example)) = OPTIONS.iter().find(|(known, _)| *known == key) else {
            return Err(unknown_option(&name));
        };
        if self.seen.contains(&name) {
            return Err(error(name.span(), format!("`{key}` is given twice"), "keep one of the two"));
        }
        self.seen.push(name.clone());
        let value = value.of(&name, example);
        match key.as_str() {
            "config" => self.criteria(&name, Criteria::File(value.string()?))?,
            "criteria" => {
                let config = InlineConfig::parse(name.span(), value.list()?)?;
                self.criteria(&name, Criteria::Inline(config))?;
            }
            "metrics" => self.args.metrics = value.metrics(self.diagnostics)?,
            "judge" => self.args.judge = Some(value.function()?),
            "cases" => self.args.cases = value.strings()?,
            "runs" => self.args.options.runs = value.count()?,
            "pass" => {
                let text = value.string()?;
                self.args.options.pass = Pass::parse(&text)?;
                self.pass = Some(text);
            }
            "gate" => self.args.options.gate = Gate::parse(&value.string()?)?,
            "timeout" => self.args.options.timeout_ms = options::timeout(&value.string()?)?,
            "session" => self.args.session = Some(value.string()?),
            "flavor" => self.args.runtime.flavor = Some(options::flavor(value.string()?)?),
            "worker_threads" => self.args.runtime.worker_threads = Some((value.count()?, name.span())),
            _ => self.args.krate = Some(value.path()?),
        }
        Ok(())
    }

    fn criteria(&mut self, name: &Ident, criteria: Criteria) -> syn::Result<()> {
        if !matches!(self.args.criteria, Criteria::Beside) {
            return Err(error(
                name.span(),
                "`config` and `criteria` exclude each other",
                "put all criteria into the file, or all of them into `criteria(...)`",
            ));
        }
        self.args.criteria = criteria;
        Ok(())
    }

    /// Checks what only makes sense together.
    fn finish(self) -> Args {
        let Self { args, pass, path_seen, diagnostics, .. } = self;
        if !path_seen {
            diagnostics.error(
                Span::call_site(),
                "the path of an eval set is missing",
                r#"name the file, relative to the folder of `Cargo.toml`: `#[eval_set("evals/weather.evalset.json")]`"#,
            );
        }
        if let (Some(text), Pass::AtLeast(least)) = (pass, args.options.pass)
            && least > args.options.runs
        {
            let runs = args.options.runs;
            diagnostics.error(
                text.span(),
                format!("`pass` asks for {least} passing runs of {runs}"),
                format!("say `runs = {least}` or more, or ask for fewer"),
            );
        }
        args.runtime.check(diagnostics);
        args
    }
}

impl Runtime {
    /// Whether the tests need tokio's multi-threaded runtime.
    pub(crate) fn is_multi_thread(&self) -> bool {
        self.flavor.as_ref().is_some_and(|flavor| flavor.value() == "multi_thread")
    }

    fn check(&self, diagnostics: &mut Diagnostics) {
        if let (Some((_, span)), false) = (self.worker_threads, self.is_multi_thread()) {
            diagnostics.error(
                span,
                "`worker_threads` has no effect on one thread",
                r#"add `flavor = "multi_thread"`, or leave `worker_threads` out"#,
            );
        }
    }
}

fn unknown_option(name: &Ident) -> syn::Error {
    let key = name.to_string();
    let names: Vec<&str> = OPTIONS.iter().map(|(known, _)| *known).collect();
    let help = match eval_format::suggest(&key, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the options are {}", code_list(&names)),
    };
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

/// Whether a literal comes first, also one that a macro was given as `$path:literal`: that arrives in
/// invisible brackets.
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
