//! Rendering of the model as HTML.

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::model::{CaseRow, PageModel};

pub const STYLE: &str =
    concat!(include_str!("../../templates/page/page.css"), include_str!("../../templates/page/case.css"));

macro_rules! components {
    () => {
        concat!(
            include_str!("../../templates/page/elements.js"),
            include_str!("../../templates/page/markdown.js"),
            include_str!("../../templates/page/diff.js"),
            include_str!("../../templates/page/judge.js"),
            include_str!("../../templates/page/case.js")
        )
    };
}

/// A script for other pages, which defines `components`: the elements of the page.
pub const ELEMENTS: &str = concat!(
    "const components = (() => {\n\"use strict\";\n",
    include_str!("../../templates/page/elements.js"),
    "return { el, button, table, copier };\n})();\n"
);

/// A script for other pages, which defines `components`: the elements of the page, and the details of a case.
pub const COMPONENTS: &str = concat!(
    "const components = (() => {\n\"use strict\";\n",
    components!(),
    "return { el, button, table, copier, commandOf, inCode, pill, body, runOf, jumps, reveal, tellCount, chooseView, signs, terms };\n})();\n"
);

const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    components!(),
    include_str!("../../templates/page/rows.js"),
    include_str!("../../templates/page/cases.js"),
    "})();\n"
);

#[derive(Template)]
#[template(path = "page/page.html")]
struct Html<'m> {
    page: &'m PageModel,
    policy: String,
    style: &'static str,
    script: &'static str,
    live: Option<&'m Live>,
}

/// The server's additions to the page, with which it follows a run in progress.
#[derive(Clone, Debug)]
pub struct Live {
    /// The links to the other pages, as HTML.
    pub nav: String,
    pub run: String,
    /// The version that the page has already.
    pub version: u64,
    /// The time of the service in milliseconds: the clock of the browser may be another.
    pub now: u64,
    pub style: &'static str,
    pub scripts: Vec<&'static str>,
}

/// The changes of a run: a page of its new header and of the rows that changed, for the script of a page that is open.
#[derive(Template)]
#[template(path = "page/changes.html")]
struct Changes<'m> {
    page: &'m PageModel,
    cases: &'m [&'m CaseRow],
    version: u64,
    /// The wait in milliseconds until there are more.
    again: Option<u128>,
}

pub fn render_changes(
    page: &PageModel,
    cases: &[&CaseRow],
    version: u64,
    again: Option<u128>,
) -> Result<String, askama::Error> {
    Changes { page, cases, version, again }.render()
}

pub fn render(page: &PageModel) -> Result<String, askama::Error> {
    let policy = policy(&[STYLE], &[SCRIPT], false);
    Html { page, policy, style: STYLE, script: SCRIPT, live: None }.render()
}

pub fn render_live(page: &PageModel, live: &Live) -> Result<String, askama::Error> {
    Html { page, policy: live_policy(live), style: STYLE, script: SCRIPT, live: Some(live) }.render()
}

pub fn live_policy(live: &Live) -> String {
    let scripts: Vec<&str> = live.scripts.iter().copied().chain([SCRIPT]).collect();
    policy(&[STYLE, live.style], &scripts, true)
}

