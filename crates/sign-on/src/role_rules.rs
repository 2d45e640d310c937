//! Rules that give people their roles by a claim of the provider.

use refract_domain::account::Role;

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
    /// `*` stands for everybody.
    ///
    /// # Errors
    /// A part that is no rule.
    pub fn parse(text: &str) -> Result<Self, RoleRulesError> {
        let parts = text.split(',').map(str::trim);
        let rules = parts.filter(|part| !part.is_empty()).map(|part| {
            let wrong = || RoleRulesError(part.to_owned());
            // a value may have an equals sign, as LDAP's names have
            let (value, role) = part.rsplit_once('=').ok_or_else(wrong)?;
            let role = Role::named(role.trim()).ok_or_else(wrong)?;
            let value = value.trim();
            if value.is_empty() {
                return Err(wrong());
            }
            Ok((value.to_owned(), role))
        });
        let rules = rules.collect::<Result<_, _>>()?;
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
    }

    #[test]
    fn what_is_no_rule_is_named() {
        for wrong in ["staff", "staff=admin", "=owner", "a=owner,b", "staff=Owner"] {
            let error = RoleRules::parse(wrong).unwrap_err();
            assert!(error.to_string().contains("is no rule"), "{error}");
        }
        assert!(RoleRules::parse(" , ").unwrap().is_empty());
    }
}
