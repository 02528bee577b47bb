//! Tables of questions and answers, and sets of other tools.

use super::*;

/// A draft as one line: the id, what is said and called, and the gaps.
fn shown(imported: &Imported) -> Vec<String> {
    let turn = |turn: &eval_core::Invocation| {
        let calls: Vec<_> = turn.tool_calls().map(|call| format!(" {call}")).collect();
        format!("{} >{} > {}", turn.user_text(), calls.concat(), turn.response_text())
    };
    let drafts = imported.drafts.iter().map(|draft| {
        let turns: Vec<_> = draft.case.conversation.iter().map(turn).collect();
        format!("[{}] {} {:?}", draft.case.eval_id, turns.join(" | "), draft.gaps)
    });
    drafts.collect()
}

#[test]
fn json_lines_are_read_in_the_forms_in_use() {
    let lines = r#"
        {"id": "a", "question": "One?", "answer": 1, "tools": ["f", {"name": "g", "args": {"x": 1}}]}
        {"question": "Two?", "tools": [{"function": {"name": "h", "arguments": "{\"y\": 2}"}}], "answer": "2"}
        {"question": " ", "answer": "nothing"}
        {"question": "Three?", "tools": "f, g", "answer": null}"#;
    let imported = parse(lines);
    assert_eq!(imported.format, Format::JsonLines);
    assert_eq!(
        shown(&imported),
        [
            r#"[a] One? > f g(x: 1) > 1 ["turn 1: the arguments of `f` are not known"]"#,
            "[two] Two? > h(y: 2) > 2 []",
            r#"[three] Three? > f g >  ["turn 1: the arguments of `f` are not known", "turn 1: the arguments of `g` are not known", "turn 1 has no answer"]"#,
        ]
    );
    assert_eq!(imported.left_out, ["line 4: the user says nothing"]);
    assert_eq!(imported.drafts[1].origin.details["line"], 3);
}

