//! The typed model in ADK's saved form: as text and for serde.

#[cfg(feature = "export")]
mod full;

use serde_core::{Serialize, Serializer};

use crate::model::{Content, EvalCase, EvalSet, FunctionCall, FunctionResponse, Invocation, InvocationEvent};
use crate::value::to_pretty;

impl EvalSet {
    /// The set as ADK writes its files: indented by two, without fields that are absent or have their
    /// default.
    ///
    /// ```
    /// use eval_format::{EvalCase, EvalSet, Invocation};
    ///
    /// let set = EvalSet::new("s").case(EvalCase::new("c").turn(Invocation::user("Hi")));
    /// assert!(set.to_json().starts_with("{\n  \"eval_set_id\": \"s\",\n  \"eval_cases\": ["));
    /// ```
    ///
    /// `NaN` and the infinities are written as `null`, as ADK does.
    pub fn to_json(&self) -> String {
        to_pretty(&self.to_value())
    }
}

macro_rules! serialize {
    ($($kind:ty),*) => {
        $(impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.to_value().serialize(serializer)
            }
        })*
    };
}

serialize!(EvalSet, EvalCase, Invocation, InvocationEvent, Content, FunctionCall, FunctionResponse);
