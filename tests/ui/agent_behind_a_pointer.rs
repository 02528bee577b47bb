use eval_core::{Agent, Replay};

fn main() {
    let _: Vec<Box<dyn Agent>> = vec![Box::new(Replay::new([["It is sunny."]]))];
}
