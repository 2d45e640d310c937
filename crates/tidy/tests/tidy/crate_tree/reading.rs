//! Reads a crate's files into modules.

use super::imports;
use super::items;
use super::mentions;
use super::module::Module;
use super::syntax::{attributes, is_for_tests};

/// The modules of the crate with this root file, the root first.
pub(super) fn modules(root: &str, source: &dyn Fn(&str) -> Option<String>) -> Vec<Module> {
    let mut reader = Reader {
        source,
        modules: Vec::new(),
    };
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    reader.read_file(root, folder, None);
    reader.modules
}

struct Reader<'a> {
    source: &'a dyn Fn(&str) -> Option<String>,
    modules: Vec<Module>,
}

impl Reader<'_> {
    /// Reads a module in a separate file; its children's files are in the folder. Returns the
    /// module's number.
    fn read_file(&mut self, file: &str, folder: &str, parent: Option<usize>) -> usize {
        let text = (self.source)(file).expect(file);
        let parsed = syn::parse_file(&text).expect(file);
        self.read_items(&parsed.items, file, folder, parent)
    }

    fn read_items(
        &mut self,
        parsed: &[syn::Item],
        file: &str,
        folder: &str,
        parent: Option<usize>,
    ) -> usize {
        let number = self.modules.len();
        self.modules.push(Module::default());
        let mut module = Module::new(file, parent);
        let macros = items::macros_for_types(parsed);
        for item in parsed.iter().filter(|item| !is_for_tests(attributes(item))) {
            if let syn::Item::Mod(child) = item {
                let name = child.ident.to_string();
                let folder = format!("{folder}/{name}");
                let child = match &child.content {
                    Some((_, items)) => self.read_items(items, file, &folder, Some(number)),
                    None => self.read_file(&self.file_of(&folder), &folder, Some(number)),
                };
                module.children.insert(name, child);
            } else if let syn::Item::Use(item) = item {
                module.imports.extend(imports::of(item));
            } else {
                module.items.extend(items::defined(item));
                module.items.extend(items::from_macro(item, &macros));
                module.impls.extend(items::inherent_impl(item));
                let mentioned = mentions::of(item);
                module.mentions.extend(mentioned.paths);
                module.imports.extend(mentioned.imports);
            }
        }
        self.modules[number] = module;
        number
    }

    /// The file of the module with its children in this folder.
    fn file_of(&self, folder: &str) -> String {
        let beside = format!("{folder}.rs");
        match (self.source)(&beside) {
            Some(_) => beside,
            None => format!("{folder}/mod.rs"),
        }
    }
}
