//! Tests the finder of cycles on small made-up crates.

use super::{circles, uses};
use crate::crate_tree;

/// The cycles in a crate with these files.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let source = |wanted: &str| {
        let file = files.iter().find(|(file, _)| *file == wanted);
        file.map(|(_, text)| (*text).to_owned())
    };
    circles(&uses(&crate_tree::read("src/lib.rs", &source)))
}

#[test]
fn two_files_that_use_each_other_are_a_circle() {
    let found = circles_of(&[
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "use crate::b::B; pub struct A(B);"),
        ("src/b.rs", "pub struct B; fn f(a: &super::a::A) {}"),
    ]);
    let circle = "a circle of 2 files:\n    src/a.rs -> src/b.rs: B\n    src/b.rs -> src/a.rs: A";
    assert_eq!(found, [circle]);
}

#[test]
fn a_circle_through_a_third_file_is_one_circle() {
    let found = circles_of(&[
        ("src/lib.rs", "mod a; mod b; mod c; mod beside;"),
        ("src/a.rs", "use crate::b::B; pub struct A;"),
        ("src/b.rs", "use crate::c::C; pub struct B;"),
        ("src/c.rs", "use crate::a::A; pub struct C;"),
        ("src/beside.rs", "use crate::a::A;"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("a circle of 3 files:"), "{found:?}");
    assert!(!found[0].contains("beside"), "{found:?}");
}

#[test]
fn files_that_use_each_other_in_one_direction_are_no_circle() {
    let found = circles_of(&[
        ("src/lib.rs", "mod a; mod b; mod c; pub use a::A;"),
        (
            "src/a.rs",
            "use crate::b::{B, f}; use crate::c; pub struct A(B, c::C);",
        ),
        (
            "src/b.rs",
            "use crate::c::*; pub struct B(C); pub fn f() {}",
        ),
        ("src/c.rs", "pub struct C;"),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_parent_and_its_child_are_a_circle_when_each_uses_the_other() {
    let lib = ("src/lib.rs", "mod parent;");
    let child = ("src/parent/child.rs", "pub struct C(super::P);");
    let uses_it = (
        "src/parent.rs",
        "mod child; pub struct P; fn f() { child::C::new(); }",
    );
    let exports_it = (
        "src/parent.rs",
        "mod child; pub use child::C; pub struct P;",
    );
    assert_eq!(circles_of(&[lib, uses_it, child]).len(), 1);
    assert_eq!(circles_of(&[lib, exports_it, child]).len(), 0);
}

#[test]
fn a_reexport_is_seen_through() {
    let lib = ("src/lib.rs", "mod parent; mod other;");
    let parent = (
        "src/parent.rs",
        "mod child; pub(crate) use child::C as Named; pub struct P;",
    );
    let child = ("src/parent/child.rs", "use crate::other::O; pub struct C;");
    let uses_child = ("src/other.rs", "use crate::parent::Named; pub struct O;");
    let uses_parent = ("src/other.rs", "use crate::parent::P; pub struct O;");
    let found = circles_of(&[lib, parent, child, uses_child]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("src/other.rs -> src/parent/child.rs: C"),
        "{found:?}"
    );
    assert_eq!(circles_of(&[lib, parent, child, uses_parent]).len(), 0);
}

#[test]
fn names_from_globs_and_variants_are_found() {
    let found = circles_of(&[
        ("src/lib.rs", "mod a; mod b; pub use a::*;"),
        (
            "src/a.rs",
            "pub enum A { One } fn f() { use crate::b::B::*; let x = Two; }",
        ),
        (
            "src/b.rs",
            "pub enum B { Two } fn f() -> crate::A { panic!() }",
        ),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn an_impl_uses_the_file_of_its_type_and_its_functions_are_used_by_name() {
    let files = |call: &'static str| {
        [
            ("src/lib.rs", "mod kind; mod more;"),
            ("src/kind.rs", call),
            (
                "src/more.rs",
                "use crate::kind::Kind; impl Kind { pub fn more(&self) {} }",
            ),
        ]
    };
    for call in [
        "pub struct Kind; impl Kind { fn f(&self) { self.more() } }",
        "pub struct Kind; impl Kind { fn f(&self) { Self::more(self) } }",
        "pub struct Kind; fn f(it: &Kind) { Kind::more(it) }",
        "pub struct Kind; impl Kind { fn f(&self) { assert!(self.more()) } }",
    ] {
        assert_eq!(circles_of(&files(call)).len(), 1, "{call}");
    }
    let another = "pub struct Kind; impl Kind { fn f(&self) { self.less() } fn less(&self) {} }";
    assert_eq!(circles_of(&files(another)).len(), 0);
}

#[test]
fn macros_and_what_they_are_given_are_searched() {
    let lib = ("src/lib.rs", "#[macro_use] mod on; mod a;");
    let on = ("src/on.rs", "macro_rules! on { () => { $crate::a::A } }");
    let calls_it = ("src/a.rs", "pub struct A; fn f() { vec![on!()]; }");
    let names_it = ("src/a.rs", "pub struct A; fn f(on: u8) -> u8 { on }");
    assert_eq!(circles_of(&[lib, on, calls_it]).len(), 1);
    assert_eq!(circles_of(&[lib, on, names_it]).len(), 0);
}

#[test]
fn what_a_macro_defines_counts_for_the_file_of_its_call() {
    let found = circles_of(&[
        ("src/lib.rs", "mod table; mod a;"),
        (
            "src/table.rs",
            "table! { rows (id) { id -> Integer, } } struct T(crate::a::A);",
        ),
        ("src/a.rs", "use crate::table::rows; pub struct A;"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn serde_takes_functions_from_a_module_that_is_named_in_a_string() {
    let found = circles_of(&[
        ("src/lib.rs", "mod a; mod b;"),
        (
            "src/a.rs",
            r#"pub struct A { #[serde(with = "crate::b")] it: u8 }"#,
        ),
        ("src/b.rs", "use crate::a::A; pub fn deserialize() {}"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn tests_may_use_what_they_like() {
    let found = circles_of(&[
        ("src/lib.rs", "mod a; mod b;"),
        (
            "src/a.rs",
            "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }",
        ),
        ("src/b.rs", "use crate::a::A; pub struct B;"),
    ]);
    assert_eq!(found, [""; 0]);
}
