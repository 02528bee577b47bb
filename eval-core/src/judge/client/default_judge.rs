//! The judge of tests that name none.

use eval_support::variables;

use super::{Limited, ModelJudge, Retrying, Slots};
use crate::judge::environment::{self, RETRIES};
use crate::judge::{BoxJudge, Judge, JudgeError, JudgeErrorKind};

/// The judge of tests that name none: a [`ModelJudge`] in a [`Limited`] in a [`Retrying`], as the environment says.
///
/// ```no_run
/// use eval_core::judge::{Judge, JudgeRequest, default_judge};
///
/// # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
/// let reply = default_judge()?.ask(&JudgeRequest::new("gemini-2.5-flash", "Is this polite? ...")).await?;
/// println!("{}", reply.text);
/// # Ok(())
/// # }
/// ```
///
/// It is an error if a variable cannot be read. A missing key is an error only when a model is asked that takes it.
pub fn default_judge() -> Result<BoxJudge, JudgeError> {
    variables::check().map_err(|wrong| JudgeError::new(JudgeErrorKind::Failed, wrong))?;
    let judge = Limited::new(ModelJudge::from_env()?, Slots::from_env()?);
    let judge = Retrying::new(judge);
    Ok(match environment::number(environment::get, RETRIES, 0)? {
        Some(retries) => judge.retries(retries),
        None => judge,
    }
    .boxed())
}
