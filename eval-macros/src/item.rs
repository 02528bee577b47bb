//! The function under the attribute.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, GenericParam, Ident, ReturnType, Signature, Type, Visibility};

use crate::diagnostics::{Diagnostics, error, error_on};
use crate::package::{Target, library_beside};
use crate::surroundings::Surroundings;

/// Attributes that make a test of a function.
const TEST_ATTRIBUTES: &[&str] = &["test", "test_case", "rstest", "bench"];

/// Attributes that hold for a whole test, as the crates `serial_test` and `ntest` have them. On the function they hold for its setup alone.
const WHOLE_TEST_ATTRIBUTES: &[&str] = &["serial", "parallel", "file_serial", "file_parallel", "timeout"];

/// The annotated function. Its body is not parsed: it may be half typed in an editor.
pub(crate) struct Item {
    attributes: Vec<Attribute>,
    /// `ignore` and `should_panic`, which belong on tests.
    pub(crate) case_attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: TokenStream,
    /// Whether its name alone is a value: it is not a method and not generic.
    pub(crate) is_free: bool,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let (case_attributes, attributes) = attributes
            .into_iter()
            .partition(|at| at.path().is_ident("ignore") || at.path().is_ident("should_panic"));
        Ok(Self {
            attributes,
            case_attributes,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
            is_free: true,
        })
    }
}

impl Item {
    /// Reads the function and reports its mistakes; `None` for any other item.
    pub(crate) fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Option<Self> {
        let parsed = syn::parse2::<Self>(tokens.clone()).map_err(|_| {
            error(
                tokens.into_iter().next().map_or_else(Span::call_site, |token| token.span()),
                "`#[eval_set]` on something that is not a function",
                "it goes on the function that sets up the agent: `async fn weather() -> impl Agent { .. }`",
            )
        });
        let mut item = diagnostics.ok(parsed)?;
        let before = diagnostics.len();
        item.check_place(Surroundings::of_attribute(), diagnostics);
        item.check_name(&Target::current(), diagnostics);
        item.check_signature(diagnostics);
        item.check_return_type(diagnostics);
        item.is_free = diagnostics.len() == before;
        item.take_test_attributes(diagnostics);
        Some(item)
    }

    /// Its name, which is also the name of the module of tests.
    pub(crate) fn name(&self) -> &Ident {
        &self.signature.ident
    }

