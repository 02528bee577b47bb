use std::sync::Arc;

use eval_format::Criterion;
use serde_json::json;

use super::*;
use crate::judge::ScriptedJudge;
use crate::test_support::ready;

fn read(reply: &str) -> Result<Option<bool>, String> {
    match reply {
        "yes" => Ok(Some(true)),
        "no" => Ok(Some(false)),
        "?" => Ok(None),
        _ => Err("it is neither yes nor no".to_owned()),
    }
}

/// The outcome of a vote, and how many replies it took.
fn vote(replies: &str, samples: u32) -> (Option<bool>, usize) {
    let script = replies.split(' ').map(|reply| match reply {
        "error" => Err(JudgeError::new(JudgeErrorKind::Failed, "no connection")),
        reply => Ok(JudgeReply::new(reply)),
    });
    let judge = Arc::new(ScriptedJudge::results(script));
    let criterion = Criterion::new(1.0).with("judge_model_options", json!({ "num_samples": samples }));
    let judging = JudgeClient::new(Arc::clone(&judge).boxed(), &criterion);
    let vote = ready(judging.vote("t/1", "polite?", read));
    (vote.ok().map(|vote| vote.passed), judge.requests().len())
}

#[test]
fn nobody_is_asked_once_the_outcome_is_known() {
    for (replies, samples, expected) in [
        ("yes yes yes no no", 5, (Some(true), 3)),
        ("no no no yes yes", 5, (Some(false), 3)),
        ("yes no yes no yes", 5, (Some(true), 5)),
        ("yes yes no no no", 5, (Some(false), 5)),
        ("no yes", 2, (Some(false), 1)),
        ("yes no", 2, (Some(false), 2)),
        ("no no yes yes", 4, (Some(false), 2)),
        ("yes", 1, (Some(true), 1)),
        // Failures: most of them decide.
        ("error error error yes yes", 5, (None, 3)),
        ("error error yes yes yes", 5, (Some(true), 5)),
        // Those that do not vote.
        ("? ? yes yes no", 5, (None, 5)),
        ("? ? yes yes yes", 5, (Some(true), 5)),
        ("yes yes no ? ?", 5, (None, 5)),
        ("error yes", 2, (None, 2)),
        ("? ? yes no no", 5, (Some(false), 5)),
        ("? ? ? yes yes", 5, (None, 3)),
        ("yes error error ? ?", 5, (None, 4)),
    ] {
        assert_eq!(vote(replies, samples), expected, "{replies}");
    }
}

#[test]
fn stopping_changes_no_outcome() {
    // All sequences of four answers, beside the outcome of all of them.
    let words = ["yes", "no", "?", "error"];
    for n in 0..256_usize {
        let picked: Vec<&str> = (0..4).map(|at| words[n / 4_usize.pow(at) % 4]).collect();
        let count = |word: &str| picked.iter().filter(|picked| **picked == word).count();
        let (yes, no) = (count("yes"), count("no"));
        let expected = (yes + no >= 2 && (yes <= no || yes > 2)).then_some(yes > no);
        assert_eq!(vote(&picked.join(" "), 4).0, expected, "{picked:?}");
    }
}

#[test]
fn a_vote_of_a_few_samples_is_no_majority() {
    for (replies, message) in [
        ("yes ? ? ? ?", "only 1 of 4 samples says yes or no"),
        ("yes error error ? ?", "only 1 of 4 samples says yes or no, and 2 failed"),
        ("? ? ? yes yes", "none of 3 samples says yes or no"),
        ("? yes ? yes no", "only 2 of 5 samples say yes, which is not more than half"),
        ("error yes error yes no", "only 2 of 5 samples say yes, which is not more than half, and 2 failed"),
        ("error error error yes yes", "no connection"),
    ] {
        let script = replies.split(' ').map(|reply| match reply {
            "error" => Err(JudgeError::new(JudgeErrorKind::Failed, "no connection")),
            reply => Ok(JudgeReply::new(reply)),
        });
        let judging = JudgeClient::new(ScriptedJudge::results(script).boxed(), &Criterion::new(1.0));
        let error = ready(judging.vote("t/1", "polite?", read)).unwrap_err();
        assert!(error.to_string().starts_with(message), "{replies}: {error}");
        let kind =
            if message == "no connection" { JudgeErrorKind::Failed } else { JudgeErrorKind::Unreadable };
        assert_eq!(error.kind(), kind, "{replies}");
    }
}

#[test]
fn a_yes_needs_more_than_half_of_all_and_a_no_one_vote_that_is_not_outvoted() {
    for (yes, no, all, outcome) in [
        (0, 0, 5, None),
        (0, 1, 5, Some(false)),
        (1, 1, 5, Some(false)),
        (2, 2, 4, Some(false)),
        (2, 1, 5, None),
        (2, 0, 4, None),
        (3, 0, 5, Some(true)),
        (3, 2, 5, Some(true)),
        (3, 1, 4, Some(true)),
        (1, 0, 1, Some(true)),
    ] {
        assert_eq!(majority(yes, no, all), outcome, "{yes} yes, {no} no, of {all}");
    }
    // Half of them say nothing: that is a vote, in which yes has no majority.
    let judge = ScriptedJudge::results(["yes", "yes", "?", "?"].map(|reply| Ok(JudgeReply::new(reply))));
    let criterion = Criterion::new(1.0).with("judge_model_options", json!({ "num_samples": 4 }));
    let error = ready(JudgeClient::new(judge.boxed(), &criterion).vote("t/1", "polite?", read)).unwrap_err();
    let told = "only 2 of 4 samples say yes, which is not more than half";
    assert!(error.to_string().starts_with(told), "{error}");
}

#[test]
fn samples_come_back_in_order_those_that_failed_among_them() {
    let failed = || JudgeError::new(JudgeErrorKind::Failed, "no connection");
    let reply = |text| Ok(JudgeReply::new(text));
    // What cannot be read is asked for again.
    let judge = ScriptedJudge::results([reply("yes"), Err(failed()), reply("maybe"), reply("no")]);
    let criterion = Criterion::new(1.0).with("judge_model_options", json!({ "num_samples": 3 }));
    let samples = ready(JudgeClient::new(judge.boxed(), &criterion).sample("t/1", "polite?", read));
    let told: Vec<String> = samples
        .iter()
        .map(|sample| match sample {
            Ok((vote, reply)) => format!("{vote:?} {}", reply.text),
            Err(error) => format!("{:?}", error.kind()),
        })
        .collect();
    assert_eq!(told, ["Some(true) yes", "Failed", "Some(false) no"]);
}

#[test]
fn a_mean_stops_only_when_most_have_failed() {
    let error = || Err(JudgeError::new(JudgeErrorKind::Failed, "no connection"));
    let reply = || Ok(JudgeReply::new("4"));
    for (replies, asked) in [
        (vec![reply(), reply(), reply(), reply(), reply()], 5),
        (vec![error(), error(), reply(), reply(), reply()], 5),
        (vec![error(), error(), error(), reply(), reply()], 3),
    ] {
        let judge = Arc::new(ScriptedJudge::results(replies));
        let judging = JudgeClient::new(Arc::clone(&judge).boxed(), &Criterion::new(1.0));
        let rating = ready(judging.rate("t/1", "?", |reply| reply.parse().map_err(|_| String::new())));
        assert_eq!((rating.is_ok(), judge.requests().len()), (asked == 5, asked));
    }
}
