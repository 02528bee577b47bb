//! How users are simulated: what a config says about it.

use std::fmt;

use eval_format::config::{Instructions, InstructionsError, UserSimulatorConfig};
use eval_format::{Map, Value};

use crate::judge::JudgeRequest;

/// The most messages of a conversation whose config sets no limit.
const MOST_INVOCATIONS: usize = 1000;

/// How users are simulated: a config that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Simulation {
    /// What every question to the model has in common.
    pub(super) request: JudgeRequest,
    /// The most messages of the user. Without an end after so many, the conversation is an error.
    pub(super) most: usize,
    /// The prompt, if it is not the built-in one.
    pub(super) instructions: Option<Instructions>,
    /// Whether the user sees the tool calls of the agent.
    pub(super) include_function_calls: bool,
}

impl Simulation {
    /// Fails if the config asks for something that cannot be done.
    pub(crate) fn new(config: &UserSimulatorConfig) -> Result<Self, SimulationError> {
        let most = match config.max_allowed_invocations {
            0 => return Err(SimulationError::NoMessages),
            ..0 => MOST_INVOCATIONS,
            most => usize::try_from(most).unwrap_or(usize::MAX),
        };
        let instructions = config.custom_instructions.as_deref().map(Instructions::parse).transpose();
        let instructions = instructions.map_err(SimulationError::Instructions)?;
        let options = &config.model_configuration;
        let temperature = options.get("temperature").and_then(Value::as_f64);
        let rest: Map = options
            .iter()
            .filter(|(key, _)| temperature.is_none() || *key != "temperature")
            .map(|(key, value)| (key, value.clone()))
            .collect();
        Ok(Self {
            request: JudgeRequest {
                temperature,
                config: rest,
                ..JudgeRequest::new(config.model.as_str(), "")
            },
            most,
            instructions,
            include_function_calls: config.include_function_calls,
        })
    }
}

/// Why users cannot be simulated as a config says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SimulationError {
    /// The user may send no message.
    NoMessages,
    /// The prompt cannot be filled in.
    Instructions(InstructionsError),
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMessages => {
                f.write_str("`max_allowed_invocations` is 0: a conversation of no messages checks nothing")
            }
            Self::Instructions(error) => write!(f, "in `custom_instructions`, {error}"),
        }
    }
}
