//! The answers that another run would lack, too, unless they are recorded: of judges, and of an agent's models.

use eval_core::__private::missing_call;
use eval_support::message::MissingCall;

use super::test::TestResult;

/// The answers that a command has to record so that cases get a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Whether an answer of a judge is missing.
    pub judge: bool,
    pub models: Option<MissingCall>,
}

impl Lacking {
    /// The missing answers of the cases of one command. A command that records all calls again would ask the model for recorded
    /// answers too, so the requests of all cases must have changed.
    pub fn of_all(cases: impl IntoIterator<Item = Self>) -> Self {
        cases.into_iter().reduce(Self::with).unwrap_or_default()
    }

    fn with(self, other: Self) -> Self {
        let models = match (self.models, other.models) {
            (Some(MissingCall::Changed), Some(MissingCall::Changed)) => Some(MissingCall::Changed),
            (None, None) => None,
            _ => Some(MissingCall::New),
        };
        Self { judge: self.judge || other.judge, models }
    }

    pub fn is_something(self) -> bool {
        self.judge || self.models.is_some()
    }

    /// The command, with the settings under which it records what is missing.
    pub fn recorded_by(self, command: &str) -> String {
        let judge = self.judge.then_some("EVALSET_JUDGE=record");
        let models = self.models.map(MissingCall::setting);
        judge.into_iter().chain(models).chain([command]).collect::<Vec<_>>().join(" ")
    }
}

impl TestResult<'_> {
    /// The missing answers of the test, by its verdict.
    pub fn lacking(&self) -> Lacking {
        let verdict = self.attempt.decided.as_ref().map(|decided| &decided.verdict);
        Lacking { judge: self.asks_for_a_recording(), models: verdict.and_then(missing_call) }
    }
}

#[cfg(test)]
mod tests {
    use MissingCall::{Changed, New};

    use super::*;

    #[test]
    fn a_command_records_what_its_cases_lack_and_asks_again_only_if_all_requests_changed() {
        let command = "cargo evalset rerun --errors";
        let of = |models| Lacking { judge: false, models };
        let judge = Lacking { judge: true, models: None };
        for (all, said) in [
            (&[of(None)][..], ""),
            (&[judge, of(None)], "EVALSET_JUDGE=record "),
            (&[of(Some(New))], "EVALSET_MODELS=record "),
            (&[of(Some(Changed)), of(Some(Changed))], "EVALSET_MODELS=record-all "),
            (&[of(Some(Changed)), of(Some(New))], "EVALSET_MODELS=record "),
            (&[of(None), of(Some(Changed))], "EVALSET_MODELS=record "),
            (&[judge, of(Some(New))], "EVALSET_JUDGE=record EVALSET_MODELS=record "),
        ] {
            let lacking = Lacking::of_all(all.iter().copied());
            assert_eq!(lacking.recorded_by(command), said.to_owned() + command);
            assert_eq!(lacking.is_something(), !said.is_empty());
        }
    }
}
