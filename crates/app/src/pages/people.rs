//! `/people`: the people of the account. Owners invite and remove them, and change their roles.

mod person_table;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::{Email, Role};
use refract_domain::ids::PersonId;
use refract_identity::people::{Invitation, PersonError};
use refract_service::store::DEMO_DATABASE_URL;

use self::person_table::{LastDone, ROLES, codes_form, person_table};
use crate::components::{
    COPY_SCRIPT, FormField, NoticeKind, copyable, describe, moment, notice, sentence,
};
use crate::replies::{PageError, PageReply, Section};
use crate::requests::Visit;

/// What the page shows in addition to the people.
#[derive(Default)]
struct PeopleNotes<'a> {
    notice: Option<Markup>,
    /// The address typed into the invitation form.
    email: &'a str,
    role: &'a str,
    /// The validation error of the address.
    error: String,
}

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let notice = visit.done(|what| match what {
        "role" => Some("The role is changed, from the person's next page on."),
        "removed" => Some("The person is removed and signed out everywhere."),
        "codes" => Some("Their one-time codes are off: they sign in by password alone."),
        "required" => Some("One-time codes are required, from each person's next page on."),
        "optional" => Some("One-time codes are optional."),
        _ => None,
    });
    let notes = PeopleNotes {
        notice,
        ..PeopleNotes::default()
    };
    page(&visit, &notes, StatusCode::OK).await
}

/// Invites a person and shows the link once.
pub(crate) async fn invite(visit: Visit) -> Result<PageReply, PageError> {
    let form = &visit.sent.form;
    let (typed, role) = (form.get("email"), form.get("role"));
    let mut notes = PeopleNotes {
        email: typed,
        role,
        ..PeopleNotes::default()
    };
    let errors = match (Email::parse(typed), Role::named(role)) {
        (Ok(email), Some(role)) => {
            let people = visit.refract.people();
            match people.invite(&visit.actor(), &email, role).await {
                Ok(invitation) => return link_page(&visit, &invitation).await,
                Err(refusal) => shown(refusal)?,
            }
        }
        (Err(errors), _) => describe(typed, &errors),
        (Ok(_), None) => return Err(PageError::NoForm),
    };
    notes.error = errors;
    page(&visit, &notes, StatusCode::UNPROCESSABLE_ENTITY).await
}

/// Creates a new link for a person and shows it once.
pub(crate) async fn renew_link(visit: Visit) -> Result<PageReply, PageError> {
    let person = person(&visit)?;
    match visit.refract.people().reset(&visit.actor(), person).await {
        Ok(invitation) => link_page(&visit, &invitation).await,
        Err(refusal) => refused(&visit, refusal).await,
    }
}

/// Changes a person's role.
pub(crate) async fn set_role(visit: Visit) -> Result<PageReply, PageError> {
    let person = person(&visit)?;
    let role = Role::named(visit.sent.form.get("role")).ok_or(PageError::NoForm)?;
    let people = visit.refract.people();
    match people.set_role(&visit.actor(), person, role).await {
        Ok(()) => Ok(PageReply::see_other("/people?done=role")),
        Err(refusal) => refused(&visit, refusal).await,
    }
}

/// Removes a person.
pub(crate) async fn remove(visit: Visit) -> Result<PageReply, PageError> {
    let person = person(&visit)?;
    match visit.refract.people().remove(&visit.actor(), person).await {
        Ok(()) => Ok(PageReply::see_other("/people?done=removed")),
        Err(refusal) => refused(&visit, refusal).await,
    }
}

/// Switches off a person's one-time codes.
pub(crate) async fn remove_codes(visit: Visit) -> Result<PageReply, PageError> {
    let person = person(&visit)?;
    let people = visit.refract.people();
    match people.remove_codes(&visit.actor(), person).await {
        Ok(()) => Ok(PageReply::see_other("/people?done=codes")),
        Err(refusal) => refused(&visit, refusal).await,
    }
}

/// Makes one-time codes required or optional.
pub(crate) async fn require_codes(visit: Visit) -> Result<PageReply, PageError> {
    let (are_required, done) = match visit.sent.form.get("require") {
        "on" => (true, "/people?done=required"),
        "off" => (false, "/people?done=optional"),
        _ => return Err(PageError::NoForm),
    };
    let people = visit.refract.people();
    people
        .set_codes_required(&visit.actor(), are_required)
        .await?;
    Ok(PageReply::see_other(done))
}

