//! Whether a judge could be asked, before anybody is.

use super::model::Model;
use super::provider::Provider;
use super::{JudgeError, JudgeErrorKind, env};

/// Whether a judge's model could be asked over the network as the environment is now: whether its name says whose it
/// is, and whether the key is set that this takes. Nobody is asked.
///
/// ```
/// let error = eval_core::judge::check_judge_model("llama3").unwrap_err();
/// assert!(error.to_string().contains("does not say whose it is"));
/// ```
pub fn check_judge_model(model: &str) -> Result<(), JudgeError> {
    let provider = Model::parse(model)?.provider;
    let any_is_set = |names: &[&str]| names.iter().any(|name| env::get(name).is_some());
    // An address of one's own may need no key.
    let needs_key = provider.needs_key() && !any_is_set(provider.base_variables());
    if needs_key && !any_is_set(provider.key_variables()) {
        return Err(missing_key(model, provider));
    }
    Ok(())
}

pub(super) fn missing_key(model: &str, provider: Provider) -> JudgeError {
    let variables: Vec<String> =
        provider.key_variables().iter().rev().map(|variable| format!("`{variable}`")).collect();
    let mut message = format!(
        "no key for the judge `{model}`: set {}, or replay recordings with `EVALSET_JUDGE=replay`",
        variables.join(" or ")
    );
    if provider != Provider::OpenAi && env::get("EVALSET_JUDGE_BASE_URL").is_some() {
        message.push_str("; `EVALSET_JUDGE_BASE_URL` is for models named `openai/..` and `ollama/..`");
    }
    JudgeError::new(JudgeErrorKind::NoJudge, message)
}
