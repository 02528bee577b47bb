//! Texts that try to steer what shows them do nothing, in any form.

use proptest::prelude::*;

use super::*;
use crate::test_support::{Terminal, assert_inert, commands, hostile};

/// A text in which everything that is spelt out is read again.
fn read_again(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((code, behind)) = rest.strip_prefix("\\u{").and_then(|rest| rest.split_once('}'))
            && let Some(c) = u32::from_str_radix(code, 16).ok().and_then(char::from_u32)
        {
            out.push(c);
            rest = behind;
            continue;
        }
        let short = [("\\n", '\n'), ("\\r", '\r'), ("\\t", '\t')];
        if let Some((escape, c)) = short.into_iter().find(|(escape, _)| rest.starts_with(escape)) {
            out.push(c);
            rest = &rest[escape.len()..];
            continue;
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

proptest! {
    #[test]
    fn a_name_is_one_line_that_does_nothing(text in hostile()) {
        let shown = name(&text);
        prop_assert!(!shown.contains('\n'));
        assert_inert(&shown);
        assert_inert(&format!("  {shown}"));
        if !text.contains('\\') {
            prop_assert_eq!(read_again(&shown), text, "nothing is lost");
        }
    }

    #[test]
    fn a_guarded_text_keeps_its_lines_and_does_nothing(text in hostile()) {
        let shown = guard(&text);
        assert_inert(&shown);
        if !text.contains('\\') {
            prop_assert_eq!(read_again(&shown), text.replace("\r\n", "\n"), "nothing is lost");
        }
        prop_assert_eq!(guard(&shown), &*shown, "twice is once");
    }

    #[test]
    fn each_of_several_lines_has_its_mark(text in hostile(), indent in 0_usize..12) {
        for shown in [quoted(&text, indent), marked(&text, indent)] {
            let whole = format!("{:indent$}{shown}", "");
            assert_inert(&whole);
            let mut lines = whole.split('\n');
            if whole.contains('\n') {
                prop_assert!(lines.all(|line| line.trim_start_matches(' ').starts_with(MARK)), "{whole:?}");
            }
        }
    }

    #[test]
    fn styles_of_ours_stay_and_nothing_else_does(text in hostile()) {
        let shown = guard_styled(&format!("\u{1b}[1mours\u{1b}[0m {}\n\u{1b}[31m{}", name(&text), name(&text)));
        let kept = shown.starts_with("\u{1b}[1mours\u{1b}[0m ") && shown.contains("\n\u{1b}[31m");
        prop_assert!(kept, "{shown:?}");
        let plain = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "").replace("\u{1b}[31m", "");
        assert_inert(&plain);
    }
}

proptest! {
    #[test]
    fn json_is_the_same_document_and_does_nothing(text in hostile()) {
        let document = serde_json::to_string_pretty(&[&text]).unwrap();
        let shown = json(&document);
        assert_inert(&shown);
        prop_assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [text]);
    }

    #[test]
    fn an_annotation_is_the_one_command_that_is_meant(text in hostile()) {
        let shown = annotation("error", &[("file", &text), ("title", &text)], &text);
        prop_assert_eq!(commands(&shown), ["error"]);
        prop_assert_eq!(shown.matches('\n').count(), 1);
        let (_, message) = shown[2..].split_once("::").unwrap();
        let decoded = message.trim_end_matches('\n').replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%");
        assert_inert(&decoded);
    }

    #[test]
    fn markdown_and_xml_hold_no_markup_of_others(text in hostile()) {
        let inline = markdown(&text);
        prop_assert!(!inline.contains(['<', '>', '\n', '@']) && !inline.contains("://"), "{inline:?}");
        assert_inert(&inline);
        let block = fenced(&text);
        let (fence, rest) = block.split_once("text\n").unwrap();
        prop_assert_eq!(rest.split('\n').position(|line| line.starts_with(fence)), Some(rest.split('\n').count() - 1));
        assert_inert(&block);
        let shown = xml(&text);
        assert_inert(&shown);
        let is_xml = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        prop_assert!(shown.chars().all(is_xml), "{shown:?}");
    }
}

#[test]
fn the_emulations_obey_what_is_not_guarded() {
    for (text, command) in [
        ("::error::x", "error"),
        (" \u{a0}::stop-commands::x", "stop-commands"),
        ("a ##[group]x", "group"),
        ("a\r::warning file=x::y", "warning"),
        ("a ##vso[task.setvariable x=y]", "task.setvariable"),
        ("##teamcity[buildStatus]", "buildStatus"),
    ] {
        assert_eq!(commands(text), [command], "{text:?}");
    }
    for text in ["\u{1b}[2J", "\u{9b}2J", "a\rb", "a\u{8}b", "\u{202e}x", "\u{7}", "\u{1b}]0;x\u{7}"] {
        let mut terminal = Terminal::default();
        terminal.print(text);
        assert!(terminal.obeyed() > 0, "{text:?}");
    }
    let mut terminal = Terminal::default();
    terminal.print("FAILED x\r\u{1b}[32mok\u{1b}[0m\u{1b}[K");
    assert_eq!(terminal.lines(), ["ok"], "it would have been believed");
}
