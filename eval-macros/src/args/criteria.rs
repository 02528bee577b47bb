//! `config = "..."` and `criteria(...)`: where criteria come from. `criteria(...)` is a config in the attribute.
//!
//! ```text
//! entries := entry,*
//! entry   := name = value | name(entries)
//! value   := number | string | bool | [item,*] | at_most(number) | at_least(number)
//! item    := value | (entries)
//! ```
//!
//! It becomes the JSON text of a config, which is checked like a config file. A map from places in
//! that text back to tokens puts each problem on the token that caused it.

use std::ops::Range;

use eval_format::{Map, Problem, Value};
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser};
use syn::{Ident, Lit, LitStr, Token};

use crate::diagnostics::{Diagnostics, error};

const GRAMMAR: &str = r#"write `name = threshold`, or `name(threshold = 0.8, match_type = "IN_ORDER")` for more than a threshold"#;

#[derive(Default)]
pub(crate) enum Criteria {
    /// A `test_config.json` beside each set, else ADK's own.
    #[default]
    Beside,
    /// `config = "..."`.
    File(LitStr),
    /// `criteria(...)`.
    Inline(InlineConfig),
}

impl Criteria {
    /// Sets where the criteria come from. It is an error if an option did so before.
    pub(super) fn replace(&mut self, name: &Ident, criteria: Self) -> syn::Result<()> {
        if !matches!(self, Self::Beside) {
            return Err(error(
                name.span(),
                "`config` and `criteria` exclude each other",
                "put all criteria into the file, or all of them into `criteria(...)`",
            ));
        }
        *self = criteria;
        Ok(())
    }
}

/// The criteria as a config file would hold them.
#[derive(Debug)]
pub(crate) struct InlineConfig {
    pub(crate) json: String,
    /// The word `criteria`.
    span: Span,
    /// The parts of the text, each with the span of the tokens that wrote it. Inner parts precede outer ones.
    places: Vec<(Range<usize>, Span)>,
}

