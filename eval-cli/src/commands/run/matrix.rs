//! Variants of the agent in a run: `--matrix`.

use eval_format::matrix::{Axis, Variant, check_axes, check_excluded, variants};
use eval_support::untrusted::one_line;
use eval_support::variables::MODELS;
use eval_support::words::{code_list, did_you_mean};

use crate::agent::AgentArgs;
use crate::output::CommandError;

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct MatrixArgs {
    /// Runs the cases with each value of an axis: `model=flash,pro`. Several axes give each combination of their values. The
    /// value takes the place of `{model}` in the agent's arguments, and programs find all values in `EVALSET_VARIANT`, as JSON.
    #[arg(long, value_name = "AXIS=VALUE,..", conflicts_with = "traces", help_heading = "Variants")]
    matrix: Vec<String>,

    /// Leaves out the variants with these values: `model=pro,prompt=b`.
    #[arg(long, value_name = "AXIS=VALUE,..", requires = "matrix", help_heading = "Variants")]
    exclude: Vec<String>,
}

impl MatrixArgs {
    /// The variants; one without any value if there is no matrix.
    pub(super) fn variants(&self, agent: &AgentArgs) -> Result<Vec<Variant>, CommandError> {
        let no_axis = |text: &String| {
            let message = format!("`--matrix` takes an axis and its values, not `{}`", one_line(text));
            CommandError::new(message, "write `--matrix model=flash,pro`")
        };
        let axes = self.matrix.iter().map(|text| Axis::parse(text).ok_or_else(|| no_axis(text)));
        let axes = axes.collect::<Result<Vec<_>, _>>()?;
        if let Some(problem) = check_axes(&axes).into_iter().next() {
            return Err(CommandError::new(
                format!("`--matrix`: {}", one_line(&problem.message)),
                problem.help,
            ));
        }
        if axes.iter().any(|axis| axis.name == "port") {
            let message =
                "`--matrix`: an axis cannot be called `port`, as `{port}` is the port of an ADK server";
            return Err(CommandError::new(message, "call it otherwise: `--matrix harbour=..`"));
        }
        let mut all = variants(&axes);
        for text in &self.exclude {
            let excluded = Variant::parse(text).ok_or_else(|| {
                let message = format!("`--exclude` takes values of axes, not `{}`", one_line(text));
                CommandError::new(message, "write `--exclude model=pro,prompt=b`")
            })?;
            if let Some((message, help)) = check_excluded(&axes, &excluded) {
                return Err(CommandError::new(
                    format!("`--exclude`: {}", one_line(&message)),
                    one_line(&help),
                ));
            }
            all.retain(|variant| !variant.has(&excluded));
        }
        if let Some(axis) = all.first().and_then(|variant| agent.without_effect(variant)) {
            let message =
                format!("nothing of the agent depends on `{axis}`: a server that runs already is not told");
            return Err(CommandError::new(
                message,
                format!("write `{{{axis}}}` into `--agent-url`, `--app` or a `--header`"),
            ));
        }
        let mode = std::env::var(MODELS).unwrap_or_default();
        let refused = match &*mode {
            "record-all" => Some((
                "`EVALSET_MODELS=record-all` would keep the recordings of the last variant alone",
                "remove the recordings of these cases, and record all variants with `EVALSET_MODELS=record`",
            )),
            "rebind" => Some((
                "`EVALSET_MODELS=rebind` would put answers of one variant under requests of another",
                "record the requests that changed with `EVALSET_MODELS=record`",
            )),
            _ => None,
        };
        if let Some((message, help)) = refused.filter(|_| all.len() > 1) {
            return Err(CommandError::new(message, help));
        }
        if all.is_empty() {
            return Err(CommandError::new("`--exclude` leaves no variant", "exclude less"));
        }
        check_names(&axes, &all[0], agent)?;
        Ok(all)
    }

    /// The arguments for a command that is printed.
    pub(super) fn words(&self) -> Vec<String> {
        let all = [("--matrix", &self.matrix), ("--exclude", &self.exclude)];
        let words = all
            .into_iter()
            .flat_map(|(name, values)| values.iter().map(move |it| [name.to_owned(), it.clone()]));
        words.flatten().collect()
    }
}

/// Fails if the agent's arguments have a name in braces that no axis has: the agent would get it as it is.
fn check_names(axes: &[Axis], variant: &Variant, agent: &AgentArgs) -> Result<(), CommandError> {
    let Some((option, name)) = agent.unknown_axis(variant).filter(|_| !axes.is_empty()) else {
        return Ok(());
    };
    let known: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    let message = format!("`{option}` has `{{{name}}}`, and `--matrix` has no axis `{name}`");
    let help = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| {
        let names: Vec<String> = known.iter().map(|axis| format!("{{{axis}}}")).collect();
        format!("its axes are written {}; add the axis, or write the name without braces", code_list(&names))
    });
    Err(CommandError::new(message, help))
}

/// The arguments of a run of one variant.
pub(super) fn in_matrix(variant: &Variant) -> Vec<String> {
    variant.0.iter().flat_map(|(axis, value)| ["--matrix".to_owned(), format!("{axis}={value}")]).collect()
}
