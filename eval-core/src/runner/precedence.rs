//! Which setting counts where several places say something.
//!
//! The command line goes before the program, the program before the folder of the set, and the folder before the defaults.
//! The table is in `docs/configuration.md`. What the command line says is a setting of the program by the time it comes here:
//! see [`EvalRunner::config_alone`].

use eval_format::metric::{MetricArgument, metric};
use eval_format::{Criterion, EvalConfig};

use super::builder::EvalRunner;
use crate::scoring::criterion_of_custom;

/// The places that say how cases are scored, the first one before the others.
#[derive(Debug)]
pub(super) struct Precedence<'a> {
    /// [`EvalRunner::criterion`].
    pub(super) criteria: &'a [(String, Criterion)],
    /// [`EvalRunner::config`].
    pub(super) program: Option<&'a EvalConfig>,
    /// The config in the folder of the set.
    pub(super) folder: Option<&'a EvalConfig>,
    /// [`EvalRunner::only_metric`].
    pub(super) only: &'a [MetricArgument],
}

impl Precedence<'_> {
    /// The config. Where its criteria come from does not decide where its simulated user comes from.
    pub(super) fn config(&self) -> EvalConfig {
        let mut config = match (self.criteria, self.program) {
            ([], None) => self.folder.cloned().unwrap_or_else(EvalConfig::adk_default),
            (criteria, program) => {
                let config = program.cloned().unwrap_or_default();
                criteria
                    .iter()
                    .cloned()
                    .fold(config, |config, (name, criterion)| config.with(name, criterion))
            }
        };
        let mut simulators = [self.program, self.folder].into_iter().flatten();
        config.user_simulator_config = simulators.find_map(|place| place.user_simulator_config.clone());
        if !self.only.is_empty() {
            let criteria = self.only.iter().map(|MetricArgument { name, threshold, direction, .. }| {
                let known = config.criterion(name).cloned().or_else(|| adk_default(name));
                let mut criterion = known.unwrap_or_else(criterion_of_custom);
                criterion.threshold = threshold.unwrap_or(criterion.threshold);
                if let Some(direction) =
                    direction.filter(|direction| *direction != criterion.direction() || informs(name))
                {
                    criterion = criterion.with_direction(direction);
                }
                (name.clone(), criterion)
            });
            config.criteria = criteria.collect();
        }
        config
    }

    /// The first of the only metrics that has no threshold, neither with its name nor in a config.
    pub(super) fn lacks_threshold(&self, custom: &[&str]) -> Option<&str> {
        let all = Precedence { only: &[], ..*self }.config();
        let known = |name: &str| {
            all.criterion(name).is_some() || adk_default(name).is_some() || custom.contains(&name)
        };
        self.only
            .iter()
            .find(|only| only.threshold.is_none() && metric(&only.name).is_some() && !known(&only.name))
            .map(|only| only.name.as_str())
    }
}

/// Whether a metric informs unless its criterion has a direction.
fn informs(name: &str) -> bool {
    metric(name).is_some_and(|info| !info.gates)
}

fn adk_default(name: &str) -> Option<Criterion> {
    EvalConfig::adk_default().criterion(name).cloned()
}

impl EvalRunner {
    /// Whether the config in the folder of a set decides.
    pub(super) fn takes_config_of_folder(&self) -> bool {
        self.config.is_none() && self.criteria.is_empty()
    }

    /// Scores with the criteria of the command line, and with no others. Users are simulated as before if it does not say
    /// how.
    pub(super) fn config_alone(mut self, mut config: EvalConfig) -> Self {
        self.criteria.clear();
        let simulator = self.config.take().and_then(|config| config.user_simulator_config);
        config.user_simulator_config = config.user_simulator_config.or(simulator);
        self.config(config)
    }
}

#[cfg(test)]
mod tests {
    use eval_format::config::UserSimulatorConfig;

    use super::*;

    fn criterion(threshold: f64) -> Vec<(String, Criterion)> {
        vec![("response_match_score".to_owned(), Criterion::new(threshold))]
    }

    fn config(threshold: f64, model: &str) -> EvalConfig {
        let config = EvalConfig::default().with("response_match_score", Criterion::new(threshold));
        if model.is_empty() {
            config
        } else {
            config.with_user_simulator(UserSimulatorConfig::default().model(model))
        }
    }

    #[test]
    fn the_program_goes_before_the_folder_and_the_folder_before_the_defaults() {
        let (own, none) = (criterion(0.1), Vec::new());
        let (program, folder) = (config(0.2, "program"), config(0.3, "folder"));
        let (program_alone, folder_alone) = (config(0.2, ""), config(0.3, ""));
        for (criteria, program, folder, threshold, model) in [
            (&none, None, None, 0.8, None),
            (&none, None, Some(&folder), 0.3, Some("folder")),
            (&none, Some(&program), Some(&folder), 0.2, Some("program")),
            (&none, Some(&program_alone), Some(&folder), 0.2, Some("folder")),
            (&own, None, Some(&folder), 0.1, Some("folder")),
            (&own, None, Some(&folder_alone), 0.1, None),
            (&own, Some(&program), Some(&folder), 0.1, Some("program")),
        ] {
            let config = Precedence { criteria, program, folder, only: &[] }.config();
            let found = config.criterion("response_match_score").map(|criterion| criterion.threshold);
            let simulator = config.user_simulator_config.as_ref().map(|simulator| simulator.model.as_str());
            assert_eq!((found, simulator), (Some(threshold), model));
        }
    }

    #[test]
    fn the_only_metrics_keep_the_criterion_that_they_had() {
        let program = EvalConfig::default()
            .with("response_match_score", Criterion::new(0.2))
            .with("safety_v1", Criterion::new(0.7));
        let of = |only: &[(&str, Option<f64>)], program: Option<&EvalConfig>| {
            let only: Vec<MetricArgument> = only.iter().copied().map(MetricArgument::from).collect();
            let precedence = Precedence { criteria: &[], program, folder: None, only: &only };
            let lacks = precedence.lacks_threshold(&["mine"]).map(str::to_owned);
            let thresholds: Vec<_> =
                precedence.config().criteria.into_iter().map(|(_, criterion)| criterion.threshold).collect();
            (thresholds, lacks)
        };
        let lacks = |name: &str| Some(name.to_owned());
        assert_eq!(of(&[("safety_v1", None)], Some(&program)), (vec![0.7], None));
        assert_eq!(of(&[("safety_v1", Some(0.5)), ("mine", None)], None), (vec![0.5, 1.0], None));
        assert_eq!(of(&[("response_match_score", None)], None), (vec![0.8], None));
        assert_eq!(of(&[("safety_v1", None)], None), (vec![1.0], lacks("safety_v1")));
    }

    #[test]
    fn the_command_line_goes_before_the_program_and_leaves_what_it_does_not_say() {
        let runner = || {
            EvalRunner::new()
                .config(config(0.2, "program"))
                .criterion("response_match_score", Criterion::new(0.1))
        };
        for (line, model) in [(config(0.4, ""), "program"), (config(0.4, "line"), "line")] {
            let EvalRunner { config, criteria, .. } = runner().config_alone(line);
            let config =
                Precedence { criteria: &criteria, program: config.as_ref(), folder: None, only: &[] }
                    .config();
            assert_eq!(config.criteria, criterion(0.4));
            assert_eq!(config.user_simulator_config.unwrap().model, model);
        }
    }
}
