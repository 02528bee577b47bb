//! Messages, calls and the other types of ADK that a transcript holds.
//!
//! Their form is not the one that ADK saves, which leaves out keys that ADK does not know: metrics may read those keys.

use eval_format::{
    AgentDetails, AppDetails, Content, FunctionCall, FunctionResponse, Part, Rubric, UsageMetadata,
};

use super::fields::fields;

fields!(Content from default { role, parts });
fields!(Part from default { text, thought, function_call, function_response, other });
fields!(FunctionCall from default { id, name, args, other });
fields!(FunctionResponse from default { id, name, response, other });
fields!(UsageMetadata from default {
    prompt_token_count,
    candidates_token_count,
    total_token_count,
    cached_content_token_count,
    thoughts_token_count,
    tool_use_prompt_token_count,
    other,
});
fields!(AppDetails from default { agent_details });
fields!(AgentDetails from default { name, instructions, tool_declarations });
fields!(Rubric from default { rubric_id, text_property, description, kind });
