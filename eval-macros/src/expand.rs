//! From the plan to tokens: the function as written, and a module of tests beside it.
//!
//! A test is one call. What the tests of a file share stands in one static; the function that holds
//! it is a neighbour of the user's function, so that paths mean what they mean there.

use std::collections::BTreeMap;
use std::path::Path;

use eval_format::{Form, file_stem};
use proc_macro2::{Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr};

use crate::args::{Args, Gate, Options, Pass};
use crate::diagnostics::error;
use crate::item::{Item, path_text};
use crate::plan::{Plan, PlannedCase, PlannedConfig, PlannedSet};

/// The function, and a line that checks its type wherever the tests are not compiled.
///
/// A function that is left alone, for want of sound arguments, is checked everywhere.
pub(crate) fn function(args: &Args, item: &Item, is_alone: bool) -> TokenStream {
    if !item.is_free {
        return quote!(#item);
    }
    let name = item.name();
    let private = private_path(args, name.span());
    // One span throughout: the error about a wrong type stands on the name of the function.
    let check = quote_spanned!(name.span()=> #private::check(#name););
    let metrics = args.metrics.iter().map(|metric| {
        let path = &metric.path;
        let metric = metric_value(args, path);
        quote!(let _ = #metric;)
    });
    let judge = args.judge.iter().map(|path| {
        let at_path = private_path(args, path.span());
        quote_spanned!(path.span()=> #at_path::check_judge(#path);)
    });
    let outside_tests = (!is_alone).then(|| quote!(#[cfg(not(test))]));
    quote! {
        #item
        #outside_tests
        const _: fn() = || { #check #(#metrics)* #(#judge)* };
    }
}

/// The tests.
pub(crate) fn tests(args: &Args, item: &Item, plan: &Plan) -> TokenStream {
    let expansion =
        Expansion { args, item, private: private_path(args, Span::call_site()), helper: helper_name(item) };
    let helper = expansion.helper_function(plan);
    let module = expansion.module(plan);
    quote!(#helper #module)
}

/// What the expansion of one attribute has in common.
struct Expansion<'a> {
    args: &'a Args,
    item: &'a Item,
    private: TokenStream,
    helper: Ident,
}

/// Where the generated code finds its counterpart. Of tokens with different spans the compiler would
/// underline the whole attribute.
fn private_path(args: &Args, span: Span) -> TokenStream {
    if let Some(path) = &args.krate {
        quote_spanned!(span=> #path::__private)
    } else {
        quote_spanned!(span=> ::eval_core::__private)
    }
}

fn helper_name(item: &Item) -> Ident {
    format_ident!("__evalset_{}", item.name(), span = Span::call_site())
}

/// The metric made of a function; the error about a wrong type stands on its path.
fn metric_value(args: &Args, path: &syn::Path) -> TokenStream {
    let span = path.span();
    let private = private_path(args, span);
    quote_spanned!(span=> #private::metric(#path))
}

/// The judge that a function makes; the error about a wrong type stands on its path.
fn judge_value(args: &Args, path: &syn::Path) -> TokenStream {
    let span = path.span();
    let private = private_path(args, span);
    quote_spanned!(span=> #private::judge(#path))
}

/// `super::` as often as the tests are deep, then a name.
fn from_inside(depth: usize, name: &Ident) -> TokenStream {
    let up = std::iter::repeat_n(quote!(super::), depth);
    quote!(#(#up)* #name)
}

impl Expansion<'_> {
    /// The function that holds the sets and has a case of one run.
    fn helper_function(&self, plan: &Plan) -> TokenStream {
        let Self { private, helper, .. } = self;
        let name = self.item.name();
        let at_name = private_path(self.args, name.span());
        let count = plan.sets.len();
        let sets = plan.sets.iter().map(|set| self.set(set));
        // Written by one hand: where the name comes through `macro_rules!`, its locals are not ours. No name of
        // the user's: a function or a static `case` would be hidden by ours, or not let us have it.
        let [set, case] = ["__set", "__case"].map(|local| Ident::new(local, name.span()));
        let run = quote_spanned!(name.span()=>
            #at_name::run(&__SETS[#set], #case, ::core::module_path!(), #name)
        );
        quote! {
            #[cfg(test)]
            #[doc(hidden)]
            fn #helper(#set: ::core::primitive::usize, #case: ::core::primitive::usize) -> #private::CaseTest {
                static __SETS: [#private::TestSet; #count] = [#(#sets),*];
                #run
            }
        }
    }

    fn set(&self, set: &PlannedSet) -> TokenStream {
        let private = &self.private;
        let PlannedSet { file, read, .. } = set;
        let relative = &file.relative;
        // Relative to where cargo builds, so that a terminal can open it; never a path of the machine.
        let shown = if Path::new(&file.shown).is_absolute() { relative } else { &file.shown };
        let text = include(relative);
        // A set has no typed form where a case that `cases` leaves out cannot be run.
        let typed = read.checked.set.as_ref();
        let eval_set_id = typed.map_or(file_stem(relative), |set| set.eval_set_id.as_str());
        let form = match read.checked.form {
            Form::EvalSet => quote!(EvalSet),
            Form::TestFile => quote!(TestFile),
            Form::OldEvalSet => quote!(OldEvalSet),
        };
        let prefix = std::iter::once(self.item.name().to_string()).chain(set.modules.iter().cloned());
        let prefix = prefix.collect::<Vec<_>>().join("::");
        let cases = set.cases.iter().map(|case| self.case(case, &prefix));
        let config = self.config(&set.config);
        let session = if let Some(file) = &set.session {
            let file = self.file(file);
            quote!(::core::option::Option::Some(#file))
        } else {
            quote!(::core::option::Option::None)
        };
        let recording = if set.may_ask {
            let recording = self.recording(set);
            quote!(::core::option::Option::Some(#recording))
        } else {
            quote!(::core::option::Option::None)
        };
        let absent = &set.absent;
        let options = self.options();
        let metrics = self.args.metrics.iter().map(|metric| {
            let (name, path) = (&metric.name, &metric.path);
            let metric = metric_value(self.args, path);
            quote!((#name, || #metric))
        });
        let judge = if let Some(path) = &self.args.judge {
            let judge = judge_value(self.args, path);
            quote!(::core::option::Option::Some(|| #judge))
        } else {
            quote!(::core::option::Option::None)
        };
        quote! {
            #private::TestSet {
                source: #private::SetSource {
                    manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
                    package: ::core::env!("CARGO_PKG_NAME"),
                    file: #relative,
                    shown: #shown,
                    text: #text,
                    form: #private::Form::#form,
                    eval_set_id: #eval_set_id,
                    cases: &[#(#cases),*],
                    config: #config,
                    session: #session,
                    absent: &[#(#absent),*],
                    options: #options,
                    recording: #recording,
                },
                metrics: &[#(#metrics),*],
                judge: #judge,
            }
        }
    }

    fn case(&self, case: &PlannedCase, prefix: &str) -> TokenStream {
        let private = &self.private;
        let place = &case.place;
        let eval_id = &place.eval_id;
        let test = format!("{prefix}::{}", case.name);
        let (start, end) = (place.range.start, place.range.end);
        // A file of four billion lines does not fit into the compiler either.
        let line = u32::try_from(place.line).unwrap_or(u32::MAX);
        let column = u32::try_from(place.column).unwrap_or(u32::MAX);
        quote! {
            #private::CaseSource {
                eval_id: #eval_id, test: #test, start: #start, end: #end, line: #line, column: #column,
            }
        }
    }

    fn config(&self, config: &PlannedConfig) -> TokenStream {
        let private = &self.private;
        match config {
            PlannedConfig::Default => quote!(#private::ConfigSource::Default),
            PlannedConfig::Inline(json) => quote!(#private::ConfigSource::Inline(#json)),
            PlannedConfig::File(file) => {
                let file = self.file(file);
                quote!(#private::ConfigSource::File(#file))
            }
        }
    }

    fn recording(&self, set: &PlannedSet) -> TokenStream {
        let private = &self.private;
        let recording = &set.recording;
        let file = &recording.file;
        let (text, cases) = if recording.questions.is_some() {
            let text = include(file);
            let cases = set.cases.iter().map(|case| {
                let questions = recording.of_case(&case.place.eval_id).iter();
                let questions = questions.map(|(start, end)| quote!((#start, #end)));
                quote!(&[#(#questions),*])
            });
            (quote!(::core::option::Option::Some(#text)), quote!(#(#cases),*))
        } else {
            (quote!(::core::option::Option::None), TokenStream::new())
        };
        quote!(#private::RecordingSource { file: #file, text: #text, cases: &[#cases] })
    }

    fn file(&self, relative: &str) -> TokenStream {
        let private = &self.private;
        let text = include(relative);
        quote!(#private::FileSource { file: #relative, text: #text })
    }

    fn options(&self) -> TokenStream {
        let private = &self.private;
        let Options { runs, pass, gate, timeout_ms } = self.args.options;
        let pass = match pass {
            Pass::Mean => quote!(Mean),
            Pass::All => quote!(All),
            Pass::Any => quote!(Any),
            Pass::AtLeast(least) => quote!(AtLeast(#least)),
        };
        let gate = match gate {
            Gate::Mean => quote!(Mean),
            Gate::EveryTurn => quote!(EveryTurn),
        };
        quote! {
            #private::Options {
                runs: #runs,
                pass: #private::Pass::#pass,
                gate: #private::Gate::#gate,
                timeout_ms: #timeout_ms,
            }
        }
    }

    /// The module of tests, named after the function.
    fn module(&self, plan: &Plan) -> TokenStream {
        let mut root = Module::default();
        for (at, set) in plan.sets.iter().enumerate() {
            root.below(&set.modules).sets.push((at, set));
        }
        let name = self.item.name();
        let tests = self.tests(&root, 1);
        let is_current = plan.pattern.as_ref().map(|pattern| self.is_current(pattern, plan));
        // Only where it is needed: a crate may forbid the lint, and then nobody can allow it.
        let is_styled = is_snake_case(&name.to_string()) && root.is_snake_case();
        let styled = (!is_styled).then(|| quote!(#[allow(non_snake_case, reason = "generated")]));
        let module = quote! {
            #[cfg(test)]
            #styled
            mod #name { #tests #is_current }
        };
        self.with_runtime(module)
    }

    /// The tests of one module and of those in it. What stands in a test is checked and compiled once
    /// per case, so it is the least that will do: one call that is not generic, awaited.
    fn tests(&self, module: &Module<'_>, depth: usize) -> TokenStream {
        let helper = from_inside(depth, &self.helper);
        let attributes = self.test_attributes();
        let mut tokens = TokenStream::new();
        for (set, planned) in &module.sets {
            for (case, planned) in planned.cases.iter().enumerate() {
                let name = Ident::new(&planned.name, Span::call_site());
                tokens.extend(quote! {
                    #attributes
                    async fn #name() { #helper(#set, #case).await }
                });
            }
        }
        for (name, inner) in &module.inner {
            let name = Ident::new(name, Span::call_site());
            let inner = self.tests(inner, depth + 1);
            tokens.extend(quote!(mod #name { #inner }));
        }
        tokens
    }

    fn test_attributes(&self) -> TokenStream {
        let private = &self.private;
        let tokio = LitStr::new(&path_text(&quote!(#private::tokio)), Span::call_site());
        let flavor = self.args.runtime.flavor.iter().map(|flavor| quote!(, flavor = #flavor));
        let threads = self.args.runtime.worker_threads.iter().map(|(count, _)| {
            let count = Literal::u32_unsuffixed(*count);
            quote!(, worker_threads = #count)
        });
        let moved: &[Attribute] = &self.item.case_attributes;
        quote! {
            #[#private::tokio::test(crate = #tokio #(#flavor)* #(#threads)*)]
            #(#moved)*
        }
    }

    /// The test that fails when the files are no longer those compiled in.
    fn is_current(&self, pattern: &str, plan: &Plan) -> TokenStream {
        let private = &self.private;
        let files = plan.sets.iter().map(|set| &set.file.relative);
        quote! {
            #[::core::prelude::v1::test]
            fn is_current() {
                #private::is_current(::core::env!("CARGO_MANIFEST_DIR"), #pattern, &[#(#files),*]);
            }
        }
    }

    /// Asks for the feature that the runtime needs, which only eval-core can see: its macro stands
    /// for the first part where it has the feature, else for the second.
    fn with_runtime(&self, module: TokenStream) -> TokenStream {
        let private = &self.private;
        match &self.args.runtime.flavor {
            Some(flavor) if self.args.runtime.is_multi_thread() => {
                let error = error(
                    flavor.span(),
                    "`flavor = \"multi_thread\"` needs the feature `multi-thread` of `eval-core`",
                    "in `Cargo.toml`: `eval-core = { version = \"..\", features = [\"multi-thread\"] }`",
                );
                let error = error.to_compile_error();
                quote!(#private::multi_thread! { { #module } { #error } })
            }
            _ => module,
        }
    }
}

/// A module on its way: its tests by set, and the modules in it.
#[derive(Default)]
struct Module<'p> {
    sets: Vec<(usize, &'p PlannedSet)>,
    inner: BTreeMap<&'p str, Module<'p>>,
}

impl<'p> Module<'p> {
    fn below(&mut self, path: &'p [String]) -> &mut Self {
        path.iter().fold(self, |module, name| module.inner.entry(name).or_default())
    }

    /// Whether the compiler finds nothing to say about the names in it: ids keep their case.
    fn is_snake_case(&self) -> bool {
        let mut tests = self.sets.iter().flat_map(|(_, set)| &set.cases);
        tests.all(|case| is_snake_case(&case.name))
            && self.inner.iter().all(|(name, inner)| is_snake_case(name) && inner.is_snake_case())
    }
}

fn is_snake_case(name: &str) -> bool {
    !name.chars().any(char::is_uppercase) && !name.trim_matches('_').contains("__")
}

/// The text of a file, tracked by the compiler, without a path of this machine.
fn include(relative: &str) -> TokenStream {
    quote!(::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #relative)))
}

#[cfg(test)]
mod tests;
