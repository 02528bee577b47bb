//! Variants of an agent: one value for each axis of a matrix.
//!
//! The attribute and the command line read a matrix in notations of their own. The checks, the product and the names of
//! variants are the same.

use std::fmt::Write as _;

use eval_support::words::{code_list, count, did_you_mean, grouped};

use crate::names::module_name;

/// An axis: what varies, and its values.
///
/// ```
/// use eval_format::matrix::{Axis, Variant, variants};
///
/// let axes = [Axis::new("model", ["flash", "pro"]), Axis::new("prompt", ["a"])];
/// let labels: Vec<String> = variants(&axes).iter().map(Variant::label).collect();
/// assert_eq!(labels, ["model=flash prompt=a", "model=pro prompt=a"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// An identifier of Rust, such as `model`.
    pub name: String,
    /// At least one value.
    pub values: Vec<String>,
}

impl Axis {
    /// An axis with these values.
    pub fn new<V: Into<String>>(name: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        Self { name: name.into(), values: values.into_iter().map(Into::into).collect() }
    }

    /// The axis in the notation of the command line: `model=flash,pro`.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, values) = text.split_once('=')?;
        let values = values.split(',').map(str::trim).filter(|value| !value.is_empty());
        Some(Self::new(name.trim(), values))
    }
}

/// A value for each axis, or for some of them: each axis by its name, in the order of the axes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant(pub Vec<(String, String)>);

impl Variant {
    /// The variant in the notation of the command line: `model=flash,prompt=a`.
    pub fn parse(text: &str) -> Option<Self> {
        let value =
            |part: &str| part.split_once('=').map(|(axis, it)| (axis.trim().into(), it.trim().into()));
        text.split(',').map(value).collect::<Option<_>>().map(Self)
    }

    /// The label of its runs: `model=flash prompt=a`. Values with blanks, quotes or `=` are quoted as in JSON.
    pub fn label(&self) -> String {
        let mut label = String::new();
        for (axis, value) in &self.0 {
            let space = if label.is_empty() { "" } else { " " };
            let _ = write!(label, "{space}{axis}=");
            if value.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '=' | '\\'))
            {
                let _ = write!(label, "{value:?}");
            } else {
                label.push_str(value);
            }
        }
        label
    }

    /// The modules of its tests, the first axis outermost.
    pub fn modules(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(_, value)| module_of(value))
    }

    /// A text with the value of each axis in place of its name in braces: `{model}`.
    pub fn fill(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once('{') else { return text.to_owned() };
        let of_name = |(name, after): (&str, _)| {
            let (_, value) = self.0.iter().find(|(axis, _)| axis == name)?;
            Some((value.as_str(), after))
        };
        // Values are not filled in turn: each may hold braces of its own.
        match rest.split_once('}').and_then(of_name) {
            Some((value, after)) => format!("{before}{value}{}", self.fill(after)),
            None => format!("{before}{{{}", self.fill(rest)),
        }
    }

    /// The first name in braces in a text that looks like an axis and is not one: `modle` of `{modle}`. JSON and the variables of a
    /// shell (`${HOME}`) have other forms.
    #[doc(hidden)]
    pub fn unknown_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let in_braces = text.match_indices('{').filter_map(|(at, _)| {
            let (name, _) = text[at + 1..].split_once('}')?;
            (is_name(name) && !text[..at].ends_with('$')).then_some(name)
        });
        in_braces.into_iter().find(|name| !self.0.iter().any(|(axis, _)| axis == name))
    }

    /// Whether it has each value of the other variant, which may leave out axes.
    pub fn has(&self, other: &Self) -> bool {
        other.0.iter().all(|value| self.0.contains(value))
    }
}

/// The most variants of a matrix: each has tests of its own for all cases.
pub const MAX_VARIANTS: usize = 1_000;

/// The number of tests from which a matrix is warned about.
const MANY_TESTS: usize = 1_000;

/// The warning about a matrix with these numbers of variants and cases; `None` up to a thousand tests.
///
/// ```
/// use eval_format::matrix::too_many_tests;
///
/// assert_eq!(too_many_tests(10, 100), None);
/// let warning = too_many_tests(12, 100);
/// assert_eq!(
///     warning.as_deref(),
///     Some("12 variants of 100 cases are 1,200 tests: `exclude` leaves variants out, and fewer cases tell as much of a variant")
/// );
/// ```
pub fn too_many_tests(variants: usize, cases: usize) -> Option<String> {
    let tests = variants.saturating_mul(cases);
    (tests > MANY_TESTS).then(|| {
        format!(
            "{} of {} are {} tests: `exclude` leaves variants out, and fewer cases tell as much of a variant",
            count(variants, "variant"),
            count(cases, "case"),
            grouped(tests as i128)
        )
    })
}

