//! Whether a judge could be asked, found out without asking it.

use super::environment::{self, BASE_URL};
use super::model::Model;
use super::{JudgeError, JudgeErrorKind, Provider};

/// Checks whether a judge's model could be asked over the network, as the environment is now. Nothing is sent.
///
/// It is an error if the name of the model does not say whose model it is, or if the key that it takes is not set.
///
/// ```
/// let error = eval_core::judge::check_judge_model("llama3").unwrap_err();
/// assert!(error.to_string().contains("names no known provider"));
/// ```
pub fn check_judge_model(model: &str) -> Result<(), JudgeError> {
    let provider = Model::parse(model)?.provider;
    let any_is_set = |names: &[&str]| names.iter().any(|name| environment::get(name).is_some());
    // A server of one's own may need no key.
    let needs_key = provider.needs_key() && !any_is_set(provider.base_variables());
    if needs_key && !any_is_set(provider.key_variables()) {
        return Err(missing_key(model, provider));
    }
    Ok(())
}

/// The error for a model whose provider takes a key, if none is set.
pub(super) fn missing_key(model: &str, provider: Provider) -> JudgeError {
    let variables: Vec<String> =
        provider.key_variables().iter().rev().map(|variable| format!("`{variable}`")).collect();
    let mut message = format!(
        "no key for the judge `{model}`: set {}, or replay recordings with `EVALSET_JUDGE=replay`",
        variables.join(" or ")
    );
    let reads_base_url = |provider: &Provider| provider.base_variables().contains(&BASE_URL);
    if !reads_base_url(&provider) && environment::get(BASE_URL).is_some() {
        let names: Vec<String> = Provider::ALL
            .into_iter()
            .filter(reads_base_url)
            .map(|provider| format!("`{}/..`", provider.prefix()))
            .collect();
        message.push_str(&format!("; `{BASE_URL}` is for models named {}", names.join(" and ")));
    }
    JudgeError::new(JudgeErrorKind::NoJudge, message)
}
