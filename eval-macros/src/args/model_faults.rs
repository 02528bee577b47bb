//! `model_faults = [...]`: faults of models in all cases of the attribute. They become the JSON of the key `_models`, and are
//! checked like it.

use eval_format::__private::{ModelFaults, check_model_faults};
use eval_format::{EvalCase, Value};

use super::criteria::InlineConfig;
use super::value::Arg;
use crate::diagnostics::{Diagnostics, error};

pub(crate) const EXAMPLE: &str = "model_faults = [(at(turn = 1, call = 2), fault(status = 429))]";

/// The faults as the key `_models` of a case would hold them.
pub(crate) struct AttributeFaults {
    inline: InlineConfig,
    faults: ModelFaults,
}

impl AttributeFaults {
    /// Reads the faults, and reports the mistakes in them.
    pub(super) fn read(value: &Arg, diagnostics: &mut Diagnostics) -> syn::Result<Self> {
        let tokens = value.tokens("a list of faults")?;
        let inline = InlineConfig::list("faults", value.name.span(), tokens).map_err(|at| {
            error(at.span(), "this is no list of faults of models", format!("for example `{EXAMPLE}`"))
        })?;
        let (faults, problems) = check_model_faults(&inline.json);
        for problem in &problems {
            inline.report(problem, diagnostics);
        }
        Ok(Self { inline, faults })
    }

    /// The JSON of the key.
    pub(crate) fn json(&self) -> &str {
        &self.inline.json
    }

    /// Reports a fault of a turn that a case does not have, and one at a call where the case has a fault of its own.
    pub(crate) fn check<'c>(
        &self,
        cases: impl IntoIterator<Item = &'c EvalCase>,
        diagnostics: &mut Diagnostics,
    ) {
        for case in cases {
            let (eval_id, turns) = (&case.eval_id, case.conversation.len());
            if let Some(fault) = self.faults.beyond(case) {
                diagnostics.error(
                    self.inline.span_of(&self.of_json(&fault.written)),
                    format!("a fault is of turn {}, and the case `{eval_id}` has {turns}", fault.turn),
                    "leave the case out with `cases`, or put the fault into the key `_models` of the cases that have the turn",
                );
                return;
            }
            let own = case.extra.get(EvalCase::MODELS_KEY).cloned().unwrap_or(Value::Null);
            let own = ModelFaults::parse(&own).unwrap_or_default();
            if let Some(fault) = self.faults.iter().find(|fault| own.at(fault.turn, fault.call).is_some()) {
                diagnostics.error(
                    self.inline.span_of(&self.of_json(&fault.written)),
                    format!(
                        "the case `{eval_id}` has a fault of its own at turn {}, call {}",
                        fault.turn, fault.call
                    ),
                    "keep one of them",
                );
                return;
            }
        }
    }

    /// The place of a fault in the JSON.
    fn of_json(&self, written: &str) -> std::ops::Range<usize> {
        // The text was written by hand, so its spaces may differ: then the whole argument is shown.
        let begin = self.inline.json.find(written).unwrap_or_default();
        begin..begin + written.len().min(self.inline.json.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Args;
    use super::*;

    fn read(source: &str) -> (Option<String>, Vec<String>) {
        let mut diagnostics = Diagnostics::default();
        let tokens = format!("\"a.evalset.json\", model_faults = {source}").parse().unwrap();
        let args = Args::parse(tokens, &mut diagnostics);
        (args.model_faults.map(|faults| faults.json().to_owned()), diagnostics.messages())
    }

    #[test]
    fn faults_become_the_json_of_the_key() {
        let (json, messages) = read(
            r#"[(at(turn = 1, call = 2), fault(status = 429, retry_after = 0.001)), (at(turn = 2, call = 1), fault = "reset")]"#,
        );
        assert_eq!(messages, Vec::<String>::new());
        assert_eq!(
            json.as_deref(),
            Some(
                r#"{"faults": [{"at": {"turn": 1, "call": 2}, "fault": {"status": 429, "retry_after": 0.001}}, {"at": {"turn": 2, "call": 1}, "fault": "reset"}]}"#
            )
        );
    }

    #[test]
    fn a_mistake_is_reported_with_what_to_write() {
        for (source, headline, help) in [
            (
                "[(at(turn = 1, call = 1), fault(status = 200))]",
                "`status` is 200",
                "a number from 400 to 599",
            ),
            (
                r#"[(at(turn = 1, call = 1), fault = "explode")]"#,
                "\"explode\" is no fault",
                "`fault(status = 429, retry_after = 0.001)`",
            ),
            (r#"[(at(turn = 0, call = 1), fault = "reset")]"#, "`turn` is 0", "a whole number from 1"),
            (r#"[(fault = "reset")]"#, "`at` is missing", "`at(turn = 1, call = 2), fault = \"reset\"`"),
            ("[(at = b)]", "this is no list of faults of models", EXAMPLE),
            ("\"reset\"", "`faults` is an array, and this is a string", "for example"),
        ] {
            let (_, messages) = read(source);
            assert!(messages.len() == 1 && messages[0].starts_with(headline), "{source}: {messages:?}");
            assert!(messages[0].contains(help), "{source}: {messages:?}");
        }
    }

    #[test]
    fn a_turn_that_a_case_lacks_is_reported_and_two_faults_at_one_call() {
        use eval_format::Invocation;

        let mut diagnostics = Diagnostics::default();
        let source = "model_faults = [(at(turn = 2, call = 1), fault = \"reset\")]";
        let args = Args::parse(format!("\"a\", {source}").parse().unwrap(), &mut diagnostics);
        let faults = args.model_faults.unwrap();
        let turn = || Invocation::user("Hi");
        let own = Value::parse(r#"{"faults": [{"at": {"turn": 2, "call": 1}, "fault": "empty"}]}"#).unwrap();
        let two = EvalCase::new("two").turn(turn()).turn(turn());
        faults.check([&two], &mut diagnostics);
        assert_eq!(diagnostics.messages(), Vec::<String>::new());
        faults.check([&EvalCase::new("one").turn(turn())], &mut diagnostics);
        faults.check([&two.with_extra(EvalCase::MODELS_KEY, own)], &mut diagnostics);
        let messages = diagnostics.messages();
        assert!(messages[0].starts_with("a fault is of turn 2, and the case `one` has 1"), "{messages:?}");
        assert!(
            messages[1].starts_with("the case `two` has a fault of its own at turn 2, call 1"),
            "{messages:?}"
        );
    }
}
