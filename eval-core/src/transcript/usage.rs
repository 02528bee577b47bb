//! Tokens and models of a run, from its events or from its recorded calls.

use eval_format::UsageMetadata;

use super::Transcript;
use crate::agent::Event;

impl Transcript {
    /// The tokens that count for the run, each with its model. The agent's events count, as in ADK. If no event reports tokens,
    /// the calls that the gateway saw count. The two are never added.
    pub fn usage(&self) -> Vec<(Option<&str>, &UsageMetadata)> {
        let told =
            self.events().filter_map(|event| Some((event.model_version.as_deref(), event.usage.as_ref()?)));
        let told: Vec<(Option<&str>, &UsageMetadata)> = told.collect();
        if told.iter().any(|(_, usage)| usage.all_tokens().is_some()) {
            return told;
        }
        self.models.iter().map(|of_model| (Some(&*of_model.model), &of_model.usage)).collect()
    }

    /// All tokens of the run; `None` if neither its events nor the answers of models say any.
    pub fn tokens(&self) -> Option<i64> {
        self.usage().into_iter().filter_map(|(_, usage)| usage.all_tokens()).reduce(i64::saturating_add)
    }

    /// The models of the run. The agent's events name them. If no event does, the calls that the gateway saw name them.
    pub fn model_names(&self) -> Vec<&str> {
        let named: Vec<&str> = self.events().filter_map(|event| event.model_version.as_deref()).collect();
        if named.is_empty() { self.models.iter().map(|of_model| &*of_model.model).collect() } else { named }
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.turns.iter().flat_map(|turn| &turn.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_use::ModelUse;
    use crate::transcript::TurnRecord;

    fn told(tokens: i64) -> UsageMetadata {
        UsageMetadata::default().with_prompt_token_count(tokens)
    }

    fn run(events: Vec<Event>) -> Transcript {
        let of_model = |model: &str, tokens| {
            let (model, usage) = (model.to_owned(), told(tokens));
            ModelUse { model, calls: 2, usage, ..ModelUse::default() }
        };
        let turns = vec![TurnRecord { events, ..TurnRecord::default() }];
        Transcript { turns, models: vec![of_model("m", 10), of_model("n", 20)], ..Transcript::default() }
    }

    #[test]
    fn the_events_count_where_they_report_tokens_and_else_what_the_gateway_saw() {
        let silent = run(vec![Event::from("hi")]);
        assert_eq!(silent.usage(), [(Some("m"), &told(10)), (Some("n"), &told(20))]);
        assert_eq!((silent.tokens(), silent.model_names()), (Some(30), vec!["m", "n"]));

        // One that reports empty counts says nothing.
        let empty = run(vec![Event::empty("a").with_usage(UsageMetadata::default())]);
        assert_eq!(empty.tokens(), Some(30));

        let mut event = Event::empty("a").with_usage(told(7));
        event.model_version = Some("m-2026".to_owned());
        let told_by_events = run(vec![event, Event::from("hi")]);
        assert_eq!(told_by_events.usage(), [(Some("m-2026"), &told(7))]);
        assert_eq!((told_by_events.tokens(), told_by_events.model_names()), (Some(7), vec!["m-2026"]));
        assert_eq!(Transcript::default().tokens(), None);
    }
}
