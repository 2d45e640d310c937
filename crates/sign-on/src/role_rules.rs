//! Rules that give people their roles by a claim of the provider.

use refract_domain::account::Role;

/// The kinds of parts that LDAP names of groups have.
const NAME_PARTS: [&str; 4] = ["CN", "OU", "DC", "UID"];
/// Any value, in a rule.
const ANY: &str = "*";

/// Which values of the role claim give which role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleRules {
    rules: Vec<(String, Role)>,
}

/// Why a text is no list of role rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no rule such as refract-admins=owner: a value, `=` and reviewer, editor or owner"
)]
pub struct RoleRulesError(String);

impl RoleRules {
    /// Parses rules separated by commas, such as `refract-admins=owner,staff=reviewer`. The value
    /// `*` stands for everybody. A value may be an LDAP name, which has equals signs and commas:
    /// `CN=admins,DC=example=owner`.
    ///
    /// # Errors
    /// A part that is no rule.
    pub fn parse(text: &str) -> Result<Self, RoleRulesError> {
        let mut rules = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            // the parts of a name before its last one end no rule
            let mut ends = rest
                .match_indices(',')
                .map(|(end, _)| end)
                .chain([rest.len()]);
            let mut begin = 0;
            let end = ends.find(|end| {
                let part = rest.get(begin..*end).unwrap_or_default();
                begin = end + 1;
                !is_part_of_name(part)
            });
            let end = end.unwrap_or(rest.len());
            let rule = rest.get(..end).unwrap_or_default().trim();
            if !rule.is_empty() {
                rules.push(read(rule).ok_or_else(|| RoleRulesError(rule.to_owned()))?);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(Self { rules })
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The highest role that these values of the claim give; `None` if they give none.
    pub fn role_of(&self, values: &[String]) -> Option<Role> {
        let fitting = self
            .rules
            .iter()
            .filter(|(value, _)| value == ANY || values.contains(value));
        fitting.map(|(_, role)| *role).max()
    }
}

/// The value and the role of a text.
fn read(text: &str) -> Option<(String, Role)> {
    let (value, role) = text.rsplit_once('=')?;
    let value = value.trim();
    let role = Role::named(role.trim())?;
    (!value.is_empty()).then(|| (value.to_owned(), role))
}

/// Whether a text is one part of an LDAP name, and no role follows.
fn is_part_of_name(part: &str) -> bool {
    let Some((kind, value)) = part.trim().split_once('=') else {
        return false;
    };
    let is_kind = NAME_PARTS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(kind));
    is_kind && !value.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(rules: &str, values: &[&str]) -> Option<Role> {
        let values: Vec<_> = values.iter().map(ToString::to_string).collect();
        RoleRules::parse(rules).unwrap().role_of(&values)
    }

    #[test]
    fn the_highest_role_counts() {
        let rules = "staff=reviewer, admins = owner,authors=editor";
        assert_eq!(role(rules, &["staff", "authors"]), Some(Role::Editor));
        assert_eq!(role(rules, &["admins", "staff"]), Some(Role::Owner));
        assert_eq!(role(rules, &["Staff", "others"]), None);
        assert_eq!(role(rules, &[]), None);
        assert_eq!(role("*=reviewer,admins=owner", &[]), Some(Role::Reviewer));
        assert_eq!(role("", &["staff"]), None);
    }

    #[test]
    fn a_value_may_have_equals_signs() {
        let rules = RoleRules::parse("cn=refract=owner").unwrap();
        assert_eq!(rules.role_of(&["cn=refract".to_owned()]), Some(Role::Owner));
        let rules = "a=reviewer, CN=owner,OU=x, DC=y=editor,cn=b,dc=z=owner,c=reviewer";
        for (value, expected) in [
            ("a", Role::Reviewer),
            ("CN=owner,OU=x, DC=y", Role::Editor),
            ("cn=b,dc=z", Role::Owner),
            ("c", Role::Reviewer),
        ] {
            assert_eq!(role(rules, &[value]), Some(expected), "{value}");
        }
        assert_eq!(role(rules, &["CN", "OU=x", "cn=b"]), None);
    }

    #[test]
    fn what_is_no_rule_is_named() {
        for wrong in [
            "staff",
            "staff=admin",
            "=owner",
            "a=owner,b",
            "staff=Owner",
            "staff=admin,b=owner",
            "CN=a,OU=b",
        ] {
            let error = RoleRules::parse(wrong).unwrap_err();
            assert!(error.to_string().contains("is no rule"), "{error}");
        }
        assert!(RoleRules::parse(" , ").unwrap().is_empty());
    }
}
