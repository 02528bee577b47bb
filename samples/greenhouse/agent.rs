//! A greenhouse keeper that waters the beds its session lists.

use eval_core::format::Map;
use eval_core::format::Value;
use eval_core::{Agent, BoxError, Session, Turn, json};

/// Below this many percent a bed needs water.
const DRY: i64 = 40;

/// One conversation; the moisture of the beds comes with the session.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    /// Percent by bed.
    moisture: Map,
}

impl Agent for Keeper {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        let beds = session.state.get("moisture").and_then(Value::as_object);
        self.moisture = beds.ok_or("the session has no `moisture`")?.clone();
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let (message, recorder) = (turn.text(), turn.recorder());
        if message.contains("which") || message.contains("Which") {
            recorder.text(self.report());
            return Ok(());
        }
        let dry = self.dry();
        for bed in &dry {
            let args = json!({ "bed": bed, "liters": 5 });
            recorder.tool("water_bed", args, async { Ok::<_, BoxError>("done") }).await?;
            self.moisture.insert(bed.as_str(), 70);
        }
        recorder.state("moisture", self.moisture.clone());
        recorder.text(match dry.len() {
            0 => "All beds are moist enough.".to_owned(),
            _ => format!("I watered the {} with 5 liters each.", dry.join(" and the ")),
        });
        Ok(())
    }
}

impl Keeper {
    fn dry(&self) -> Vec<String> {
        let is_dry = |value: &Value| value.as_i64().is_some_and(|percent| percent < DRY);
        self.moisture.iter().filter(|(_, value)| is_dry(value)).map(|(bed, _)| bed.to_owned()).collect()
    }

    fn report(&self) -> String {
        match self.dry().as_slice() {
            [] => "No bed is dry.".to_owned(),
            dry => format!("The {} are dry.", dry.join(" and the ")),
        }
    }
}
