//! Requests with equal and with different keys.

use eval_format::__private::parse_value;

use super::*;

fn canonical(text: &str) -> String {
    let masks = Masks::default();
    Canonical::new(&masks).part("messages", &parse_value(text).unwrap()).to_string()
}

#[test]
fn ids_that_are_renamed_consistently_are_the_same_and_exchanged_ones_are_not() {
    let of = |first: &str, second: &str, one: &str, other: &str| {
        canonical(&format!(
            r#"[{{"role":"assistant","tool_calls":[{{"id":"{first}","type":"function"}},{{"id":"{second}","type":"function"}}]}},
                {{"role":"tool","tool_call_id":"{one}","content":"a"}},{{"role":"tool","tool_call_id":"{other}","content":"b"}}]"#
        ))
    };
    let recorded = of("call_a", "call_b", "call_a", "call_b");
    assert_eq!(of("x", "y", "x", "y"), recorded);
    assert_ne!(of("x", "y", "y", "x"), recorded, "the results are exchanged");
    assert!(recorded.contains(r##""tool_call_id":"#2""##), "{recorded}");
}

#[test]
fn ids_of_each_wire_are_found_and_the_users_data_is_left_alone() {
    for (text, expected) in [
        (
            r#"{"type":"tool_use","id":"toolu_1","input":{"id":"order-7"}}"#,
            r##"{"id":"#1","input":{"id":"order-7"},"type":"tool_use"}"##,
        ),
        (
            r#"{"type":"mcp_tool_use","id":"mcptoolu_1","input":{"id":"order-7","call_id":"y"}}"#,
            r##"{"id":"#1","input":{"call_id":"y","id":"order-7"},"type":"mcp_tool_use"}"##,
        ),
        (
            r#"{"functionCall":{"id":"f","args":{"call_id":"x"}}}"#,
            r##"{"functionCall":{"args":{"call_id":"x"},"id":"#1"}}"##,
        ),
        (
            r#"{"functionResponse":{"id":"f","response":{"id":"y"}}}"#,
            r##"{"functionResponse":{"id":"#1","response":{"id":"y"}}}"##,
        ),
        (
            r#"{"type":"function_call","id":"fc_1","call_id":"c"}"#,
            r##"{"call_id":"#1","id":"#2","type":"function_call"}"##,
        ),
        (r#"{"type":"image","id":"mine"}"#, r#"{"id":"mine","type":"image"}"#),
        (
            r#"{"type":"mcp","headers":{"X-Acme":"k9"},"server_url":"https://a.dev/mcp?token=k9"}"#,
            r#"{"headers":{"X-Acme":"(a secret)"},"server_url":"https://a.dev/mcp?(a secret)","type":"mcp"}"#,
        ),
        (r#"{"thoughtSignature":"abc","text":"t"}"#, r#"{"text":"t","thoughtSignature":"(opaque)"}"#),
        (
            r#"{"type":"thinking","signature":"s","thinking":"why"}"#,
            r#"{"signature":"(opaque)","thinking":"why","type":"thinking"}"#,
        ),
        (r#"{"cache_control":{"type":"ephemeral"},"text":"t"}"#, r#"{"text":"t"}"#),
        (r#"{"b":1.0,"a":1e2,"c":0.5}"#, r#"{"a":100,"b":1,"c":0.5}"#),
    ] {
        assert_eq!(canonical(text), expected);
    }
}

#[test]
fn bytes_are_their_hash_and_one_that_differs_is_another_request() {
    let of =
        |data: &str| canonical(&format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{data}"}}}}"#));
    let (one, other) = ("A".repeat(2_000), format!("B{}", "A".repeat(1_999)));
    assert!(of(&one).len() < 120 && of(&one).contains("1500 bytes, sha256 "), "{}", of(&one));
    assert_ne!(of(&one), of(&other));
    let url = canonical(&format!(r#"{{"image_url":{{"url":"data:image/png;base64,{one}"}}}}"#));
    assert!(url.contains("(image/png, 1500 bytes, sha256 "), "{url}");
    assert_eq!(canonical(r#"{"data":"short"}"#), r#"{"data":"short"}"#);
    // An image that the model made, and bytes as Vertex takes them.
    let drawn = |data: &str| {
        canonical(&format!(r#"{{"type":"image_generation_call","id":"ig_1","result":"{data}"}}"#))
    };
    let vertex = |data: &str| {
        canonical(&format!(r#"{{"image":{{"bytesBase64Encoded":"{data}","mimeType":"image/png"}}}}"#))
    };
    for of in [&drawn as &dyn Fn(&str) -> String, &vertex] {
        assert!(of(&one).len() < 180 && of(&one).contains("1500 bytes, sha256 "), "{}", of(&one));
        assert_ne!(of(&one), of(&other));
    }
    assert!(drawn(&one).contains(r##""id":"#1""##), "{}", drawn(&one));
    // The result of a tool is the user's.
    let result = canonical(&format!(r#"{{"type":"function_call_output","result":"{one}"}}"#));
    assert!(result.contains(&one), "{result}");
}

#[test]
fn words_that_look_like_keys_and_the_users_own_rules_are_masked() {
    let masks = Masks::new(&[r"Today is \d{4}-\d\d-\d\d"]).unwrap();
    let masked = |text: &str| Canonical::new(&masks).part("", &Value::from(text)).to_string();
    assert_eq!(masked("Today is 2026-11-23."), r#""(masked).""#);
    assert_eq!(masked("Today is Monday."), r#""Today is Monday.""#);
    let key = concat!("sk-", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH");
    assert!(!masked(&format!("use {key}")).contains(key));
    assert!(Masks::new(&["("]).unwrap_err().starts_with("`(` is no regular expression"));
}

#[test]
fn tools_have_one_order_and_their_schemas_count() {
    let sorted = |text: &str| sorted_tools(parse_value(text).unwrap()).to_string();
    let (one, other) = (r#"{"name":"a","parameters":{}}"#, r#"{"type":"function","function":{"name":"b"}}"#);
    assert_eq!(sorted(&format!("[{one},{other}]")), sorted(&format!("[{other},{one}]")));
    let group = |names: [&str; 2]| {
        let names = names.map(|name| format!(r#"{{"name":"{name}"}}"#)).join(",");
        sorted(&format!(r#"[{{"functionDeclarations":[{names}]}}]"#))
    };
    assert_eq!(group(["a", "b"]), group(["b", "a"]));
    assert_ne!(sorted(r#"[{"name":"a","parameters":{"x":1}}]"#), sorted(&format!("[{one}]")));
}