/// The product of the axes. The last axis varies fastest.
pub fn variants(axes: &[Axis]) -> Vec<Variant> {
    axes.iter().fold(vec![Variant::default()], |variants, axis| {
        let with = |variant: &Variant, value: &String| {
            let value = (axis.name.clone(), value.clone());
            Variant(variant.0.iter().cloned().chain([value]).collect())
        };
        variants
            .iter()
            .flat_map(|variant| axis.values.iter().map(move |value| with(variant, value)))
            .collect()
    })
}

/// A mistake in a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixProblem {
    /// The index of the axis.
    pub axis: usize,
    /// The index of the value, if the mistake is in one.
    pub value: Option<usize>,
    /// The mistake.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// The module of a value. One named `Variant` would be beside the struct of that name.
fn module_of(value: &str) -> String {
    let name = module_name(value);
    if name == "Variant" { format!("{name}_") } else { name }
}

/// The mistakes of the axes: no value, a value or an axis that is given twice, two values whose modules have one name, and a product of
/// more than [`MAX_VARIANTS`].
pub fn check_axes(axes: &[Axis]) -> Vec<MatrixProblem> {
    let mut problems: Vec<MatrixProblem> = too_many_variants(axes).into_iter().collect();
    for (at, axis) in axes.iter().enumerate() {
        let name = &axis.name;
        let mut problem = |value, message: String, help: String| {
            problems.push(MatrixProblem { axis: at, value, message, help });
        };
        if module_name(name) != *name {
            let message = format!("the axis `{name}` is no name of a field in Rust");
            problem(None, message, "an axis is called as a field: `model`, `prompt`".to_owned());
        }
        if axes[..at].iter().any(|other| other.name == *name) {
            let message = format!("the axis `{name}` is given twice");
            problem(None, message, "put all its values into one list".to_owned());
        }
        if axis.values.is_empty() {
            let message = format!("the axis `{name}` has no value");
            problem(
                None,
                message,
                "each axis needs at least one value, as no variant is left without it".to_owned(),
            );
        }
        for (index, value) in axis.values.iter().enumerate() {
            let before = &axis.values[..index];
            if before.contains(value) {
                let message = format!("the axis `{name}` has the value `{value}` twice");
                problem(Some(index), message, "keep one of the two".to_owned());
            } else if let Some(other) = before.iter().find(|other| module_of(other) == module_of(value)) {
                let module = module_of(value);
                let message =
                    format!("the values `{other}` and `{value}` of `{name}` have one name, `{module}`");
                let help =
                    "the tests of a variant are in a module of its name: spell one of the two otherwise";
                problem(Some(index), message, help.to_owned());
            }
        }
    }
    problems
}

/// The mistake of a product that is too large, at the value that is too much. It is a mistake before any variant is left out, so that a
/// product is never made that no memory holds.
fn too_many_variants(axes: &[Axis]) -> Option<MatrixProblem> {
    let mut product = 1_usize;
    axes.iter().enumerate().find_map(|(at, axis)| {
        let before = product;
        product = product.saturating_mul(axis.values.len().max(1));
        (product > MAX_VARIANTS).then(|| MatrixProblem {
            axis: at,
            value: Some(MAX_VARIANTS / before),
            message: format!("the matrix has more than {} variants", grouped(MAX_VARIANTS as i128)),
            help: "vary fewer axes at once: first compare the models, then the prompts of the best one"
                .to_owned(),
        })
    })
}

