//! The errors of a model that did not answer, and whether asking again may help.

use std::time::Duration;

use eval_support::message::cut;
use reqwest::StatusCode;
use serde_json::Value;

use super::http::{Fault, MAX_ANSWER_BYTES};
use super::secret::{Key, hide};
use super::wire::{Answer, End};
use crate::judge::{JudgeError, JudgeErrorKind, JudgeReply};

const MAX_QUOTED_CHARS: usize = 300;

pub(super) struct Asked<'a> {
    pub(super) model: &'a str,
    pub(super) host: &'a str,
    pub(super) key: Option<&'a Key>,
    /// All keys of the judge. None of them may be shown.
    pub(super) keys: &'a [Key],
    pub(super) timeout: Duration,
}

impl Asked<'_> {
    pub(super) fn reply(&self, answer: Answer) -> Result<JudgeReply, JudgeError> {
        let (kind, what) = match answer.end {
            End::Refused(reason) => {
                (JudgeErrorKind::Refused, format!("declined to answer: {}", self.quote(&reason)))
            }
            End::Failed { status, message } => {
                let status = status.and_then(|status| StatusCode::from_u16(status).ok());
                return Err(self.failed(status, &message, None));
            }
            End::Cut => (
                JudgeErrorKind::Unreadable,
                "reached the limit of tokens before it was done; raise `max_output_tokens` in `judge_model_config`"
                    .to_owned(),
            ),
            End::Unfinished(reason) => {
                let reason = reason.map_or_else(|| "no reason".to_owned(), |reason| format!("`{}`", self.quote(&reason)));
                (JudgeErrorKind::Failed, format!("ended its answer for {reason}, so it may not be whole"))
            }
            End::Complete if answer.text.trim().is_empty() => {
                (JudgeErrorKind::Unreadable, "answered with an empty text".to_owned())
            }
            End::Complete => return Ok(JudgeReply { usage: answer.usage, ..JudgeReply::new(answer.text) }),
        };
        Err(self.error(kind, &what))
    }

    pub(super) fn unlike(&self, lacks: &str) -> JudgeError {
        self.error(
            JudgeErrorKind::Failed,
            &format!(
                "sent something that is not an answer of a model: it has {lacks}; is the base URL right?"
            ),
        )
    }

    pub(super) fn fault(&self, fault: Fault) -> JudgeError {
        let (what, is_transient) = match fault {
            Fault::Status { status, body, retry_after } => {
                return self.failed(Some(status), &body, retry_after);
            }
            Fault::Timeout => {
                let message = format!(
                    "did not answer within {:?}; `EVALSET_JUDGE_TIMEOUT` gives it more seconds",
                    self.timeout
                );
                // A judge that hangs is not asked again: each attempt would take as long.
                return self.error(JudgeErrorKind::Timeout, &message);
            }
            Fault::Broken(cause) => {
                (format!("could not be reached, or broke off: {}", self.quote(&cause)), true)
            }
            // A connection that broke off may end like this, so a retry may help.
            Fault::NotJson(cause) => (format!("answered with broken JSON: {}", self.quote(&cause)), true),
            Fault::Impossible(cause) => (format!("cannot be asked: {}", self.quote(&cause)), false),
            Fault::Large => (format!("answered with more than {} MiB", MAX_ANSWER_BYTES >> 20), false),
            Fault::Redirect { status, to } => {
                let to = to.map_or_else(String::new, |to| format!(" to {}", self.quote(&to)));
                let what = format!(
                    "answered {status}, a redirect{to}, which is not followed, as the key is not for others; \
                     is the base URL right?"
                );
                (what, false)
            }
        };
        let error = self.error(JudgeErrorKind::Failed, &what);
        if is_transient { error.transient(None) } else { error }
    }

    fn failed(&self, status: Option<StatusCode>, body: &str, retry_after: Option<Duration>) -> JudgeError {
        let told: Option<Value> = serde_json::from_str(body).ok();
        let told = told.as_ref().map(|body| body.get(0).unwrap_or(body));
        let error = told.map(|told| &told["error"]);
        let message = error.and_then(|error| error["message"].as_str().or(error.as_str()));
        let message = message.or(told.and_then(|told| told["message"].as_str())).unwrap_or(body);
        let answered = status.map_or_else(|| "an error".to_owned(), |status| status.to_string());
        let colon = if message.trim().is_empty() { "" } else { ": " };
        let advice = self.advice(status);
        let text = format!("answered {answered}{colon}{}{advice}", self.quote(message));
        let failed = self.error(JudgeErrorKind::Failed, &text);
        // A retry does not help an account without quota.
        let is_out_of_quota = error.is_some_and(|error| error["code"] == "insufficient_quota");
        if status.is_some_and(is_transient) && !is_out_of_quota {
            failed.transient(retry_after)
        } else {
            failed
        }
    }

    fn advice(&self, status: Option<StatusCode>) -> String {
        match status.map(|status| status.as_u16()) {
            Some(401 | 403) => match self.key.map(|key| key.variable) {
                Some(Some(variable)) => format!("; is the key in `{variable}` the right one?"),
                Some(None) => "; is the key the right one?".to_owned(),
                None => "; no key was sent, since none is set".to_owned(),
            },
            Some(404) => "; are the name of the model and the base URL right?".to_owned(),
            _ => String::new(),
        }
    }

    fn error(&self, kind: JudgeErrorKind, what: &str) -> JudgeError {
        JudgeError::new(kind, format!("judge `{}` at {} {what}", self.model, self.host))
    }

    /// A foreign text without keys, on one line, and not too long.
    fn quote(&self, text: &str) -> String {
        let text = hide(text, self.keys);
        // The rest of a long text is not even looked at.
        let words = text.split_whitespace().take(MAX_QUOTED_CHARS);
        cut(&words.collect::<Vec<_>>().join(" "), MAX_QUOTED_CHARS)
    }
}

fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429) || status.is_server_error()
}