    /// The expected text of `#[should_panic]`, as tokens of an `Option`; `None` without the attribute. The
    /// compiler checks the attribute.
    pub(crate) fn should_panic(&self) -> Option<TokenStream> {
        let attribute = self.case_attributes.iter().find(|at| at.path().is_ident("should_panic"))?;
        let text = match &attribute.meta {
            syn::Meta::Path(_) => None,
            syn::Meta::NameValue(named) => Some(named.value.clone()),
            syn::Meta::List(list) => list.parse_args::<syn::MetaNameValue>().ok().map(|named| named.value),
        };
        Some(match text {
            Some(text) => quote!(::core::option::Option::Some(#text)),
            None => quote!(::core::option::Option::None),
        })
    }

    /// Reports a place where no module of tests is allowed.
    fn check_place(&self, surroundings: Option<Surroundings>, diagnostics: &mut Diagnostics) {
        // `check_signature` reports a method with a receiver.
        if self.signature.receiver().is_some() {
            return;
        }
        let (headline, help) = match surroundings {
            None => return,
            Some(Surroundings::Impl) => (
                "`#[eval_set]` in an `impl`",
                "the tests are a module, which no `impl` can hold: move the function out of it",
            ),
            Some(Surroundings::Trait) => (
                "`#[eval_set]` in a trait",
                "the tests are a module, which no trait can hold: move the function out of it",
            ),
            Some(Surroundings::Body) => (
                "`#[eval_set]` in the body of a function",
                "no test runner sees the tests there: move the function out of it",
            ),
        };
        diagnostics.error(self.name().span(), headline, help);
    }

    /// Reports a name that is also the name of the package's library: the module of tests would hide the
    /// library.
    fn check_name(&self, target: &Target, diagnostics: &mut Diagnostics) {
        let name = self.name().unraw().to_string();
        if library_beside(target).is_some_and(|library| library == name) {
            diagnostics.error(
                self.name().span(),
                format!("`{name}` is the name of this package's library"),
                format!(
                    "the module of tests is named after the function, and would hide the library: \
                     call the function `{name}_cases`, say"
                ),
            );
        }
    }

    /// Reports `dyn Agent`, which is no type, with the remedy. Rustc would report it several times without
    /// one, so the tokens get `impl Agent` in its place.
    fn check_return_type(&mut self, diagnostics: &mut Diagnostics) {
        let ReturnType::Type(_, returned) = &mut self.signature.output else { return };
        if let (tokens, Some(span)) = with_impl_agent(returned.to_token_stream()) {
            diagnostics.error(
                span,
                "`dyn Agent` is no type, since the methods of an agent are `async`",
                "return `BoxAgent`, which holds any agent: `agent.boxed()` makes one",
            );
            **returned = Type::Verbatim(tokens);
        }
    }

    fn check_signature(&self, diagnostics: &mut Diagnostics) {
        if let Some(receiver) = self.signature.receiver() {
            diagnostics.error(
                receiver.self_token.span,
                "`#[eval_set]` on a method",
                "the tests call a free function: move it out of the `impl`",
            );
        }
        for parameter in &self.signature.generics.params {
            let (span, what) = match parameter {
                GenericParam::Type(parameter) => (parameter.ident.span(), "type"),
                GenericParam::Const(parameter) => (parameter.ident.span(), "const"),
                GenericParam::Lifetime(_) => continue,
            };
            diagnostics.error(
                span,
                format!("the function is generic over a {what} that no test could choose"),
                "make it a plain function that calls the generic one",
            );
        }
        for argument in &self.signature.inputs {
            if let syn::FnArg::Typed(argument) = argument
                && let Type::ImplTrait(generic) = &*argument.ty
            {
                diagnostics.error(
                    generic.impl_token.span,
                    "the argument is generic over a type that no test could choose",
                    "take `&EvalCase`, `EvalRun` or nothing",
                );
            }
        }
    }

    /// Reports and removes other test attributes. They would run the function by itself, or each case twice.
    fn take_test_attributes(&mut self, diagnostics: &mut Diagnostics) {
        self.attributes.retain(|attribute| {
            let Some(last) = attribute.path().segments.last() else { return true };
            let name = last.ident.to_string();
            if name == "eval_set" {
                diagnostics.error(
                    last.ident.span(),
                    "a second `#[eval_set]` on one function",
                    "name all files in one path (a glob or a directory), or write a second function",
                );
                return false;
            }
            let is_of_tests = WHOLE_TEST_ATTRIBUTES.contains(&name.as_str());
            if is_of_tests {
                diagnostics.push(error_on(
                    attribute.path(),
                    format!("`#[{}]` would hold for the setup of each test, and not for its run", path_text(attribute.path())),
                    "remove it: `timeout = \"30s\"` limits a turn, a lock in the agent keeps others out, and `--test-threads=1` \
                     runs one test at a time",
                ));
            }
            let is_test = TEST_ATTRIBUTES.contains(&name.as_str());
            if is_test {
                diagnostics.push(error_on(
                    attribute.path(),
                    format!("`#[{}]` and `#[eval_set]` on one function", path_text(attribute.path())),
                    "remove it: each case of the set is a tokio test already, \
                     and `flavor = \"multi_thread\"` gives it several threads",
                ));
            }
            !is_test && !is_of_tests
        });
    }
}

/// The type with `impl Agent` in place of each `dyn Agent`, also with a path, and the span of the first
/// `dyn`.
fn with_impl_agent(tokens: TokenStream) -> (TokenStream, Option<Span>) {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut first = None;
    for at in 0..tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(word) if word == "dyn" && is_path_of_agent(&tokens[at + 1..]) => {
                let span = word.span();
                first = first.or(Some(span));
                tokens[at] = Ident::new("impl", span).into();
            }
            TokenTree::Group(group) => {
                let (inner, found) = with_impl_agent(group.stream());
                first = first.or(found);
                tokens[at] = Group::new(group.delimiter(), inner).into();
            }
            _ => {}
        }
    }
    (tokens.into_iter().collect(), first)
}

/// Whether the tokens begin with a path whose last name is `Agent`.
fn is_path_of_agent(tokens: &[TokenTree]) -> bool {
    let path = tokens.iter().map_while(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        TokenTree::Punct(mark) if mark.as_char() == ':' => Some(String::new()),
        _ => None,
    });
    path.last().is_some_and(|name| name == "Agent")
}

/// A path as it is written, without spaces between its tokens.
pub(crate) fn path_text(path: &impl ToTokens) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

