use crate::config::check_config;
use crate::problem::Problem;
use crate::problem::render;
use crate::reader::check_set;

const FINAL: &str = "rubric_based_final_response_quality_v1";

/// A rubric as JSON; `type` where it has one.
fn rubric(id: &str, kind: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(r#", "type": "{kind}""#) };
    format!(r#"{{"rubric_id": "{id}", "rubric_content": {{"text_property": "It is kind."}}{kind}}}"#)
}

/// A set of one case: rubrics of the case, then of each turn.
fn set(case: &[String], turns: &[&[String]]) -> String {
    let turns: Vec<String> = turns
        .iter()
        .map(|rubrics| {
            format!(
                r#"{{"user_content": {{"parts": [{{"text": "Hi"}}]}}, "rubrics": [{}]}}"#,
                rubrics.join(", ")
            )
        })
        .collect();
    format!(
        r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "rubrics": [{}], "conversation": [{}]}}]}}"#,
        case.join(", "),
        turns.join(", ")
    )
}

/// Code and path of each problem; warnings in brackets.
fn shorts(problems: &[Problem]) -> Vec<String> {
    let short = |problem: &Problem| {
        let text = format!("{} {}", problem.code, problem.path);
        if problem.is_error() { text } else { format!("[{text}]") }
    };
    problems.iter().map(short).collect()
}

fn found(text: &str) -> Vec<String> {
    shorts(&check_set("s.evalset.json", text.as_bytes(), None).problems)
}

#[test]
fn rubrics_of_cases_and_turns_should_have_a_type_that_is_read() {
    const TYPE: &str = "eval_cases[0].rubrics[0].type";
    for (kind, expected) in [
        ("FINAL_RESPONSE_QUALITY", vec![]),
        ("TOOL_USE_QUALITY", vec![]),
        ("TRAJECTORY_QUALITY", vec![]),
        ("", vec!["[unread-rubric eval_cases[0].rubrics[0]]".to_owned()]),
        ("final_response_quality", vec![format!("[unread-rubric {TYPE}]")]),
        ("FINAL_RESPONSE_QUALTY", vec![format!("[unread-rubric {TYPE}]")]),
        ("TONE", vec![format!("[unread-rubric {TYPE}]")]),
    ] {
        assert_eq!(found(&set(&[rubric("r", kind)], &[&[]])), expected, "{kind}");
        let of_turn: Vec<String> = expected
            .iter()
            .map(|text| text.replace("eval_cases[0].rubrics", "eval_cases[0].conversation[0].rubrics"))
            .collect();
        assert_eq!(found(&set(&[], &[&[rubric("r", kind)]])), of_turn, "{kind}");
    }
}

#[test]
fn a_rubric_of_the_conversation_in_an_earlier_turn_is_warned_of() {
    let rubric = [rubric("r", "TRAJECTORY_QUALITY")];
    assert_eq!(
        found(&set(&[], &[&rubric, &[]])),
        ["[unread-rubric eval_cases[0].conversation[0].rubrics[0].type]"]
    );
    assert!(found(&set(&[], &[&[], &rubric])).is_empty());
}

#[test]
fn ids_are_unique_among_the_rubrics_of_a_turn() {
    let final_response = |id: &str| rubric(id, "FINAL_RESPONSE_QUALITY");
    let (a, b) = (final_response("a"), final_response("b"));
    let turn = "eval_cases[0].conversation";
    for (case, turns, expected) in [
        (vec![a.clone(), b.clone()], vec![vec![]], vec![]),
        (vec![a.clone()], vec![vec![b.clone()], vec![b.clone()]], vec![]),
        (vec![a.clone(), a.clone()], vec![vec![]], vec!["eval_cases[0].rubrics[1].rubric_id".to_owned()]),
        (vec![], vec![vec![a.clone(), a.clone()]], vec![format!("{turn}[0].rubrics[1].rubric_id")]),
        (
            vec![a.clone()],
            vec![vec![b.clone()], vec![a.clone()]],
            vec![format!("{turn}[1].rubrics[0].rubric_id")],
        ),
        // ADK refuses these too, though no metric judges both.
        (
            vec![a.clone()],
            vec![vec![rubric("a", "TOOL_USE_QUALITY")]],
            vec![format!("{turn}[0].rubrics[0].rubric_id")],
        ),
    ] {
        let turns: Vec<&[String]> = turns.iter().map(Vec::as_slice).collect();
        let expected: Vec<String> =
            expected.iter().map(|path| format!("duplicate-rubric-id {path}")).collect();
        assert_eq!(found(&set(&case, &turns)), expected);
    }
}

#[test]
fn a_rubric_says_something() {
    for content in ["{}", r#"{"text_property": null}"#, r#"{"textProperty": " "}"#] {
        let rubric =
            format!(r#"{{"rubric_id": "r", "rubric_content": {content}, "type": "TOOL_USE_QUALITY"}}"#);
        let text = set(&[rubric], &[&[]]);
        assert_eq!(found(&text), ["[unread-rubric eval_cases[0].rubrics[0].rubric_content]"], "{content}");
    }
    // One problem is enough.
    let text = set(
        &[r#"{"rubric_id": "r", "rubric_content": {"text": "x"}, "type": "TOOL_USE_QUALITY"}"#.into()],
        &[&[]],
    );
    assert!(found(&text).contains(&"unknown-key eval_cases[0].rubrics[0].rubric_content.text".to_owned()));
}

#[test]
fn the_rubrics_of_a_criterion_need_no_type() {
    let found = |rubrics: &[String]| {
        let text = format!(
            r#"{{"criteria": {{"{FINAL}": {{"threshold": 1, "rubrics": [{}]}}}}}}"#,
            rubrics.join(", ")
        );
        shorts(&check_config("c.json", text.as_bytes(), &[]).problems)
    };
    assert!(found(&[rubric("a", ""), rubric("b", "ANY")]).is_empty());
    assert_eq!(
        found(&[rubric("a", ""), rubric("a", "")]),
        [format!("duplicate-rubric-id criteria.{FINAL}.rubrics[1].rubric_id")]
    );
    assert_eq!(found(&["{}".to_owned()]).len(), 2);
}

#[test]
fn the_commonest_mistake_reads_as_prose() {
    let text = "{\"eval_set_id\": \"s\", \"eval_cases\": [{\"eval_id\": \"c\",\n  \"rubrics\": [\n    {\"rubric_id\": \"kind\", \"rubric_content\": {\"text_property\": \"It is kind.\"}}\n  ],\n  \"conversation\": [{\"user_content\": {}}]}]}";
    let problems = check_set("s.evalset.json", text.as_bytes(), None).problems;
    insta::assert_snapshot!(render(&problems[0], "s.evalset.json", text), @r#"
    the rubric has no `type`
     --> s.evalset.json:3:5
      |
    3 |     {"rubric_id": "kind", "rubric_content": {"text_property": "It is kind."}}
      |     ^ ADK leaves it out without a word
      |
      = help: add `"type": "..."` to say which metric reads it: `FINAL_RESPONSE_QUALITY` (`rubric_based_final_response_quality_v1`), `TOOL_USE_QUALITY` (`rubric_based_tool_use_quality_v1`), `TRAJECTORY_QUALITY` (`rubric_based_multi_turn_trajectory_quality_v1`); rubrics of a criterion need none
    "#);
}
