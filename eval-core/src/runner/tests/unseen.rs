//! Actions of agents where no metric looks, and answers that show nothing.

use eval_format::{Content, Part, Value};

use super::*;
use crate::agent::{Recorder, Session, turn_fn};

/// The message of the case's error; `None` if it passed. It expects no calls.
fn error_of<A: Agent + 'static>(agent: impl Fn() -> A + Send + Sync) -> (Option<String>, Vec<String>) {
    let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0));
    let report = run(runner.run_case(&case("c", &[("hi", "hello")]), agent)).unwrap();
    let error = match &report.verdict {
        Verdict::Error { role: Role::Agent, message } => Some(message.clone()),
        Verdict::Passed => None,
        other => panic!("{other:?}"),
    };
    (error, report.notes)
}

fn answering(parts: Vec<Part>) -> Option<String> {
    error_of(move || {
        let event = Event::new("agent", Content::new("model", parts.clone()));
        turn_fn(move |turn: Turn<'static>| {
            let event = event.clone();
            async move { turn.recorder().event(event) }
        })
    })
    .0
}

#[test]
fn blank_answers_are_no_answers() {
    let mut thought = Part::text("It may be sunny.");
    thought.thought = Some(true);
    let signed = Part::text("").with_other("thought_signature", "c2ln");
    for part in [Part::text("\n"), Part::text("\u{200b}"), thought, signed] {
        let error = answering(vec![part.clone()]).unwrap_or_else(|| panic!("{part:?}"));
        assert!(error.contains("the agent answered nothing that a user would see (1 event"), "{error}");
        assert_eq!(answering(vec![part, Part::text("Sunny.")]), None);
    }
    let (error, _) = error_of(|| {
        agent_fn(|_, recorder: Recorder| async move {
            recorder.chunk(" ");
            recorder.chunk("\n");
        })
    });
    assert!(error.is_some_and(|error| error.contains("that a user would see")));
    // As in ADK, the last text is the answer.
    let (error, _) = error_of(|| {
        agent_fn(|_, recorder: Recorder| async move {
            recorder.text("Sunny.");
            recorder.text("\n");
        })
    });
    assert!(error.is_some_and(|error| error.contains("that a user would see")));
}

/// Calls a forbidden tool in a recorder that is made here.
fn strays(reads: bool) -> std::future::Ready<String> {
    let recorder = Recorder::new();
    recorder.tool_call("delete_account", json!({ "id": 7 }), "done");
    std::future::ready(if reads { format!("{} events", recorder.events().len()) } else { "done".to_owned() })
}

#[test]
fn what_an_agent_records_into_a_recorder_of_no_case_is_an_error() {
    let (error, _) = error_of(|| agent_fn(|_, _| async { strays(false).await }));
    let error = error.unwrap();
    assert!(
        error.contains("2 events recorded into a recorder of no case")
            && error.contains("delete_account(id: 7)"),
        "{error}"
    );
    assert!(error.contains("record with `turn.recorder()`"), "{error}");
    let inner = || {
        agent_fn(|text: String, _| async move {
            let turn = Turn::from(&*text);
            agent_fn(|_, recorder: Recorder| async move {
                recorder.tool_call("delete_account", json!({}), "done");
                "ok"
            })
            .turn(&turn)
            .await?;
            Ok::<_, BoxError>("ok")
        })
    };
    assert!(error_of(inner).0.is_some());
    let of_no_session = || {
        agent_fn(|_, _| async move {
            Session::new("a", "u").recorder().tool_call("delete_account", json!({}), "done");
            "ok"
        })
    };
    assert!(error_of(of_no_session).0.is_some());
    assert_eq!(
        error_of(|| agent_fn(|_, _| async { strays(true).await })).0,
        None,
        "whoever reads it knows of it"
    );
}

#[test]
fn remarks_are_shown_once_with_the_case() {
    let (error, notes) = error_of(|| {
        agent_fn(|_, recorder: Recorder| async move {
            recorder.note("the fallback answered");
            recorder.note("the fallback answered");
            "ok"
        })
    });
    assert_eq!((error, notes), (None, vec!["the fallback answered".to_owned()]));
    let (_, notes) = error_of(|| {
        agent_fn(|_, recorder: Recorder| async move {
            (0..30).for_each(|number| recorder.note(format!("remark {number}")));
            "ok"
        })
    });
    assert_eq!(
        (notes.len(), notes[19].as_str(), notes[20].as_str()),
        (21, "remark 19", "further remarks are left out")
    );
}

#[test]
fn a_threshold_that_no_score_of_a_custom_metric_misses_is_refused() {
    let is_there =
        |actual: &Invocation, _: Option<&Invocation>, _: &Criterion| !actual.response_text().is_empty();
    let number = |_: &Invocation, _: Option<&Invocation>, _: &Criterion| -> f64 { -2.0 };
    let of = |runner: EvalRunner| {
        run(runner.run_case(&case("c", &[("hi", "hello")]), || Replay::new([["hello"]])))
    };
    for criterion in
        [Criterion::new(0.0), Criterion::new(-1.0), Criterion::at_most(1.0), Criterion::at_most(7.0)]
    {
        let runner = EvalRunner::new().metric("there", is_there).criterion("there", criterion.clone());
        let error = of(runner).unwrap_err().to_string();
        assert!(error.contains("no score of `there` is") && error.contains("its threshold"), "{error}");
        assert!(
            of(EvalRunner::new().metric("n", number).criterion("n", criterion)).is_ok(),
            "any number may miss it"
        );
    }
    for criterion in [Criterion::new(-1e308), Criterion::at_most(1e308)] {
        assert!(of(EvalRunner::new().metric("n", number).criterion("n", criterion)).is_err());
    }
    assert!(of(EvalRunner::new().metric("there", is_there)).unwrap().verdict.passed());
    let at_most = EvalRunner::new().metric("there", is_there).criterion("there", Criterion::at_most(0.0));
    assert_eq!(of(at_most).unwrap().verdict, Verdict::Failed);
    // Nor does a case give it one.
    for change in [Value::from(0.0), Value::from(-1.0)] {
        let own = case("c", &[("hi", "hello")]).with_criterion("there", change);
        let runner = EvalRunner::new().metric("there", is_there).criterion("there", Criterion::new(0.5));
        let report = run(runner.run_case(&own, || Replay::new([["hello"]]))).unwrap();
        let said = report.to_string();
        assert!(
            matches!(report.verdict, Verdict::Error { .. }) && said.contains("no score of `there` is below"),
            "{said}"
        );
    }
}
