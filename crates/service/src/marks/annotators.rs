//! The people who mark: whom a file names, and how people of one name are distinguished.

use refract_boxed_futures::boxed;
use std::collections::HashMap;

use refract_domain::ids::{AccountId, PersonId, PrismId};
use refract_domain::problem::ValidationError;
use refract_domain::result::mark::Annotator;
use refract_domain::result::mark::Marker;
use refract_persistence::{
    Database, LastMark, MarksOfPerson, PersistenceError, Person, PersonNameRow,
};

use super::Marks;
use crate::InternalError;

/// The people of an account, as an import of marks names them.
pub(super) struct KnownPeople(Vec<Person>);

impl KnownPeople {
    /// The people of an account who were not removed.
    pub(super) async fn find(
        database: &Database,
        account: AccountId,
    ) -> Result<Self, PersistenceError> {
        Ok(Self(database.list_people(account).await?))
    }

    /// Whom a cell names: a person of the account by id, address or name, or else somebody of whom
    /// only the name is known. A name that several people have is nobody's in particular.
    pub(super) fn named(&self, cell: &str) -> Result<Annotator, Vec<ValidationError>> {
        let cell = cell.trim();
        let address = cell.to_lowercase();
        let by_id = PersonId::parse(cell);
        let found = self
            .0
            .iter()
            .find(|person| by_id == Some(person.id) || person.email.as_str() == address);
        let mut of_name = self.0.iter().filter(|it| it.name.as_deref() == Some(cell));
        let only = of_name.next().filter(|_| of_name.next().is_none());
        match found.or(only) {
            Some(person) => Ok(Annotator {
                person: Some(person.id),
                name: person
                    .name
                    .as_deref()
                    .and_then(|name| Marker::parse(name).ok()),
            }),
            None if by_id.is_some() => Ok(Annotator {
                person: by_id,
                name: None,
            }),
            None => Ok(Annotator::named(Marker::parse(cell)?)),
        }
    }

    /// An annotator of whom only a name is known, as the person of this name, if one alone has it.
    pub(super) fn known(&self, by: &Annotator) -> Annotator {
        let name = by.name.as_ref().filter(|_| by.person.is_none());
        let known = name.and_then(|name| self.named(name.as_str()).ok());
        known.unwrap_or_else(|| by.clone())
    }
}

/// The people who marked results of a prism.
#[derive(Clone, Debug, Default)]
pub struct Annotators(Vec<MarksOfAnnotator>);

/// Somebody who marked results of a prism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarksOfAnnotator {
    /// The person, with the name of today where the app knows them.
    pub by: Annotator,
    /// Number of the person's marks.
    pub marks: u64,
    /// Number of disagreements that the person settled.
    pub settled: u64,
    /// The person's address, for one whom the app knows.
    email: Option<String>,
}

#[boxed]
impl Marks<'_> {
    /// The people who marked results of a prism, those with the most marks first.
    pub async fn annotators(
        self,
        account: AccountId,
        prism: PrismId,
    ) -> Result<Annotators, InternalError> {
        let database = &self.refract.database;
        let counted = database.count_marks_of_people(prism).await?;
        let ids: Vec<PersonId> = counted.iter().filter_map(|it| it.by.person).collect();
        let names = database.list_person_names(account, &ids).await?;
        let names = names.into_iter().map(|row| (row.id, row)).collect();
        Ok(Annotators::of(counted, &names))
    }
}

#[boxed]
impl Marks<'_> {
    /// When each of these people marked last, of those who did, and results of which prism.
    pub async fn last_of_people(
        self,
        people: &[PersonId],
    ) -> Result<HashMap<PersonId, LastMark>, InternalError> {
        let last = self.refract.database.list_last_marks(people).await?;
        // of a person's prisms the latest stays, since it comes last
        Ok(last.into_iter().collect())
    }
}

impl Annotators {
    fn of(counted: Vec<MarksOfPerson>, names: &HashMap<PersonId, PersonNameRow>) -> Self {
        let mut found = Self::default();
        // those with ids first: a name alone is that of the only one who has it
        let (known, others): (Vec<_>, Vec<_>) =
            counted.into_iter().partition(|it| it.by.person.is_some());
        for MarksOfPerson {
            mut by,
            is_adjudicated,
            count,
        } in known.into_iter().chain(others)
        {
            let row = by.person.and_then(|person| names.get(&person));
            let name = row.and_then(|row| Marker::parse(row.name.as_deref()?).ok());
            by.name = name.or(by.name);
            let place = found.place_of(&by).unwrap_or(found.0.len());
            if place == found.0.len() {
                found.0.push(MarksOfAnnotator {
                    by,
                    marks: 0,
                    settled: 0,
                    email: row.map(|row| row.email.clone()),
                });
            }
            if let Some(annotator) = found.0.get_mut(place) {
                if is_adjudicated {
                    annotator.settled += count;
                } else {
                    annotator.marks += count;
                }
            }
        }
        found.0.sort_by(|one, other| {
            let name = |it: &MarksOfAnnotator| it.by.name.as_ref().map(ToString::to_string);
            other
                .marks
                .cmp(&one.marks)
                .then_with(|| name(one).cmp(&name(other)))
        });
        found
    }

