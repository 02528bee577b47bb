use eval_core::eval_set;

#[eval_set("tests/ui/sets/weather.evalset.json")]
struct Weather;

fn main() {}