impl InlineConfig {
    pub(crate) fn parse(span: Span, tokens: TokenStream) -> syn::Result<Self> {
        let mut config = Self { json: String::from(r#"{"criteria": "#), span, places: Vec::new() };
        (|input: ParseStream<'_>| config.object(input)).parse2(tokens).map_err(|error| {
            // At the end of the input the parser has no span but the call site.
            if error.to_string().starts_with("unexpected end") { wrong(span) } else { error }
        })?;
        config.json.push('}');
        Ok(config)
    }

    /// A list in the same grammar, as the value of a key.
    pub(super) fn list(key: &str, span: Span, tokens: TokenStream) -> syn::Result<Self> {
        let mut list = Self { json: format!("{{\"{key}\": "), span, places: Vec::new() };
        (|input: ParseStream<'_>| list.value(input)).parse2(tokens)?;
        list.json.push('}');
        Ok(list)
    }

    /// Reports a problem of the text on the tokens that caused it.
    pub(crate) fn report(&self, problem: &Problem, diagnostics: &mut Diagnostics) {
        let help = match (&problem.help, problem.label.is_empty()) {
            (Some(help), _) => as_arguments(help),
            (None, false) => problem.label.clone(),
            (None, true) => GRAMMAR.to_owned(),
        };
        diagnostics.error(self.span_of(&problem.range), &problem.message, help);
    }

    /// The tokens that wrote the smallest part around the range.
    pub(crate) fn span_of(&self, range: &Range<usize>) -> Span {
        self.places
            .iter()
            .filter(|(place, _)| place.start <= range.start && range.end <= place.end)
            .min_by_key(|(place, _)| place.len())
            .map_or(self.span, |(_, span)| *span)
    }

    fn object(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let mut keys: Vec<String> = Vec::new();
        self.json.push('{');
        while !input.is_empty() {
            if !keys.is_empty() {
                self.json.push_str(", ");
            }
            let (key, span) = name(input)?;
            if keys.contains(&key) {
                return Err(error(span, format!("`{key}` is given twice"), "keep one of the two"));
            }
            self.string(&key, span);
            self.json.push_str(": ");
            self.assigned(input, span)?;
            keys.push(key);
            if !input.is_empty() {
                input.parse::<Token![,]>().map_err(|error| wrong(error.span()))?;
            }
        }
        self.json.push('}');
        Ok(())
    }

    /// The value after a name.
    fn assigned(&mut self, input: ParseStream<'_>, name: Span) -> syn::Result<()> {
        if input.peek(syn::token::Paren) {
            let (start, content) = (self.json.len(), parenthesized(input)?);
            self.object(&content)?;
            self.places.push((start..self.json.len(), name));
            return Ok(());
        }
        input.parse::<Token![=]>().map_err(|_| wrong(name))?;
        self.value(input)
    }

    fn value(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let (start, span) = (self.json.len(), input.span());
        if input.peek(syn::token::Bracket) {
            let items;
            syn::bracketed!(items in input);
            self.array(&items)?;
        } else {
            if input.peek(Ident) && input.peek2(syn::token::Paren) {
                self.bound(input)?;
                self.places.push((start..self.json.len(), span));
                return Ok(());
            }
            let negative = input.parse::<Option<Token![-]>>()?.is_some();
            let literal: Lit = input.parse().map_err(|_| wrong(span))?;
            let text = json_of(&literal, negative).ok_or_else(|| wrong(span))?;
            self.json.push_str(&text);
        }
        self.places.push((start..self.json.len(), span));
        Ok(())
    }

    /// `at_most(5)`: a criterion with a direction.
    fn bound(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let direction: Ident = input.parse()?;
        if !["at_most", "at_least"].iter().any(|known| direction == known) {
            return Err(wrong(direction.span()));
        }
        self.json.push_str("{\"threshold\": ");
        let threshold = parenthesized(input)?;
        self.value(&threshold)?;
        self.json.push_str(&format!(", \"direction\": \"{direction}\"}}"));
        if threshold.is_empty() { Ok(()) } else { Err(wrong(threshold.span())) }
    }

    fn array(&mut self, items: ParseStream<'_>) -> syn::Result<()> {
        self.json.push('[');
        while !items.is_empty() {
            self.item(items)?;
            if !items.is_empty() {
                items.parse::<Token![,]>().map_err(|error| wrong(error.span()))?;
                self.json.push_str(", ");
            }
        }
        self.json.push(']');
        Ok(())
    }

    /// A value or an object: rubrics are objects in a list.
    fn item(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if !input.peek(syn::token::Paren) {
            return self.value(input);
        }
        let (start, span) = (self.json.len(), input.span());
        let content = parenthesized(input)?;
        self.object(&content)?;
        self.places.push((start..self.json.len(), span));
        Ok(())
    }

    fn string(&mut self, text: &str, span: Span) {
        let start = self.json.len();
        self.json.push_str(&Value::from(text).to_string());
        self.places.push((start..self.json.len(), span));
    }
}

/// A help text of a config file with its JSON written as in the attribute.
fn as_arguments(help: &str) -> String {
    let mut text = String::new();
    for (at, part) in help.split('`').enumerate() {
        // The text between two backticks is code.
        let json = (at % 2 == 1).then(|| Value::parse(&format!("{{{part}}}")).ok()).flatten();
        let written = json.as_ref().and_then(Value::as_object).filter(|object| !object.is_empty());
        let written = written.map(arguments);
        text.push_str(if at > 0 { "`" } else { "" });
        text.push_str(written.as_deref().unwrap_or(part));
    }
    text
}

/// `name = 0.8`, `name(threshold = 0.8)`.
fn arguments(object: &Map) -> String {
    let assigned = object.iter().map(|(key, value)| match value {
        Value::Object(inner) => format!("{key}({})", arguments(inner)),
        other => format!("{key} = {}", argument(other)),
    });
    assigned.collect::<Vec<_>>().join(", ")
}

fn argument(value: &Value) -> String {
    match value {
        Value::Object(object) => format!("({})", arguments(object)),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(argument).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn parenthesized(input: ParseStream<'_>) -> syn::Result<ParseBuffer<'_>> {
    let content;
    syn::parenthesized!(content in input);
    Ok(content)
}

/// A name, in quotes if it is not an identifier.
fn name(input: ParseStream<'_>) -> syn::Result<(String, Span)> {
    if input.peek(LitStr) {
        let text: LitStr = input.parse()?;
        return Ok((text.value(), text.span()));
    }
    let ident = Ident::parse_any(input).map_err(|error| wrong(error.span()))?;
    Ok((ident.unraw().to_string(), ident.span()))
}

/// The literal as JSON; `None` if JSON cannot express it.
fn json_of(literal: &Lit, negative: bool) -> Option<String> {
    let sign = if negative { "-" } else { "" };
    match literal {
        Lit::Int(int) if int.suffix().is_empty() => Some(format!("{sign}{}", int.base10_digits())),
        Lit::Float(float) if float.suffix().is_empty() => {
            let value: f64 = float.base10_parse().ok()?;
            // `Debug` writes the shortest text that reads back as the same number.
            value.is_finite().then(|| format!("{sign}{value:?}"))
        }
        Lit::Str(text) if !negative => Some(Value::from(text.value()).to_string()),
        Lit::Bool(flag) if !negative => Some(flag.value.to_string()),
        _ => None,
    }
}

fn wrong(span: Span) -> syn::Error {
    error(span, "this is not a criterion", GRAMMAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(source: &str) -> syn::Result<String> {
        InlineConfig::parse(Span::call_site(), source.parse().unwrap()).map(|config| config.json)
    }

    #[test]
    fn criteria_become_the_json_of_a_config() {
        for (source, expected) in [
            ("", r#"{"criteria": {}}"#),
            ("a = 1.0", r#"{"criteria": {"a": 1.0}}"#),
            ("a = 1, b = 0.5,", r#"{"criteria": {"a": 1, "b": 0.5}}"#),
            (
                "a = -0.5, b = 1_0, c = 1., d = 0x10",
                r#"{"criteria": {"a": -0.5, "b": 10, "c": 1.0, "d": 16}}"#,
            ),
            (
                r#"a(threshold = 0.8, match_type = "IN_ORDER", ignore_args = true)"#,
                r#"{"criteria": {"a": {"threshold": 0.8, "match_type": "IN_ORDER", "ignore_args": true}}}"#,
            ),
            (
                r#"a(forbidden_tools = ["x", "y"], judge(model = "m"))"#,
                r#"{"criteria": {"a": {"forbidden_tools": ["x", "y"], "judge": {"model": "m"}}}}"#,
            ),
            (
                r#"a(rubrics = [(rubric_id = "x", rubric_content(text_property = "y")), 1])"#,
                r#"{"criteria": {"a": {"rubrics": [{"rubric_id": "x", "rubric_content": {"text_property": "y"}}, 1]}}}"#,
            ),
            ("a = at_most(5)", r#"{"criteria": {"a": {"threshold": 5, "direction": "at_most"}}}"#),
            ("a = at_least(-0.5)", r#"{"criteria": {"a": {"threshold": -0.5, "direction": "at_least"}}}"#),
            (r#""a-b" = 1, r#type = 2"#, r#"{"criteria": {"a-b": 1, "type": 2}}"#),
            (r#"a(b = "quote \" and \n")"#, r#"{"criteria": {"a": {"b": "quote \" and \n"}}}"#),
        ] {
            assert_eq!(json(source).unwrap(), expected, "{source}");
        }
    }

    #[test]
    fn anything_else_is_an_error_with_the_grammar() {
        for source in [
            "a",
            "a =",
            "a = b",
            "a = up_to(5)",
            "a = at_most()",
            "a = at_most(1 2)",
            "a = -\"x\"",
            "= 1",
            "a = 1 b = 2",
            "a = 1e999",
            "a = 0.5f32",
            "a = [1 2]",
        ] {
            let message = json(source).expect_err(source).to_string();
            assert!(message.contains("write `name = threshold`"), "{source}: {message}");
        }
        assert!(json("a = 1, a = 2").unwrap_err().to_string().contains("`a` is given twice"));
    }

    #[test]
    fn help_for_a_file_is_written_as_in_the_attribute() {
        for (help, expected) in [
            (r#"add `"threshold": 1.0`"#, "add `threshold = 1.0`"),
            (r#"write `"a": 0.8` or `"a": {"threshold": 0.8}`"#, "write `a = 0.8` or `a(threshold = 0.8)`"),
            (r#"write `"a": [{"b": {"c": "x"}}, 1]`, as"#, r#"write `a = [(b(c = "x")), 1]`, as"#),
            ("did you mean `threshold`?", "did you mean `threshold`?"),
            (r#"did you mean `"IN_ORDER"`?"#, r#"did you mean `"IN_ORDER"`?"#),
            ("`", "`"),
            ("", ""),
        ] {
            assert_eq!(as_arguments(help), expected);
        }
    }

    #[test]
    fn a_problem_is_found_on_the_innermost_token() {
        let source = "metric(threshold = 0.8, mode = \"x\")";
        let config = InlineConfig::parse(Span::call_site(), source.parse().unwrap()).unwrap();
        let at = |part: &str| {
            let start = config.json.find(part).unwrap();
            config.span_of(&(start..start + part.len())).source_text()
        };
        assert_eq!(at("0.8").as_deref(), Some("0.8"));
        assert_eq!(at("\"mode\"").as_deref(), Some("mode"));
        assert_eq!(at("{\"threshold\": 0.8").as_deref(), Some("metric"));
    }
}
