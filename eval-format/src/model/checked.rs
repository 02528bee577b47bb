//! The typed model from checked records. This cannot fail, since the walker has refused everything else.

use super::{
    AgentDetails, AppDetails, Content, ConversationScenario, EvalCase, EvalSet, FunctionCall,
    FunctionResponse, IntermediateData, Invocation, InvocationEvent, Part, Persona, Rubric, SessionInput,
    UsageMetadata, UserBehavior, UserPersona,
};
use crate::schema::{Checked, Record, records};
use crate::value::Value;

impl From<Record> for EvalSet {
    fn from(mut record: Record) -> Self {
        Self {
            eval_set_id: record.text("eval_set_id").unwrap_or_default(),
            name: record.text("name"),
            description: record.text("description"),
            eval_cases: record.records("eval_cases").unwrap_or_default(),
            creation_timestamp: record.float("creation_timestamp").unwrap_or_default(),
        }
    }
}

impl From<Record> for EvalCase {
    fn from(mut record: Record) -> Self {
        Self {
            eval_id: record.text("eval_id").unwrap_or_default(),
            conversation: record.records("conversation").unwrap_or_default(),
            conversation_scenario: record.record("conversation_scenario"),
            session_input: record.record("session_input"),
            creation_timestamp: record.float("creation_timestamp").unwrap_or_default(),
            rubrics: record.records("rubrics"),
            final_session_state: record.map("final_session_state").unwrap_or_default(),
            extra: record.extra,
        }
    }
}

impl From<Record> for ConversationScenario {
    fn from(mut record: Record) -> Self {
        let user_persona = match record.take("user_persona") {
            Some(Checked::Record(persona)) => Some(Persona::Own(persona.into())),
            Some(Checked::Value(Value::String(name))) => Persona::named(&name),
            _ => None,
        };
        Self {
            starting_prompt: record.text("starting_prompt").unwrap_or_default(),
            conversation_plan: record.text("conversation_plan").unwrap_or_default(),
            user_persona,
        }
    }
}

impl From<Record> for UserPersona {
    fn from(mut record: Record) -> Self {
        Self {
            id: record.text("id").unwrap_or_default(),
            description: record.text("description").unwrap_or_default(),
            behaviors: record.records("behaviors").unwrap_or_default(),
        }
    }
}

impl From<Record> for UserBehavior {
    fn from(mut record: Record) -> Self {
        Self {
            name: record.text("name").unwrap_or_default(),
            description: record.text("description").unwrap_or_default(),
            behavior_instructions: record.texts("behavior_instructions").unwrap_or_default(),
            violation_rubrics: record.texts("violation_rubrics").unwrap_or_default(),
        }
    }
}

impl From<Record> for SessionInput {
    fn from(mut record: Record) -> Self {
        Self {
            app_name: record.text("app_name").unwrap_or_default(),
            user_id: record.text("user_id").unwrap_or_default(),
            session_id: record.text("session_id"),
            state: record.map("state").unwrap_or_default(),
            extra: record.extra,
        }
    }
}

impl From<Record> for Rubric {
    fn from(mut record: Record) -> Self {
        let content = record.take("rubric_content").and_then(Checked::into_record);
        Self {
            rubric_id: record.text("rubric_id").unwrap_or_default(),
            text_property: content.and_then(|mut content| content.text("text_property")),
            description: record.text("description"),
            kind: record.text("type"),
        }
    }
}

impl From<Record> for Invocation {
    fn from(mut record: Record) -> Self {
        Self {
            invocation_id: record.text("invocation_id").unwrap_or_default(),
            user_content: record.record("user_content").unwrap_or_default(),
            final_response: record.record("final_response"),
            intermediate_data: record.record("intermediate_data"),
            creation_timestamp: record.float("creation_timestamp").unwrap_or_default(),
            duration: record.float("duration"),
            model_duration: record.float("model_duration"),
            tool_duration: record.float("tool_duration"),
            rubrics: record.records("rubrics"),
            app_details: record.record("app_details"),
        }
    }
}

impl From<Record> for IntermediateData {
    fn from(mut record: Record) -> Self {
        if record.model.fields.iter().any(|field| field.name == "invocation_events") {
            return Self::Events(record.records("invocation_events").unwrap_or_default());
        }
        Self::Tools {
            tool_uses: record.records("tool_uses").unwrap_or_default(),
            tool_responses: record.records("tool_responses").unwrap_or_default(),
            intermediate_responses: authors_and_parts(
                record.list("intermediate_responses").unwrap_or_default(),
            ),
        }
    }
}

fn authors_and_parts(pairs: Vec<Checked>) -> Vec<(String, Vec<Part>)> {
    let mut made = Vec::with_capacity(pairs.len());
    for pair in pairs {
        if let Checked::Pair(pair) = pair
            && let (Checked::Value(Value::String(author)), Checked::List(parts)) = *pair
        {
            made.push((author, records(parts)));
        }
    }
    made
}

impl From<Record> for InvocationEvent {
    fn from(mut record: Record) -> Self {
        Self {
            author: record.text("author").unwrap_or_default(),
            content: record.record("content"),
            usage_metadata: record.record("usage_metadata"),
            model_version: record.text("model_version"),
            grounding_metadata: record.map("grounding_metadata"),
        }
    }
}

impl From<Record> for Content {
    fn from(mut record: Record) -> Self {
        Self { parts: record.records("parts"), role: record.text("role") }
    }
}

impl From<Record> for Part {
    fn from(mut record: Record) -> Self {
        Self {
            text: record.text("text"),
            thought: record.bool("thought"),
            function_call: record.record("function_call"),
            function_response: record.record("function_response"),
            other: record.rest(),
        }
    }
}

impl From<Record> for FunctionCall {
    fn from(mut record: Record) -> Self {
        Self {
            id: record.text("id"),
            args: record.map("args"),
            name: record.text("name"),
            other: record.rest(),
        }
    }
}

impl From<Record> for FunctionResponse {
    fn from(mut record: Record) -> Self {
        Self {
            id: record.text("id"),
            name: record.text("name"),
            response: record.map("response"),
            other: record.rest(),
        }
    }
}

impl From<Record> for UsageMetadata {
    /// A count beyond 64 bits, which ADK accepts, stays in `other`.
    fn from(mut record: Record) -> Self {
        Self {
            prompt_token_count: record.int("prompt_token_count"),
            candidates_token_count: record.int("candidates_token_count"),
            total_token_count: record.int("total_token_count"),
            cached_content_token_count: record.int("cached_content_token_count"),
            thoughts_token_count: record.int("thoughts_token_count"),
            tool_use_prompt_token_count: record.int("tool_use_prompt_token_count"),
            other: record.rest(),
        }
    }
}

impl From<Record> for AppDetails {
    fn from(mut record: Record) -> Self {
        let Some(Checked::Dict(agents)) = record.take("agent_details") else { return Self::default() };
        let mut agent_details = Vec::with_capacity(agents.len());
        for (name, agent) in agents {
            if let Checked::Record(agent) = agent {
                agent_details.push((name, agent.into()));
            }
        }
        Self { agent_details }
    }
}

impl From<Record> for AgentDetails {
    fn from(mut record: Record) -> Self {
        Self {
            name: record.text("name").unwrap_or_default(),
            instructions: record.text("instructions").unwrap_or_default(),
            tool_declarations: match record.value("tool_declarations") {
                Some(Value::Array(declarations)) => declarations,
                _ => Vec::new(),
            },
        }
    }
}
