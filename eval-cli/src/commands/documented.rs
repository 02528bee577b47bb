//! Commands in the pages and in the examples of helps: each is one that the program takes.

use std::fs;
use std::path::Path;

use super::{command_line, parse};

/// A command as a page has it, in a block to copy or in a sentence.
struct Shown {
    words: Vec<String>,
    is_block: bool,
}

/// The command at the beginning of a text, up to what its shell does with it; `None` if it is another text.
fn command(text: &str) -> Option<Vec<String>> {
    let words = shlex::split(text.trim())?;
    let is_variable = |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let is_set = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let mut words: Vec<String> = words.into_iter().skip_while(is_set).collect();
    if words.first().is_some_and(|word| word == "cargo") {
        words.remove(0);
    }
    let is_ours = words.first().is_some_and(|word| word == "evalset") && words.len() > 1;
    words.truncate(
        words
            .iter()
            .position(|word| ["|", "||", ">", ">>", "<", "&&", "&"].contains(&&**word))
            .unwrap_or(words.len()),
    );
    is_ours.then_some(words)
}

/// The commands of a page: lines of its blocks, and code in its sentences.
fn commands(page: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut block: Option<&str> = None;
    let page = page.replace("\\\n", " ");
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
            continue;
        }
        match block {
            Some("sh" | "console" | "text" | "yaml") => {
                let line = line
                    .trim_start()
                    .trim_start_matches("$ ")
                    .trim_start_matches("- ")
                    .trim_start_matches("run: ");
                found.extend(command(line).map(|words| Shown { words, is_block: true }));
            }
            Some(_) => {}
            None => {
                let code = line.split('`').skip(1).step_by(2).filter_map(command);
                found.extend(code.map(|words| Shown { words, is_block: false }));
            }
        }
    }
    found
}

/// The fault of a command. One in a sentence may leave arguments out.
fn fault(Shown { words, is_block }: &Shown) -> Option<String> {
    // Options of features that this build lacks are not known to it.
    if !cfg!(feature = "store") && words.iter().any(|word| word == "--store") {
        return None;
    }
    if *is_block {
        return parse(words.iter().map(Into::into)).err().map(|error| error.to_string());
    }
    let line = command_line();
    let name = &words[1];
    let Some(command) = line.find_subcommand(name) else {
        let is_word = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        return (is_word && !name.starts_with('-')).then(|| format!("there is no command `{name}`"));
    };
    let takes_any =
        !cfg!(feature = "serve") && name == "serve" || !cfg!(feature = "store") && name == "store";
    let options: Vec<String> = command
        .get_subcommands()
        .chain([command])
        .flat_map(clap::Command::get_arguments)
        .flat_map(|option| option.get_long_and_visible_aliases().unwrap_or_default())
        .map(|name| format!("--{name}"))
        .collect();
    let own = words.split(|word| word == "--").next().unwrap_or_default();
    let named = own.iter().filter(|word| word.starts_with("--") && !takes_any);
    let names = named.map(|word| word.split('=').next().unwrap_or_default());
    let mut unknown = names.filter(|name| *name != "--help" && !options.iter().any(|known| known == name));
    unknown.next().map(|option| format!("`{name}` has no option `{option}`"))
}

/// The pages, each with its name. The package of the crate has its own page alone.
fn pages() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files =
        vec![crates.join("README.md"), crates.join("../README.md"), crates.join("../python/README.md")];
    files.extend(
        fs::read_dir(crates.join("../docs")).into_iter().flatten().flatten().map(|entry| entry.path()),
    );
    files.retain(|file| file.extension().is_some_and(|it| it == "md"));
    let read = |file: std::path::PathBuf| Some((file.display().to_string(), fs::read_to_string(&file).ok()?));
    files.into_iter().filter_map(read).collect()
}

