//! Anchors: the spans that hold a turn, and the spans that belong to it.

use std::sync::Arc;

use super::gap::{Gap, GapKind};
use super::tree::Tree;
use super::view::{Class, Status};

#[derive(Debug)]
pub(super) struct Analysis {
    pub(super) tree: Tree,
    pub(super) nodes: Vec<Node>,
    /// The spans that hold a turn, depth first, each with its members, depth first.
    pub(super) anchors: Vec<(usize, Vec<usize>)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) class: Option<Class>,
    /// The nearest model call above; `None` if an agent, workflow or tool is nearer.
    pub(super) inference_parent: Option<usize>,
    /// The nearest tool above; `None` if an agent, workflow or model call is nearer.
    pub(super) tool_parent: Option<usize>,
    pub(super) agent: Option<usize>,
    pub(super) is_under_tool: bool,
}

impl Analysis {
    pub(super) fn agent(&self, number: usize) -> Option<&str> {
        let named = self.nodes[number].agent?;
        self.tree.spans[named].view.as_ref()?.agent.as_deref()
    }

    pub(super) fn new(mut tree: Tree) -> Self {
        let mut nodes: Vec<Node> =
            tree.spans.iter().map(|span| Node { class: span.class(), ..Node::default() }).collect();
        let order = tree.walk(&tree.roots);
        let is_one_turn = chains_of_one_turn(&tree, &nodes, &order);
        // By span: whether an agent, workflow, tool or chain of one turn is above, and the span that holds its turn.
        let mut is_covered = vec![false; nodes.len()];
        let mut anchor: Vec<Option<usize>> = vec![None; nodes.len()];
        for root in &tree.roots {
            anchor[*root] = Some(*root);
        }
        let mut is_agentic_anchor = vec![false; nodes.len()];
        for &number in &order {
            let class = nodes[number].class;
            let is_agentic = matches!(class, Some(Class::Agent | Class::Workflow));
            let is_tool = class == Some(Class::Tool);
            let is_inference = class == Some(Class::Inference);
            if tree.spans[number].view.as_ref().is_some_and(|view| view.agent.is_some())
                && (is_agentic || nodes[number].agent.is_none() && (is_inference || is_tool))
            {
                nodes[number].agent = Some(number);
            }
            if is_agentic && !is_covered[number] {
                is_agentic_anchor[number] = true;
                anchor[number] = Some(number);
            }
            let node = &nodes[number];
            // An agent, model call or tool hides the calls above it from the spans below.
            let nearest = |is: bool, above: Option<usize>| {
                if is_agentic || is_inference || is_tool { is.then_some(number) } else { above }
            };
            let below = Node {
                class: None,
                inference_parent: nearest(is_inference, node.inference_parent),
                tool_parent: nearest(is_tool, node.tool_parent),
                agent: node.agent.filter(|named| is_agentic || *named != number),
                is_under_tool: node.is_under_tool || is_tool,
            };
            for &child in &tree.children[number] {
                let class = nodes[child].class;
                nodes[child] = Node { class, ..below.clone() };
                is_covered[child] = is_covered[number] || is_agentic || is_tool || is_one_turn[number];
                anchor[child] = anchor[number];
            }
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for &number in &order {
            if let Some(anchor) = anchor[number] {
                members[anchor].push(number);
            }
        }
        let mut anchors = Vec::new();
        for &number in &order {
            let of_it = std::mem::take(&mut members[number]);
            let has = |class| of_it.iter().any(|member| nodes[*member].class == Some(class));
            if is_agentic_anchor[number] {
                let span = &tree.spans[number];
                let view = span.view.as_deref();
                let has_messages = view.is_some_and(|view| {
                    view.model().input.get().is_some() || view.model().output.get().is_some()
                });
                let failed =
                    span.status == Status::Error || view.is_some_and(|view| view.error_type.is_some());
                if has(Class::Inference) || has(Class::Tool) || has_messages || failed {
                    anchors.push((number, of_it));
                } else {
                    let message = format!("the agent span {} has no model calls, tools or messages", span.id);
                    tree.gaps.push(Gap::new(GapKind::EmptyAgent, message));
                }
            } else if has(Class::Inference) {
                anchors.push((number, of_it));
            } else if has(Class::Tool) {
                // A tool that no turn holds is lost.
                let message = format!(
                    "the span {} has calls of tools, and no model or agent that made them",
                    tree.spans[number].id
                );
                tree.gaps.push(Gap::new(GapKind::CallsNotCaptured, message));
            }
        }
        Self { tree, nodes, anchors }
    }
}

/// The user's messages below a span: the first, and whether a later one differs.
#[derive(Clone, Copy, Default)]
struct Asked<'t> {
    first: Option<&'t Arc<str>>,
    is_several: bool,
    has_agent: bool,
}

/// By span: whether it is a chain whose agents below are all asked the same. These agents are steps of one turn.
fn chains_of_one_turn(tree: &Tree, nodes: &[Node], order: &[usize]) -> Vec<bool> {
    let mut asked: Vec<Asked<'_>> = vec![Asked::default(); nodes.len()];
    let mut is_one_turn = vec![false; nodes.len()];
    // Children come before their parents.
    for &number in order.iter().rev() {
        let view = tree.spans[number].view.as_deref();
        let mut all = Asked::default();
        for below in tree.children[number].iter().map(|child| asked[*child]) {
            all.is_several |=
                below.is_several || all.first.zip(below.first).is_some_and(|(one, other)| one != other);
            all.first = all.first.or(below.first);
            all.has_agent |= below.has_agent;
        }
        is_one_turn[number] = all.has_agent && !all.is_several && view.is_some_and(|view| view.is_chain);
        asked[number] = match nodes[number].class {
            // A tool's question is no message of the user.
            Some(Class::Tool) => Asked::default(),
            Some(Class::Inference) => {
                let own = view.and_then(|view| view.model().input.get()?.users.last());
                Asked { first: own.or(all.first), ..Asked::default() }
            }
            Some(Class::Agent | Class::Workflow) => Asked { is_several: false, has_agent: true, ..all },
            _ => all,
        };
    }
    is_one_turn
}
