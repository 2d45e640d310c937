//! Sign-on by a provider, as the layers above set it up.

pub use refract_sign_on::{
    AdmissionRules, ProviderSecret, RoleRules, SignOn, SignOnSettingError, SignOnSettings,
};
