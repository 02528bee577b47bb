//! Messages: google.genai's `Content` and what it holds.

use super::table::Type::{Bool, Bytes, Enum, Int, Literal, Models, Object, PythonFloat, String};
use super::table::{Extra, Field, Model, Type, model, optional};

/// A model of google.genai: every key optional, unknown ones forbidden.
pub(super) const fn genai(what: &'static str, fields: &'static [Field]) -> Model {
    model(what, Extra::Forbidden, fields)
}

pub(crate) static CONTENT: Model = Model {
    sample: r#"{"parts": [{"text": "..."}]}"#,
    strangers: &[
        ("text", r#"write `"parts": [{"text": "..."}]`"#),
        ("content", r#"write `"parts": [{"text": "..."}]`"#),
    ],
    ..genai(
        "a content object",
        &[
            Field { example: r#"[{"text": "..."}]"#, ..optional("parts", Models(&PART)) },
            optional("role", String),
        ],
    )
};

pub(crate) static PART: Model = Model {
    sample: r#"{"text": "..."}"#,
    // In google.genai these are arguments whose default is `null`. All other keys are taken as they are.
    null_twins: &[
        "code_execution_result",
        "executable_code",
        "file_data",
        "function_call",
        "function_response",
        "inline_data",
        "thought_signature",
        "video_metadata",
    ],
    ..genai(
        "a part",
        &[
            optional("media_resolution", Type::Model(&MEDIA_RESOLUTION)),
            optional("code_execution_result", Type::Model(&CODE_EXECUTION_RESULT)),
            optional("executable_code", Type::Model(&EXECUTABLE_CODE)),
            optional("file_data", Type::Model(&FILE_DATA)),
            optional("function_call", Type::Model(&FUNCTION_CALL)),
            optional("function_response", Type::Model(&FUNCTION_RESPONSE)),
            optional("inline_data", Type::Model(&BLOB)),
            optional("text", String),
            optional("thought", Bool),
            optional("thought_signature", Bytes),
            optional("video_metadata", Type::Model(&VIDEO_METADATA)),
            optional("tool_call", Type::Model(&TOOL_CALL)),
            optional("tool_response", Type::Model(&TOOL_RESPONSE)),
            optional("part_metadata", Object),
            optional("audio_transcription", Type::Model(&TRANSCRIPTION)),
            optional("media_processing", Enum(MEDIA_PROCESSING)),
            optional("speech_metadata", Type::Model(&SPEECH_METADATA)),
        ],
    )
};

/// The objects of a message that are read from other places than files too.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// A part.
    Part,
    /// The call of a tool.
    FunctionCall,
    /// The result of a tool.
    FunctionResponse,
}

impl Piece {
    fn model(self) -> &'static Model {
        match self {
            Self::Part => &PART,
            Self::FunctionCall => &FUNCTION_CALL,
            Self::FunctionResponse => &FUNCTION_RESPONSE,
        }
    }

    /// Its keys, in `snake_case`.
    pub fn keys(self) -> impl Iterator<Item = &'static str> {
        self.model().fields.iter().map(|field| field.name)
    }

    /// What to do instead of a key that other writers use here.
    pub fn instead_of(self, key: &str) -> Option<&'static str> {
        self.model().strangers.iter().find(|(stranger, _)| *stranger == key).map(|(_, help)| *help)
    }
}

pub(crate) static FUNCTION_CALL: Model = Model {
    sample: r#"{"name": "...", "args": {}}"#,
    strangers: &[
        ("tool_name", "write `name`"),
        ("tool_input", "write `args`"),
        ("arguments", "write `args`"),
        ("input", "write `args`"),
        ("result", "a tool's answer stands in `tool_responses`"),
    ],
    ..genai(
        "a function call",
        &[
            optional("id", String),
            optional("args", Object),
            optional("name", String),
            optional("partial_args", Models(&PARTIAL_ARG)),
            optional("will_continue", Bool),
        ],
    )
};

