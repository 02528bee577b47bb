//! Drafts of cases from new conversations with an agent.
//!
//! ```
//! use eval_agents::record::{DraftRecorder, Script};
//! use eval_core::{Recorder, agent_fn, json};
//!
//! async fn answer(text: String, recorder: Recorder) -> String {
//!     recorder.tool_call("get_weather", json!({ "city": text }), "sunny");
//!     "It is sunny.".to_owned()
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let script = Script::default().say("Paris").say("Oslo");
//! let draft = DraftRecorder::new("the weather agent").runs(2).record(&script, || agent_fn(answer)).await?;
//! assert_eq!(draft.case.conversation[1].tool_calls().next().unwrap().to_string(), r#"get_weather(city: "Oslo")"#);
//! assert!(draft.varied.is_empty(), "it was the same both times");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! A conversation runs like a case: if a case would be an ERROR, there is no draft. With
//! [`runs`](DraftRecorder::runs) it runs several times, and the case keeps the parts that were equal each
//! time.
//!
//! [`Script`]s are read from a file by [`scripts`]. A [`Chat`] is a conversation whose messages are not known
//! in advance.

mod chat;
mod draft_recorder;
mod script;
mod watched;

pub use chat::Chat;
pub use draft_recorder::{DraftRecorder, DraftRecorderError};
pub use script::{Script, ScriptError, scripts};
pub use watched::Watched;
