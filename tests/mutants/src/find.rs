//! What can be changed in a file, so that a test should notice.

use std::collections::HashSet;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Block, Expr, ExprBinary, GenericArgument, Meta, PathArguments, ReturnType, Signature,
    Type, UnOp,
};

use crate::edits::Edit;

/// A change that a number turns on.
pub(crate) struct Mutant {
    pub(crate) number: u32,
    pub(crate) line: usize,
    /// `arithmetic` compiles for numbers alone; `logic` and `body` nearly everywhere.
    pub(crate) kind: &'static str,
    /// The first and the last line of the function.
    pub(crate) function: (usize, usize),
    pub(crate) what: String,
    pub(crate) edits: Vec<Edit>,
}

/// Finds mutants, the outer before the inner.
pub(crate) struct Finder<'s> {
    source: &'s str,
    number: u32,
    function: (usize, usize),
    /// The places of conditions that are forced already: flipping them is caught by the same tests.
    forced: HashSet<Range<usize>>,
    pub(crate) mutants: Vec<Mutant>,
}

impl<'s> Finder<'s> {
    pub(crate) fn new(source: &'s str, first: u32) -> Self {
        Self { source, number: first, function: (0, 0), forced: HashSet::new(), mutants: Vec::new() }
    }

    pub(crate) fn next_number(&self) -> u32 {
        self.number
    }

    pub(crate) fn file(&mut self, file: &syn::File) {
        self.visit_file(file);
    }

    fn add(
        &mut self,
        kind: &'static str,
        place: &impl Spanned,
        what: String,
        edits: impl FnOnce(u32) -> Vec<Edit>,
    ) {
        let number = self.number;
        let line = place.span().start().line;
        self.mutants.push(Mutant { number, line, kind, function: self.function, what, edits: edits(number) });
        self.number += 1;
    }

    /// The text of an expression, in one line.
    fn text(&self, place: &impl Spanned) -> String {
        let text = self.source[place.span().byte_range()].split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() > 90 { text.chars().take(90).chain("..".chars()).collect() } else { text }
    }

    /// A call of a function of `mutant` around an expression.
    fn wrap(&mut self, kind: &'static str, expr: &impl Spanned, what: String, function: &str) {
        let range = expr.span().byte_range();
        self.add(kind, expr, what, |number| {
            vec![Edit::Wrap(range, format!("crate::mutant::{function}({number}, "), ")")]
        });
    }

    /// Both operands as arguments of a function of `mutant`; `reference` is written before each.
    fn operands(
        &mut self,
        kind: &'static str,
        binary: &ExprBinary,
        function: &str,
        reference: [&str; 2],
        to: &str,
    ) {
        let range = binary.span().byte_range();
        let operator = binary.op.span().byte_range();
        let what = format!("`{}` -> `{to}` in `{}`", &self.source[operator.clone()], self.text(binary));
        let [left, right] = reference;
        let between = format!("), {right}(");
        self.add(kind, binary, what, |number| {
            let before = format!("crate::mutant::{function}({number}, {left}(");
            vec![Edit::Wrap(range, before, "))"), Edit::Replace(operator, between)]
        });
    }

    fn force(&mut self, expr: &Expr, value: bool) {
        self.forced.insert(expr.span().byte_range());
        let what = format!("`{}` -> `{value}`", self.text(expr));
        self.wrap("logic", expr, what, if value { "force_true" } else { "force_false" });
    }

    /// A condition of `if`, `while` or a match arm. What is inverted or compared by itself is left to that.
    fn condition(&mut self, expr: &Expr, values: &[bool]) {
        if matches!(expr, Expr::Let(_) | Expr::Binary(_) | Expr::Unary(_) | Expr::Lit(_)) {
            return;
        }
        for &value in values {
            self.force(expr, value);
        }
    }

