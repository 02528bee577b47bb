use super::*;

/// Verdicts on the rubrics `a` ("It is kind.") and `b` ("It's “short” — or so."): `y`, `n` or `-`.
fn read(reply: &str) -> String {
    let rubrics = [Rubric::new("a", "It is kind."), Rubric::new("b", "It's “short” — or so.")];
    let known = Known::new(&rubrics);
    let verdicts = known.read(reply, "");
    let letter = |id| verdicts.get(id).map_or('-', |verdict| if verdict.passed { 'y' } else { 'n' });
    ["a", "b"].map(letter).iter().collect()
}

#[test]
fn blocks_are_read_as_adk_reads_them() {
    let a = "ID: a\nProperty: It is kind.\nEvidence: none\nRationale: r\nVerdict: yes";
    let b = "ID: b\nProperty: It's “short” — or so.\nRationale: r\nVerdict: no";
    for (reply, expected) in [
        (format!("{a}\n\n{b}"), "yn"),
        (format!("{b}\n\n{a}\n"), "yn"),
        (format!("Sure!\n\n  {a}"), "y-"),
        // By text if there is no id, or an unknown one.
        ("Property: **it is   KIND.**\nRationale: r\nVerdict: yes".to_owned(), "y-"),
        ("ID: 7\nProperty: It's \"short\" - or so.\nRationale: r\nVerdict: Yes.".to_owned(), "-y"),
        // By id whatever the text.
        ("ID: b\nProperty: It is kind.\nRationale: r\nVerdict: yes".to_owned(), "-y"),
        ("ID: a\nID: b\nProperty: x\nRationale: r\nVerdict: yes".to_owned(), "-y"),
        // An id counts for the next property only.
        (
            "ID: a\nProperty: x\nRationale: r\nVerdict: yes\nProperty: y\nRationale: r\nVerdict: no"
                .to_owned(),
            "y-",
        ),
        // ADK finds the word within a line.
        ("ID: a\nProperty: x\nRationale: it is. Verdict: no".to_owned(), "n-"),
        ("ID: a\nProperty: x\nRationale: it is. Verdict: yes".to_owned(), "--"),
        // It reads nothing if a rationale is missing.
        ("ID: a\nProperty: x\nVerdict: yes".to_owned(), "--"),
        ("ID: a\nProperty: x\nVerdict: no".to_owned(), "n-"),
        ("ID: a\nProperty: x\nRationale: r\n**Verdict:** yes".to_owned(), "--"),
        ("ID: a\nProperty: x\nRationale: r\nVerdict:yes".to_owned(), "--"),
        ("Property: of somebody else\nRationale: r\nVerdict: yes".to_owned(), "--"),
        ("Verdict: yes".to_owned(), "--"),
        (String::new(), "--"),
    ] {
        assert_eq!(read(&reply), expected, "{reply}");
    }
}

#[test]
fn only_a_yes_or_a_no_is_a_verdict() {
    for (verdict, here) in [
        ("yes", 'y'),
        ("YES", 'y'),
        ("[yes]", 'y'),
        ("**no**", 'n'),
        ("yes, without a doubt", 'y'),
        ("it is a yes", 'y'),
        ("", '-'),
        ("maybe", '-'),
        ("yes".repeat(2).as_str(), '-'),
        // Noes in ADK, which looks for the letters.
        ("unknown", 'n'),
        ("not applicable", 'n'),
        // In ADK a yes.
        ("No, eyes", 'n'),
        ("no (yes was expected)", '-'),
        ("yes, it says; no, I say", '-'),
        ("neither yes nor no", '-'),
    ] {
        let reply = format!("ID: a\nProperty: It is kind.\nRationale: r\nVerdict: {verdict}");
        assert_eq!(read(&reply).chars().next(), Some(here), "{verdict}");
    }
}

#[test]
fn a_rationale_that_quotes_another_verdict_takes_a_yes_away() {
    // In ADK a quoted `Verdict: ` voids the whole sample.
    for (quoted, expected) in [
        ("says \"Verdict: yes\"", "--"),
        ("says **VERDICT**: `yes`", "ny"),
        ("says my verdict - : yes", "ny"),
    ] {
        let reply = format!(
            "ID: a\nProperty: It is kind.\nRationale: the answer {quoted}\nVerdict: no\n\
             ID: b\nProperty: x\nRationale: r\nVerdict: yes"
        );
        assert_eq!(read(&reply), expected, "{reply}");
    }
    let same = "ID: a\nProperty: x\nRationale: The answer says \"Verdict: no\" itself.\nVerdict: no";
    assert_eq!(read(same), "n-");
    let decorated =
        "ID: a\nProperty: x\nRationale: It wrote it.\nVerdict: yes\nBut it is rude.\n**Verdict:** no";
    assert_eq!(read(decorated), "--");
}

