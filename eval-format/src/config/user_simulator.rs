//! The `user_simulator_config` of a config: which simulator, and how it is set up.

use super::instructions::{InstructionTemplate, InstructionsError, TemplateVariable};
use super::model_config;
use crate::model::saved::{Saved, object, setters, some};
use crate::options::DEFAULT_MODEL;
use crate::problem::{Problem, ProblemCode};
use crate::schema::{LLM_BACKED_USER_SIMULATOR, Place, Type, Walker, wrong_type};
use crate::syntax::{Entry, Node};
use crate::value::{Map, Value};

/// The options of the simulated user of a scenario: its model, its number of messages, its instructions.
///
/// ```
/// use eval_format::{Criterion, EvalConfig};
/// use eval_format::config::UserSimulatorConfig;
///
/// let simulator = UserSimulatorConfig::default().model("gemini-2.5-pro").max_allowed_invocations(8);
/// let config = EvalConfig::default()
///     .with("trajectory_single_tool_use", Criterion::new(0.5).with_tool_name("book"))
///     .with_user_simulator(simulator);
/// assert_eq!(config.checked(&[])?.user_simulator_config.map(|simulator| simulator.model).as_deref(), Some("gemini-2.5-pro"));
/// # Ok::<(), eval_format::Problems>(())
/// ```
///
/// Defaults are ADK's, except for `model_configuration`: ADK asks Gemini for 10,240 tokens of thoughts, an option that
/// other models do not have. Here it is empty by default.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UserSimulatorConfig {
    /// The model; `gemini-2.5-flash` by default.
    pub model: String,
    /// The configuration of the model: `temperature`, `max_output_tokens` and so on.
    pub model_configuration: Map,
    /// The most messages that the user may send, the starting prompt included; 20 by default. A negative number means
    /// the highest limit of the simulator: 1000 in eval-core.
    pub max_allowed_invocations: i64,
    /// Instructions for the model in place of the built-in ones; see [`InstructionTemplate`].
    pub custom_instructions: Option<String>,
    /// Whether the model sees the agent's tool calls and their results.
    pub include_function_calls: bool,
    /// Keys that ADK does not know and keeps.
    pub extra: Map,
}

impl Default for UserSimulatorConfig {
    fn default() -> Self {
        Self {
            model: DEFAULT_MODEL.to_owned(),
            model_configuration: Map::new(),
            max_allowed_invocations: DEFAULT_INVOCATIONS,
            custom_instructions: None,
            include_function_calls: false,
            extra: Map::new(),
        }
    }
}

const DEFAULT_INVOCATIONS: i64 = 20;
/// With fewer messages the simulated user never gets to end the conversation.
const FEWEST_INVOCATIONS: i64 = 2;

impl UserSimulatorConfig {
    setters! {
        /// Sets the model.
        model(model: impl Into<String>) { model = model.into() }

        /// Sets an option of the model.
        model_option(key: impl Into<String>, value: impl Into<Value>) { model_configuration.insert(key, value) }

        /// Sets the most messages that the user may send, the starting prompt included; see
        /// [the field](Self::max_allowed_invocations).
        max_allowed_invocations(most: i64) { max_allowed_invocations = most }

        /// Sets instructions for the model in place of the built-in ones; see [`InstructionTemplate`].
        custom_instructions(template: impl Into<String>) { custom_instructions = Some(template.into()) }

        /// Sets whether the model sees the agent's tool calls and their results.
        include_function_calls(include: bool) { include_function_calls = include }

        /// Sets a key that ADK does not know and keeps.
        with_extra(key: impl Into<String>, value: impl Into<Value>) { extra.insert(key, value) }
    }

    /// The value in a config, without options that have their default.
    pub fn to_value(&self) -> Value {
        let default = Self::default();
        let most = self.max_allowed_invocations;
        let fields = object([
            ("model", (self.model != default.model).then(|| self.model.saved())),
            ("model_configuration", some(&self.model_configuration)),
            ("max_allowed_invocations", (most != default.max_allowed_invocations).then(|| most.saved())),
            ("custom_instructions", some(&self.custom_instructions)),
            ("include_function_calls", self.include_function_calls.then(|| true.saved())),
        ]);
        // An extra key with the name of a field becomes a duplicate, which the reader refuses.
        Value::Object(Map::from_unique(fields.into_iter().chain(self.extra.clone()).collect()))
    }
}

