//! How the runners of CI services find commands in the log of a job.

/// The names of the commands in a log.
pub fn commands(log: &str) -> Vec<String> {
    // .NET's `ReadLine` ends lines at `\r`, `\n` and `\r\n`.
    log.split(['\r', '\n']).flat_map(of_line).collect()
}

fn of_line(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(github(line));
    for prefix in ["##[", "##vso[", "##teamcity["] {
        found.extend(bracketed(line, prefix));
    }
    found
}

/// `ActionCommand.TryParseV2` of GitHub's runner.
fn github(line: &str) -> Option<String> {
    let command = line.trim().strip_prefix("::")?;
    let (info, _) = command.split_once("::")?;
    let name = info.split(' ').next()?;
    // The runner knows a list of names, and while commands are stopped, any word may start them again.
    (!name.is_empty()).then(|| name.to_owned())
}

/// `ActionCommand.TryParse` of GitHub's runner, and the parsers of Azure Pipelines and `TeamCity`: anywhere in a line.
fn bracketed(line: &str, prefix: &str) -> Option<String> {
    let (_, command) = line.split_once(prefix)?;
    let (info, _) = command.split_once(']')?;
    Some(info.split(' ').next().unwrap_or_default().to_owned())
}