/// Allows these styles and scripts and nothing else: no other code, no request, no frame, no form. In
/// browsers with trusted types, scripts cannot turn text into HTML either.
///
/// With `asks`, the page may send requests to its own server, and to no other.
pub fn policy(styles: &[&str], scripts: &[&str], asks: bool) -> String {
    let hashes =
        |parts: &[&str]| parts.iter().map(|it| format!("'{}'", hash(it))).collect::<Vec<_>>().join(" ");
    format!(
        "default-src 'none'; style-src {}; script-src {}; {}img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hashes(styles),
        hashes(scripts),
        if asks { "connect-src 'self'; " } else { "" }
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// A value as JSON for a script element: no character of it begins a tag or a comment, or ends a line of
/// JavaScript. `null` if it cannot be serialised, which no type of the page allows.
pub fn inside_html(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use eval_support::secrets::hide;

    use super::*;
    use crate::page::{
        Anchors, Call, CallState, CaseDetails, CaseHistory, CaseSince, Command, Compared, Count, Earlier,
        Fact, Headline, Histogram, Judge, Media, MetricLine, MetricSince, Next, NextOfGroup, NextStep,
        PassRate, PastRun, Pill, Point, Progress, Question, Run, Scatter, SinceBaseline, Spark, Turn,
        keys_of_calls, line, text, texts,
    };

    fn args(value: &str) -> eval_format::Map {
        eval_format::Map::from([("key", eval_format::Value::from(value))])
    }

    fn judge(foreign: &str) -> Judge {
        let line = || line(foreign);
        let question = Question {
            template: Some(line()),
            prompt: text(foreign),
            answers: vec![text(foreign)],
            ..Question::default()
        };
        Judge { purpose: line(), model: line(), asked: line(), questions: vec![question], ..Judge::default() }
    }

    /// A call that shows this text wherever untrusted text can be.
    fn call_everywhere(foreign: &str) -> Call {
        let line = || line(foreign);
        Call {
            is: CallState::Changed,
            expected: Some(line()),
            actual: Some(line()),
            result: Some(line()),
            result_media: vec![Media { label: line(), src: None }],
            name: line(),
            keys: Some(keys_of_calls(&args(foreign), &args("x"), false)),
            note: Some(line()),
            ..Call::default()
        }
    }

    /// A row that shows this text wherever untrusted text can be.
    fn row_everywhere(foreign: &str) -> CaseRow {
        let line = || line(foreign);
        let metric = MetricLine {
            name: line(),
            state: "failed",
            score: Some(line()),
            threshold: None,
            scored: Some(line()),
            reason: Some(line()),
            criterion: vec![(line(), line())],
            notes: vec![line()],
            about: None,
        };
        let turn = Turn {
            played: true,
            user: text(foreign),
            compared: Some(line()),
            calls: vec![call_everywhere(foreign)],
            between: vec![text(foreign)],
            expected: Some(text(foreign)),
            actual: Some(text("x")),
            diff: texts(&text(foreign).shown, "x"),
            user_media: vec![Media { label: line(), src: None }],
            ..Turn::default()
        };
        let run = Run {
            number: 1,
            state: "error",
            error: Some(text(foreign)),
            headline_has_error: false,
            tokens: Some(line()),
            turns: vec![turn],
            judges: vec![judge(foreign)],
            ..Run::default()
        };
        let command = || Command::new("Run it again", line());
        let details = CaseDetails {
            name: line(),
            state: "failed",
            word: "FAIL",
            reason: Some(line()),
            differs: Some(line()),
            facts: vec![("Set", line())],
            next: Some(Next {
                steps: vec![NextStep { about: Some(line()), why: line(), commands: vec![command()] }],
                group: Some(NextOfGroup { cases: 2, why: line(), commands: vec![command()] }),
            }),
            doubt: Some(line()),
            metrics: vec![metric],
            earlier: vec![Earlier { attempt: 1, state: "failed", reason: Some(line()) }],
            since: Some(CaseSince {
                p: Some(line()),
                why: Some(line()),
                metrics: vec![MetricSince {
                    name: line(),
                    incomparable: Some(line()),
                    ..MetricSince::default()
                }],
                from: Some(line()),
                ..CaseSince::default()
            }),
            history: CaseHistory { runs: vec![PastRun { id: line(), ..PastRun::default() }], others: 1 },
            runs: vec![run],
            printed: Some(text(foreign)),
            ..CaseDetails::default()
        };
        let pill = || Pill { name: line(), state: "failed", score: line() };
        CaseRow {
            anchor: Anchors::default().add(foreign),
            filters: "failed".to_owned(),
            why: Some(line()),
            cause: Some("0f".to_owned()),
            since: Some(line()),
            category: Some("fell"),
            against: Some(line()),
            set: line(),
            runs: line(),
            of_runs: Some(line()),
            loosened: None,
            pills: vec![pill()],
            others: vec![pill()],
            score: Some(0.5),
            tokens: Some(line()),
            cost: Some(line()),
            money: Some(0.5),
            time: Some(line()),
            seconds: Some(0.5),
            spark: Some(Spark::new(&[Some((true, "passed")), None])),
            details,
            ..CaseRow::default()
        }
    }

    /// A page that shows this text wherever untrusted text can be.
    fn everywhere(foreign: &str) -> PageModel {
        let line = || line(foreign);
        let point = |took| Point {
            took,
            score: 0.5,
            passed: false,
            name: line(),
            anchor: Anchors::default().add(foreign),
        };
        let failed = Count { filter: "failed", name: "Failed", cases: 1, of: None };
        PageModel {
            headline: Headline {
                outcome: "running",
                text: line(),
                cause: Some(line()),
                progress: Some(Progress { decided: 1, of: 2, text: line() }),
                ..Headline::default()
            },
            compared: Some(Compared { changes: vec![failed.clone()], since: line() }),
            baseline: Some(SinceBaseline {
                name: line(),
                changes: vec![failed.clone()],
                said: vec![line()],
                left: vec![line()],
            }),
            counts: vec![failed],
            about: line(),
            facts: vec![Fact { name: "Run", value: Some(line()) }, Fact { name: "Cost", value: None }],
            numbers: vec![line()],
            // Long notes are folded.
            notes: vec![line(), "x".repeat(200)],
            histograms: (0..6)
                .filter_map(|_| Histogram::new(line(), &[(0.5, Some(eval_format::Bound::at_least(0.8)))]))
                .collect(),
            rerun: vec![Command::new(line(), line())],
            glance: vec![Fact { name: "Agent models", value: Some(line()) }],
            scatters: Scatter::new("t", vec![point(1.0), point(2.0)], |took| took.to_string())
                .into_iter()
                .collect(),
            pass_rate: PassRate::new(&[(line(), 1, 2), (line(), 2, 2)], "this run"),
            cases: vec![row_everywhere(foreign)],
        }
    }

    /// The tags with the names of their attributes, as a browser reads them.
    fn skeleton(html: &str) -> Vec<String> {
        let mut tags = Vec::new();
        let mut rest = html;
        while let Some((_, after)) = rest.split_once('<') {
            let (mut tag, mut quote, mut end) = (String::new(), None, after.len());
            for (at, c) in after.char_indices() {
                match (quote, c) {
                    (None, '>') => {
                        end = at;
                        break;
                    }
                    (None, '"' | '\'') => quote = Some(c),
                    (Some(open), _) if c == open => quote = None,
                    (None, _) => tag.push(c),
                    (Some(_), _) => {}
                }
            }
            rest = &after[end..];
            // A browser looks for nothing but their end tags in these.
            for raw in ["script", "style"] {
                if tag.starts_with(raw) {
                    rest = rest.find(&format!("</{raw}")).map_or("", |at| &rest[at..]);
                }
            }
            tags.push(tag);
        }
        tags
    }

    const FRAGMENTS: [&str; 24] = [
        "<",
        ">",
        "\"",
        "'",
        "&",
        "</",
        "script",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<img src=x onerror=",
        "/",
        "=",
        "javascript:",
        "]]>",
        "\\",
        "\u{2028}",
        "\u{202e}",
        "\n",
        "\0",
        " ",
        "{{",
        "ä日",
    ];

    /// Texts made of what means something in HTML, in JSON, in JavaScript or in a template.
    fn hostile(seed: u64) -> String {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap_or_default()
        };
        let length = 1 + next() % 12;
        (0..length).map(|_| FRAGMENTS[next() % FRAGMENTS.len()]).collect()
    }

    /// The markup without the parts of commands: a text with blanks has more of them.
    fn skeleton_without_parts(page: &str) -> Vec<String> {
        let mut parts = page.split("<span class=\"word\">");
        let mut text = parts.next().unwrap_or_default().to_owned();
        text.extend(parts.map(|part| part.replacen("</span>", "", 1)));
        skeleton(&text)
    }

    #[test]
    fn no_text_changes_the_markup() {
        let skeleton = skeleton_without_parts;
        let plain = skeleton(&render(&everywhere("plain")).unwrap());
        assert!(plain.len() > 100, "{plain:?}");
        let model = everywhere("plain");
        let changes =
            skeleton(&render_changes(&model, &model.cases.iter().collect::<Vec<_>>(), 1, Some(2)).unwrap());
        for seed in 0..300 {
            let foreign = hostile(seed);
            let model = everywhere(&foreign);
            let page = render(&model).unwrap();
            assert_eq!(skeleton(&page), plain, "{foreign:?}");
            let news = render_changes(&model, &model.cases.iter().collect::<Vec<_>>(), 1, Some(2)).unwrap();
            assert_eq!(skeleton(&news), changes, "{foreign:?}");
            assert!(!page.contains(['\u{202e}', '\0']), "{foreign:?}");
        }
    }

    #[test]
    fn the_embedded_details_are_the_texts() {
        for seed in 0..300 {
            let foreign = hostile(seed);
            let page = render(&everywhere(&foreign)).unwrap();
            let (_, json) = page.split_once("id=\"data-0\">").unwrap();
            let (json, _) = json.split_once("</script>").unwrap();
            let details: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(details["name"], line(&foreign), "{foreign:?}");
            assert_eq!(details["printed"]["t"], text(&foreign).shown, "{foreign:?}");
        }
    }

    /// A secret that has another form in HTML is masked, and one that is a word of the script does not break the script.
    #[test]
    fn secrets_are_masked_in_texts_and_nowhere_else() {
        let (odd, word) = ("p<ss&w\"rd 1", "querySelectorAll");
        assert!(SCRIPT.contains(word));
        for secret in [odd, word] {
            hide(secret);
        }
        let page = render(&everywhere(&format!("the {odd} and {word}"))).unwrap();
        assert!(page.contains(SCRIPT));
        let texts = page.replace(SCRIPT, "");
        for trace in ["p<ss", "p&#", "p\\u003c", "w\"rd", "w&#34;rd", "w\\\"rd", word] {
            assert!(!texts.contains(trace), "{trace}");
        }
        assert!(texts.contains("the (a hidden value) and (a hidden value)"));
    }

    #[test]
    fn the_script_makes_no_html_of_texts() {
        for forbidden in
            ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "fetch("]
        {
            assert!(!SCRIPT.contains(forbidden), "{forbidden}");
        }
    }
}

#[cfg(test)]
mod policy_tests {
    use super::*;

    /// From the specification of content security policies.
    #[test]
    fn the_published_hash_comes_out() {
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}

#[cfg(test)]
mod json_tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element_and_the_value_stays() {
        let text = "</script><!--<script>&amp;\u{2028}\"'";
        let json = inside_html(&text);
        assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