fn person(visit: &Visit) -> Result<PersonId, PageError> {
    PersonId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)
}

async fn refused(visit: &Visit, refusal: PersonError) -> Result<PageReply, PageError> {
    let words = shown(refusal)?;
    let notes = PeopleNotes {
        notice: Some(notice(NoticeKind::Refused, &html! { (words) })),
        ..PeopleNotes::default()
    };
    page(visit, &notes, StatusCode::CONFLICT).await
}

/// The message of an error that the page itself shows; other errors get their own page.
fn shown(refusal: PersonError) -> Result<String, PageError> {
    match refusal {
        PersonError::NotFound => Err(PageError::NotFound),
        PersonError::HasJoined => Ok(
            "This address is already a person of the account. If they need another password, press New link in their row."
                .to_owned(),
        ),
        PersonError::AddressInUse | PersonError::LastOwner => Ok(sentence(&refusal.to_string())),
        PersonError::Secret(error) => Err(error.into()),
        PersonError::Persistence(error) => Err(error.into()),
    }
}

async fn link_page(visit: &Visit, invitation: &Invitation) -> Result<PageReply, PageError> {
    let link = visit.site.url.join_link(invitation.token.reveal());
    let notes = PeopleNotes {
        notice: Some(notice(
            NoticeKind::Done,
            &html! {
                "Send this link to " bdi { (invitation.email) } ". It works once, until "
                (moment(invitation.expires_at)) ", and is not shown again."
                @if is_cut(&invitation.email) { " Look at the address once more: its end has no dot." }
                (copyable("link", "The link", &link))
            },
        )),
        ..PeopleNotes::default()
    };
    page(visit, &notes, StatusCode::OK).await
}

/// Whether an address ends without a dot, as few do: a person may sign in with such an address, but it
/// was mostly cut off.
fn is_cut(email: &Email) -> bool {
    let domain = email.as_str().split_once('@').map(|(_, domain)| domain);
    domain.is_some_and(|domain| !domain.contains('.'))
}

async fn page(
    visit: &Visit,
    notes: &PeopleNotes<'_>,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let account = visit.account();
    let people = visit.refract.people().list(account).await?;
    let are_required = visit.refract.people().are_codes_required(account).await?;
    let last = visit.refract.events().last_of_people(account).await?;
    let last = last.into_iter();
    let last = last.filter_map(|listed| Some((listed.event.stamp.actor.person()?, listed)));
    let last = last.collect();
    let ids: Vec<_> = people.iter().map(|person| person.id).collect();
    let marked = visit.refract.marks().last_of_people(&ids).await?;
    let last = LastDone {
        events: last,
        marked,
    };
    let main = html! {
        h1 { "People" }
        p { "Who uses this app in your account, and what each of them may do." }
        @if let Some(notice) = &notes.notice { (notice) }
        (person_table(&people, &last, visit.visitor.person))
        h2 { "Invite somebody" }
        (invite_form(notes))
        @if visit.visitor.is_by_link {
            p.hint {
                "In a terminal, in the folder of the demo: "
                code { "DATABASE_URL=" (DEMO_DATABASE_URL) " REFRACT_APP_URL=" (visit.site.url) " refract person invite EMAIL" }
            }
        }
        (codes_form(are_required))
        h2 { "Roles" }
        dl.facts {
            dt { "Reviewer" } dd { "reads results, tries texts and marks answers." }
            dt { "Editor" } dd { "also changes prisms and lenses." }
            dt { "Owner" } dd { "also makes API keys and invites people." }
        }
    };
    let page = visit.page("People", main).section(Section::People);
    Ok(page.script(COPY_SCRIPT).status(status).reply())
}

fn invite_form(notes: &PeopleNotes<'_>) -> Markup {
    let email = FormField::new("email", "Email").value(notes.email);
    let email = email.hint("They sign in with it. No mail is sent: you get a link to hand over.");
    let email = email.error(&notes.error).required();
    let role = FormField::new("role", "Role").value(notes.role);
    html! {
        form.narrow method="post" action="/people" {
            (email.line("email", "off"))
            (role.choice(&ROLES))
            button.main type="submit" { "Make a link" }
        }
    }
}
