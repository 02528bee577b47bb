//! The refusals of runs that cannot become the golden of their case, each with what to do.

use eval_agents::draft::NotReplaced;
use eval_support::untrusted::one_line;

/// The reason why runs of a case cannot become its golden, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotGolden {
    pub(crate) why: String,
    pub(crate) help: &'static str,
}

/// The command that makes the golden of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoldenBy {
    Import,
    Review,
}

impl GoldenBy {
    /// The remedy if the run cannot be taken.
    pub(crate) const fn run_again(self) -> &'static str {
        match self {
            Self::Import => "run it again, and take that run",
            Self::Review => "run it again, and review that run",
        }
    }

    /// The refusal of runs of a case that is another one now.
    pub(crate) fn edited(self) -> NotGolden {
        NotGolden { why: "the case was edited since it ran".to_owned(), help: self.run_again() }
    }

    /// The refusal of runs of which one is an error, or has no verdict.
    pub(crate) const fn broken(self, why: String) -> NotGolden {
        let help = match self {
            Self::Import => "repair what broke, run it again, and take that run",
            Self::Review => "repair what broke, run it again, and review that run",
        };
        NotGolden { why, help }
    }

    /// The refusal of runs that differ.
    pub(crate) const fn varied(self, why: String) -> NotGolden {
        let help = match self {
            Self::Import => {
                "no behaviour is common to all runs: let a metric decide that allows what varied, such as a `match_type` or a judge"
            }
            Self::Review => "loosen it (`m`), change the agent, or leave it",
        };
        NotGolden { why, help }
    }

    /// The refusal of runs that are no expectations of their case.
    pub(crate) fn not_replaced(self, not: &NotReplaced) -> NotGolden {
        let why = one_line(&not.to_string());
        let help = match not {
            NotReplaced::Run { .. } => self.run_again(),
            NotReplaced::Turns => "write the case by hand: a run of other turns says nothing about it",
            NotReplaced::Varied { .. } => return self.varied(why),
            NotReplaced::Masked { .. } => "write that expectation by hand",
            NotReplaced::Unchanged => "change the agent, or the criterion",
            _ => "write the case by hand",
        };
        NotGolden { why, help }
    }
}
