//! Ids of cases made of scenarios, as `adk eval_set add_eval_case` of google-adk 2.13.0 derives them.

use eval_format::{ConversationScenario, Map, Persona, Value};
use sha2::{Digest, Sha256};

/// The id of a scenario: the first eight hex digits of the SHA-256 of its JSON, as Python's
/// `json.dumps(.., sort_keys=True)` writes it.
///
/// A ready-made persona is hashed as its name. ADK hashes its whole description, so that id is another one.
pub(super) fn scenario_id(scenario: &ConversationScenario) -> String {
    let persona = scenario.user_persona.as_ref().map_or(Value::Null, persona);
    let document = Value::from(Map::from([
        ("conversation_plan", Value::from(scenario.conversation_plan.as_str())),
        ("starting_prompt", Value::from(scenario.starting_prompt.as_str())),
        ("user_persona", persona),
    ]));
    let mut json = String::new();
    write_sorted(&document, &mut json);
    let digest: [u8; 32] = Sha256::digest(json).into();
    let [a, b, c, d, ..] = digest;
    format!("{:08x}", u32::from_be_bytes([a, b, c, d]))
}

/// A persona with all fields of ADK's model, the empty ones too.
fn persona(persona: &Persona) -> Value {
    let Persona::Own(own) = persona else { return persona.to_value() };
    let texts = |texts: &[String]| texts.iter().map(|text| Value::from(text.as_str())).collect::<Value>();
    let behaviors = own.behaviors.iter().map(|behavior| {
        Value::from(Map::from([
            ("behavior_instructions", texts(&behavior.behavior_instructions)),
            ("description", Value::from(behavior.description.as_str())),
            ("name", Value::from(behavior.name.as_str())),
            ("violation_rubrics", texts(&behavior.violation_rubrics)),
        ]))
    });
    Value::from(Map::from([
        ("behaviors", behaviors.collect()),
        ("description", Value::from(own.description.as_str())),
        ("id", Value::from(own.id.as_str())),
    ]))
}

/// JSON as Python's `json.dumps(.., sort_keys=True)` writes it: sorted keys, ASCII only, a space after `,` and `:`.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&str, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                separate(at, out);
                write_sorted(&Value::from(key), out);
                out.push_str(": ");
                write_sorted(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(at, out);
                write_sorted(item, out);
            }
            out.push(']');
        }
        scalar => write_ascii(&scalar.to_string(), out),
    }
}

fn separate(at: usize, out: &mut String) {
    if at > 0 {
        out.push_str(", ");
    }
}

fn write_ascii(json: &str, out: &mut String) {
    for c in json.chars() {
        if c <= '~' {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use eval_format::{UserBehavior, UserPersona};

    use super::*;

    /// The ids were written by `adk eval_set add_eval_case` of google-adk 2.13.0.
    #[test]
    fn ids_are_those_of_adk() {
        let plain = ConversationScenario::new("Hi", "Book a table.");
        assert_eq!(scenario_id(&plain), "24943e34");
        let own = UserPersona::new("HURRIED", "Is late: \"now!\" \u{e9}\u{1f600}\n\u{7f}").behavior(
            UserBehavior::new("Short", "One sentence.").instruction("Be brief.").violation("Two sentences."),
        );
        assert_eq!(scenario_id(&plain.clone().persona(own)), "34fe257d");
        assert_eq!(scenario_id(&plain.persona(UserPersona::new("a", "b"))), "d81c32ff");
    }
}
