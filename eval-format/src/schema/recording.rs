//! Recordings of judges: a format of this project's own.

use super::grounding::USAGE_METADATA;
use super::table::Type::{Any, Float, Int, List, Models, Object, String};
use super::table::{Extra, Field, Model, Type, defaulted, model, optional, required};

pub(crate) static RECORDING: Model = own(
    "a recording",
    &[required("judge_recording", Int, "1"), required("questions", Models(&RECORDED_QUESTION), "[]")],
);

pub(crate) static RECORDED_QUESTION: Model = own(
    "a recorded question",
    &[
        defaulted("cases", List(&String)),
        defaulted("template", String),
        required("model", String, r#""gemini-2.5-flash""#),
        optional("temperature", Float),
        defaulted("config", Object),
        optional("schema", Any),
        required("prompt", Any, r#""...""#),
        required("replies", Models(&RECORDED_REPLY), r#"[{"sample": 0, "text": "..."}]"#),
    ],
);

static RECORDED_REPLY: Model = own(
    "a recorded reply",
    &[
        required("sample", Int, "0"),
        required("text", Any, r#""...""#),
        optional("usage", Type::Model(&USAGE_METADATA)),
        optional("check", String),
    ],
);

const fn own(what: &'static str, fields: &'static [Field]) -> Model {
    Model { camel: false, ..model(what, Extra::Unknown, fields) }
}
