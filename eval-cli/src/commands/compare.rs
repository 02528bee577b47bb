//! `cargo evalset compare`: the variants of a run side by side.

use std::path::PathBuf;

use eval_report::comparison::{Difference, VariantCase, VariantTable, VariantTotals};
use eval_support::untrusted::{markdown, one_line};
use eval_support::words::{code_list, count, short_code_list};
use serde::Serialize;

use super::report::formats::is_printed;
use super::report::prices;
use crate::files::{check_report_path, write};
use crate::output::{Answer, BOLD, CommandError, Format, Outcome, WARNING, mask, styled};
use crate::recorded::{RunArgs, RunResults};

/// Compares the variants of a run: from `matrix(..)` in the attribute, from `run --matrix`, or by the labels that a program gave its
/// runs.
///
/// Each variant is compared with the first one, or with `--against`: the exact test over all cases, two-sided, corrected by Holm's
/// procedure for the number of comparisons. At most 5% of runs whose variants are all equal are told a difference.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// The label of the variant that the others are compared with: `model=flash prompt=a`. Without it, the first of the matrix.
    #[arg(long, value_name = "LABEL")]
    against: Option<String>,

    /// The prices of a million tokens in and out, for all models or for one. Can be repeated. Without it, the prices that the run
    /// was given count.
    #[arg(long = "price", value_name = "[MODEL=]IN/OUT")]
    prices: Vec<String>,

    /// Writes the table for a pull request to this file. `-` prints it instead of the usual output.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset compare
  cargo evalset compare --against 'model=flash prompt=b' --price 0.3/2.5
  cargo evalset compare 2026-11-22T02-31-07-4f1c --markdown variants.md

Exit codes:
  0  the variants were compared, whatever their verdicts are
  2  the run has fewer than two variants, or it is not complete";

#[derive(Serialize)]
struct Document<'t> {
    variants: &'t [VariantTotals],
    against: &'t str,
    cases: Vec<CaseEntry<'t>>,
    differences: Vec<DifferenceEntry<'t>>,
    conclusion: &'t str,
    doubts: &'t [String],
}

#[derive(Serialize)]
struct CaseEntry<'t> {
    set: &'t str,
    case: &'t str,
    #[serde(skip_serializing_if = "str::is_empty")]
    function: &'t str,
    /// In the order of the variants; `null` where the case did not run.
    runs: Vec<Option<Runs>>,
}

#[derive(Serialize)]
struct Runs {
    passed: usize,
    with_verdict: usize,
    errors: usize,
}

#[derive(Serialize)]
struct DifferenceEntry<'t> {
    label: &'t str,
    #[serde(flatten)]
    difference: &'t Difference,
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let prices = prices(&args.prices)?;
    let markdown = args.markdown.as_deref();
    let (printed, file) = (markdown.filter(|it| is_printed(it)), markdown.filter(|it| !is_printed(it)));
    file.map_or(Ok(()), check_report_path)?;
    let loaded = args.run.which().load()?;
    let results = RunResults::new(&loaded, None, false)
        .map_err(|error| CommandError::new(error.to_string(), "name another run"))?;
    let table = VariantTable::new(&results.tests, &prices, args.against.as_deref()).map_err(|labels| {
        let asked = one_line(args.against.as_deref().unwrap_or_default());
        let labels: Vec<String> = labels.iter().map(|label| one_line(label)).collect();
        let help = if labels.is_empty() {
            "the run has no variants: `run --matrix`, or `matrix(..)` in the attribute, makes them".to_owned()
        } else {
            format!("its labels are {}", code_list(&labels))
        };
        CommandError::new(format!("no variant has the label `{asked}`"), help)
    })?;
    let doubts = results.why_incomplete();
    if table.variants.len() < 2 {
        let message = match table.variants.first() {
            Some(only) => format!("the run has one variant, `{}`", one_line(&only.label)),
            None => "the run has no variants".to_owned(),
        };
        let help = "run several: `matrix(model = [\"flash\", \"pro\"])` in the attribute, or `cargo evalset run .. --matrix \
                    model=flash,pro`";
        let message = [message].into_iter().chain(doubts).collect::<Vec<_>>().join("; ");
        return Err(CommandError::new(message, help));
    }
    let is_compared = table.differences.iter().all(|difference| difference.cases > 0);
    let outcome = if doubts.is_empty() && is_compared { Outcome::Passed } else { Outcome::Unmeasurable };
    let conclusion = table.conclusion();
    let told = [&doubts[..], &without_cost(&table, !args.prices.is_empty())].concat();
    if let Some(path) = file {
        write(path, &mask(&page(&table, &conclusion, &told, true)))?;
    }
    if printed.is_some() {
        return Ok(Answer::new(outcome, page(&table, &conclusion, &told, true)));
    }
    if args.format == Format::Json {
        let document = Document {
            variants: &table.variants,
            against: &table.variants[table.against].label,
            cases: table.cases.iter().map(CaseEntry::new).collect(),
            differences: table
                .differences
                .iter()
                .map(|difference| DifferenceEntry {
                    label: &table.variants[difference.variant].label,
                    difference,
                })
                .collect(),
            conclusion: &conclusion,
            doubts: &doubts,
        };
        return Answer::results("compare", outcome, &document);
    }
    Ok(Answer::new(outcome, page(&table, &conclusion, &told, false)))
}

