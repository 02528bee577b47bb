//! Messages, calls and what else of ADK stands in a transcript.
//!
//! Not in ADK's saved form, which leaves out keys that ADK does not know: metrics may look at them.

use eval_format::{
    AgentDetails, AppDetails, Content, FunctionCall, FunctionResponse, Part, Rubric, UsageMetadata,
};

use super::json::fields;

fields!(Content { role, parts });
fields!(Part { text, thought, function_call, function_response, other });
fields!(FunctionCall { id, name, args, other });
fields!(FunctionResponse { id, name, response, other });
fields!(UsageMetadata {
    prompt_token_count,
    candidates_token_count,
    total_token_count,
    cached_content_token_count,
    thoughts_token_count,
    tool_use_prompt_token_count,
    other,
});
fields!(AppDetails { agent_details });
fields!(AgentDetails { name, instructions, tool_declarations });
fields!(Rubric { rubric_id, text_property, description, kind });
