//! A converter of units: an agent that is one function.

use eval_core::{BoxError, Recorder, json};

/// Answers "Convert 5 miles to kilometers".
pub(crate) async fn convert(message: String, recorder: Recorder) -> Result<String, BoxError> {
    let mut words = message.split([' ', '?', '.']).filter(|word| !word.is_empty());
    let (Some(value), Some(from)) = (words.find_map(|word| word.parse::<f64>().ok()), words.next()) else {
        return Ok("Tell me a number and a unit, such as 5 miles.".to_owned());
    };
    let (factor, to) = match from {
        "miles" => (1.609_344, "kilometers"),
        "pounds" => (0.453_592_37, "kilograms"),
        other => return Ok(format!("I do not know {other}.")),
    };
    let args = json!({ "value": value, "from": from, "to": to });
    let result = recorder.tool("convert", args, async { Ok::<_, BoxError>(value * factor) }).await?;
    Ok(format!("{value} {from} are {result:.2} {to}."))
}