impl ToTokens for Item {
    /// The function as written, without the attributes that move to the cases.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for attribute in &self.attributes {
            attribute.to_tokens(tokens);
        }
        self.visibility.to_tokens(tokens);
        self.signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> (Option<Item>, Vec<String>) {
        let mut diagnostics = Diagnostics::default();
        let item = Item::parse(source.parse().unwrap(), &mut diagnostics);
        (item, diagnostics.messages())
    }

    #[test]
    fn ignore_and_should_panic_move_to_the_cases() {
        let (item, errors) = parse(
            "#[doc = \"x\"] #[ignore = \"paid\"] #[should_panic] #[allow(dead_code)] pub(crate) async fn f() -> A { a }",
        );
        let item = item.unwrap();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(item.case_attributes.len(), 2);
        let expected: TokenStream =
            "#[doc = \"x\"] #[allow(dead_code)] pub(crate) async fn f() -> A { a }".parse().unwrap();
        assert_eq!(item.to_token_stream().to_string(), expected.to_string());
    }

    #[test]
    fn should_panic_is_known_with_and_without_a_text() {
        for (attribute, expected) in [
            ("", None),
            ("#[ignore]", None),
            ("#[should_panic]", Some("::core::option::Option::None")),
            ("#[should_panic = \"x\"]", Some("::core::option::Option::Some(\"x\")")),
            ("#[should_panic(expected = \"x\")]", Some("::core::option::Option::Some(\"x\")")),
        ] {
            let (item, _) = parse(&format!("{attribute} fn f() -> A {{ a }}"));
            let found = item.unwrap().should_panic().map(|text| text.to_string().replace(' ', ""));
            assert_eq!(found.as_deref(), expected, "{attribute}");
        }
    }

    #[test]
    fn the_body_is_not_parsed() {
        let (item, errors) = parse("fn f() -> A { let x = ; foo. }");
        assert!(item.is_some() && errors.is_empty(), "{errors:?}");
    }

    #[test]
    fn what_no_test_could_call_is_rejected() {
        for (source, reason) in [
            ("struct S;", "not a function"),
            ("mod m {}", "not a function"),
            ("", "not a function"),
            ("fn f(&self) -> A {}", "on a method"),
            ("fn f<T>() -> T {}", "generic over a type"),
            ("fn f<const N: usize>() -> A {}", "generic over a const"),
            ("fn f(x: impl Into<String>) -> A {}", "argument is generic"),
            ("#[test] fn f() -> A {}", "on one function"),
            ("#[::core::prelude::v1::test] fn f() -> A {}", "on one function"),
            ("#[tokio::test] async fn f() -> A {}", "`#[tokio::test]` and `#[eval_set]`"),
            (
                "#[serial_test::serial(db)] fn f() -> A {}",
                "`#[serial_test::serial]` would hold for the setup",
            ),
            ("#[timeout(100)] fn f() -> A {}", "`#[timeout]` would hold for the setup"),
            ("#[eval_set(\"b\")] fn f() -> A {}", "second `#[eval_set]`"),
            ("fn f() -> Box<dyn Agent> {}", "`dyn Agent` is no type"),
            ("async fn f() -> Result<Box<dyn ::eval_core::Agent + Send>, E> {}", "`dyn Agent` is no type"),
            ("fn f() -> (u8, &'static dyn Agent) {}", "`dyn Agent` is no type"),
        ] {
            let errors = parse(source).1;
            assert!(errors.len() == 1 && errors[0].contains(reason), "{source}: {errors:?}");
        }
    }

    #[test]
    fn rustc_gets_to_read_a_type_instead_of_a_trait_object() {
        let item = parse("fn f() -> Result<(A, Box<dyn x::Agent + Send>), Box<dyn Error>> {}").0.unwrap();
        let expected = "fn f() -> Result<(A, Box<impl x::Agent + Send>), Box<dyn Error>> {}";
        let plain = |text: &str| text.replace(' ', "");
        assert_eq!(plain(&item.to_token_stream().to_string()), plain(expected));
    }

    #[test]
    fn other_traits_may_be_dyn() {
        for source in ["fn f() -> Box<dyn Error> {}", "fn f() -> Result<Agent, Box<dyn Error>> {}"] {
            assert!(parse(source).1.is_empty(), "{source}");
        }
    }

    #[test]
    fn a_place_without_modules_is_rejected() {
        let item = parse("fn f() -> A {}").0.unwrap();
        let method = parse("fn f(&self) -> A {}").0.unwrap();
        for (item, surroundings, expected) in [
            (&item, None, None),
            (&item, Some(Surroundings::Impl), Some("in an `impl`")),
            (&item, Some(Surroundings::Trait), Some("in a trait")),
            (&item, Some(Surroundings::Body), Some("in the body of a function")),
            (&method, Some(Surroundings::Impl), None),
        ] {
            let mut diagnostics = Diagnostics::default();
            item.check_place(surroundings, &mut diagnostics);
            let messages = diagnostics.messages().concat();
            assert!(expected.map_or(messages.is_empty(), |part| messages.contains(part)), "{messages}");
        }
    }

    #[test]
    fn a_lifetime_is_no_obstacle() {
        assert!(parse("fn f<'a>(case: &'a EvalCase) -> A {}").1.is_empty());
    }
}
