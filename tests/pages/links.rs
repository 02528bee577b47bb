//! The documentation holds together: links lead somewhere, on GitHub and in rustdoc.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{BrokenLink, Event, LinkType, Options, Parser, Tag, TagEnd};

/// Files beside the pages of `docs/`.
const OTHERS: [&str; 13] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "benches/README.md",
    COMMAND_LINE,
    "eval-agents/README.md",
    "eval-format/README.md",
    "eval-server/README.md",
    "examples/README.md",
    "eval-macros/README.md",
    "fuzz/README.md",
];

/// The page of the command line lives in the package of the command.
const COMMAND_LINE: &str = "eval-cli/README.md";

/// The crates whose rustdoc has pages: where their links lead there, and which pages, if not all others.
const IN_RUSTDOC: [(&str, &str, &[&str]); 4] = [
    (
        "eval-agents",
        "eval-agents/src/rustdoc_links.rs",
        &["any-agent.md", "protocol.md", "python.md", "traces.md"],
    ),
    ("eval-report", "eval-report/src/rustdoc_links.rs", &["reports.md"]),
    ("eval-server", "eval-server/src/rustdoc_links.rs", &["service.md"]),
    ("eval-core", "eval-core/src/pages.rs", &[]),
];

/// The bytes that a reader of the first page has to get through.
const MAX_README_BYTES: usize = 9_000;

/// A Markdown file.
#[derive(Default)]
struct Page {
    links: Vec<Link>,
    anchors: BTreeSet<String>,
    undefined: Vec<String>,
}

struct Link {
    target: String,
    /// The label of a reference link; `None` for an inline link.
    label: Option<String>,
}

