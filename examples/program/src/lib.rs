//! The agent of a program.

use eval_core::{BoxError, Recorder, json};

/// Answers a message.
pub async fn answer(message: String, recorder: Recorder) -> Result<String, BoxError> {
    let miles: f64 = message
        .split(' ')
        .find_map(|word| word.parse().ok())
        .ok_or("there is no number")?;
    let args = json!({ "miles": miles });
    let km = recorder
        .tool("to_kilometres", args, async {
            Ok::<_, BoxError>(miles * 1.609344)
        })
        .await?;
    Ok(format!("{miles} miles are {km:.1} kilometres."))
}