/// Reads `user_simulator_config`. Without a `type` it is the simulator backed by a model.
pub(super) fn read(entry: &Entry<'_>, problems: &mut Vec<Problem>) -> Option<UserSimulatorConfig> {
    let place = &Place::Key(&Place::Root, &entry.key);
    let entries = entry.value.object()?;
    if let Some(kind) = entry.value.get("type").filter(|kind| !kind.value.is_null())
        && kind.value.string() != Some("llm_backed")
    {
        problems.push(other_simulator(&kind.value, &Place::Key(place, "type")));
        return None;
    }
    let model = &LLM_BACKED_USER_SIMULATOR;
    let mut record = Walker { problems }.record(&entry.value, model, place)?;
    let default = UserSimulatorConfig::default();
    let invocations = record.take("max_allowed_invocations");
    let config = UserSimulatorConfig {
        model: record.take("model").unwrap_or(default.model),
        model_configuration: record
            .take("model_configuration")
            .map(model_config::snake_case)
            .unwrap_or_default(),
        max_allowed_invocations: invocations.map_or(default.max_allowed_invocations, |most| saturated(&most)),
        custom_instructions: record.take("custom_instructions"),
        include_function_calls: record.take("include_function_calls").unwrap_or_default(),
        extra: record.extra,
    };
    let at = |name: &str| model.entry(entries, name);
    if let (Some(template), Some(entry)) = (&config.custom_instructions, at("custom_instructions")) {
        problems.extend(check_instructions(template, &entry.value, &Place::Key(place, &entry.key)));
    }
    if let Some(entry) = at("model_configuration") {
        let place = &Place::Key(place, &entry.key);
        model_config::check(&entry.value, "the simulated user's model configuration", place, problems);
    }
    if let Some(entry) = at("max_allowed_invocations") {
        problems.extend(check_limit(&config, &entry.value, &Place::Key(place, &entry.key)));
    }
    if let Some(entry) = at("model").filter(|_| config.model.trim().is_empty()) {
        problems.push(no_model(&entry.value, &Place::Key(place, &entry.key)));
    }
    Some(config)
}

/// A number of messages in 64 bits. A larger number becomes the largest one. A smaller one becomes -1, which
/// means the highest limit.
fn saturated(most: &Value) -> i64 {
    most.as_i64().unwrap_or_else(|| if most.as_f64().is_some_and(|most| most < 0.0) { -1 } else { i64::MAX })
}

fn other_simulator(kind: &Node<'_>, place: &Place<'_>) -> Problem {
    if kind.string() == Some("llm_audio") {
        let message = "the audio user simulator is not available in this version";
        return place
            .error(ProblemCode::NotAvailable, kind.range.clone(), message)
            .label("speaks instead of writing")
            .help("write `\"llm_backed\"` to simulate the user in text");
    }
    let simulators = Type::Choice { values: &["llm_backed", "llm_audio"], numbered: false };
    wrong_type(kind, &simulators, "", place)
}

fn no_model(node: &Node<'_>, place: &Place<'_>) -> Problem {
    place
        .error(ProblemCode::WrongType, node.range.clone(), "the simulated user has no model")
        .label("an empty name")
        .help(format!("name one, or remove the key: the default is `{DEFAULT_MODEL}`"))
}

/// The problem of a limit that is too low. In ADK a limit of 0 gives no turns at all, and with 1 the conversation stops
/// before the user can end it.
fn check_limit(config: &UserSimulatorConfig, node: &Node<'_>, place: &Place<'_>) -> Option<Problem> {
    let most = config.max_allowed_invocations;
    let message = match most {
        FEWEST_INVOCATIONS.. | ..0 => return None,
        0 => "a conversation of no messages checks nothing",
        _ => "with one message, the starting prompt, no simulated user can end the conversation",
    };
    let found = place.error(ProblemCode::WrongType, node.range.clone(), message);
    Some(found.label("too few").help(format!(
        "write at least {FEWEST_INVOCATIONS} (20 is the default, -1 is without end); a single turn is a case with a \
         `conversation`"
    )))
}

/// ADK rejects instructions that leave one of these out.
const REQUIRED: [TemplateVariable; 3] =
    [TemplateVariable::StopSignal, TemplateVariable::ConversationPlan, TemplateVariable::ConversationHistory];

fn check_instructions(template: &str, node: &Node<'_>, place: &Place<'_>) -> Option<Problem> {
    let problem = |message: String, help: String| {
        let found = place.error(ProblemCode::WrongType, node.range.clone(), message);
        Some(found.label("a template").help(help))
    };
    let instructions = match InstructionTemplate::parse(template) {
        Ok(instructions) => instructions,
        Err(error) => {
            return problem(format!("in the custom instructions, {error}"), InstructionsError::help());
        }
    };
    let mut missing = Vec::from(REQUIRED);
    missing.retain(|variable| !instructions.uses(*variable));
    if missing.is_empty() {
        return None;
    }
    problem(
        format!("the custom instructions do not use {}", TemplateVariable::list(&missing)),
        "they are filled in for each turn; name each in the text".to_owned(),
    )
}
