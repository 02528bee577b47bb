//! Results of parallel calls, in the order of the calls. Some clients send them in the order in which the calls ended, which
//! is another one in each run.

use std::collections::HashMap;

use eval_format::{Map, Value};

use crate::canonical::{Canonical, Masks};

/// The messages of a request with the results of each answer in the order of its calls; `None` if they are in that order.
pub(super) fn in_order(items: &[Value]) -> Option<Vec<Value>> {
    let numbers = numbers(items);
    let outer = sorted(items, &numbers);
    let items = outer.as_deref().unwrap_or(items);
    let inner: Vec<(usize, Value)> =
        (0..).zip(items).filter_map(|(at, item)| Some((at, with_sorted_parts(item, &numbers)?))).collect();
    if inner.is_empty() {
        return outer;
    }
    let mut items = items.to_vec();
    for (at, item) in inner {
        items[at] = item;
    }
    Some(items)
}

/// Recorded messages in that order, with their ids numbered again; `None` if they are in that order. A request has them under
/// the key.
pub(super) fn reordered(key: &str, messages: &[Value]) -> Option<Vec<Value>> {
    let messages = in_order(messages)?;
    let masks = Masks::default();
    let mut canonical = Canonical::new(&masks);
    Some(messages.iter().map(|message| canonical.part(key, message)).collect())
}

/// The ids of calls, each with its place among them.
fn numbers(items: &[Value]) -> HashMap<&str, usize> {
    let mut numbers = HashMap::new();
    for item in items {
        number(item, &mut numbers);
    }
    numbers
}

fn number<'v>(value: &'v Value, numbers: &mut HashMap<&'v str, usize>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| number(item, numbers)),
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    Value::String(id) if matches!(key, "id" | "call_id") => {
                        let next = numbers.len();
                        numbers.entry(id).or_insert(next);
                    }
                    item => number(item, numbers),
                }
            }
        }
        _ => {}
    }
}

/// Items whose neighbours with results are sorted by their calls; `None` if they are. Results without the id of a known call
/// stay as they are.
fn sorted(items: &[Value], numbers: &HashMap<&str, usize>) -> Option<Vec<Value>> {
    let mut sorted: Option<Vec<Value>> = None;
    let mut at = 0;
    while at < items.len() {
        let results: Vec<&str> = items[at..].iter().map_while(call_of).collect();
        let known: Option<Vec<usize>> = results.iter().map(|id| numbers.get(id).copied()).collect();
        if let Some(known) = known.filter(|known| !known.is_sorted()) {
            let mut order: Vec<usize> = (0..known.len()).collect();
            order.sort_by_key(|from| known[*from]);
            let all = sorted.get_or_insert_with(|| items.to_vec());
            for (to, from) in order.into_iter().enumerate() {
                all[at + to] = items[at + from].clone();
            }
        }
        at += results.len().max(1);
    }
    sorted
}

/// A message whose parts with results are sorted; `None` if they are.
fn with_sorted_parts(message: &Value, numbers: &HashMap<&str, usize>) -> Option<Value> {
    let map = message.as_object()?;
    let key = parts_key(map)?;
    let parts = sorted(map.get(key)?.as_array()?, numbers)?;
    let mut map = map.clone();
    map.insert(key, Value::Array(parts));
    Some(Value::Object(map))
}

fn parts_key(map: &Map) -> Option<&'static str> {
    ["content", "parts"].into_iter().find(|key| map.get(key).is_some_and(|parts| parts.as_array().is_some()))
}

fn text<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

