//! Finds what a path names, through imports and re-exports.

use std::collections::BTreeMap;

use super::module::{Import, Item, ItemKind, Module};

/// One library or program: its root module is number 0.
pub(crate) struct CrateTree {
    modules: Vec<Module>,
    /// The modules whose inherent impls hold a function or constant: by module and name of the
    /// type, then by the name of the function.
    functions: BTreeMap<(usize, String), BTreeMap<String, usize>>,
}

/// What a path may lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A module of this crate, by number.
    Module(usize),
    /// Something that a module of this crate defines.
    Item { module: usize, name: String },
    /// A name of a module in which no definition of it stands: made by a macro, or missing.
    Undefined { module: usize, name: String },
    /// Something from another crate.
    Outside,
}

/// The names that are being looked up, so that imports in a ring end.
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

    /// All that a path in a module may name: a type and a function may share a name. Nothing where
    /// the first name is no module's, as that of another crate or of a variable is.
    pub(crate) fn resolve(&self, from: usize, path: &[String]) -> Vec<Target> {
        let found = self.follow(from, path, &mut Under::new());
        match path {
            // in scope after its definition, whatever the module
            [name] if found.is_empty() && name.ends_with('!') => self.defining(name),
            _ => found,
        }
    }

    /// The item of that name which a module itself defines.
    pub(crate) fn item(&self, module: usize, name: &str) -> Option<&Item> {
        self.module(module)?
            .items
            .iter()
            .find(|item| item.name == name)
    }

    /// The module whose inherent impl gives a type this function or constant.
    pub(crate) fn function(&self, module: usize, of: &str, name: &str) -> Option<usize> {
        let functions = self.functions.get(&(module, of.to_owned()))?;
        functions.get(name).copied()
    }

    /// Where the functions of all inherent impls stand.
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
                // a function beside a module of its name has nothing inside
                .filter(|target| !is_in_module || matches!(target, Target::Module(_)))
                .flat_map(|target| self.step(target, name, under))
                .collect()
        })
    }

    /// What a name is inside of what the path has reached.
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

    /// What a module knows by a name: what it defines, and what it imports.
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
        for import in &module.imports {
            found.extend(self.imported(number, import, name, under));
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

    /// What `use target::*` brings in by a name: from a module, or of an enum's variants.
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