pub(crate) static FUNCTION_RESPONSE: Model = Model {
    sample: r#"{"name": "...", "response": {}}"#,
    strangers: &[
        ("result", r#"write `"response": {"result": ...}`"#),
        ("output", r#"write `"response": {"output": ...}`"#),
        ("tool_name", "write `name`"),
    ],
    ..genai(
        "a function response",
        &[
            optional("will_continue", Bool),
            optional("scheduling", Enum(&["SCHEDULING_UNSPECIFIED", "SILENT", "WHEN_IDLE", "INTERRUPT"])),
            optional("parts", Models(&FUNCTION_RESPONSE_PART)),
            optional("id", String),
            optional("name", String),
            Field { example: r#"{"result": ...}"#, ..optional("response", Object) },
        ],
    )
};

const MEDIA_PROCESSING: &[&str] = &["MEDIA_PROCESSING_UNSPECIFIED", "STATIC", "AGENTIC"];

const TOOL_TYPE: &[&str] = &[
    "TOOL_TYPE_UNSPECIFIED",
    "GOOGLE_SEARCH_WEB",
    "GOOGLE_SEARCH_IMAGE",
    "URL_CONTEXT",
    "GOOGLE_MAPS",
    "FILE_SEARCH",
    "MEDIA_PROCESSING",
];

static MEDIA_RESOLUTION: Model = genai(
    "a media resolution",
    &[
        optional(
            "level",
            Enum(&[
                "MEDIA_RESOLUTION_UNSPECIFIED",
                "MEDIA_RESOLUTION_LOW",
                "MEDIA_RESOLUTION_MEDIUM",
                "MEDIA_RESOLUTION_HIGH",
                "MEDIA_RESOLUTION_ULTRA_HIGH",
            ]),
        ),
        optional("num_tokens", Int),
    ],
);

static CODE_EXECUTION_RESULT: Model = genai(
    "a code execution result",
    &[
        optional(
            "outcome",
            Enum(&["OUTCOME_UNSPECIFIED", "OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED"]),
        ),
        optional("output", String),
        optional("id", String),
    ],
);

static EXECUTABLE_CODE: Model = genai(
    "an executable code object",
    &[
        optional("code", String),
        optional("language", Enum(&["LANGUAGE_UNSPECIFIED", "PYTHON"])),
        optional("id", String),
    ],
);

static FILE_DATA: Model = genai(
    "a file data object",
    &[optional("display_name", String), optional("file_uri", String), optional("mime_type", String)],
);

static BLOB: Model = genai(
    "an inline data object",
    &[optional("data", Bytes), optional("display_name", String), optional("mime_type", String)],
);

static VIDEO_METADATA: Model = genai(
    "a video metadata object",
    &[optional("end_offset", String), optional("fps", PythonFloat), optional("start_offset", String)],
);

static TOOL_CALL: Model = genai(
    "a tool call",
    &[optional("id", String), optional("tool_type", Enum(TOOL_TYPE)), optional("args", Object)],
);

static TOOL_RESPONSE: Model = genai(
    "a tool response",
    &[optional("id", String), optional("tool_type", Enum(TOOL_TYPE)), optional("response", Object)],
);

static TRANSCRIPTION: Model = genai(
    "an audio transcription",
    &[
        optional("text", String),
        optional("finished", Bool),
        optional("language_code", String),
        optional("speaker_label", String),
        optional("words", Models(&WORD)),
        optional("start_offset", String),
        optional("end_offset", String),
    ],
);

static WORD: Model = genai(
    "a word",
    &[optional("word", String), optional("start_offset", String), optional("end_offset", String)],
);

static SPEECH_METADATA: Model =
    genai("a speech metadata object", &[optional("speaker", String), optional("style", String)]);

static PARTIAL_ARG: Model = genai(
    "a partial argument",
    &[
        optional("bool_value", Bool),
        optional("json_path", String),
        optional("null_value", Literal("NULL_VALUE")),
        optional("number_value", PythonFloat),
        optional("string_value", String),
        optional("will_continue", Bool),
    ],
);

static FUNCTION_RESPONSE_PART: Model = genai(
    "a part of a function response",
    &[
        optional("inline_data", Type::Model(&FUNCTION_RESPONSE_BLOB)),
        optional("file_data", Type::Model(&FUNCTION_RESPONSE_FILE_DATA)),
        optional("media_processing", Enum(MEDIA_PROCESSING)),
    ],
);

static FUNCTION_RESPONSE_BLOB: Model = genai(
    "an inline data object",
    &[optional("mime_type", String), optional("data", Bytes), optional("display_name", String)],
);

static FUNCTION_RESPONSE_FILE_DATA: Model = genai(
    "a file data object",
    &[optional("file_uri", String), optional("mime_type", String), optional("display_name", String)],
);
