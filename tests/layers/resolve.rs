//! Targets of paths: follows modules, imports, re-exports and globs to the module that defines the item.

use crate::source::Kind;
use crate::tree::{Binding, ROOT, Tree};

/// The target of a path of the crate. Paths into other crates have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Module(usize),
    Item(Item),
}

/// An item of the crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The index of the module that defines it.
    pub(crate) module: usize,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The name behind the item, as `new` in `Session::new`.
    pub(crate) member: Option<String>,
}

/// Names in modules that are being looked up, so that globs in a circle end.
type Trail = Vec<(usize, String)>;

impl Tree {
    /// The targets of a path in a module: several if a name has several meanings.
    pub(crate) fn resolve(&self, module: usize, path: &[String]) -> Vec<Target> {
        self.follow(module, path, &mut Vec::new())
    }

    /// Macros are in scope below their definition too, in all modules under the one that defines them.
    pub(crate) fn resolve_macro(&self, module: usize, path: &[String]) -> Vec<Target> {
        let found = self.resolve(module, path);
        if !found.is_empty() || path.len() > 1 {
            return found;
        }
        match self.modules[module].parent {
            Some(parent) => self.resolve_macro(parent, path),
            None => Vec::new(),
        }
    }

    fn follow(&self, module: usize, path: &[String], trail: &mut Trail) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let mut targets = match (first.as_str(), self.modules[module].parent) {
            ("crate", _) => vec![Target::Module(ROOT)],
            ("self", _) => vec![Target::Module(module)],
            ("super", Some(parent)) => vec![Target::Module(parent)],
            _ => self.lookup(module, first, trail),
        };
        for segment in rest {
            let found: Vec<_> = targets.iter().flat_map(|target| self.step(target, segment, trail)).collect();
            // Of two modules of one name, one per `cfg`, only one may have the item.
            targets = if found.is_empty() { self.made_by_macros(&targets, segment, trail) } else { found };
        }
        targets
    }

    fn step(&self, target: &Target, segment: &str, trail: &mut Trail) -> Vec<Target> {
        match target {
            Target::Module(module) if segment == "super" => {
                self.modules[*module].parent.map(Target::Module).into_iter().collect()
            }
            Target::Module(module) => self.lookup(*module, segment, trail),
            Target::Item(item) if item.kind != Kind::Type => Vec::new(),
            Target::Item(item) => {
                let member = item.member.clone().or_else(|| Some(segment.to_owned()));
                vec![Target::Item(Item { member, ..item.clone() })]
            }
        }
    }

    /// An item of a name that no item of a module has: a macro makes it.
    fn made_by_macros(&self, targets: &[Target], name: &str, trail: &mut Trail) -> Vec<Target> {
        let modules = targets.iter().filter_map(|target| match target {
            Target::Module(module) => Some(*module),
            Target::Item(_) => None,
        });
        let makers = modules.filter(|module| self.may_define(*module, name, trail));
        let made =
            makers.map(|module| Item { module, name: name.to_owned(), kind: Kind::Type, member: None });
        made.map(Target::Item).collect()
    }

    /// Whether a name that no item of a module has comes from a macro that the module calls.
    ///
    /// It does not if the name is an import of something outside of the crate, or may come by a glob from there.
    fn may_define(&self, module: usize, name: &str, trail: &mut Trail) -> bool {
        let glob_step = (module, "*".to_owned());
        if self.modules[module].names.contains_key(name) || trail.contains(&glob_step) {
            return false;
        }
        trail.push(glob_step);
        let globs = &self.modules[module].globs;
        let all_are_known = globs.iter().all(|glob| !self.follow(module, glob, trail).is_empty());
        trail.pop();
        all_are_known
    }

    fn lookup(&self, module: usize, name: &str, trail: &mut Trail) -> Vec<Target> {
        let step = (module, name.to_owned());
        let is_in_circle = trail.contains(&step);
        trail.push(step);
        let mut found = Vec::new();
        if let Some(bindings) = self.modules[module].names.get(name) {
            for binding in bindings {
                match binding {
                    Binding::Item { module, kind } => found.push(Target::Item(Item {
                        module: *module,
                        name: name.to_owned(),
                        kind: *kind,
                        member: None,
                    })),
                    Binding::Module(module) => found.push(Target::Module(*module)),
                    // `use metric::metric;` beside `mod metric;`: the first segment is the module.
                    Binding::Import(_) if is_in_circle => {}
                    Binding::Import(path) => found.extend(self.follow(module, path, trail)),
                }
            }
        } else if !is_in_circle {
            for glob in &self.modules[module].globs {
                for target in self.follow(module, glob, trail) {
                    if let Target::Module(target) = target {
                        found.extend(self.lookup(target, name, trail));
                    }
                }
            }
        }
        trail.pop();
        found
    }
}
