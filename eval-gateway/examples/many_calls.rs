//! The time until a case can be played, beside 10,000 recorded calls of other cases.
//!
//! `cargo run -p eval-gateway --example many_calls` prints the time to open the recording of a case with one call:
//! alone in its folder, beside 100 cases of 100 calls each, and beside a case of 5,000 calls; from the disk, and from texts
//! that were compiled in. Its last line has the times of the case with one call as JSON, in microseconds: `benches/gateway.py`
//! holds them to their target.

#![expect(clippy::print_stdout, reason = "it prints what it measures")]

use std::time::{Duration, Instant};

use eval_format::{Map, Value};
use eval_gateway::{
    Answer, Body, CaseRecording, CompiledModels, Exchange, ModelMode, ModelSet, ModelsFolder, Parts,
    Settings, Wire,
};

const CALLS: usize = 10_000;
/// The calls of one case: its file may have 5 MB.
const LARGE: usize = 5_000;
const TRIES: usize = 200;

/// A recording with a number of calls, each of which adds a message to the one before.
fn recording(eval_id: &str, calls: usize) -> CaseRecording {
    let message = |role: &str, text: String| {
        Value::Object(Map::from([("role", Value::from(role)), ("content", Value::from(text))]))
    };
    let mut recording = CaseRecording::new(eval_id);
    for call in 0..calls {
        // Conversations are short: a new one begins every ten calls.
        let messages =
            (call / 10 * 10..=call).map(|at| message("user", format!("question {at} of {eval_id}")));
        let parts = Parts {
            options: Map::from([("temperature", Value::from(1_i64))]),
            // Ten cases have one prompt.
            system: Some(Value::from(format!(
                "Be brief. {}",
                eval_id.trim_end_matches(|c: char| c.is_ascii_digit())
            ))),
            tools: None,
            messages: messages.collect(),
        };
        let mut exchange = Exchange::new(call / 10 + 1, Wire::OpenAiChat, "gpt-5-mini", parts);
        let said = Map::from([
            ("id", Value::from(format!("chatcmpl-{call}"))),
            ("said", Value::from("It is sunny. ".repeat(10))),
        ]);
        exchange.answers.push(Answer {
            run: 1,
            status: 200,
            headers: Vec::new(),
            body: Body::Json(Value::Object(said)),
        });
        recording.exchanges.push(exchange);
    }
    recording
}

/// The median time to open a case.
fn median(eval_id: &str, tries: usize, set: impl Fn() -> Option<ModelSet>) -> Result<Duration, String> {
    let mut times = Vec::with_capacity(tries);
    for _ in 0..tries {
        let begun = Instant::now();
        let set = set().ok_or("there is no recording")?;
        let conversation = set.open(eval_id, 1, None, "run")?;
        times.push(begun.elapsed());
        drop(conversation);
    }
    times.sort_unstable();
    Ok(times[tries / 2])
}

/// The median times to open a case from the disk, and from texts that were compiled in.
fn opened(folder: &ModelsFolder, eval_id: &str, tries: usize) -> Result<(Duration, Duration), String> {
    let settings = || Settings { mode: Some(ModelMode::Replay), ..Settings::default() };
    let read = |name: &str| -> Result<&'static str, String> {
        let text = std::fs::read_to_string(folder.path().join(name)).map_err(|error| error.to_string())?;
        Ok(Box::leak(text.into_boxed_str()))
    };
    let texts =
        CompiledModels { shared: Some(read("shared.json")?), case: Some(read(&format!("{eval_id}.json"))?) };
    let from_disk = median(eval_id, tries, || ModelSet::on_disk(settings(), folder.clone()).ok().flatten())?;
    let compiled = median(eval_id, tries, || {
        ModelSet::compiled(settings(), folder.clone(), Some(texts)).ok().flatten()
    })?;
    Ok((from_disk, compiled))
}

fn main() -> Result<(), String> {
    let parent = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = |name: &str| ModelsFolder::new(parent.path().join(name), name);
    let alone = folder("alone");
    alone.write(&recording("small", 1))?;
    let beside_many = folder("many");
    beside_many.write(&recording("small", 1))?;
    for case in 0..CALLS / 100 {
        beside_many.write(&recording(&format!("group{}_{case}", case / 10), 100))?;
    }
    let beside_large = folder("large");
    beside_large.write(&recording("small", 1))?;
    beside_large.write(&recording("large", LARGE))?;

    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let (disk, compiled) = opened(&alone, "small", TRIES)?;
    println!(
        "one call, alone:                        {:.0} us from the disk, {:.0} us compiled in",
        micros(disk),
        micros(compiled)
    );
    let mut opened_in = vec![[disk, compiled]];
    for (name, folder) in
        [("beside 100 cases of 100 calls:", &beside_many), ("beside a case of 5,000 calls:", &beside_large)]
    {
        let (more_disk, more_compiled) = opened(folder, "small", TRIES)?;
        println!(
            "one call, {name:29} {:.0} us from the disk, {:.0} us compiled in",
            micros(more_disk),
            micros(more_compiled)
        );
        opened_in.push([more_disk, more_compiled]);
    }
    let (disk, compiled) = opened(&beside_large, "large", 5)?;
    println!(
        "the case of 5,000 calls itself:         {:.0} ms from the disk, {:.0} ms compiled in",
        micros(disk) / 1e3,
        micros(compiled) / 1e3
    );
    let [alone, many, large] = [0, 1, 2].map(|at| opened_in[at].map(|time| time.as_micros()));
    println!(r#"{{"alone": {alone:?}, "beside_many": {many:?}, "beside_large": {large:?}}}"#);
    Ok(())
}