    /// The values in place of a call of the function.
    fn body(&mut self, signature: &Signature, block: &Block) {
        let at = block.brace_token.span.open().byte_range().end;
        let body = self.source[at..block.brace_token.span.close().byte_range().start].trim();
        if body.is_empty() {
            return;
        }
        for value in values_of(&signature.output) {
            if body == value {
                continue;
            }
            let shown = if value.is_empty() { "nothing" } else { value };
            let what = format!("`{}` -> {shown}", signature.ident);
            self.add("body", &signature.ident, what, |number| {
                let text = format!(" if crate::mutant::on({number}) {{ return {value}; }}");
                vec![Edit::Replace(at..at, text)]
            });
        }
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        if is_left_out(attributes) || signature.constness.is_some() {
            return;
        }
        let lines = (signature.span().start().line, block.span().end().line);
        let outer = std::mem::replace(&mut self.function, lines);
        self.body(signature, block);
        self.visit_block(block);
        self.function = outer;
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let is_forced = self.forced.contains(&binary.span().byte_range());
        let by_reference = ["&", "&"];
        let boundary = match binary.op {
            BinOp::Lt(_) => Some(("less", "<=")),
            BinOp::Le(_) => Some(("less_or_equal", "<")),
            BinOp::Gt(_) => Some(("greater", ">=")),
            BinOp::Ge(_) => Some(("greater_or_equal", ">")),
            _ => None,
        };
        let is_comparison = boundary.is_some() || matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_));
        if is_comparison && !is_forced {
            let what = format!("`{}` is inverted", self.text(binary));
            self.wrap("logic", binary, what, "flip");
        }
        if let Some((function, to)) = boundary {
            self.operands("logic", binary, function, by_reference, to);
        }
        match binary.op {
            BinOp::And(_) => {
                for leaf in [&*binary.left, &*binary.right].into_iter().filter(|leaf| is_leaf(leaf)) {
                    self.force(leaf, true);
                }
            }
            BinOp::Or(_) => {
                for leaf in [&*binary.left, &*binary.right].into_iter().filter(|leaf| is_leaf(leaf)) {
                    self.force(leaf, false);
                }
            }
            BinOp::Add(_) => self.operands("arithmetic", binary, "add", ["", ""], "-"),
            BinOp::Sub(_) => self.operands("arithmetic", binary, "sub", ["", ""], "+"),
            BinOp::Mul(_) => self.operands("arithmetic", binary, "mul", ["", ""], "/"),
            BinOp::Div(_) => self.operands("arithmetic", binary, "div", ["", ""], "*"),
            BinOp::AddAssign(_) => self.operands("arithmetic", binary, "add_assign", ["&mut ", ""], "-="),
            BinOp::SubAssign(_) => self.operands("arithmetic", binary, "sub_assign", ["&mut ", ""], "+="),
            _ => {}
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, UnOp::Not(_)) && !self.forced.contains(&unary.span().byte_range()) {
            let what = format!("`{}` is inverted", self.text(unary));
            self.wrap("logic", unary, what, "flip");
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_if(&mut self, expr: &'ast syn::ExprIf) {
        self.condition(&expr.cond, &[true, false]);
        visit::visit_expr_if(self, expr);
    }

    fn visit_expr_while(&mut self, expr: &'ast syn::ExprWhile) {
        // Forced true, it would never end.
        self.condition(&expr.cond, &[false]);
        visit::visit_expr_while(self, expr);
    }

    fn visit_pat_guard(&mut self, guard: &'ast syn::PatGuard) {
        self.condition(&guard.guard, &[true, false]);
        self.visit_expr(&guard.guard);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &item.sig, block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = item
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last())
            .map(|name| name.ident.to_string());
        if !is_left_out(&item.attrs)
            && !matches!(of.as_deref(), Some("Default" | "Display" | "Debug" | "Drop"))
        {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_left_out(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    // Constants are computed by the compiler.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_expr_repeat(&mut self, _: &'ast syn::ExprRepeat) {}
    fn visit_generic_argument(&mut self, _: &'ast GenericArgument) {}
}

/// Whether an operand of `&&` or `||` is forced: those that are such expressions themselves leave it to their operands.
fn is_leaf(operand: &Expr) -> bool {
    match operand {
        Expr::Let(_) => false,
        Expr::Paren(inner) => is_leaf(&inner.expr),
        Expr::Binary(inner) => !matches!(inner.op, BinOp::And(_) | BinOp::Or(_)),
        _ => true,
    }
}

/// Whether an item is for tests, or not compiled here.
fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition.contains("test") || condition.contains("not") || condition.contains("windows")
        }
        meta => meta.path().is_ident("test"),
    })
}

/// Values that a function with this result could return instead.
fn values_of(output: &ReturnType) -> Vec<&'static str> {
    match output {
        ReturnType::Default => vec![""],
        ReturnType::Type(_, result) => values_of_type(result),
    }
}

/// Whether a value is of a type that has a default, as far as is known.
fn is_default(value: &str) -> bool {
    !value.starts_with("Ok")
}

fn values_of_type(result: &Type) -> Vec<&'static str> {
    let plain = "Default::default()";
    let path = match result {
        Type::Tuple(tuple) if tuple.elems.is_empty() => return vec!["()"],
        Type::Reference(reference) => {
            let Type::Path(of) = &*reference.elem else { return Vec::new() };
            return if of.path.is_ident("str") { vec![r#""""#] } else { Vec::new() };
        }
        Type::Path(path) => path,
        _ => return Vec::new(),
    };
    let Some(last) = path.path.segments.last() else { return Vec::new() };
    let first = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(inner) => Some(values_of_type(inner)),
                _ => None,
            })
        }
        _ => None,
    };
    match last.ident.to_string().as_str() {
        "bool" => vec!["true", "false"],
        "usize" | "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "isize" => vec!["0", "1"],
        "f32" | "f64" => vec!["0.0", "1.0"],
        "String" | "Vec" | "Cow" | "VecDeque" | "Duration" | "PathBuf" | "Map" | "BTreeMap" | "BTreeSet"
        | "HashMap" | "HashSet" => vec![plain],
        "Option" => match first.as_deref() {
            Some(["true", ..]) => vec!["None", "Some(true)", "Some(false)"],
            Some([value, ..]) if is_default(value) => vec!["None", "Some(Default::default())"],
            _ => vec!["None"],
        },
        "Result" => match first.as_deref() {
            Some(["true", ..]) => vec!["Ok(true)", "Ok(false)"],
            Some([value, ..]) if is_default(value) => vec!["Ok(Default::default())"],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
