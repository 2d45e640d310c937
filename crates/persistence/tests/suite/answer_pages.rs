//! The answers of a prism's newest results.

use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::key::QuestionKey;
use refract_domain::prism::VersionNumber;
use refract_domain::result::ResultStatus;
use refract_persistence::AnswerPages;
use refract_test_support::on_both;

use crate::fixture::{Fixture, account, failed, prism};

on_both!(
    answers_are_read_from_the_newest_on_without_gaps,
    failed_results_and_those_of_others_stay_out,
    an_answer_comes_with_the_model_that_gave_it,
);

/// An answer with this probability, in millionths.
fn answer(millionths: u32) -> Answers {
    let answer = Answer::YesNo {
        probability: Probability::from_millionths(millionths).unwrap(),
    };
    Answers::new(vec![(QuestionKey::parse("angry").unwrap(), answer)])
}

async fn save(it: &Fixture, status: ResultStatus) {
    let new = it.result(status, None);
    it.database.save_result(&new).await.unwrap();
}

/// All answers in pages of at most this size.
async fn read(mut pages: AnswerPages, most: usize) -> Vec<Answers> {
    let mut read = Vec::new();
    loop {
        let page = pages.next(most).await.unwrap();
        assert!(page.len() <= most);
        if page.is_empty() {
            return read;
        }
        assert!(page.iter().all(|one| one.version == VersionNumber::FIRST));
        read.extend(page.into_iter().map(|one| one.answers));
    }
}

async fn answers_are_read_from_the_newest_on_without_gaps(it: Fixture) {
    for number in 0..150 {
        save(&it, ResultStatus::Ok(answer(number))).await;
    }
    let expected: Vec<_> = (0..150).rev().map(answer).collect();
    for most in [7, 1000] {
        let pages = it.database.answer_pages(it.account, it.prism.id, None);
        assert_eq!(read(pages, most).await, expected);
    }
}

async fn failed_results_and_those_of_others_stay_out(it: Fixture) {
    save(&it, ResultStatus::Ok(answer(1))).await;
    save(&it, failed()).await;
    let pages = it.database.answer_pages(it.account, it.prism.id, None);
    assert_eq!(read(pages, 10).await, [answer(1)]);
    let other = account(&it.database, "other").await;
    let pages = it.database.answer_pages(other, it.prism.id, None);
    assert!(read(pages, 10).await.is_empty());
    let elsewhere = prism(&it.database, it.account, "Elsewhere").await;
    let pages = it.database.answer_pages(it.account, elsewhere.id, None);
    assert!(read(pages, 10).await.is_empty());
}

async fn an_answer_comes_with_the_model_that_gave_it(it: Fixture) {
    for model in [None, Some("older"), Some("newer")] {
        let mut new = it.result(ResultStatus::Ok(answer(1)), None);
        new.provenance.model = model.map(str::to_owned);
        it.database.save_result(&new).await.unwrap();
    }
    let mut pages = it.database.answer_pages(it.account, it.prism.id, None);
    let page = pages.next(10).await.unwrap();
    let models: Vec<_> = page.iter().map(|one| one.model.as_deref()).collect();
    assert_eq!(models, [Some("newer"), Some("older"), None]);
}
