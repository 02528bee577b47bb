//! The lists of layers in `ARCHITECTURE.md`, and the uses that do not keep to them.

use std::collections::BTreeMap;

use crate::krate::Crate;

/// The layers of a crate from the bottom: the names of the modules in each.
pub(crate) type Layers = Vec<Vec<String>>;

const HEADING: &str = "## The layers";
const TITLE_END: &str = ", from the bottom:";

/// Reads the lists: in the section `## The layers`, a fenced block for each crate.
///
/// ````text
/// ```text
/// eval-core, from the bottom:
///   message verdict score | words and values
///   agent
/// ```
/// ````
///
/// A line is a layer: names separated by spaces, then a remark behind `|` if there is something to say.
///
/// # Errors
///
/// A sentence, if the section is missing or a block has no title or no line, or names something twice.
pub(crate) fn read(text: &str) -> Result<BTreeMap<String, Layers>, String> {
    let start = text.lines().position(|line| line.trim_end() == HEADING);
    let start = start.ok_or_else(|| format!("there is no section `{HEADING}`"))?;
    let section = text.lines().skip(start + 1).take_while(|line| !line.starts_with("## "));
    let mut lists = BTreeMap::new();
    let mut block: Option<Vec<&str>> = None;
    for line in section {
        match (&mut block, line.starts_with("```")) {
            (None, true) => block = Some(Vec::new()),
            (Some(lines), true) => {
                let (name, layers) = list(lines)?;
                if lists.insert(name.clone(), layers).is_some() {
                    return Err(format!("{name} has two lists"));
                }
                block = None;
            }
            (Some(lines), false) => lines.push(line),
            (None, false) => {}
        }
    }
    Ok(lists)
}

fn list(lines: &[&str]) -> Result<(String, Layers), String> {
    let mut lines = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    let title = lines.next().unwrap_or_default();
    let name = title.strip_suffix(TITLE_END);
    let name = name.ok_or_else(|| format!("a block begins with `{title}`, not with `<crate>{TITLE_END}`"))?;
    let mut layers = Layers::new();
    for line in lines {
        let names = line.split('|').next().unwrap_or_default();
        let names: Vec<_> = names.split_whitespace().map(str::to_owned).collect();
        if names.is_empty() {
            return Err(format!("a line of {name} has a remark, but no module"));
        }
        for (at, name) in names.iter().enumerate() {
            if layers.iter().flatten().chain(&names[..at]).any(|known| known == name) {
                return Err(format!("the module `{name}` is in two places of a list"));
            }
        }
        layers.push(names);
    }
    Ok((name.to_owned(), layers))
}

/// The contradictions between the crates of the workspace and their lists.
pub(crate) fn check_all(crates: &[Crate], lists: &BTreeMap<String, Layers>) -> Vec<String> {
    let mut found = Vec::new();
    for of in crates {
        match lists.get(&of.name) {
            Some(layers) => found.append(&mut check(of, layers)),
            None => found
                .push(format!("{0}: there is no list of its layers: add a block `{0}{TITLE_END}`", of.name)),
        }
    }
    for name in lists.keys() {
        if !crates.iter().any(|of| of.name == *name) {
            found.push(format!("there is a list for {name}, which is no member of the workspace"));
        }
    }
    found
}

/// The contradictions between a crate and its list: modules that are missing in either, and uses that go up or sideways.
fn check(of: &Crate, layers: &Layers) -> Vec<String> {
    let modules = of.modules();
    let mut found = Vec::new();
    for name in &modules {
        if !layers.iter().flatten().any(|listed| listed == name) {
            found.push(format!("{}: the module `{name}` is in no layer: add it to the list", of.name));
        }
    }
    for name in layers.iter().flatten() {
        if !modules.contains(&**name) {
            found.push(format!("{}: the list has `{name}`, which is no module with code", of.name));
        }
    }
    let layer_of = |name: &str| layers.iter().position(|layer| layer.iter().any(|listed| listed == name));
    for used in &of.uses {
        // The root of the crate is above all layers and may use each.
        let Some(from) = of.top(used.from) else { continue };
        let Some(from_layer) = layer_of(from) else { continue };
        let line = of.line(used);
        let from_text = layer_text(from, from_layer, layers);
        match of.top(used.to) {
            Some(to) if to == from => {}
            Some(to) => {
                let Some(to_layer) = layer_of(to) else { continue };
                if to_layer >= from_layer {
                    found.push(format!("{line}\n    {from_text} uses {}", layer_text(to, to_layer, layers)));
                }
            }
            None => {
                let root = &of.files[used.to].path;
                found.push(format!(
                    "{line}\n    {from_text} uses what {root} defines, which is above all layers"
                ));
            }
        }
    }
    found
}