/// The id of the call whose result an item is, as each wire writes it.
fn call_of(item: &Value) -> Option<&str> {
    let map = item.as_object()?;
    let kind = text(map, "type").unwrap_or_default();
    let id = if kind == "tool_result" {
        map.get("tool_use_id")
    } else if kind.ends_with("_call_output") {
        map.get("call_id")
    } else if let Some(response) = map.get("functionResponse").or_else(|| map.get("function_response")) {
        response.as_object()?.get("id")
    } else {
        match text(map, "role")? {
            "tool" => map.get("tool_call_id"),
            // A message for each result.
            "user" => match map.get(parts_key(map)?)?.as_array()? {
                [result] if text(result.as_object()?, "type") == Some("tool_result") => {
                    return call_of(result);
                }
                _ => None,
            },
            _ => None,
        }
    };
    id.and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use eval_format::__private::parse_value;

    use crate::canonical::Masks;
    use crate::wire::{Asked, Incoming};

    fn key(path: &str, body: &str) -> String {
        Asked::read(&Incoming::posted(path, body), &Masks::default(), &|_| None).unwrap().key
    }

    /// A request of each wire with the two results of one answer, in this order.
    fn requests(first: (&str, &str), second: (&str, &str)) -> [(&'static str, String); 5] {
        let of = |form: &dyn Fn((&str, &str)) -> String| format!("{},{}", form(first), form(second));
        let chat = of(&|(id, text)| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#));
        let responses = of(&|(id, text)| {
            format!(r#"{{"type":"function_call_output","id":"o-{id}","call_id":"{id}","output":"{text}"}}"#)
        });
        let result = |(id, text): (&str, &str)| {
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}"#)
        };
        let (anthropic, apart) =
            (of(&result), of(&|it| format!(r#"{{"role":"user","content":[{}]}}"#, result(it))));
        let gemini = of(&|(id, text)| {
            format!(r#"{{"functionResponse":{{"id":"{id}","name":"f","response":{{"result":"{text}"}}}}}}"#)
        });
        let uses = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]}"#;
        [
            (
                "/v1/chat/completions",
                format!(
                    r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"a","type":"function"}},{{"id":"b","type":"function"}}]}},{chat},{{"role":"user","content":"go on"}}]}}"#
                ),
            ),
            (
                "/v1/responses",
                format!(
                    r#"{{"input":[{{"type":"function_call","id":"f1","call_id":"a"}},{{"type":"function_call","id":"f2","call_id":"b"}},{responses}]}}"#
                ),
            ),
            ("/v1/messages", format!(r#"{{"messages":[{uses},{{"role":"user","content":[{anthropic}]}}]}}"#)),
            ("/v1/messages", format!(r#"{{"messages":[{uses},{apart}]}}"#)),
            (
                "/v1beta/models/m:generateContent",
                format!(
                    r#"{{"contents":[{{"role":"model","parts":[{{"functionCall":{{"id":"a"}}}},{{"functionCall":{{"id":"b"}}}}]}},{{"role":"user","parts":[{gemini}]}}]}}"#
                ),
            ),
        ]
    }

    #[test]
    fn results_of_one_answer_may_come_in_any_order_and_not_for_another_call() {
        let recorded = requests(("a", "sunny"), ("b", "rainy"));
        let later = requests(("b", "rainy"), ("a", "sunny"));
        let swapped = requests(("a", "rainy"), ("b", "sunny"));
        for (at, (path, body)) in recorded.iter().enumerate() {
            assert_eq!(key(path, &later[at].1), key(path, body), "{path} {}", later[at].1);
            assert_ne!(key(path, &swapped[at].1), key(path, body), "{path} {}", swapped[at].1);
        }
    }

    #[test]
    fn results_of_different_answers_and_results_without_a_known_call_stay_where_they_are() {
        let ordered = |text: &str| super::in_order(parse_value(text).unwrap().as_array().unwrap());
        for text in [
            // Each answer has a call.
            r#"[{"tool_calls":[{"id":"a"},{"id":"b"}]},{"role":"tool","tool_call_id":"b"},{"role":"assistant"},{"role":"tool","tool_call_id":"a"}]"#,
            // The calls are in the history that the provider has.
            r#"[{"role":"tool","tool_call_id":"b"},{"role":"tool","tool_call_id":"a"}]"#,
            r#"[{"role":"user","parts":[{"functionResponse":{"name":"g"}},{"functionResponse":{"name":"f"}}]}]"#,
        ] {
            assert_eq!(ordered(text), None, "{text}");
        }
    }
}