    /// Everybody, those with the most marks first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &MarksOfAnnotator> {
        self.0.iter()
    }

    /// Whether anybody settled a disagreement.
    pub fn have_settled(&self) -> bool {
        self.iter().any(|annotator| annotator.settled > 0)
    }

    /// The place of a person among all.
    pub fn place_of(&self, by: &Annotator) -> Option<usize> {
        if by.person.is_some() {
            return self.0.iter().position(|it| it.by.person == by.person);
        }
        let mut same = self
            .0
            .iter()
            .enumerate()
            .filter(|(_, it)| it.by.name == by.name);
        let first = same.next();
        let is_only = same.next().is_none();
        let exact = || self.0.iter().position(|it| it.by == *by);
        exact().or_else(|| first.filter(|_| is_only).map(|(place, _)| place))
    }

    /// How a person is shown: by name, where several have it with the address beside; somebody
    /// without a name is "somebody".
    pub fn label(&self, by: &Annotator) -> String {
        let found = self.place_of(by).and_then(|place| self.0.get(place));
        let by = found.map_or(by, |it| &it.by);
        let name = by.name.as_ref().map(ToString::to_string);
        let email = found.and_then(|it| it.email.clone());
        match (name, email) {
            (Some(name), Some(email)) if self.is_shared(by) => format!("{name} ({email})"),
            (Some(name), _) => name,
            (None, Some(email)) => email,
            (None, None) => "somebody".to_owned(),
        }
    }

    /// How a file names a person: by name, where several have it by id; empty for nobody.
    pub fn written(&self, by: &Annotator) -> String {
        let found = self.place_of(by).and_then(|place| self.0.get(place));
        let name = found.map_or(by, |it| &it.by).name.as_ref();
        match (by.person, name) {
            (Some(person), None) => person.to_string(),
            (Some(person), Some(_)) if self.is_shared(by) => person.to_string(),
            (_, Some(name)) => name.to_string(),
            (None, None) => String::new(),
        }
    }

    /// Whether somebody else has the name of a person.
    fn is_shared(&self, by: &Annotator) -> bool {
        let found = self.place_of(by).and_then(|place| self.0.get(place));
        let name = &found.map_or(by, |it| &it.by).name;
        name.is_some() && self.0.iter().filter(|it| it.by.name == *name).count() > 1
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn marks(person: Option<u128>, name: &str, count: u64) -> MarksOfPerson {
        MarksOfPerson {
            by: Annotator {
                person: person.map(|number| PersonId::new(Uuid::from_u128(number))),
                name: Marker::parse(name).ok(),
            },
            is_adjudicated: false,
            count,
        }
    }

    #[test]
    fn a_name_alone_is_that_of_the_only_person_who_has_it() {
        let counted = vec![
            marks(None, "Ada", 2),
            marks(Some(1), "Ada", 3),
            marks(None, "", 1),
        ];
        let found = Annotators::of(counted, &HashMap::new());
        let shown: Vec<_> = found
            .iter()
            .map(|it| (found.label(&it.by), it.marks))
            .collect();
        assert_eq!(shown, [("Ada".to_owned(), 5), ("somebody".to_owned(), 1)]);
        assert_eq!(found.written(&marks(None, "", 0).by), "");
    }

    #[test]
    fn people_of_one_name_are_distinguished() {
        let counted = vec![marks(Some(1), "Ada", 3), marks(Some(2), "Ada", 2)];
        let id = counted[0].by.person.unwrap();
        let row = PersonNameRow {
            id,
            email: "ada@example.com".to_owned(),
            name: Some("Ada".to_owned()),
        };
        let names = HashMap::from([(id, row)]);
        let found = Annotators::of(counted, &names);
        let first = found.iter().next().unwrap();
        assert_eq!(found.label(&first.by), "Ada (ada@example.com)");
        assert_eq!(found.written(&first.by), id.to_string());
    }
}