#[test]
fn each_command_of_the_pages_is_one_that_the_program_takes() {
    let pages = pages();
    let mut count = 0;
    let mut faults = String::new();
    for (page, text) in &pages {
        for shown in commands(text) {
            count += 1;
            if let Some(fault) = fault(&shown) {
                faults.push_str(&format!("{page}: {}: {fault}\n", shown.words.join(" ")));
            }
        }
    }
    assert_eq!(faults, "");
    assert!(count > if pages.len() > 20 { 150 } else { 5 }, "{count} commands in {} pages", pages.len());
}

#[test]
fn each_example_of_a_help_is_a_command_that_the_program_takes() {
    let mut count = 0;
    for of in command_line().get_subcommands() {
        let help = of.get_after_help().map(ToString::to_string).unwrap_or_default();
        for words in help.lines().filter_map(command) {
            count += 1;
            let shown = Shown { words, is_block: true };
            assert_eq!(fault(&shown), None, "{}", of.get_name());
        }
    }
    assert!(count > 60, "{count}");
}

/// The options that code in backticks names in the messages of a source: the text before its tests.
fn options_of_messages(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let is_said = |line: &&str| !line.trim_start().starts_with("//") && line.contains('`');
    let spans = code.lines().filter(is_said).flat_map(|line| line.split('`').skip(1).step_by(2));
    let words = spans.filter(|span| span.starts_with("--")).filter_map(|span| {
        let end = span[2..].find(|c: char| !c.is_ascii_lowercase() && c != '-');
        Some(span[..end.map_or(span.len(), |end| end + 2)].to_owned()).filter(|word| word.len() > 3)
    });
    words.collect()
}

/// The text of each source of a folder.
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !["tests", "target", "examples"].contains(&name) {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
            found.extend(fs::read_to_string(&path).ok().map(|text| (path.display().to_string(), text)));
        }
    }
}

/// Options of other programs that messages name, up to their first other letter.
const OF_OTHERS: [&str; 4] = ["--extra", "--help", "--no-fail-fast", "--set"];

/// Options of features that this build may lack.
const OF_FEATURES: [&str; 6] = ["--no-otlp", "--otlp-port", "--parts", "--port", "--publish", "--token-file"];

#[test]
fn each_option_that_a_message_names_is_one_that_the_program_takes() {
    let line = command_line();
    let mut known: Vec<String> = Vec::new();
    let mut commands = vec![&line];
    while let Some(command) = commands.pop() {
        let longs = command.get_arguments().filter_map(clap::Arg::get_long_and_visible_aliases).flatten();
        known.extend(longs.map(|name| format!("--{name}")));
        commands.extend(command.get_subcommands());
    }
    let mut all = Vec::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    for of in ["eval-agents", "eval-core", "eval-format", "eval-gateway", "eval-report", "eval-support"] {
        sources(&crates.join("..").join(of).join("src"), &mut all);
    }
    sources(&crates.join("src"), &mut all);
    let mut faults = Vec::new();
    for (file, text) in &all {
        for option in options_of_messages(text) {
            let is_of = |names: &[&str]| names.contains(&&*option);
            // Messages make some names of a beginning: `--min-{..}`.
            let begins_one = option.ends_with('-') && known.iter().any(|name| name.starts_with(&option));
            let is_known = known.contains(&option) || begins_one || is_of(&OF_OTHERS) || is_of(&OF_FEATURES);
            faults.extend((!is_known).then(|| format!("{file}: {option}")));
        }
    }
    assert_eq!(faults, [""; 0]);
    assert_eq!(options_of_messages("say(\"`--no-such http://x`\")\n/// `--doc`\n"), ["--no-such"]);
}

#[test]
fn a_command_that_is_gone_is_found() {
    let page = "Ask `cargo evalset report --no-such` or `cargo evalset nothing`, not `evalset list --tag a`.\n\
                ```sh\n$ TZ=UTC cargo evalset run evals   # no agent\nls\n```\n";
    let faults: Vec<_> = commands(page).iter().filter_map(fault).collect();
    assert_eq!(faults[..2], ["`report` has no option `--no-such`", "there is no command `nothing`"]);
    assert!(faults.len() == 3 && faults[2].contains("required arguments were not provided"), "{faults:?}");
}
