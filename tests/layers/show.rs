//! The graph of a crate as text, for ordering its modules anew.

use std::collections::BTreeMap;

use crate::finder::Use;
use crate::graph::Graph;
use crate::krate::{Circle, Crate};

/// The edges between the top-level modules, an order from the bottom, and what ties the circles.
pub(crate) fn show(of: &Crate) -> String {
    let top = of.folder(&[]);
    let mut text =
        format!("\n===== {} =====\n\nWho uses whom at the top level (number of names):\n", of.name);
    let width = top.names().iter().map(|name| name.len()).max().unwrap_or(0);
    for (node, name) in top.names().iter().enumerate() {
        let own = top.edges().filter(|((from, _), _)| *from == node);
        let used: Vec<_> = own.map(|((_, to), uses)| format!("{} {}", top.names()[to], uses.len())).collect();
        text +=
            &format!("  {name:width$} -> {}\n", if used.is_empty() { "-".into() } else { used.join(", ") });
    }
    text += "\nSuggested order. Modules of a line do not use each other; those in brackets are a circle.\n";
    text += &format!("```text\n{}, from the bottom:\n", of.name);
    for line in top.order() {
        let groups: Vec<_> = line.iter().map(|group| group_text(&top, group)).collect();
        text += &format!("  {}\n", groups.join(" "));
    }
    text += "```\n";
    let of_root: Vec<_> = of.uses.iter().filter(|used| of.top(used.to).is_none()).collect();
    if !of_root.is_empty() {
        text += "\nUses of what the root of the crate itself defines:\n";
        for used in of_root {
            text += &format!("      {}\n", of.line(used));
        }
    }
    let circles = of.circles();
    text += &format!("\nCircles: {}\n", circles.len());
    for circle in &circles {
        text += &format!("\n{}", circle_text(of, circle));
    }
    text
}

fn group_text(graph: &Graph<'_>, group: &[usize]) -> String {
    let names: Vec<_> = group.iter().map(|node| graph.names()[*node]).collect();
    if names.len() > 1 { format!("[{}]", names.join(" ")) } else { names.join(" ") }
}

/// A circle: its nodes in the order that fewest uses are against, these uses, and the others in short.
pub(crate) fn circle_text(of: &Crate, circle: &Circle<'_>) -> String {
    let graph = &circle.graph;
    let order = graph.least_broken(&circle.nodes);
    let height = |node: usize| order.iter().position(|other| *other == node);
    let (mut against, mut along) = (String::new(), String::new());
    for ((from, to), uses) in graph.edges() {
        let (Some(user), Some(used)) = (height(from), height(to)) else { continue };
        let edge = format!("    {} -> {}", short(graph.names()[from]), short(graph.names()[to]));
        if user < used {
            against += &format!("{edge}\n");
            for used in uses {
                against += &format!("      {}\n", of.line(used));
            }
        } else {
            along += &format!("{edge}:  {}\n", places(of, uses));
        }
    }
    let names: Vec<_> = order.iter().map(|node| short(graph.names()[*node])).collect();
    format!(
        "Circle, {}. From the bottom:\n    {}\n  Uses against this order; without them there is no circle:\n\
         {against}  Uses along it:\n{along}",
        circle.place,
        names.join(" < "),
    )
}

/// Uses by file and line, with the last names of the items.
fn places(of: &Crate, uses: &[&Use]) -> String {
    let mut places: BTreeMap<(&str, usize), Vec<&str>> = BTreeMap::new();
    for used in uses {
        let name = used.item.rsplit("::").next().unwrap_or(&used.item);
        places.entry((short(&of.files[used.from].path), used.line)).or_default().push(name);
    }
    let lines: Vec<_> =
        places.iter().map(|((file, line), names)| format!("{file}:{line} {}", names.join(", "))).collect();
    lines.join("; ")
}

/// The path of a file without the folder of its crate.
fn short(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(_, path)| path)
}
