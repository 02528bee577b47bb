use super::*;

/// The texts in one line: `[expected|actual]`, and `<1 equal word>`.
fn told(parts: &[Part]) -> String {
    let part = |part: &Part| match (part.side, &part.fold) {
        (PartSide::Both, None) => part.text.clone(),
        (PartSide::Both, Some(name)) => format!("<{name}>"),
        (PartSide::Expected, _) => format!("-[{}]", part.text),
        (PartSide::Actual, _) => format!("+[{}]", part.text),
    };
    parts.iter().map(part).collect()
}

fn side(parts: &[Part], without: PartSide) -> String {
    parts.iter().filter(|part| part.side != without).map(|part| part.text.as_str()).collect()
}

#[test]
fn words_that_differ_are_marked_in_any_script() {
    for (expected, actual, shown) in [
        ("It is sunny in Paris.", "It is rainy in Paris today.", "It is -[sunny]+[rainy] in Paris+[ today]."),
        ("at 10.5 degrees", "at 11.5 degrees", "at -[10.5]+[11.5] degrees"),
        ("take the fast train now", "take the slow bus now", "take the -[fast train]+[slow bus] now"),
        ("今日は晴れです", "今日は雨です", "今日は-[晴れ]+[雨]です"),
        ("巴黎今天晴天。", "巴黎今天雨天。", "巴黎今天-[晴]+[雨]天。"),
        ("الجو مشمس في باريس", "الجو ممطر في باريس", "الجو -[مشمس]+[ممطر] في باريس"),
        ("วันนี้แดดออก", "วันนี้ฝนตก", "วันนี้-[แดดออ]+[ฝนต]ก"),
        // A sign of several code points is one sign.
        ("ok 👩‍👩‍👧 end", "ok 👩‍👩‍👦 end", "ok -[👩‍👩‍👧]+[👩‍👩‍👦] end"),
        // What has hardly a word in common is another text.
        (
            "I cannot help you.",
            "It is sunny, 21 degrees, in Paris",
            "-[I cannot help you.]+[It is sunny, 21 degrees, in Paris]",
        ),
        ("", "x", "+[x]"),
        ("same", "same", "same"),
    ] {
        assert_eq!(told(&words(expected, actual).unwrap()), shown);
    }
}

#[test]
fn code_is_compared_by_lines() {
    let parts = lines("a = 1\nb = 2\n", "a = 1\nb = 3\n").unwrap();
    assert_eq!(told(&parts), "a = 1\n-[b = 2\n]+[b = 3\n]");
    // The words that differ are marked in their lines.
    let words: Vec<String> = parts.iter().map(|part| told(&part.words)).collect();
    assert_eq!(words, ["", "b = -[2]\n", "b = +[3]\n"]);
    for part in parts.iter().filter(|part| part.side != PartSide::Both) {
        assert_eq!(part.words.iter().map(|word| word.text.as_str()).collect::<String>(), part.text);
    }
    for (expected, actual) in [("return f(x)\n", "raise ValueError\n"), ("a\n", ""), ("", "a\n")] {
        let parts = lines(&format!("x\n{expected}"), &format!("x\n{actual}")).unwrap();
        assert!(parts.iter().all(|part| part.words.is_empty()), "{expected}: {parts:?}");
    }
}

#[test]
fn long_equal_parts_are_folded_around_what_differs() {
    let long = "word ".repeat(800);
    let parts = words(&format!("{long}one {long}"), &format!("{long}two {long}")).unwrap();
    let folds: Vec<&str> = parts.iter().filter_map(|part| part.fold.as_deref()).collect();
    assert_eq!(folds, ["785 equal words", "785 equal words"]);
    assert_eq!(
        told(&parts),
        format!("<{0}>{1}-[one]+[two]{2}<{0}>", folds[0], "word ".repeat(15), " word".repeat(15))
    );
    let signs = "晴".repeat(500);
    assert!(
        told(&words(&format!("{signs}a"), &format!("{signs}b")).unwrap())
            .starts_with("<470 equal characters>")
    );
    let lined = "x = 1;\n".repeat(40);
    let parts = lines(&format!("{lined}y\n{lined}"), &format!("{lined}z\n{lined}")).unwrap();
    assert_eq!(
        parts.iter().filter_map(|part| part.fold.as_deref()).collect::<Vec<_>>(),
        ["37 equal lines"; 2]
    );
    // A text without a difference is not folded.
    assert!(words(&long, &long).unwrap().iter().all(|part| part.fold.is_none()));
}

#[test]
fn long_texts_are_compared_between_their_equal_ends_and_else_by_sentences() {
    let many = "a ".repeat(MAX_WORDS);
    let parts = words(&format!("{many}b {many}"), &format!("{many}c {many}")).unwrap();
    assert_eq!(side(&parts, PartSide::Both), "bc");
    let numbered = |word: &str| {
        let sentence = |at: usize| {
            format!("The number of it is {at}{}.", if at.is_multiple_of(500) { word } else { "" })
        };
        (0..1000).map(sentence).collect::<String>()
    };
    let parts = words(&numbered("x"), &numbered("y")).unwrap();
    let differing =
        parts.iter().filter(|part| part.side == PartSide::Expected).map(|part| part.text.as_str());
    assert_eq!(differing.collect::<Vec<_>>(), ["The number of it is 0x.", "The number of it is 500x."]);
    let lined = |word: &str| format!("{word}\n").repeat(MAX_WORDS);
    assert_eq!((words(&lined("a"), &lined("b")), lines(&lined("a"), &lined("b"))), (None, None));
}

#[test]
fn the_parts_of_a_side_are_its_text() {
    let long = "a b\n".repeat(300);
    for (expected, actual) in [
        ("", "x"),
        ("a\nb  c", "a\nc"),
        ("</script>", "<img>"),
        ("日本", "日 本"),
        (&*format!("{long}x"), &*format!("y{long}")),
        ("```\na\n```", "b\n```\nc"),
    ] {
        for parts in [words(expected, actual).unwrap(), lines(expected, actual).unwrap()] {
            assert_eq!(
                (side(&parts, PartSide::Actual), side(&parts, PartSide::Expected)),
                (expected.to_owned(), actual.to_owned())
            );
        }
    }
}

#[test]
fn the_words_of_all_lines_of_a_text_have_one_limit() {
    let text = |word: &str| {
        let long = format!("{word} b ").repeat(400);
        let lines: Vec<String> = (0..20).map(|at| format!("a{at} {long}\nline {at}\n")).collect();
        lines.concat()
    };
    let parts = lines(&text("x"), &text("y")).unwrap();
    let with_words = parts.iter().filter(|part| !part.words.is_empty()).count();
    assert!((2..20).contains(&with_words), "{with_words}");
}
