//! Questions that are answered with a number.

use super::{JudgeError, JudgeErrorKind, JudgeReply, Judging, Sample};
use crate::score::mean;

/// The mean of the samples of a question that is answered with a number.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rating {
    /// The mean of the samples that answered: the exact mean, rounded once.
    pub mean: f64,
    /// How many samples answered.
    pub voters: u32,
    /// How many samples were asked for.
    pub samples: u32,
    /// The first reply with the lowest number.
    pub reply: String,
}

impl Judging {
    /// Asks all samples of a question that is answered with a number and takes their mean.
    ///
    /// ```
    /// use eval_core::Criterion;
    /// use eval_core::judge::{Judge, Judging, Scripted};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let options = eval_core::format::Value::from(eval_core::json!({ "num_samples": 2 }));
    /// let criterion = Criterion::new(3.0).with("judge_model_options", options);
    /// let judging = Judging::new(Scripted::new(["4", "5"]).boxed(), &criterion);
    ///
    /// let read = |reply: &str| match reply.parse() {
    ///     Ok(number @ 1.0..=5.0) => Ok(number),
    ///     _ => Err("it is no number from 1 to 5".to_owned()),
    /// };
    /// let rating = judging.rate("clarity/1", "How clear is this, from 1 to 5? ...", read).await?;
    /// assert_eq!(rating.mean, 4.5);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The error of `read` says what is wrong with a reply, such as one without a number in range. NaN is wrong in any
    /// case. A sample that failed does not count. It is an error if more samples failed than answered, as in
    /// [`vote`](Self::vote).
    pub async fn rate(
        &self,
        template: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<f64, String> + Sync,
    ) -> Result<Rating, JudgeError> {
        let read = |reply: &str| match read(reply)? {
            number if number.is_nan() => Err("the number is NaN".to_owned()),
            number => Ok(number),
        };
        let (read, all) = (&read, self.samples() as usize);
        let failed = |samples: &[Sample<f64>]| samples.iter().filter(|sample| sample.is_err()).count();
        // The mean needs every sample. Only where most have failed, the others change nothing.
        let is_lost = |_: &&str, answered: &[Sample<f64>]| failed(answered) * 2 > all;
        let questions = [prompt];
        let samples = self
            .sample_all(
                template,
                &questions,
                |prompt| prompt,
                |_, request| Box::pin(async move { self.read(&request, read).await }),
                is_lost,
            )
            .await;
        let samples: Vec<Sample<f64>> = samples.into_iter().flat_map(|(_, samples)| samples).collect();
        let answered: Vec<&(f64, JudgeReply)> =
            samples.iter().filter_map(|sample| sample.as_ref().ok()).collect();
        if let Some(error) = samples.iter().find_map(|sample| sample.as_ref().err())
            && failed(&samples) * 2 > all
        {
            return Err(error.clone());
        }
        let numbers: Vec<f64> = answered.iter().map(|(number, _)| *number).collect();
        let lowest = answered.iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
        match (mean::exact(&numbers), lowest) {
            (Some(mean), Some((_, reply))) => Ok(Rating {
                mean,
                voters: u32::try_from(answered.len()).unwrap_or(u32::MAX),
                samples: self.samples(),
                reply: reply.text.clone(),
            }),
            _ => Err(JudgeError::new(JudgeErrorKind::Unreadable, "no sample was asked for")),
        }
    }
}

#[cfg(test)]
mod tests {
    use eval_format::Criterion;
    use serde_json::json;

    use super::*;
    use crate::judge::{Judge, Scripted};
    use crate::test_support::ready;

    fn rate(replies: &[&str], samples: u32) -> Result<Rating, JudgeError> {
        let criterion = Criterion::new(1.0).with("judge_model_options", json!({ "num_samples": samples }));
        let judge = Scripted::new(replies.iter().copied());
        let read = |reply: &str| reply.parse().map_err(|_| format!("`{reply}` is no number"));
        ready(Judging::new(judge.boxed(), &criterion).rate("t/1", "how many?", read))
    }

    #[test]
    fn the_mean_of_the_samples_that_answer_is_taken() {
        let rating = rate(&["4", "2", "5"], 3).unwrap();
        assert_eq!((rating.mean, rating.voters, rating.samples), (11.0 / 3.0, 3, 3));
        assert_eq!(rating.reply, "2");
        // Two replies to the first sample are no number: it was asked again.
        let rating = rate(&["?", "NaN", "2", "5"], 3).unwrap();
        assert_eq!((rating.mean, rating.voters, rating.samples), (3.5, 2, 3));
    }

    #[test]
    fn samples_that_fail_more_often_than_not_are_an_error() {
        let error = rate(&["?", "?", "?", "?", "5"], 3).unwrap_err();
        assert_eq!(error.kind(), JudgeErrorKind::Unreadable);
        assert!(rate(&["?", "?", "5"], 2).is_ok(), "half of them may");
        assert_eq!(rate(&[], 1).unwrap_err().kind(), JudgeErrorKind::Failed);
    }

    #[test]
    fn samples_are_asked_until_most_have_failed() {
        for (replies, samples, asked) in
            [(vec!["1"; 3], 3, 3), (vec!["?"; 6], 3, 4), (vec!["?", "?", "5"], 2, 3), (vec!["?"; 2], 1, 2)]
        {
            let criterion =
                Criterion::new(1.0).with("judge_model_options", json!({ "num_samples": samples }));
            let judge = std::sync::Arc::new(Scripted::new(replies));
            let judging = Judging::new(std::sync::Arc::clone(&judge).boxed(), &criterion);
            let read = |reply: &str| reply.parse().map_err(|_| "it is no number".to_owned());
            let _ = ready(judging.rate("t/1", "how many?", read));
            assert_eq!(judge.requests().len(), asked, "{samples} samples");
        }
    }
}
