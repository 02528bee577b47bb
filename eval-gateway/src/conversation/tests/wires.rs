//! Results of two parallel calls in each wire: exchanged they are another request, and renamed ids are the same one.

use super::*;

/// A second request, with the results of two calls, as each wire writes it. `{1}` and `{2}` are ids, `{a}` and `{b}` results.
const REQUESTS: [(&str, &str, &str); 5] = [
    (
        "openai chat",
        "/v1/chat/completions",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"},
        {"role":"assistant","tool_calls":[{"id":"{1}","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
        {"id":"{2}","type":"function","function":{"name":"f","arguments":"{\"x\":2}"}}]},
        {"role":"tool","tool_call_id":"{1}","content":"{a}"},{"role":"tool","tool_call_id":"{2}","content":"{b}"}]}"#,
    ),
    (
        "openai responses",
        "/v1/responses",
        r#"{"model":"m","input":[{"role":"user","content":"hi"},
        {"type":"function_call","call_id":"{1}","name":"f","arguments":"{\"x\":1}"},
        {"type":"function_call","call_id":"{2}","name":"f","arguments":"{\"x\":2}"},
        {"type":"function_call_output","call_id":"{1}","output":"{a}"},
        {"type":"function_call_output","call_id":"{2}","output":"{b}"}]}"#,
    ),
    (
        "anthropic messages",
        "/v1/messages",
        r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},
        {"role":"assistant","content":[{"type":"tool_use","id":"{1}","name":"f","input":{"x":1}},
        {"type":"tool_use","id":"{2}","name":"f","input":{"x":2}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"{1}","content":"{a}"},
        {"type":"tool_result","tool_use_id":"{2}","content":"{b}"}]}]}"#,
    ),
    (
        "gemini",
        "/v1beta/models/m:generateContent",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},
        {"role":"model","parts":[{"functionCall":{"id":"{1}","name":"f","args":{"x":1}}},
        {"functionCall":{"id":"{2}","name":"f","args":{"x":2}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"{1}","name":"f","response":{"result":"{a}"}}},
        {"functionResponse":{"id":"{2}","name":"f","response":{"result":"{b}"}}}]}]}"#,
    ),
    // Without ids the order of the results tells them apart.
    (
        "gemini",
        "/v1beta/models/m:generateContent",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},
        {"role":"model","parts":[{"functionCall":{"name":"f","args":{"x":1}}},{"functionCall":{"name":"f","args":{"x":2}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"{a}"}}},
        {"functionResponse":{"name":"f","response":{"result":"{b}"}}}]}]}"#,
    ),
];

fn read(conversation: &Conversation, path: &str, request: &str, words: [&str; 4]) -> Asked {
    let [one, two, a, b] = words;
    let body = request.replace("{1}", one).replace("{2}", two).replace("{a}", a).replace("{b}", b);
    conversation.read(&Incoming::posted(path, &body)).unwrap()
}

#[test]
fn exchanged_results_are_a_miss_and_renamed_ids_are_none_in_each_wire() {
    for (wire, path, request) in REQUESTS {
        let case = Case::new();
        let conversation = case.opened(ModelMode::Record, 1);
        let asked = read(&conversation, path, request, ["id1", "id2", "sunny", "rain"]);
        assert_eq!(asked.wire.to_string(), wire);
        match conversation.answer(asked) {
            Reply::Ask(call, None) => call.answered(said("done")),
            other => panic!("{other:?}"),
        }
        assert_eq!(conversation.end(true).error, None);
        for (words, is_hit) in [
            (["x", "y", "sunny", "rain"], true),
            (["id2", "id1", "sunny", "rain"], true),
            (["id1", "id2", "rain", "sunny"], false),
        ] {
            let conversation = case.replay();
            let said = got(conversation.answer(read(&conversation, path, request, words)));
            if is_hit {
                assert_eq!(said, "done", "{wire} {words:?}");
            } else {
                assert!(said.contains("is not recorded: the results of tools changed"), "{wire}: {said}");
            }
        }
        // The first result is under the second id.
        let crossed = request
            .replacen("{a}", "sunny", 1)
            .replacen("{b}", "rain", 1)
            .replace("_call_id\":\"{1}\"", "_call_id\":\"{x}\"")
            .replace("_call_id\":\"{2}\"", "_call_id\":\"{1}\"")
            .replace("_call_id\":\"{x}\"", "_call_id\":\"{2}\"");
        if wire == "openai chat" {
            let conversation = case.replay();
            let said = got(conversation.answer(read(&conversation, path, &crossed, ["id1", "id2", "", ""])));
            assert!(said.contains("is not recorded: the results of tools changed"), "{said}");
            assert!(said.contains("rain\",\"role\":\"tool\",\"tool_call_id\":\"#1\""), "{said}");
        }
    }
}
