//! Scoring: tokens, stems, ROUGE-1 and trajectories.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use eval_core::bench::{any_order, rouge_1, stem, tokens};
use eval_core::format::FunctionCall;
use eval_core::{Invocation, json};

const ENGLISH: &str = "Your order 42 has been shipped and will arrive on Monday. We are sorry for the delay in \
    processing the payment; additional information regarding the cancellation is available in your account.";
const GERMAN: &str = "Ihre Bestellung Nr. 42 wurde verschickt und trifft am Montag ein. Für die Verzögerung bei der \
    Überprüfung der Zahlung bitten wir um Verständnis; Näheres finden Sie in Ihrem Kundenkonto.";
const CHINESE: &str = "您的订单42已经发货，预计星期一送达。对于付款处理的延误，我们深表歉意；有关取消的更多信息可在您的帐户中找到。";

fn main() {
    divan::main();
}

#[divan::bench(args = [ENGLISH, GERMAN, CHINESE])]
fn tokenize(bencher: Bencher<'_, '_>, text: &str) {
    bencher.counter(BytesCount::of_str(text)).bench(|| tokens(black_box(text)));
}

#[divan::bench]
fn stem_words(bencher: Bencher<'_, '_>) {
    let words: Vec<Vec<u8>> = ENGLISH.split(' ').map(|word| word.to_ascii_lowercase().into_bytes()).collect();
    bencher
        .counter(ItemsCount::new(words.len()))
        .with_inputs(|| words.clone())
        .bench_refs(|words| words.iter_mut().map(|word| stem(word)).sum::<usize>());
}

#[divan::bench(args = [ENGLISH, GERMAN, CHINESE])]
fn rouge(text: &str) -> f64 {
    rouge_1(black_box(text), black_box(text))
}

#[divan::bench(args = [1, 10, 1000])]
fn trajectory_any_order(bencher: Bencher<'_, '_>, calls: usize) {
    let turn = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.fold(Invocation::user("go"), |turn, n| {
            turn.call(FunctionCall::new("lookup", json!({ "id": n, "fields": ["a", "b"] })))
        })
    };
    let (expected, actual) = (turn(&mut (0..calls)), turn(&mut (0..calls).rev()));
    bencher.counter(ItemsCount::new(calls)).bench(|| any_order(black_box(&expected), black_box(&actual)));
}
