//! Resolves paths to definitions, through imports and re-exports.

use std::collections::BTreeMap;

use super::module::{Import, Item, ItemKind, Module};

/// One library or program. Its root is module number 0.
pub(crate) struct CrateTree {
    modules: Vec<Module>,
    /// The module of each function or constant in an inherent impl: by module and name of the type,
    /// then by name of the function.
    functions: BTreeMap<(usize, String), BTreeMap<String, usize>>,
}

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A module of this crate, by number.
    Module(usize),
    /// An item that a module of this crate defines.
    Item { module: usize, name: String },
    /// A name that its module does not define: made by a macro, or missing.
    Undefined { module: usize, name: String },
    /// An item of another crate.
    Outside,
}

/// The names in the current lookup, so that cyclic imports end.
type Under = Vec<(usize, String)>;

impl CrateTree {
    pub(super) fn new(modules: Vec<Module>) -> Self {
        let mut tree = Self {
            modules,
            functions: BTreeMap::new(),
        };
        tree.functions = tree.inherent_functions();
        tree
    }

    pub(crate) fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// All targets of a path in a module: a type and a function may share a name. Empty if the
    /// first name is not known in the module, such as that of another crate or of a variable.
    pub(crate) fn resolve(&self, from: usize, path: &[String]) -> Vec<Target> {
        let found = self.follow(from, path, &mut Under::new());
        match path {
            // in scope after its definition, in any module
            [name] if found.is_empty() && name.ends_with('!') => self.defining(name),
            _ => found,
        }
    }

    /// The item with this name that a module itself defines.
    pub(crate) fn item(&self, module: usize, name: &str) -> Option<&Item> {
        self.module(module)?
            .items
            .iter()
            .find(|item| item.name == name)
    }

    /// The module whose inherent impl defines this function or constant of a type.
    pub(crate) fn function(&self, module: usize, of: &str, name: &str) -> Option<usize> {
        let functions = self.functions.get(&(module, of.to_owned()))?;
        functions.get(name).copied()
    }

    /// The modules of the functions in all inherent impls.
    fn inherent_functions(&self) -> BTreeMap<(usize, String), BTreeMap<String, usize>> {
        let mut functions: BTreeMap<(usize, String), BTreeMap<String, usize>> = BTreeMap::new();
        for (number, module) in self.modules.iter().enumerate() {
            for inherent in &module.impls {
                for target in self.resolve(number, &inherent.of) {
                    if let Target::Item { module, name } = target {
                        let of_type = functions.entry((module, name)).or_default();
                        of_type.extend(inherent.names.iter().map(|name| (name.clone(), number)));
                    }
                }
            }
        }
        functions
    }

    fn module(&self, number: usize) -> Option<&Module> {
        self.modules.get(number)
    }

    fn defining(&self, name: &str) -> Vec<Target> {
        (0..self.modules.len())
            .filter(|module| self.item(*module, name).is_some())
            .map(|module| Target::Item {
                module,
                name: name.to_owned(),
            })
            .collect()
    }

    fn follow(&self, from: usize, path: &[String], under: &mut Under) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let start = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(from)],
            "super" => self.parent(from),
            name => self.look_up(from, name, under),
        };
        rest.iter().fold(start, |reached, name| {
            let is_in_module = reached.iter().any(|it| matches!(it, Target::Module(_)));
            reached
                .into_iter()
                // a function with the same name as a module contains nothing
                .filter(|target| !is_in_module || matches!(target, Target::Module(_)))
                .flat_map(|target| self.step(target, name, under))
                .collect()
        })
    }

    /// The targets of a name inside a reached target.
    fn step(&self, reached: Target, name: &str, under: &mut Under) -> Vec<Target> {
        match reached {
            Target::Module(module) if name == "super" => self.parent(module),
            Target::Module(module) => {
                let found = self.look_up(module, name, under);
                if found.is_empty() {
                    let name = name.to_owned();
                    vec![Target::Undefined { module, name }]
                } else {
                    found
                }
            }
            Target::Item {
                module,
                name: of_type,
            } => {
                let function = self.function(module, &of_type, name);
                let function = function.map(|module| Target::Item {
                    module,
                    name: format!("{of_type}::{name}"),
                });
                let of_type = Target::Item {
                    module,
                    name: of_type,
                };
                std::iter::once(of_type).chain(function).collect()
            }
            Target::Undefined { .. } | Target::Outside => vec![reached],
        }
    }

    fn parent(&self, module: usize) -> Vec<Target> {
        let parent = self.module(module).and_then(|module| module.parent);
        parent.into_iter().map(Target::Module).collect()
    }

    /// The targets of a name in a module, from its definitions and imports.
    fn look_up(&self, number: usize, name: &str, under: &mut Under) -> Vec<Target> {
        let looked_up = (number, name.to_owned());
        let (Some(module), false) = (self.module(number), under.contains(&looked_up)) else {
            return Vec::new();
        };
        let mut found: Vec<Target> = module
            .children
            .get(name)
            .copied()
            .map(Target::Module)
            .into_iter()
            .collect();
        if self.item(number, name).is_some() {
            let name = name.to_owned();
            found.push(Target::Item {
                module: number,
                name,
            });
        }
        under.push(looked_up);
        let (globs, named): (Vec<&Import>, Vec<&Import>) =
            module.imports.iter().partition(|it| it.name.is_none());
        for import in named {
            found.extend(self.imported(number, import, name, under));
        }
        // what has a name of its own shadows glob imports
        if found.is_empty() {
            for import in globs {
                found.extend(self.imported(number, import, name, under));
            }
        }
        under.pop();
        found
    }

    fn imported(
        &self,
        number: usize,
        import: &Import,
        name: &str,
        under: &mut Under,
    ) -> Vec<Target> {
        let Some(as_name) = &import.name else {
            let within = self.follow(number, &import.path, under);
            return within
                .into_iter()
                .flat_map(|target| self.in_glob(target, name, under))
                .collect();
        };
        let plain = name.trim_end_matches('!');
        if as_name != plain {
            return Vec::new();
        }
        let mut path = import.path.clone();
        if let (Some(last), true) = (path.last_mut(), plain != name) {
            last.push('!');
        }
        let found = self.follow(number, &path, under);
        if found.is_empty() {
            vec![Target::Outside]
        } else {
            found
        }
    }

    /// The targets of a name imported by `use target::*`: in a module, or an enum's variant.
    fn in_glob(&self, target: Target, name: &str, under: &mut Under) -> Vec<Target> {
        match target {
            Target::Module(module) => self.look_up(module, name, under),
            Target::Item {
                module,
                name: of_enum,
            } => {
                let item = self.item(module, &of_enum);
                let has_it = item
                    .is_some_and(|item| item.kind == ItemKind::Type && item.members.contains(name));
                let name = of_enum;
                has_it
                    .then_some(Target::Item { module, name })
                    .into_iter()
                    .collect()
            }
            Target::Undefined { .. } | Target::Outside => Vec::new(),
        }
    }
}