#[test]
fn verdicts_on_a_rubric_that_contradict_each_other_are_none() {
    let block = |verdict| format!("ID: a\nProperty: It is kind.\nRationale: r\nVerdict: {verdict}\n");
    // ADK counts each of them, and a tie is a no.
    assert_eq!(read(&format!("{}{}", block("yes"), block("no"))), "n-");
    assert_eq!(read(&format!("{}{}{}", block("yes"), block("no"), block("yes"))), "--");
    assert_eq!(read(&format!("{}{}", block("no"), block("no"))), "n-");
    assert_eq!(read(&format!("{}{}", block("yes"), block("maybe"))), "y-");
    assert_eq!(read(&format!("{}Verdict: no", block("yes"))), "--");
}

#[test]
fn noes_count_as_often_as_in_adk() {
    let rubrics = [Rubric::new("a", "x")];
    let block = "ID: a\nProperty: x\nRationale: r\nVerdict: no\n";
    assert_eq!(Known::new(&rubrics).read(&block.repeat(3), "")["a"].noes, 3);
}

#[test]
fn a_yes_is_the_last_word_of_its_block() {
    let yes = "ID: a\nProperty: It is kind.\nRationale: r\nVerdict: yes\n";
    let no = "ID: a\nProperty: It is kind.\nRationale: r\nVerdict: no\n";
    for (reply, expected) in [
        (format!("{yes}\n---\n\n## Rubric 2\nID: b\nProperty: x\nRationale: r\nVerdict: no"), "yn"),
        (format!("{yes}2.\nID: b\nProperty: x\nRationale: r\nVerdict: yes"), "yy"),
        (format!("{yes}Wait, it is rude. I was wrong.\n"), "--"),
        (format!("{yes}No. 2\n"), "--"),
        (format!("{no}All in all it is rude.\n"), "n-"),
    ] {
        assert_eq!(read(&reply), expected, "{reply}");
    }
}

#[test]
fn a_copy_of_what_is_judged_is_no_verdict() {
    let rubrics = [Rubric::new("a", "It is kind.")];
    let known = Known::new(&rubrics);
    let copy = "ID: a\nProperty: It is kind.\nRationale: it is\nVerdict: yes";
    let prompt = format!("The answer:\n<<<\n{copy}\n>>>\n{{\"id\":\"a\"}}");
    assert!(known.read(copy, &prompt).is_empty());
    let own = copy.replace("it is", "it thanks the user");
    assert!(known.read(&own, &prompt)["a"].passed);
}

#[test]
fn rationales_are_kept_on_their_line() {
    let rubrics = [Rubric::new("a", "x")];
    let known = Known::new(&rubrics);
    let read = |reply: &str| known.read(reply, "").remove("a").map(|verdict| verdict.rationale);
    assert_eq!(
        read("ID: a\nProperty: x\nRationale:  because \nmore\nVerdict: yes").as_deref(),
        Some("because")
    );
    assert_eq!(read("ID: a\nProperty: x\nVerdict: no").as_deref(), Some(""));
}

#[test]
fn missing_rubrics_are_named() {
    let rubrics = [Rubric::new("a", "x"), Rubric::new("b", "y")];
    let known = Known::new(&rubrics);
    let verdicts = known.read("ID: b\nProperty: y\nRationale: r\nVerdict: no", "");
    assert_eq!(known.missing(&verdicts).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn long_replies_cost_no_more_than_their_length() {
    let reply = "ID: a\nProperty: x\nVerdict: \n".repeat(20_000) + &"Verdict: ".repeat(100_000);
    assert_eq!(read(&reply), "--");
}

#[test]
fn a_word_after_verdict_needs_a_colon_to_be_one() {
    for (said, verdict, expected) in [
        ("the verdict no is too hard", "yes", "y-"),
        ("my verdict, yes, was harsh", "no", "n-"),
        ("the verdict: nobody knows", "yes", "y-"),
        ("the verdict: no", "yes", "--"),
    ] {
        let reply = format!("ID: a\nProperty: x\nRationale: {said}\nVerdict: {verdict}");
        assert_eq!(read(&reply), expected, "{said}");
    }
}

#[test]
fn each_block_is_compared_with_the_prompt_alone() {
    let rubrics = [Rubric::new("a", "x"), Rubric::new("b", "y")];
    let known = Known::new(&rubrics);
    let copy = "Property: y\nRationale: so it is\nVerdict: yes";
    let prompt = format!("The answer:\n<<<\nof course!\n{copy}\n>>>");
    let reply = format!("ID: a\nProperty: x\nRationale: r\nVerdict: no\n\nID: b\n{copy}\n");
    let verdicts = known.read(&reply, &prompt);
    assert_eq!(verdicts.keys().copied().collect::<Vec<_>>(), ["a"]);
}
