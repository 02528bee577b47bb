//! Messages: google.genai's `Content` and its parts.

use super::table::Type::{Bool, Bytes, Enum, Int, Literal, Models, Object, PythonFloat, String};
use super::table::{Extra, Field, Model, Type, model, optional};

/// A model of google.genai: every key optional, unknown ones forbidden.
pub(super) const fn genai(what: &'static str, fields: &'static [Field]) -> Model {
    model(what, Extra::Forbidden, fields)
}

macro_rules! models {
    ($($vis:vis $name:ident $what:literal { $($key:ident: $kind:expr),+ $(,)? })+) => {
        $($vis static $name: Model = $crate::schema::content::genai($what, &[$(optional(stringify!($key), $kind)),+]);)+
    };
}

pub(super) use models;

pub(crate) static CONTENT: Model = Model {
    sample: r#"{"parts": [{"text": "..."}]}"#,
    foreign_keys: &[
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

/// The objects of a message that agents send in protocols too.
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

    /// The remedy for a key that other writers use here.
    pub fn instead_of(self, key: &str) -> Option<&'static str> {
        self.model().foreign_keys.iter().find(|(foreign, _)| *foreign == key).map(|(_, help)| *help)
    }
}

pub(crate) static FUNCTION_CALL: Model = Model {
    sample: r#"{"name": "...", "args": {}}"#,
    foreign_keys: &[
        ("tool_name", "write `name`"),
        ("tool_input", "write `args`"),
        ("arguments", "write `args`"),
        ("input", "write `args`"),
        ("result", "a tool's answer belongs in `tool_responses`"),
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
    foreign_keys: &[
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

models! {
    MEDIA_RESOLUTION "a media resolution" {
        level: Enum(&[
            "MEDIA_RESOLUTION_UNSPECIFIED",
            "MEDIA_RESOLUTION_LOW",
            "MEDIA_RESOLUTION_MEDIUM",
            "MEDIA_RESOLUTION_HIGH",
            "MEDIA_RESOLUTION_ULTRA_HIGH",
        ]),
        num_tokens: Int,
    }

    CODE_EXECUTION_RESULT "a code execution result" {
        outcome: Enum(&["OUTCOME_UNSPECIFIED", "OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED"]),
        output: String,
        id: String,
    }

    EXECUTABLE_CODE "an executable code object" {
        code: String,
        language: Enum(&["LANGUAGE_UNSPECIFIED", "PYTHON"]),
        id: String,
    }

    FILE_DATA "a file data object" { display_name: String, file_uri: String, mime_type: String }

    BLOB "an inline data object" { data: Bytes, display_name: String, mime_type: String }

    VIDEO_METADATA "a video metadata object" { end_offset: String, fps: PythonFloat, start_offset: String }

    TOOL_CALL "a tool call" { id: String, tool_type: Enum(TOOL_TYPE), args: Object }

    TOOL_RESPONSE "a tool response" { id: String, tool_type: Enum(TOOL_TYPE), response: Object }

    TRANSCRIPTION "an audio transcription" {
        text: String,
        finished: Bool,
        language_code: String,
        speaker_label: String,
        words: Models(&WORD),
        start_offset: String,
        end_offset: String,
    }

    WORD "a word" { word: String, start_offset: String, end_offset: String }

    SPEECH_METADATA "a speech metadata object" { speaker: String, style: String }

    PARTIAL_ARG "a partial argument" {
        bool_value: Bool,
        json_path: String,
        null_value: Literal("NULL_VALUE"),
        number_value: PythonFloat,
        string_value: String,
        will_continue: Bool,
    }

    FUNCTION_RESPONSE_PART "a part of a function response" {
        inline_data: Type::Model(&FUNCTION_RESPONSE_BLOB),
        file_data: Type::Model(&FUNCTION_RESPONSE_FILE_DATA),
        media_processing: Enum(MEDIA_PROCESSING),
    }

    FUNCTION_RESPONSE_BLOB "an inline data object" { mime_type: String, data: Bytes, display_name: String }

    FUNCTION_RESPONSE_FILE_DATA "a file data object" {
        file_uri: String,
        mime_type: String,
        display_name: String,
    }
}
