//! JSON Schemas of the files, generated from the tables by which the reader checks files.

mod descriptions;
mod expect;
mod parts;
mod rules;

use eval_support::key_case::camel;

use self::descriptions::description;
use self::parts::{NUMBER, any_of, array, described, list, object, pattern, required, type_of};
use crate::conventions::FileKind;
use crate::metric::METRICS;
use crate::model::EvalCase;
use crate::model_faults::ModelFaults;
use crate::schema::{
    EVAL_CASE, EVAL_CONFIG, EVAL_SET_ANY_CASE, Extra, Field, LLM_BACKED_USER_SIMULATOR, Model, OLD_CASE,
    OLD_SESSION, OLD_TURN, RECORDING, Type, criterion,
};
use crate::value::{Map, Value};

/// The JSON Schema of a kind of file, for editors: draft 7, which VS Code and `JetBrains` know.
///
/// ```
/// use eval_format::conventions::FileKind;
///
/// let schema = eval_format::json_schema(FileKind::Set);
/// let case = schema.as_object().unwrap().get("definitions").unwrap().as_object().unwrap().get("eval_case").unwrap();
/// assert!(case.to_string().contains("\"conversation\""));
/// ```
///
/// A file without errors is valid by its schema. The reverse does not hold: only the reader checks rules that concern several
/// places, such as equal ids, and keys that resemble one of those where ADK takes any key.
pub fn json_schema(kind: FileKind) -> Value {
    let mut definitions = Definitions::default();
    let (title, root) = match kind {
        FileKind::Set => {
            let set = definitions.reference(&EVAL_SET_ANY_CASE);
            let list = |definitions: &mut Definitions, model| definitions.value(&Type::Models(model));
            let forms = vec![set, list(&mut definitions, &OLD_TURN), list(&mut definitions, &OLD_CASE)];
            ("An eval set of ADK, or a file of its older forms", forms)
        }
        FileKind::Config => {
            ("A config: the criteria of eval sets", vec![definitions.reference(&EVAL_CONFIG)])
        }
        FileKind::Session => {
            ("The initial session of a test file", vec![definitions.reference(&OLD_SESSION)])
        }
        FileKind::Recording => ("A recording of judges", vec![definitions.reference(&RECORDING)]),
        // What is below `tools` is MCP's.
        FileKind::ToolList => {
            let list = object([("type", "object".into()), ("required", Value::Array(vec!["tools".into()]))]);
            let answer =
                object([("type", "object".into()), ("required", Value::Array(vec!["result".into()]))]);
            ("Declarations of tools: the answer of an MCP server to `tools/list`", vec![list, answer])
        }
    };
    let made = definitions.0.into_iter().map(|(_, name, schema)| (name, schema));
    let of_expect = (kind == FileKind::Set).then(expect::definitions).into_iter().flatten();
    let made = made.chain(of_expect.map(|(name, schema)| (name.to_owned(), schema))).collect();
    object([
        ("$schema", "http://json-schema.org/draft-07/schema#".into()),
        ("title", title.into()),
        ("anyOf", Value::Array(root)),
        ("definitions", Value::Object(Map::from_unique(made))),
    ])
}