/// A sentence for the variants whose tokens are not known, and for the ones whose tokens have no price. Without any price on the command
/// line or of the run no cost is asked for.
fn without_cost(table: &VariantTable, is_asked: bool) -> Vec<String> {
    if !is_asked && table.variants.iter().all(|variant| variant.cost.is_none()) {
        return Vec::new();
    }
    let of = |has_tokens: bool, why: &str| {
        let variants =
            table.variants.iter().filter(|it| it.cost.is_none() && it.tokens.is_some() == has_tokens);
        let labels: Vec<String> = variants.map(|variant| one_line(&variant.label)).collect();
        (!labels.is_empty()).then(|| format!("the cost of {} is not known: {why}", short_code_list(&labels)))
    };
    let no_tokens = of(false, "a run reported no tokens");
    let no_price = of(
        true,
        "some tokens have no price; name the price of each model, `--price MODEL=IN/OUT`, and have the agent \
                             report input and output apart",
    );
    no_tokens.into_iter().chain(no_price).collect()
}

/// The tables with what they say, as text or as Markdown.
fn page(table: &VariantTable, conclusion: &str, doubts: &[String], is_markdown: bool) -> String {
    let mut text = if is_markdown { as_markdown(table) } else { as_text(table) };
    let shown = |line: &str| if is_markdown { markdown(&one_line(line)) } else { one_line(line) };
    for line in differences(table) {
        text += &format!("{}{}\n", if is_markdown { "- " } else { "  " }, shown(&line));
    }
    let conclusion = shown(conclusion);
    text += &format!("\n{}\n", if is_markdown { conclusion } else { styled(BOLD, &conclusion) });
    for doubt in doubts {
        let warning = if is_markdown { "warning".to_owned() } else { styled(WARNING, "warning") };
        text += &format!("\n{warning}: {}\n", shown(doubt));
    }
    text
}

impl<'t> CaseEntry<'t> {
    fn new(case: &'t VariantCase) -> Self {
        let runs = case.runs.iter().map(|runs| {
            runs.map(|(passes, errors)| Runs {
                passed: passes.passed(),
                with_verdict: passes.total(),
                errors,
            })
        });
        Self { set: &case.set, case: &case.case, function: &case.function, runs: runs.collect() }
    }
}

/// The letter of a variant in the table: `a`, `b`, .., `z`, `27`.
fn letter(at: usize) -> String {
    u8::try_from(at)
        .ok()
        .filter(|at| *at < 26)
        .map_or_else(|| (at + 1).to_string(), |at| char::from(b'a' + at).to_string())
}

/// The variants with their totals, a row each.
fn rows_of_variants(table: &VariantTable) -> Vec<Vec<String>> {
    let costs = table.variants.iter().any(|variant| variant.cost.is_some());
    let mut head: Vec<String> =
        ["", "variant", "passed", "mean", "errors", "tokens", "seconds"].map(str::to_owned).to_vec();
    head.extend(costs.then(|| "cost".to_owned()));
    let absent = || "-".to_owned();
    let row = |(at, variant): (usize, &VariantTotals)| {
        let mut row = vec![
            letter(at),
            one_line(&variant.label),
            format!("{}/{}", variant.passed, variant.with_verdict),
            variant.mean_rate.map_or_else(absent, |rate| format!("{rate:.2}")),
            variant.errors.to_string(),
            variant.tokens.map_or_else(absent, eval_support::words::grouped),
            variant.seconds.map_or_else(absent, |seconds| format!("{seconds:.1}")),
        ];
        row.extend(costs.then(|| variant.cost.map_or_else(absent, |cost| format!("{cost:.4}"))));
        row
    };
    [head].into_iter().chain(table.variants.iter().enumerate().map(row)).collect()
}