#[test]
fn every_link_has_a_target_and_every_anchor_a_heading() {
    let mut wrong = Vec::new();
    for (file, page) in &documentation() {
        wrong.extend(page.undefined.iter().map(|label| format!("{file}: `[{label}]` is not defined")));
        for link in &page.links {
            wrong.extend(problem(file, &link.target).map(|why| format!("{file}: `{}` {why}", link.target)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_reached_from_the_readme() {
    let documentation = documentation();
    let mut reached = BTreeSet::from(["README.md".to_owned()]);
    let mut open = vec!["README.md".to_owned()];
    while let Some(file) = open.pop() {
        let Some(page) = documentation.get(&file) else { continue };
        for link in page.links.iter().filter(|link| !is_elsewhere(&link.target)) {
            let (path, _) = split(&file, &link.target);
            if reached.insert(path.clone()) {
                open.push(path);
            }
        }
    }
    let lost: Vec<_> = pages().into_iter().filter(|page| !reached.contains(page)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn every_page_and_each_of_its_links_is_in_rustdoc() {
    let mut wrong = Vec::new();
    for file in pages().into_iter().chain([COMMAND_LINE.to_owned()]) {
        let name = if file == COMMAND_LINE { "command-line.md" } else { &file["docs/".len()..] };
        let of_crate = IN_RUSTDOC.iter().find(|(_, _, pages)| pages.is_empty() || pages.contains(&name));
        let (krate, in_rustdoc, _) = of_crate.expect("the last crate has all others");
        let known = labels(&read(in_rustdoc));
        let sources = sources(&root().join(krate).join("src"));
        let alias = format!("{krate}/docs/{name}");
        if fs::canonicalize(root().join(&alias)).ok() != fs::canonicalize(root().join(&file)).ok() {
            wrong.push(format!("{alias} is no link to {file}"));
        }
        let included =
            |source: &&String| source.contains("page!(") && source.contains(&format!("docs/{name}\""));
        if sources.iter().filter(included).count() != 1 {
            wrong.push(format!("{file} is not in one place of the rustdoc of {krate}"));
        }
        for link in parse(&read(&file)).links.iter().filter(|link| !is_elsewhere(&link.target)) {
            match &link.label {
                None if link.target.starts_with('#') => {}
                Some(label) if known.contains(&label.to_lowercase()) => {}
                Some(label) => wrong.push(format!("{file}: {in_rustdoc} lacks `[{label}]`")),
                None => wrong.push(format!("{file}: `{}` has to be a reference link", link.target)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_label_has_one_meaning() {
    let mut targets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, page) in &documentation() {
        for link in page.links.iter().filter(|link| !is_elsewhere(&link.target)) {
            if let Some(label) = &link.label {
                let (path, anchor) = split(file, &link.target);
                targets.entry(label.to_lowercase()).or_default().insert(format!("{path}#{anchor:?}"));
            }
        }
    }
    targets.retain(|_, targets| targets.len() > 1);
    assert!(targets.is_empty(), "{targets:#?}");
}

#[test]
fn the_readme_is_short() {
    let length = read("README.md").len();
    assert!(length <= MAX_README_BYTES, "{length} bytes");
}

#[test]
fn slugs_are_those_of_github() {
    let text = "# One `two_3`: *four*, f-ive!\n\n## Same\n\n## Same\n\n```text\n# no heading\n```\n";
    let anchors = parse(text).anchors;
    assert_eq!(anchors, ["one-two_3-four-f-ive", "same", "same-1"].map(str::to_owned).into());
}

/// The fault of a target.
fn problem(file: &str, target: &str) -> Option<String> {
    if is_elsewhere(target) {
        return None;
    }
    let (path, anchor) = split(file, target);
    if !root().join(&path).exists() {
        return Some("does not exist".to_owned());
    }
    let anchor = anchor?;
    let found = parse(&read(&path)).anchors.contains(&anchor);
    (!found).then(|| format!("has no heading `{anchor}`"))
}

/// Whether a target is no file of this repository.
fn is_elsewhere(target: &str) -> bool {
    target.contains("://")
}

/// The file that a target names, from the root of the repository, and the anchor in it.
fn split(file: &str, target: &str) -> (String, Option<String>) {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (target, None),
    };
    if path.is_empty() {
        return (file.to_owned(), anchor);
    }
    let mut parts: Vec<&str> = Path::new(file).parent().into_iter().flat_map(names).collect();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name.to_str().expect("a plain name")),
            _ => {}
        }
    }
    (parts.join("/"), anchor)
}

fn names(path: &Path) -> impl Iterator<Item = &str> {
    path.iter().map(|name| name.to_str().expect("a plain name"))
}

/// All files that are checked, by their path from the root of the repository.
fn documentation() -> BTreeMap<String, Page> {
    let files = OTHERS.map(str::to_owned).into_iter().chain(pages());
    files.map(|file| (file.clone(), parse(&read(&file)))).collect()
}

/// The pages of `docs/`.
fn pages() -> Vec<String> {
    let folder = fs::read_dir(root().join("docs")).expect("the sources are here");
    let mut pages: Vec<_> = folder
        .map(|entry| format!("docs/{}", entry.expect("it can be listed").file_name().to_string_lossy()))
        // Beside the pages lie schemas for programs.
        .filter(|file| Path::new(file).extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort_unstable();
    assert!(pages.len() > 10, "{pages:?}");
    pages
}

fn parse(text: &str) -> Page {
    let mut undefined = Vec::new();
    let note = |link: BrokenLink<'_>| {
        // `[x]` alone may be text; `[x][y]` is meant as a link.
        if link.link_type == LinkType::ReferenceUnknown || link.link_type == LinkType::Reference {
            undefined.push(link.reference.to_string());
        }
        None
    };
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    for event in Parser::new_with_broken_link_callback(text, Options::ENABLE_TABLES, Some(note)) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => page.add_anchor(&heading.take().unwrap_or_default()),
            Event::Start(Tag::Link { dest_url, id, .. } | Tag::Image { dest_url, id, .. }) => {
                let label = (!id.is_empty()).then(|| id.to_string());
                page.links.push(Link { target: dest_url.to_string(), label });
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    page.undefined = undefined;
    page
}

impl Page {
    /// Adds the anchor that GitHub gives a heading.
    fn add_anchor(&mut self, heading: &str) {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let slug = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let numbered = |n: usize| if n == 0 { slug.clone() } else { format!("{slug}-{n}") };
        let anchor = (0..=self.anchors.len()).map(numbered).find(|anchor| !self.anchors.contains(anchor));
        self.anchors.extend(anchor);
    }
}

/// The labels that a file of Rust defines: `"[judges]: crate::judge"`.
fn labels(source: &str) -> BTreeSet<String> {
    let starts = source.split("\"[").skip(1);
    starts.filter_map(|rest| Some(rest.split_once("]: ")?.0.to_lowercase())).collect()
}

/// The text of each Rust file of a folder.
fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the sources are here");
    let paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let rust = files.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let texts = rust.map(|file| fs::read_to_string(file).expect("sources are text"));
    texts.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
