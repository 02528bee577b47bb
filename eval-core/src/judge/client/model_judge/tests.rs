use super::*;
use crate::judge::JudgeErrorKind;
use crate::judge::client::slots::{Limited, Slots};

fn variables(set: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> + Copy {
    |name| set.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned())
}

fn from(set: &'static [(&'static str, &'static str)]) -> ModelJudge {
    ModelJudge::from_variables(variables(set)).unwrap()
}

#[tokio::test]
async fn a_missing_key_names_the_variable_and_the_switch() {
    for (model, says) in [
        ("gemini-2.5-flash", "set `GEMINI_API_KEY` or `GOOGLE_API_KEY`, or replay recordings"),
        ("openai/gpt-4o", "set `OPENAI_API_KEY`, or replay recordings with `EVALSET_JUDGE=replay`"),
        ("anthropic/claude-x", "no key for the judge `anthropic/claude-x`: set `ANTHROPIC_API_KEY`, or"),
    ] {
        // An empty variable counts as unset.
        for judge in [from(&[]), ModelJudge::new().key(Provider::Gemini, "").key(Provider::OpenAi, " ")] {
            let error = judge.ask(&JudgeRequest::new(model, "p")).await.unwrap_err();
            assert_eq!(error.kind(), JudgeErrorKind::NoJudge, "{error}");
            assert!(error.to_string().contains(says), "{error}");
            assert!(!error.is_transient(), "{error}");
        }
    }
}

#[tokio::test]
async fn a_key_that_is_no_header_names_its_variable_and_not_itself() {
    let judge = from(&[("OPENAI_API_KEY", "correct\nhorse")]);
    let error = judge.ask(&JudgeRequest::new("openai/gpt-4o", "p")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`OPENAI_API_KEY` has characters that a key cannot have; is it the key alone, on one line?"
    );
    let judge = ModelJudge::new().key(Provider::OpenAi, "correct\nhorse");
    let error = judge.ask(&JudgeRequest::new("openai/gpt-4o", "p")).await.unwrap_err();
    assert!(error.to_string().starts_with("the key of OpenAI has characters"), "{error}");
}

#[test]
fn the_environment_gives_keys_addresses_and_the_time_limit() {
    let judge = from(&[
        ("GEMINI_API_KEY", "second"),
        ("GOOGLE_API_KEY", "first"),
        ("EVALSET_JUDGE_BASE_URL", "http://judge.test/v1"),
        ("OPENAI_BASE_URL", "http://proxy.test/v1"),
        ("EVALSET_JUDGE_TIMEOUT", "7"),
    ]);
    assert_eq!(judge.key_of(Provider::Gemini).unwrap().value, "first");
    assert_eq!(judge.key_of(Provider::Gemini).unwrap().variable, Some("GOOGLE_API_KEY"));
    assert!(judge.key_of(Provider::OpenAi).is_none());
    for provider in [Provider::OpenAi, Provider::Ollama] {
        let (url, own) = judge.base(provider).unwrap();
        assert_eq!((url.as_str(), own), ("http://judge.test/v1", false));
    }
    assert!(judge.base(Provider::Gemini).unwrap().1);
    assert_eq!(judge.timeout, Duration::from_secs(7));
    assert_eq!(
        from(&[("OPENAI_BASE_URL", "http://proxy.test/v1")]).base(Provider::OpenAi).unwrap().0.as_str(),
        "http://proxy.test/v1"
    );
    assert_eq!(from(&[]).timeout, environment::DEFAULT_TIME_LIMIT);
}

#[test]
fn variables_that_cannot_be_read_are_named_and_not_shown() {
    for (set, says) in [
        (
            &[("EVALSET_JUDGE_BASE_URL", "user:horse@judge.test")] as &[_],
            "the variable `EVALSET_JUDGE_BASE_URL` has to be an address, such as `http://localhost:8000/v1`",
        ),
        (
            &[("ANTHROPIC_BASE_URL", "ftp://user:horse@judge.test")],
            "`ANTHROPIC_BASE_URL` has to be an address",
        ),
        (&[("EVALSET_JUDGE_TIMEOUT", "2m")], "`EVALSET_JUDGE_TIMEOUT` has to be a whole number"),
        (&[("EVALSET_JUDGE_TIMEOUT", "0")], "from 1 to 65535"),
    ] {
        let error = ModelJudge::from_variables(variables(set)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert!(!error.contains("horse"), "{error}");
    }
}

#[test]
fn debug_output_shows_no_key() {
    let judge = from(&[("OPENAI_API_KEY", "correct-horse"), ("OPENAI_BASE_URL", "http://u:horse@h.test")]);
    let shown = format!("{judge:?} {:?}", Limited::new(judge.clone(), Slots::new(None, 1)));
    assert!(!shown.contains("horse"), "{shown}");
    assert!(shown.contains("OpenAi, Key(..)"), "{shown}");
}

#[test]
fn headers_with_keys_are_not_in_debug_output() {
    for provider in Provider::ALL {
        let header = |key: &str| secret_header(wire(provider).key_header(key));
        let shown = format!("{:?}", header("correct-horse").unwrap());
        assert!(!shown.contains("horse"), "{shown}");
        assert!(header("two\nlines").is_none());
    }
}

#[test]
fn code_fences_are_taken_off() {
    for (text, inside) in [
        ("{\"a\": 1}", "{\"a\": 1}"),
        ("```json\n{\"a\": 1}\n```", "{\"a\": 1}"),
        (" \n```\n{\"a\": 1}```\n", "{\"a\": 1}"),
        ("see ```json\n{}\n```", "see ```json\n{}\n```"),
        ("```", "```"),
        ("``````", "``````"),
        ("", ""),
    ] {
        assert_eq!(without_fence(text), inside);
    }
}
