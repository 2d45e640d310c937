//! The stored draft of a prism: the form's values and what belongs to them, as JSON.

use refract_domain::ids::PrismId;
use serde::{Deserialize, Serialize};

use super::act::FormAction;
use super::carried_draft::CarriedDraft;
use super::removal::RemovedItem;
use super::trial::Trial;

/// What is stored of a form.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredEdit {
    /// The id of the prism; a new prism will get it.
    pub(crate) id: PrismId,
    /// The version that the draft was made from; `None` for a new prism.
    pub(crate) based_on: Option<i32>,
    /// The prism's name when the draft was begun.
    pub(crate) named: String,
    /// The page that stored the draft last: it may store it again without having seen the reply.
    pub(crate) tab: String,
    pub(crate) draft: CarriedDraft,
    #[serde(default)]
    pub(crate) extras: EditExtras,
}

/// What belongs to a draft besides the prism's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EditExtras {
    /// The effect of the last button.
    pub(crate) acted: FormAction,
    /// What the last button removed.
    pub(crate) removed: Option<RemovedItem>,
    /// Why the version is saved.
    pub(crate) note: String,
    /// The person's own test texts: a value for each field, in the order of the fields.
    pub(crate) texts: Vec<Vec<String>>,
    /// The draft's answers to the person's own test texts.
    pub(crate) own: Option<Trial>,
    /// The draft's answers to stored texts.
    pub(crate) stored: Option<Trial>,
}