fn layer_text(name: &str, layer: usize, layers: &Layers) -> String {
    format!("`{name}` (layer {}: {})", layer + 1, layers[layer].join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::small;

    /// A section as `ARCHITECTURE.md` has it.
    const SECTION: &str = "\
# Architecture

## The layers

A module uses modules of lower lines only.

```text
small, from the bottom:
  words numbers | values
  middle
  top           | what users call
```

```text
other, from the bottom:
  only
```

## Invariants

```text
not a list
```
";

    fn list_of(text: &str) -> Layers {
        read(text).unwrap().remove("small").unwrap()
    }

    #[test]
    fn a_list_has_a_layer_in_each_line() {
        let lists = read(SECTION).unwrap();
        assert_eq!(lists.keys().collect::<Vec<_>>(), ["other", "small"]);
        assert_eq!(lists["small"], [vec!["words", "numbers"], vec!["middle"], vec!["top"]]);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_an_error() {
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!(error("# Architecture"), "there is no section `## The layers`");
        let block = |lines: &str| format!("## The layers\n```text\n{lines}\n```\n");
        assert_eq!(
            error(&block("words")),
            "a block begins with `words`, not with `<crate>, from the bottom:`"
        );
        assert_eq!(
            error(&block("small, from the bottom:\n  a b\n  b")),
            "the module `b` is in two places of a list"
        );
        assert_eq!(
            error(&block("small, from the bottom:\n  | words")),
            "a line of small has a remark, but no module"
        );
        let twice = block("small, from the bottom:\n  a");
        assert_eq!(error(&format!("{twice}{}", twice.replace("## The layers", ""))), "small has two lists");
    }

    #[test]
    fn downward_uses_are_fine() {
        let of = small(&[
            ("lib.rs", "mod words; mod numbers; mod middle; mod top; pub use top::Top;"),
            ("words.rs", "pub struct Word;"),
            ("numbers.rs", ""),
            ("middle.rs", "use crate::words::Word;"),
            ("top.rs", "use crate::{middle, words::Word}; pub struct Top;"),
        ]);
        assert_eq!(check(&of, &list_of(SECTION)), Vec::<String>::new());
    }

    #[test]
    fn uses_that_go_up_or_sideways_are_named() {
        let of = small(&[
            ("lib.rs", "mod words; mod numbers; mod middle; mod top; pub struct Root;"),
            ("words.rs", "\nuse crate::top::Top;"),
            ("numbers.rs", "use crate::words::Word; fn root() -> crate::Root { crate::Root }"),
            ("middle.rs", ""),
            ("top.rs", "pub struct Top;"),
        ]);
        let found = check(&of, &list_of(SECTION));
        assert_eq!(
            found,
            [
                "small/src/words.rs:2  crate::top::Top\n    \
                 `words` (layer 1: words numbers) uses `top` (layer 3: top)",
                "small/src/numbers.rs:1  crate::words::Word\n    \
                 `numbers` (layer 1: words numbers) uses `words` (layer 1: words numbers)",
                "small/src/numbers.rs:1  crate::Root\n    \
                 `numbers` (layer 1: words numbers) uses what small/src/lib.rs defines, which is above all layers",
            ]
        );
    }

    #[test]
    fn each_crate_has_a_list() {
        let of = small(&[("lib.rs", "mod a;"), ("a.rs", "")]);
        let other = Crate { name: "new".to_owned(), ..small(&[("lib.rs", "")]) };
        let lists = read(
            "## The layers\n```text\nsmall, from the bottom:\na\n```\n```text\nold, from the bottom:\na\n```",
        );
        assert_eq!(
            check_all(&[of, other], &lists.unwrap()),
            [
                "new: there is no list of its layers: add a block `new, from the bottom:`",
                "there is a list for old, which is no member of the workspace",
            ]
        );
    }

    #[test]
    fn a_list_names_each_module_and_no_other() {
        let of = small(&[
            ("lib.rs", "mod words; mod middle; mod top; mod extra; #[cfg(test)] mod numbers;"),
            ("words.rs", ""),
            ("middle.rs", ""),
            ("top.rs", ""),
            ("extra.rs", ""),
            ("numbers.rs", ""),
        ]);
        assert_eq!(
            check(&of, &list_of(SECTION)),
            [
                "small: the module `extra` is in no layer: add it to the list",
                "small: the list has `numbers`, which is no module with code",
            ]
        );
    }
}
