use std::rc::Rc;

use eval_core::{Agent, BoxError, Turn};

struct Scripted(Rc<str>);

impl Agent for Scripted {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        turn.recorder().text(&*self.0);
        Ok(())
    }
}

fn main() {}
