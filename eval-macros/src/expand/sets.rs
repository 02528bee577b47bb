//! The sets as values of eval-core's types: texts, ranges and options.

use std::path::Path;

use eval_format::__private::{LISTING_BEGIN, LISTING_END};
use eval_format::conventions::file_stem;
use eval_format::reader::SetFormat;
use proc_macro2::TokenStream;
use quote::quote;

use super::names::{Names, include, option};
use crate::args::Args;
use crate::configs::ConfigSource;
use crate::models::Models;
use crate::package::Target;
use crate::recordings::Recording;
use crate::suite::{SuiteCase, SuiteSet};

pub(super) struct Sets<'a> {
    pub(super) args: &'a Args,
    pub(super) names: &'a Names<'a>,
    /// The target of cargo that the tests are in.
    pub(super) target: &'a Target,
    /// The file of faults, relative to the package.
    pub(super) faults: Option<&'a str>,
    /// Whether the tests are ignored unless they are asked for.
    pub(super) ignored: bool,
}

impl Sets<'_> {
    pub(super) fn source(&self, set: &SuiteSet) -> TokenStream {
        let private = &self.names.private;
        let SuiteSet { file, read, absent, .. } = set;
        let relative = &file.relative;
        // Relative to where cargo builds, so that a terminal can open it; never a path of the machine.
        let shown = if Path::new(&file.shown).is_absolute() { relative } else { &file.shown };
        let (text, target) = (include(relative), self.target());
        // Sets with errors are not expanded, so the fallback is never used.
        let typed = read.checked.set.as_ref();
        let eval_set_id = typed.map_or(file_stem(relative), |set| set.eval_set_id.as_str());
        let form = match read.checked.form {
            SetFormat::EvalSet => quote!(EvalSet),
            SetFormat::TestFile => quote!(TestFile),
            SetFormat::OldEvalSet => quote!(OldEvalSet),
        };
        let prefix = self.prefix(&[], set);
        let cases = set.cases.iter().map(|case| self.case(case, &prefix));
        let models = option(set.models.as_ref().map(|models| self.models(models, &set.cases)));
        let listing = self.listing(set);
        let config = self.config(&set.config);
        let session = option(set.session.as_ref().map(|file| self.file(file)));
        let faults = option(self.faults.map(|file| self.file(file)));
        let model_faults = option(self.args.model_faults.as_ref().map(|faults| {
            let json = faults.json();
            quote!(#json)
        }));
        let tool_list = option(set.tool_list.as_ref().map(|file| self.file(file)));
        let options = self.args.running.tokens(private);
        let recording = option(set.recording.as_ref().map(|recording| self.recording(recording, &set.cases)));
        quote! {
            #private::SetSource {
                manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
                package: ::core::env!("CARGO_PKG_NAME"),
                target: #target,
                file: #relative,
                shown: #shown,
                text: #text,
                form: #private::SetFormat::#form,
                eval_set_id: #eval_set_id,
                cases: &[#(#cases),*],
                listing: #listing,
                config: #config,
                session: #session,
                faults: #faults,
                model_faults: #model_faults,
                tool_list: #tool_list,
                absent: &[#(#absent),*],
                options: #options,
                recording: #recording,
                models: #models,
            }
        }
    }

    fn target(&self) -> TokenStream {
        let private = &self.names.private;
        let target = match self.target {
            Target::Unknown => quote!(Unknown),
            Target::Lib => quote!(Lib),
            Target::Bin(name) => quote!(Bin(#name)),
            Target::Test(krate) => quote!(Test(#krate)),
            Target::Bench(krate) => quote!(Bench(#krate)),
        };
        quote!(#private::Target::#target)
    }

    /// The path of the module with the tests of a set, for a variant of a matrix with these modules.
    fn prefix(&self, variant: &[String], set: &SuiteSet) -> String {
        let function = self.names.function.to_string();
        let names =
            [function.as_str()].into_iter().chain(variant.iter().chain(&set.modules).map(String::as_str));
        names.collect::<Vec<_>>().join("::")
    }

    /// The names of the tests, for readers of the test binary.
    fn listing(&self, set: &SuiteSet) -> TokenStream {
        let head = format!("{LISTING_BEGIN}{} ", if self.ignored { "ignored" } else { "run" });
        let variants = self.args.matrix.iter().flat_map(|matrix| &matrix.variants);
        let mut prefixes: Vec<String> =
            variants.map(|variant| self.prefix(&variant.modules().collect::<Vec<_>>(), set)).collect();
        if self.args.matrix.is_none() {
            prefixes.push(self.prefix(&[], set));
        }
        let mut tests = String::new();
        for prefix in prefixes {
            for case in &set.cases {
                tests.extend(["\n", &prefix, "::", &case.name]);
            }
        }
        let tests = format!("{tests}\n{LISTING_END}");
        quote!(::core::concat!(#head, ::core::module_path!(), #tests))
    }

    fn case(&self, case: &SuiteCase, prefix: &str) -> TokenStream {
        let private = &self.names.private;
        let span = &case.span;
        let eval_id = &span.eval_id;
        let test = format!("{prefix}::{}", case.name);
        let (start, end) = (span.range.start, span.range.end);
        // The compiler takes no file of four billion lines either.
        let line = u32::try_from(span.line).unwrap_or(u32::MAX);
        let column = u32::try_from(span.column).unwrap_or(u32::MAX);
        quote! {
            #private::CaseSource {
                eval_id: #eval_id, test: #test, start: #start, end: #end, line: #line, column: #column,
            }
        }
    }

    fn config(&self, config: &ConfigSource) -> TokenStream {
        let private = &self.names.private;
        match config {
            ConfigSource::Default => quote!(#private::ConfigSource::Default),
            ConfigSource::Inline(json) => quote!(#private::ConfigSource::Inline(#json)),
            ConfigSource::File(file) => {
                let file = self.file(file);
                quote!(#private::ConfigSource::File(#file))
            }
        }
    }

    fn recording(&self, recording: &Recording, cases: &[SuiteCase]) -> TokenStream {
        let private = &self.names.private;
        let file = &recording.file;
        let exists = recording.questions.is_some();
        let text = option(exists.then(|| include(file)));
        let questions = cases.iter().filter_map(|case| {
            let eval_id = &case.span.eval_id;
            let ranges = recording.of_case(eval_id).iter().map(|(start, end)| quote!((#start, #end)));
            (ranges.len() > 0).then(|| quote!((#eval_id, &[#(#ranges),*])))
        });
        quote!(#private::RecordingSource { file: #file, text: #text, questions: &[#(#questions),*] })
    }

    fn models(&self, models: &Models, cases: &[SuiteCase]) -> TokenStream {
        let private = &self.names.private;
        let shared = self.file(&models.shared());
        let cases = cases.iter().filter_map(|case| {
            let eval_id = &case.span.eval_id;
            let file = self.file(&models.of_case(eval_id)?);
            Some(quote!((#eval_id, #file)))
        });
        quote!(#private::ModelsSource { shared: #shared, cases: &[#(#cases),*] })
    }

    fn file(&self, relative: &str) -> TokenStream {
        let private = &self.names.private;
        let text = include(relative);
        quote!(#private::FileSource { file: #relative, text: #text })
    }
}
