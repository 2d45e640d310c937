//! Roles: what a person may do in the app.

use std::fmt;

/// What a person may do. Each role includes the permissions of the roles before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads, tries texts and marks.
    Reviewer,
    /// Also changes prisms and lenses, and runs files.
    Editor,
    /// Also creates API keys and invites people.
    Owner,
}

impl Role {
    /// Every role, from the fewest permissions to the most.
    pub const ALL: [Self; 3] = [Self::Reviewer, Self::Editor, Self::Owner];

    /// The role's name: `reviewer`, `editor` or `owner`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reviewer => "reviewer",
            Self::Editor => "editor",
            Self::Owner => "owner",
        }
    }

    /// The role with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether this role includes the permissions of `least`.
    pub fn may(self, least: Self) -> bool {
        self >= least
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_may_what_lesser_roles_may() {
        assert!(Role::Owner.may(Role::Reviewer));
        assert!(Role::Editor.may(Role::Editor));
        assert!(!Role::Reviewer.may(Role::Editor));
        assert!(!Role::Editor.may(Role::Owner));
    }

    #[test]
    fn roles_are_found_by_name() {
        for role in Role::ALL {
            assert_eq!(Role::named(role.name()), Some(role));
        }
        assert_eq!(Role::named("Owner"), None);
    }
}
