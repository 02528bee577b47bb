//! Descriptions of keys, for the JSON Schemas and for `docs/eval-set.md`.

use crate::metric::METRICS;

/// The description of a key of a model; `None` for most keys of google.genai, which people do not write by hand.
pub(super) fn description(model: &str, key: &str) -> Option<&'static str> {
    let of = |model: &str| {
        let (_, keys) = DESCRIPTIONS.iter().find(|(known, _)| *known == model)?;
        keys.iter().find(|(known, _)| *known == key).map(|(_, text)| *text)
    };
    let of_criterion = || {
        let mut fields = METRICS.iter().flat_map(|info| info.criterion);
        of(CRITERION).or_else(|| fields.find(|field| field.name == key).map(|field| field.doc))
    };
    of(model).or_else(|| model.starts_with(CRITERION).then(of_criterion)?)
}

/// The beginning of the names of all criteria: `` a criterion of `response_match_score` ``.
const CRITERION: &str = "a criterion";

#[rustfmt::skip]
pub(super) const DESCRIPTIONS: &[(&str, &[(&str, &str)])] = &[
    ("an eval set", &[
        ("eval_set_id", "The id of the set. ADK saves the set in a file of this name."),
        ("name", "A name to show. Nothing reads it."),
        ("description", "What the set is for. Nothing reads it."),
        ("eval_cases", "The cases. Each becomes a test."),
        ("creation_timestamp", "When ADK created the set, in seconds since 1970."),
    ]),
    ("an eval case", &[
        ("eval_id", "The id of the case, unlike all others in the set. The test is named after it."),
        ("conversation", "The turns: what the user says, and what the agent should do. Either this or `conversation_scenario`."),
        ("conversation_scenario", "A plan from which a model plays the user. Either this or `conversation`."),
        ("session_input", "The session in which the conversation takes place: its app, its user, its state."),
        ("creation_timestamp", "When ADK created the case, in seconds since 1970."),
        ("rubrics", "Statements about the whole conversation that a judge finds true or false."),
        ("final_session_state", "The session state after the last turn. The metric `final_session_state_match` compares it; ADK never reads it."),
        ("tags", "Words by which commands and the attribute select cases: `--tag smoke`, `cases = [\"tag:smoke\"]`. ADK keeps them."),
        ("_tools", "Faults of tools, by turn and call: `{\"1\": {\"search#1\": {\"raises\": \"down\"}}}`. They need golden tools."),
        ("_models", "Faults of models, by turn and call: `{\"faults\": [{\"at\": {\"turn\": 1, \"call\": 2}, \"fault\": \"reset\"}]}`. They need recorded calls."),
        ("_draft", "Marks the case as a draft that has to be accepted before it runs: `cargo evalset accept`."),
        ("_expect", "What may vary in the turns, by the number of the turn, and what their answers have to be. ADK never reads it."),
        ("_criteria", "The criteria of the config that are other ones in this case, by metric: a threshold, keys of a criterion, or `null` for none."),
    ]),
    ("a turn of `_expect`", &[
        ("calls", "What the arguments of calls may be: `\"any\"`, or a matcher by the path of each argument."),
        ("order", "`\"any\"`: the expected calls may come in any order."),
        ("others", "The calls that may be made beside the expected ones: `\"any\"`, or a list of tools."),
        ("optional", "The calls that may be left out."),
        ("repeat", "The calls that may be made more than once, each with how often at most."),
        ("responses", "What values in the responses of tools may be, by call and path. The metric `tool_response_match` reads it."),
        ("answer", "What the answer has to be. The metric `answer_demands` decides it."),
    ]),
    ("a matcher of `_expect`", &[
        ("contains", "A text with all of these texts in it, in any case."),
        ("regex", "A text that the expression matches as a whole."),
        ("one_of", "One of these values."),
        ("within", "A number so near to the expected one: a distance, or a share such as `\"1%\"`."),
        ("min", "A number from this one."),
        ("max", "A number up to this one."),
        ("optional", "Nothing, or what this matcher takes."),
        ("equals", "This value, in the JSON of an answer."),
    ]),
    ("demands of `_expect`", &[
        ("contains", "Texts that are all in the answer, in any case."),
        ("contains_any", "Texts of which at least one is in the answer."),
        ("lacks", "Texts of which none is in the answer."),
        ("regex", "Expressions that each match a part of the answer."),
        ("is", "The whole answer, or several of which it is one."),
        ("number", "Numbers that are in the answer: each a number, or `is` and `within`."),
        ("json", "Values of an answer in JSON, by path: each a matcher, or `equals`."),
        ("max_words", "The most words that the answer may have."),
    ]),
    ("an invocation", &[
        ("invocation_id", "The id of the turn. Nothing reads it."),
        ("user_content", "What the user says."),
        ("final_response", "The answer that the agent should give."),
        ("intermediate_data", "The tool calls that the agent should make: as `tool_uses`, or as `invocation_events`."),
        ("creation_timestamp", "When ADK recorded the turn, in seconds since 1970."),
        ("duration", "How long the turn took, in seconds, as ADK recorded it."),
        ("model_duration", "How long models took in the turn, in seconds, as ADK recorded it."),
        ("tool_duration", "How long tools took in the turn, in seconds, as ADK recorded it."),
        ("rubrics", "Statements about this turn that a judge finds true or false."),
        ("app_details", "The agents and their tools, as ADK recorded them."),
    ]),
    ("an intermediate data object", &[
        ("tool_uses", "The calls of tools, in order: `name` and `args`."),
        ("tool_responses", "What the tools answered. The metrics on calls do not compare it."),
        ("intermediate_responses", "What the agents said before the answer: pairs of an author and its parts."),
    ]),
    ("an invocation events object", &[
        ("invocation_events", "The events of the turn, in order. Calls in their parts are the expected calls."),
    ]),
    ("an event", &[
        ("author", "The agent that wrote the event."),
        ("content", "What it said or called."),
        ("grounding_metadata", "Sources of what it said, as Gemini reports them."),
        ("usage_metadata", "The tokens that the model reports."),
        ("model_version", "The model that answered."),
    ]),
    ("a content object", &[
        ("parts", "The parts of the message: texts, calls of tools, images."),
        ("role", "`user` or `model`."),
    ]),
    ("a part", &[
        ("text", "A text."),
        ("thought", "Whether the text is a thought of the model. In an answer it counts as text, as in ADK."),
        ("function_call", "A call of a tool."),
        ("function_response", "What a tool answered."),
        ("inline_data", "An image or another file, as base64."),
        ("file_data", "An image or another file, by its address."),
    ]),
    ("a function call", &[
        ("id", "The id of the call. No metric compares it."),
        ("args", "The arguments, which have to be equal unless the criterion says otherwise."),
        ("name", "The name of the tool."),
    ]),
    ("a function response", &[
        ("id", "The id of the call that is answered."),
        ("name", "The name of the tool."),
        ("response", "What the tool answered."),
    ]),
    ("a session input", &[
        ("app_name", "The app of the session."),
        ("user_id", "The user of the session."),
        ("session_id", "The id of the session. Without one each run gets a session of its own."),
        ("state", "The session state before the first turn."),
    ]),
    ("a rubric", &[
        ("rubric_id", "The id of the rubric, unlike the others of the case."),
        ("rubric_content", "The statement."),
        ("description", "A note on the rubric. Judges do not see it."),
        ("type", "Which metrics read the rubric: `FINAL_RESPONSE_QUALITY`, `TOOL_USE_QUALITY` or `TRAJECTORY_QUALITY`."),
    ]),
    ("a rubric content", &[("text_property", "The statement, which a judge finds true or false.")]),
    ("a conversation scenario", &[
        ("starting_prompt", "The first message of the user, word for word."),
        ("conversation_plan", "What the user wants and how the user behaves, for the model that plays the user."),
        ("user_persona", "Who the user is: a persona, or the name of one that ADK has."),
    ]),
    ("a user persona", &[
        ("id", "The id of the persona."),
        ("description", "Who the user is."),
        ("behaviors", "How the user behaves."),
    ]),
    ("a user behavior", &[
        ("name", "The name of the behavior."),
        ("description", "What the behavior is."),
        ("behavior_instructions", "Instructions for the model that plays the user."),
        ("violation_rubrics", "Statements that are true of a message that breaks the behavior."),
    ]),
    ("a config", &[
        ("criteria", "The metrics that score the sets, each with its threshold or its criterion."),
        ("custom_metrics", "Metrics of your own, each with the code that computes it."),
        ("user_simulator_config", "How a model plays the user of scenarios."),
        ("live_model_config", "ADK's settings for audio conversations, which this version does not run."),
    ]),
    ("a custom metric", &[
        ("code_config", "The code that computes the metric."),
        ("metric_info", "The range of the metric."),
        ("description", "What the metric measures."),
        ("command", "The program that computes the metric, and its arguments, in place of the code. It runs in the folder of this file."),
        ("timeout", "The seconds that the program has for a run of a case."),
    ]),
    (CRITERION, &[("threshold", "The score that passes.")]),
    ("the judge's options", &[
        ("judge_model", "The model that judges."),
        ("judge_model_config", "The configuration of the model: `temperature`, `max_output_tokens` and so on."),
        ("num_samples", "How often the judge is asked about each turn."),
        ("parallelism_limit", "How many questions are asked at a time."),
    ]),
    ("a user simulator config", &[
        ("type", "The kind of simulator: `llm_backed`."),
        ("model", "The model that plays the user."),
        ("model_configuration", "The configuration of the model: `temperature`, `max_output_tokens` and so on."),
        ("max_allowed_invocations", "The most messages of the user, the starting prompt included."),
        ("custom_instructions", "Instructions for the model in place of the built-in ones."),
        ("include_function_calls", "Whether the model sees the agent's tool calls and their results."),
    ]),
    ("a turn of the old format", &[
        ("query", "What the user says."),
        ("expected_tool_use", "The tool calls that the agent should make."),
        ("expected_intermediate_agent_responses", "What the agents should say before the answer."),
        ("reference", "The answer that the agent should give."),
    ]),
    ("a case of the old format", &[
        ("name", "The id of the case."),
        ("data", "The turns."),
        ("initial_session", "The session in which the conversation takes place."),
        ("_draft", "Marks the case as a draft that has to be accepted before it runs: `cargo evalset accept`."),
    ]),
    ("an initial session", &[
        ("state", "The session state before the first turn."),
        ("app_name", "The app of the session."),
        ("user_id", "The user of the session."),
    ]),
    ("a recording", &[
        ("judge_recording", "The version of the format: 1."),
        ("questions", "The questions that were asked, with the answers."),
    ]),
];
