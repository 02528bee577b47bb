//! What a span is: a call of a model or a tool, an agent, a workflow.

use super::view::{Class, Span, View};

/// ADK's name of a call of a model.
const ADK_MODEL: &str = "call_llm";

/// ADK's name of a turn.
const ADK_TURN: &str = "invocation";

impl Class {
    /// The class of an operation, by its name.
    pub(super) fn of_operation(name: &str) -> Self {
        match name {
            "chat" | "generate_content" | "text_completion" => Self::Inference,
            "invoke_agent" => Self::Agent,
            "invoke_workflow" => Self::Workflow,
            "execute_tool" => Self::Tool,
            _ => Self::Other,
        }
    }
}

impl View {
    /// The class of a span of this name; `None` if it has nothing to do with models, agents and tools.
    ///
    /// Names say nothing of spans, but of ADK's own and of tools.
    pub(super) fn class(&self, name: &str) -> Option<Class> {
        if self.is_ignored {
            return None;
        }
        if self.operation.is_some() {
            return self.operation;
        }
        match name {
            ADK_MODEL if self.is_adk => return Some(Class::Inference),
            ADK_TURN if self.is_adk => return Some(Class::Workflow),
            _ => {}
        }
        self.other_class.or_else(|| self.records_a_call.then_some(Class::Inference))
    }
}

impl Span {
    /// The name as far as it is kept. Of spans that say nothing of models, agents and tools only the scope can tell that the
    /// name means something, and it can stand after them.
    pub(super) fn kept_name(name: &str, is_viewed: bool) -> Box<str> {
        if is_viewed || matches!(name, ADK_MODEL | ADK_TURN) { name.into() } else { Box::default() }
    }

    pub(super) fn class(&self) -> Option<Class> {
        self.view.as_ref()?.class(&self.name)
    }
}