/// The schemas of the models that were met so far, each with its name.
#[derive(Default)]
struct Definitions(Vec<(&'static Model, String, Value)>);

impl Definitions {
    /// A reference to the schema of a model. The first reference generates the schema.
    fn reference(&mut self, model: &'static Model) -> Value {
        let found = self.0.iter().find(|(known, ..)| std::ptr::eq(*known, model));
        let name = match found {
            Some((_, name, _)) => name.clone(),
            None => self.define(model),
        };
        object([("$ref", format!("#/definitions/{name}").into())])
    }

    fn define(&mut self, model: &'static Model) -> String {
        let words: String = model.what.replace('`', "");
        let plain = words.split(' ').skip(1).collect::<Vec<_>>().join("_");
        let equal = self.0.iter().filter(|(known, ..)| known.what == model.what).count();
        let name = if equal == 0 { plain } else { format!("{plain}_{}", equal + 1) };
        let at = self.0.len();
        // Added before its schema is generated, since models may be recursive.
        self.0.push((model, name.clone(), Value::Null));
        self.0[at].2 = self.model(model);
        name
    }

    fn model(&mut self, model: &'static Model) -> Value {
        let mut properties = Map::new();
        let mut spelt = Vec::new();
        for field in model.fields {
            let names = spellings(model, field);
            let schema = self.field(model, field);
            for name in &names[1..] {
                let mut other = schema.clone();
                if let Value::Object(other) = &mut other {
                    other.insert("doNotSuggest", true);
                }
                properties.insert(name.as_str(), other);
            }
            properties.insert(names[0].as_str(), schema);
            match names.as_slice() {
                _ if !field.required && (model.what, field.name) != CRITERIA => {}
                [only] => spelt.push(required(only)),
                several => spelt.push(any_of(several.iter().map(|name| required(name)).collect())),
            }
        }
        for field in model.ours {
            properties.insert(field.name, self.field(model, field));
        }
        if std::ptr::eq(model, &raw const EVAL_CASE) {
            spelt.push(rules::turns_or_scenario());
            rules::no_expectations().for_each(|(key, refused)| drop(properties.insert(key, refused)));
            let own = [
                (EvalCase::EXPECT_KEY, expect::EXAMPLE, expect::turns()),
                (EvalCase::CRITERIA_KEY, r#"{"response_match_score": 0.5}"#, expect::criteria()),
            ];
            for (key, example, schema) in own {
                properties.insert(
                    key,
                    described(description(model.what, key), example, vec![schema, type_of("null")]),
                );
            }
            for (key, faults) in
                [(EvalCase::TOOLS_KEY, tool_faults()), (EvalCase::MODELS_KEY, model_faults())]
            {
                properties.insert(key, described(description(model.what, key), "", vec![faults]));
            }
        }
        let mut entries = vec![
            ("type".to_owned(), "object".into()),
            ("title".to_owned(), model.what.into()),
            ("properties".to_owned(), Value::Object(properties)),
        ];
        if !spelt.is_empty() {
            entries.push(("allOf".to_owned(), Value::Array(spelt)));
        }
        let is_closed = model.extra.is_forbidden() || model.extra == Extra::Refused;
        if is_closed {
            entries.push(("additionalProperties".to_owned(), false.into()));
        }
        // A key that begins with `_` is a comment.
        if is_closed && !model.extra.is_forbidden() {
            entries.push(("patternProperties".to_owned(), object([("^_", true.into())])));
        }
        Value::Object(Map::from_unique(entries))
    }

    fn field(&mut self, model: &'static Model, field: &Field) -> Value {
        let mut options = vec![match ((model.what, field.name), &field.kind) {
            (CRITERIA, _) => self.criteria(),
            (CASES | TURNS, Type::Models(item)) => object([
                ("type", "array".into()),
                ("items", self.reference(item)),
                ("minItems", 1_i64.into()),
            ]),
            (SIMULATOR, _) => self.reference(&LLM_BACKED_USER_SIMULATOR),
            ((model, key), kind) => rules::values(model, key).unwrap_or_else(|| self.value(kind)),
        }];
        if field.nullable {
            options.push(type_of("null"));
        }
        described(description(model.what, field.name), field.example, options)
    }

    fn criteria(&mut self) -> Value {
        let mut properties = Map::new();
        for info in METRICS {
            let options = vec![self.value(&Type::Float), self.reference(criterion(Some(info)))];
            properties.insert(info.name, described(Some(info.summary), "", options));
        }
        let custom = any_of(vec![self.value(&Type::Float), self.reference(criterion(None))]);
        object([
            ("type", "object".into()),
            ("minProperties", 1_i64.into()),
            ("properties", Value::Object(properties)),
            ("additionalProperties", custom),
        ])
    }

    fn value(&mut self, kind: &Type) -> Value {
        match kind {
            Type::String | Type::Bytes => type_of("string"),
            Type::Float | Type::PythonFloat => {
                any_of(vec![type_of("number"), type_of("boolean"), pattern(NUMBER)])
            }
            Type::Int => any_of(vec![type_of("integer"), type_of("boolean"), pattern(NUMBER)]),
            Type::Bool => {
                any_of(vec![type_of("boolean"), object([("enum", list([0_i64, 1]))]), pattern(TRUTH)])
            }
            // google.genai adds any other string as a new member.
            Type::Enum(members) => {
                any_of(vec![object([("enum", list(members.iter().copied()))]), type_of("string")])
            }
            Type::Choice { values, numbered } => {
                let mut options = vec![object([("enum", list(values.iter().copied()))])];
                options.extend(values.iter().map(|value| pattern(&lenient(value))));
                if *numbered {
                    let positions = (0_i64..).zip(*values).map(|(at, _)| at);
                    options.push(object([("enum", list(positions))]));
                    options.push(pattern(NUMBER));
                    options.push(type_of("boolean"));
                }
                any_of(options)
            }
            Type::Literal(text) => object([("const", (*text).into())]),
            Type::Object => type_of("object"),
            Type::Any => true.into(),
            Type::Model(model) => self.reference(model),
            Type::List(item) => array(self.value(item)),
            Type::Models(model) => array(self.reference(model)),
            Type::Dict(model) => {
                object([("type", "object".into()), ("additionalProperties", self.reference(model))])
            }
            Type::AuthorsAndParts(model) => {
                let pair = Value::Array(vec![type_of("string"), array(self.reference(model))]);
                array(object([
                    ("type", "array".into()),
                    ("items", pair),
                    ("minItems", 2_i64.into()),
                    ("maxItems", 2_i64.into()),
                ]))
            }
            Type::Either(first, second) => any_of(vec![self.reference(first), self.reference(second)]),
            Type::EmptyOr(inner) => {
                let empty =
                    object([("enum", Value::Array(vec!["".into(), Value::Array(Vec::new()), object([])]))]);
                any_of(vec![self.value(inner), empty])
            }
            Type::Named(model, names) => {
                any_of(vec![object([("enum", list(names.iter().copied()))]), self.reference(model)])
            }
        }
    }
}

/// The model and the name of the key that a config needs, although ADK has criteria for configs without it.
const CRITERIA: (&str, &str) = ("a config", "criteria");

/// The model and the name of the key that holds the cases. The reader requires at least one case.
const CASES: (&str, &str) = ("an eval set", "eval_cases");

/// The model and the name of the key that holds the turns. The reader requires at least one turn.
const TURNS: (&str, &str) = ("an eval case", "conversation");

/// The model and the name of the key with the settings of the simulated user. In the table it is an object of
/// any keys.
const SIMULATOR: (&str, &str) = ("a config", "user_simulator_config");

/// The faults of a case's tools: turns, calls, faults.
fn tool_faults() -> Value {
    let keys = object([
        ("error", type_of("object")),
        ("raises", type_of("string")),
        ("response", true.into()),
        ("after", object([("type", "number".into()), ("exclusiveMinimum", 0_i64.into())])),
        ("state", type_of("object")),
    ]);
    let fault = object([
        ("type", "object".into()),
        ("properties", keys),
        ("additionalProperties", false.into()),
        ("minProperties", 1_i64.into()),
    ]);
    let fault = any_of(vec![object([("const", "never".into())]), fault]);
    let by = |pattern, values| {
        object([
            ("type", "object".into()),
            ("patternProperties", object([(pattern, values)])),
            ("additionalProperties", false.into()),
        ])
    };
    any_of(vec![by("^[1-9][0-9]*$", by(".#[1-9][0-9]*$", fault)), type_of("null")])
}

/// The faults of a case's models: calls, each with a fault.
fn model_faults() -> Value {
    let closed = |required: &[&str], properties: Value| {
        object([
            ("type", "object".into()),
            ("required", list(required.iter().copied())),
            ("properties", properties),
            ("patternProperties", object([("^_", true.into())])),
            ("additionalProperties", false.into()),
        ])
    };
    let at_least = |kind: &str, least: i64| object([("type", kind.into()), ("minimum", least.into())]);
    let of_one = |key: &'static str, value: Value| closed(&[key], object([(key, value)]));
    let events = || of_one("events", at_least("integer", 0));
    let status =
        object([("type", "integer".into()), ("minimum", 400_i64.into()), ("maximum", 599_i64.into())]);
    let fault = any_of(vec![
        object([("enum", list(["reset", "cut", "error_in_stream", "malformed_arguments", "empty"]))]),
        closed(&["status"], object([("status", status), ("retry_after", at_least("number", 0))])),
        of_one("hang", at_least("number", 0)),
        of_one("cut", events()),
        of_one("error_in_stream", events()),
        of_one("truncate", object([("const", "max_tokens".into())])),
    ]);
    let place = object([("turn", at_least("integer", 1)), ("call", at_least("integer", 1))]);
    let item = closed(&["at", "fault"], object([("at", closed(&["turn", "call"], place)), ("fault", fault)]));
    any_of(vec![of_one(ModelFaults::LIST_KEY, array(item)), type_of("null")])
}

/// The texts that pydantic takes for true and false.
const TRUTH: &str =
    "^([tT]([rR][uU][eE])?|[fF]([aA][lL][sS][eE])?|[yY]([eE][sS])?|[nN][oO]?|[oO]([nN]|[fF][fF])|0|1)$";

/// The pattern of a choice that may be written in any case, with `-` and blanks for `_`.
fn lenient(value: &str) -> String {
    let mut pattern = r"^\s*".to_owned();
    for c in value.chars() {
        match c {
            '_' => pattern.push_str("[-_ ]"),
            c => pattern.push_str(&format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase())),
        }
    }
    pattern + r"\s*$"
}

/// The spellings of a key. Editors suggest the first.
fn spellings(model: &Model, field: &Field) -> Vec<String> {
    let mut names = vec![field.name.to_owned()];
    let other = camel(field.name);
    if model.camel && other != field.name {
        names.push(other);
    }
    names.extend(field.alias.map(str::to_owned));
    names
}

#[cfg(test)]
mod tests {
    use super::descriptions::DESCRIPTIONS;
    use super::*;
    use crate::schema::EVAL_CASE;

    #[test]
    fn no_key_is_described_that_no_schema_has() {
        let text: String = [FileKind::Set, FileKind::Config, FileKind::Session, FileKind::Recording]
            .map(|kind| json_schema(kind).to_string())
            .concat();
        for (model, keys) in DESCRIPTIONS {
            for (key, means) in *keys {
                let described = format!("\"{key}\":{{\"description\":{}", Value::from(*means));
                assert!(text.contains(&described), "{model} has no key `{key}`: {described}");
            }
        }
    }

    #[test]
    fn each_key_of_sets_and_configs_is_described() {
        let models =
            [&EVAL_SET_ANY_CASE, &EVAL_CASE, &EVAL_CONFIG, &LLM_BACKED_USER_SIMULATOR, &OLD_TURN, &OLD_CASE];
        let criteria = METRICS.iter().map(|info| criterion(Some(info)));
        for model in models.into_iter().chain(criteria) {
            for field in model.fields.iter().chain(model.ours) {
                assert!(description(model.what, field.name).is_some(), "{}: {}", model.what, field.name);
            }
        }
    }
}
