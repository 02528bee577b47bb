//! What a span is: a call of a model or a tool, an agent, a workflow.

use super::view::{Class, Span, View};

impl View {
    /// The class of a span of this name; `None` if it has nothing to do with models, agents and tools.
    ///
    /// Names say nothing of spans, but of ADK's own.
    pub(super) fn class(&self, name: &str) -> Option<Class> {
        if self.is_ignored {
            return None;
        }
        if let Some(operation) = self.operation.as_deref() {
            return Some(match operation {
                "chat" | "generate_content" | "text_completion" => Class::Inference,
                "invoke_agent" => Class::Agent,
                "invoke_workflow" => Class::Workflow,
                "execute_tool" => Class::Tool,
                _ => Class::Other,
            });
        }
        match name {
            "call_llm" if self.is_adk => return Some(Class::Inference),
            "invocation" if self.is_adk => return Some(Class::Workflow),
            _ => {}
        }
        self.other_class.or_else(|| self.records_a_call.then_some(Class::Inference))
    }
}

impl Span {
    pub(super) fn class(&self) -> Option<Class> {
        self.view.as_ref()?.class(&self.name)
    }
}
