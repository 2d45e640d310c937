//! Whether a provider asked for a second factor, by the claims `amr` (RFC 8176) and `acr` of its token.

/// Methods of something that the person knows.
const KNOWN: [&str; 3] = ["pwd", "pin", "kba"];
/// Methods of something that the person has.
const HELD: [&str; 8] = ["otp", "hwk", "swk", "pop", "sc", "sms", "tel", "fido"];
/// Methods of something that the person is.
const INHERENT: [&str; 5] = ["face", "fpt", "iris", "retina", "vbm"];
/// The method that says that there were several factors.
const SEVERAL: &str = "mfa";
/// Contexts that mean several factors, wherever they are used: those of `OpenID` (phishing-resistant,
/// also with a key in hardware), of PAPE, of REFEDS and of Okta. Other contexts, such as numbers, mean
/// something else at each provider.
const CONTEXTS: [&str; 6] = [
    "phr",
    "phrh",
    "http://schemas.openid.net/pape/policies/2007/06/multi-factor",
    "http://schemas.openid.net/pape/policies/2007/06/multi-factor-physical",
    "https://refeds.org/profile/mfa",
    "urn:okta:loa:2fa:any",
];

/// Whether these methods and this context mean that the person gave two factors of different kinds.
pub(super) fn had_second_factor<'a>(
    methods: impl Iterator<Item = &'a str>,
    context: Option<&str>,
) -> bool {
    let (mut known, mut held, mut inherent) = (false, false, false);
    for method in methods {
        if method == SEVERAL {
            return true;
        }
        known |= KNOWN.contains(&method);
        held |= HELD.contains(&method);
        inherent |= INHERENT.contains(&method);
    }
    let kinds = u8::from(known) + u8::from(held) + u8::from(inherent);
    kinds > 1 || context.is_some_and(|context| CONTEXTS.contains(&context))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_kinds_of_factors_or_a_word_for_several_count() {
        for (methods, context, expected) in [
            // Entra ID, Okta, Auth0
            (&["pwd", "mfa"][..], None, true),
            // Keycloak, Authelia, Zitadel
            (&["pwd", "otp"], Some("1"), true),
            (&["fpt", "hwk"], None, true),
            (&["pwd"], Some("https://refeds.org/profile/mfa"), true),
            (&[], Some("phr"), true),
            (&["pwd"], None, false),
            (&["pwd", "pin"], None, false),
            (&["otp", "sms"], None, false),
            (&["MFA", "user", "rba"], Some("2"), false),
            (&[], None, false),
        ] {
            let had = had_second_factor(methods.iter().copied(), context);
            assert_eq!(had, expected, "{methods:?} {context:?}");
        }
    }
}