/// The cases with their runs, a row each.
fn rows_of_cases(table: &VariantTable) -> Vec<Vec<String>> {
    let several_functions = table.cases.iter().any(|case| case.function != table.cases[0].function);
    let several_sets = table.cases.iter().any(|case| case.set != table.cases[0].set);
    let name = |case: &VariantCase| {
        let set = if several_sets { format!("{}/", case.set) } else { String::new() };
        let function = if several_functions { format!("{}: ", case.function) } else { String::new() };
        one_line(&format!("{function}{set}{}", case.case))
    };
    let runs = |runs: &Option<_>| match runs {
        None => "-".to_owned(),
        Some((passes, 0)) => of_runs(passes),
        Some((passes, errors)) => format!("{} +{}", of_runs(passes), count(*errors, "error")),
    };
    let head = ["case".to_owned()].into_iter().chain((0..table.variants.len()).map(letter)).collect();
    let row = |case: &VariantCase| [name(case)].into_iter().chain(case.runs.iter().map(runs)).collect();
    [head].into_iter().chain(table.cases.iter().map(row)).collect()
}

fn of_runs(passes: &eval_report::statistics::PassCount) -> String {
    format!("{}/{}", passes.passed(), passes.total())
}

fn as_text(table: &VariantTable) -> String {
    let against = one_line(&table.variants[table.against].label);
    format!(
        "{}\n{}\nagainst {against}, over all cases, two-sided, corrected for {}:\n",
        aligned(&rows_of_variants(table)),
        aligned(&rows_of_cases(table)),
        count(table.differences.len(), "comparison"),
    )
}

fn as_markdown(table: &VariantTable) -> String {
    let rows = |rows: Vec<Vec<String>>| {
        let rule = format!("|{}\n", " --- |".repeat(rows[0].len()));
        let mut lines = rows.iter().map(|row| {
            let cells: Vec<String> = row.iter().map(|cell| markdown(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        });
        lines.next().into_iter().chain([rule]).chain(lines).collect::<String>()
    };
    let against = markdown(&one_line(&table.variants[table.against].label));
    format!(
        "{}\n{}\nAgainst {against}, over all cases, two-sided, corrected for {}:\n\n",
        rows(rows_of_variants(table)),
        rows(rows_of_cases(table)),
        count(table.differences.len(), "comparison"),
    )
}

/// The rows with columns of one width. Texts are aligned at their beginning, numbers at their end.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let texts = if rows[0][0].is_empty() { 2 } else { 1 };
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let space = " ".repeat(width - cell.chars().count());
            if column < texts { format!("{cell}{space}") } else { format!("{space}{cell}") }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A line for each difference.
fn differences(table: &VariantTable) -> Vec<String> {
    let line = |difference: &Difference| {
        let name = format!("{} {}", letter(difference.variant), table.variants[difference.variant].label);
        if difference.cases == 0 {
            return format!("{name}: not compared, as no case has a verdict in both");
        }
        let points = (difference.change * 100.0).round();
        let change = if points >= 0.0 { format!("+{points}") } else { points.to_string() };
        let shown = if difference.is_shown { "a difference is shown" } else { "no difference is shown" };
        let cases = count(difference.cases, "case");
        format!("{name}: {change} points over {cases}, p = {:.4}: {shown}", difference.p)
    };
    let errors: usize = table.variants.iter().map(|variant| variant.errors).sum();
    let of_errors = (errors > 0).then(|| {
        let have = if errors == 1 { "has" } else { "have" };
        format!(
            "{} {have} no verdict: a difference is shown only if it holds whatever they would have been",
            count(errors, "run")
        )
    });
    table.differences.iter().map(line).chain(of_errors).collect()
}