/// The mistake of a variant to leave out: an axis or a value that the matrix does not have, or two values of one axis. The message
/// comes with its remedy.
pub fn check_excluded(axes: &[Axis], excluded: &Variant) -> Option<(String, String)> {
    let twice = excluded
        .0
        .iter()
        .enumerate()
        .find(|(at, (name, _))| excluded.0[..*at].iter().any(|(other, _)| other == name));
    if let Some((_, (name, _))) = twice {
        let help = "no variant has two values of an axis: leave them out one by one";
        return Some((format!("the axis `{name}` has two values"), help.to_owned()));
    }
    excluded.0.iter().find_map(|(name, value)| {
        let Some(axis) = axes.iter().find(|axis| axis.name == *name) else {
            let known: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
            let help = did_you_mean(name, known.iter().copied());
            let help = help.unwrap_or_else(|| format!("its axes are {}", code_list(&known)));
            return Some((format!("the matrix has no axis `{name}`"), help));
        };
        let known = axis.values.iter().map(String::as_str);
        (!axis.values.contains(value)).then(|| {
            let help = did_you_mean(value, known);
            let help = help.unwrap_or_else(|| format!("its values are {}", code_list(&axis.values)));
            (format!("the axis `{name}` has no value `{value}`"), help)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_varies_fastest_and_each_value_has_a_module() {
        let axes = [Axis::new("model", ["gemini-flash", "gpt 4"]), Axis::new("prompt", ["a", "b"])];
        let variants = variants(&axes);
        let labels: Vec<String> = variants.iter().map(Variant::label).collect();
        let expected = [
            "model=gemini-flash prompt=a",
            "model=gemini-flash prompt=b",
            "model=\"gpt 4\" prompt=a",
            "model=\"gpt 4\" prompt=b",
        ];
        assert_eq!(labels, expected);
        assert_eq!(variants[1].modules().collect::<Vec<_>>(), ["gemini_flash", "b"]);
        assert!(variants[1].has(&Variant::parse("prompt=b").unwrap()));
        assert!(!variants[1].has(&Variant::parse("prompt=b,model=gpt 4").unwrap()));
    }

    #[test]
    fn only_names_of_axes_in_braces_are_filled() {
        let variant = Variant::parse("model={prompt},prompt=a").unwrap();
        for (text, expected) in [
            ("run --model {model} -p{prompt}", "run --model {prompt} -pa"),
            ("{\"model\": {model}}", "{\"model\": {prompt}}"),
            ("{port} {{model}} {", "{port} {{prompt}} {"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(variant.fill(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_in_braces_that_is_no_axis_is_found() {
        let variant = Variant::parse("model=a,prompt=b").unwrap();
        for (text, unknown) in [
            ("run {modle} {prompt}", Some("modle")),
            ("run {model} {{prompt}}", None),
            (r#"run '{"model": {"x": 1}}' {} {1} {a b}"#, None),
            ("sh -c 'echo ${HOME} {'", None),
        ] {
            assert_eq!(variant.unknown_in(text), unknown, "{text}");
        }
    }

    #[test]
    fn no_module_of_a_variant_is_named_as_the_struct_beside_it() {
        let variant = Variant::parse("model=Variant,prompt=a").unwrap();
        assert_eq!(variant.modules().collect::<Vec<_>>(), ["Variant_", "a"]);
        let both = [Axis::new("model", ["Variant", "Variant_"])];
        assert_eq!(check_axes(&both).len(), 1);
    }

    #[test]
    fn the_notation_of_the_command_line_is_parsed() {
        assert_eq!(Axis::parse("model = flash, pro,"), Some(Axis::new("model", ["flash", "pro"])));
        assert_eq!(Axis::parse("model="), Some(Axis::new("model", [""; 0])));
        assert_eq!(Axis::parse("model"), None);
        assert_eq!(Variant::parse("model=flash,prompt"), None);
    }

    #[test]
    fn each_mistake_is_named_at_its_place() {
        let axes = [
            Axis::new("model", ["a-b", "c", "a_b", "c"]),
            Axis::new("type", ["x"]),
            Axis::new("model", ["x"]),
            Axis::new("prompt", [""; 0]),
        ];
        let found: Vec<_> = check_axes(&axes).into_iter().map(|it| (it.axis, it.value, it.message)).collect();
        let expected = [
            (0, Some(2), "the values `a-b` and `a_b` of `model` have one name, `a_b`"),
            (0, Some(3), "the axis `model` has the value `c` twice"),
            (1, None, "the axis `type` is no name of a field in Rust"),
            (2, None, "the axis `model` is given twice"),
            (3, None, "the axis `prompt` has no value"),
        ];
        assert_eq!(found, expected.map(|(axis, value, message)| (axis, value, message.to_owned())));
    }

    #[test]
    fn a_product_has_a_limit() {
        let values = |count: usize| (0..count).map(|value| format!("v{value}"));
        let axes = |counts: &[usize]| -> Vec<Axis> {
            counts
                .iter()
                .enumerate()
                .map(|(at, count)| Axis::new(format!("axis{at}"), values(*count)))
                .collect()
        };
        let found = |counts: &[usize]| {
            check_axes(&axes(counts))
                .into_iter()
                .map(|it| (it.axis, it.value, it.message))
                .collect::<Vec<_>>()
        };
        assert_eq!(found(&[10, 10, 10]), []);
        let message = "the matrix has more than 1,000 variants";
        assert_eq!(found(&[10, 101, 2]), [(1, Some(100), message.to_owned())]);
        // Its product is 10^27.
        assert_eq!(found(&[10; 27])[0], (3, Some(1), message.to_owned()));
        assert_eq!(too_many_tests(1_000, 1), None);
        assert_eq!(
            too_many_tests(usize::MAX, 2).map(|it| it.contains("are 18,446,744,073,709,551,615 tests")),
            Some(true)
        );
    }

    #[test]
    fn a_variant_to_leave_out_is_one_of_the_matrix() {
        let axes = [Axis::new("model", ["flash", "pro"]), Axis::new("prompt", ["a"])];
        for (text, expected) in [
            ("model=flash", None),
            ("modle=flash", Some(("the matrix has no axis `modle`", "did you mean `model`?"))),
            ("model=flahs", Some(("the axis `model` has no value `flahs`", "did you mean `flash`?"))),
            ("prompt=z", Some(("the axis `prompt` has no value `z`", "its values are `a`"))),
        ] {
            let found = check_excluded(&axes, &Variant::parse(text).unwrap());
            let found = found.as_ref().map(|(message, help)| (message.as_str(), help.as_str()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