#[test]
fn columns_that_are_not_read_are_named_unless_a_mapping_says_what_is() {
    let table = |columns: &str| format!(r#"[{{"user": "One?", "final": "1", {columns}}}]"#);
    let one = parse(&table(r#""used": "f""#));
    assert_eq!(one.left_out, ["the column `used`: its name is not known, and no mapping says what it holds"]);
    let many = parse(&table(r#""a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "g": 6"#));
    assert_eq!(
        many.left_out,
        [
            "the columns `a`, `b`, `c`, `d`, `e` and 1 more: their names are not known, and no mapping says what they hold"
        ]
    );
    let import = Import::new().mapping("user=user".parse().unwrap());
    assert!(import.parse("here", table(r#""used": "f""#).as_bytes()).unwrap().left_out.is_empty());
}

#[test]
fn rows_of_one_conversation_are_its_turns() {
    let lines =
        r#"[{"session": "x", "user": "1"}, {"session": "y", "user": "2"}, {"session": "x", "user": "3"}]"#;
    let imported = parse(lines);
    let turns: Vec<_> = imported.drafts.iter().map(|draft| draft.case.conversation.len()).collect();
    assert_eq!(turns, [2, 1]);
    assert_eq!(imported.drafts[0].origin.details["conversation"], "x");
}

#[cfg(feature = "csv")]
#[test]
fn tables_are_read_with_any_delimiter_and_a_mapping() {
    let table = "Question;Expected answer\n\"One; or\ntwo?\";1\nThree?;\n";
    let imported = parse(table);
    assert_eq!(imported.format, Format::Csv);
    assert_eq!(
        shown(&imported),
        ["[one_or_two] One; or\ntwo? > > 1 []", r#"[three] Three? > >  ["turn 1 has no answer"]"#]
    );
    assert_eq!(imported.drafts[1].origin.details["line"], 4);

    let import = Import::new().mapping("q=user,used=tools".parse().unwrap());
    let imported = import.parse("here", b"q,used,answer\nOne?,\"f,g\",no\n").unwrap();
    assert!(shown(&imported)[0].starts_with("[one] One? > f g >  ["), "{:?}", shown(&imported));
    let error = import.parse("here", b"question,answer\na,b\n").unwrap_err().to_string();
    assert_eq!(error, "`here`: there is no column `q`: the columns are `question`, `answer`");
    let error = import.parse("here", b"q,used\na\n").unwrap_err().to_string();
    assert!(error.contains("line: 2"), "{error}");
    let error = import.parse("here", b"q,,a,,q\nHi,,,,Bye\n").unwrap_err().to_string();
    assert_eq!(error, "`here`: two columns are called `q`, and one of them would be lost; rename it");
}

#[test]
fn cells_that_are_no_calls_are_errors_with_their_line() {
    for (cell, why) in [
        (r#""f(x)""#, "`f(x)` is no name of a tool"),
        ("1", "the tools should be names or calls, and are a number"),
        (r#"[{"args": {}}]"#, "a call has no `name`"),
        (r#"[{"name": "f", "args": [1]}]"#, "the arguments of `f` should be an object and are an array"),
        (r#""[1""#, "the tools are not JSON (line 1, column 3: the file ends inside an array)"),
    ] {
        let error = refused(&format!("{{\"user\": \"a\"}}\n{{\"user\": \"b\", \"tools\": {cell}}}"));
        assert!(error.starts_with("`here`: line 2: ") && error.contains(why), "{error} lacks {why}");
    }
}

#[test]
fn sets_of_agentevals_examples_are_read() {
    let set = r#"{"eval_set_id": "dice", "eval_cases": [{"case_id": "roll", "conversation": [
        {"user_content": {"role": "user", "parts": [{"text": "Hi"}]},
         "agent_content": {"role": "model", "parts": [{"text": "Hello!"}]}},
        {"user_content": {"role": "user", "parts": [{"text": "Roll"}]},
         "agent_content": {"role": "model", "parts": [{"function_call": {"name": "roll", "args": {"sides": 20}}}]},
         "intermediate_data": {"role": "model", "parts": [{"function_call": {"name": "roll", "args": {"sides": 20}}}]}},
        {"user_content": {"role": "user", "parts": [{"text": "Again"}]},
         "agent_content": {"parts": [{"text": "A 3."}, {"function_call": {"name": "roll", "args": {"sides": 6}}}]}}
    ]}]}"#;
    let imported = parse(set);
    assert_eq!(imported.format, Format::Set);
    let expected = r#"[roll] Hi > > Hello! | Roll > roll(sides: 20) >  | Again > roll(sides: 6) > A 3. ["turn 2 has no answer"]"#;
    assert_eq!(shown(&imported), [expected]);
}

#[test]
fn sets_of_adk_rs_are_read() {
    let set = r#"{"id": "s", "name": "", "eval_cases": [{"id": "sunny", "name": null, "session_input": {"city": "Paris"},
        "conversation": [{"invocation_id": "1",
        "user_content": {"role": "user", "parts": [{"text": "Weather?"}]},
        "final_response": {"role": "model", "parts": [{"text": "Sunny."}]},
        "intermediate_data": {"tool_uses": [{"name": "look", "args": null}],
            "intermediate_responses": [{"role": "model", "parts": [{"text": "Let me see."}]}]}}]}]}"#;
    let imported = parse(set);
    assert_eq!(shown(&imported), ["[sunny] Weather? > look > Sunny. []"]);
    let case = &imported.drafts[0].case;
    assert_eq!(case.session_input.as_ref().unwrap().state["city"], "Paris");
    let Some(eval_core::format::IntermediateData::Tools { intermediate_responses, .. }) =
        &case.conversation[0].intermediate_data
    else {
        panic!("{case:?}")
    };
    assert_eq!(intermediate_responses[0].1[0].text.as_deref(), Some("Let me see."));
}

/// As `TestFile::save` of adk-eval 2.3.0 writes it.
#[test]
fn sets_of_adk_eval_are_read() {
    let calls = |result: &str| {
        let set = r#"{"eval_set_id": "s", "name": "S", "description": "", "eval_cases": [{"eval_id": "sunny", "description": "",
            "conversation": [{"invocation_id": "1", "user_content": {"parts": [{"text": "Weather?"}], "role": "user"},
            "final_response": {"parts": [{"text": "Sunny."}], "role": "model"},
            "intermediate_data": {"tool_uses": [{"name": "look", "args": {"city": "Oslo"}, "expected_response": RESULT}],
                "intermediate_responses": []}},
            {"invocation_id": "2", "user_content": {"parts": [{"text": "Thanks."}], "role": "user"}, "final_response": null,
            "intermediate_data": null}],
            "session_input": {"app_name": "", "user_id": "", "state": {}}, "tags": ["smoke"]}]}"#;
        let imported = parse(&set.replace("RESULT", result));
        let expected =
            r#"[sunny] Weather? > look(city: "Oslo") > Sunny. | Thanks. > >  ["turn 2 has no answer"]"#;
        assert_eq!(shown(&imported), [expected]);
        let turn = &imported.drafts[0].case.conversation[0];
        turn.tool_responses().map(|it| serde_json::to_string(&it.response).unwrap()).collect::<Vec<_>>()
    };
    assert!(calls("null").is_empty());
    assert_eq!(calls(r#"{"sky": "clear"}"#), [r#"{"sky":"clear"}"#]);
    assert_eq!(calls(r#""clear""#), [r#"{"result":"clear"}"#]);
}

#[test]
fn cases_of_a_set_are_new_drafts_and_what_is_none_is_an_error() {
    let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "_draft": {"from": "x"}, "_note": 1,
        "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Yo"}]}}]}]}"#;
    let draft = parse(set).drafts.remove(0);
    assert_eq!(draft.marked().draft().unwrap()["from"], "here");
    assert_eq!(draft.case.extra["_note"], 1);
    let error = refused(r#"{"eval_cases": [{"case_id": "a", "conversation": [{"user_content": 1}]}]}"#);
    assert!(error.starts_with("`here`, eval_cases[0]: "), "{error}");
    let error = refused(r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "turns": []}]}"#);
    assert!(error.starts_with("`here`, read as an eval set: "), "{error}");
}
