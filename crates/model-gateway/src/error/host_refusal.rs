//! Recognises two refusals of hosted models that neither waiting nor another request mends: the
//! account's credit or quota is used up, or a filter withholds the answer to this text.
//!
//! The tables hold the words of hosts and gateways, in lower case. Their sources are in
//! `docs/COMPATIBILITY.md`.

use std::ops::RangeInclusive;
use std::time::Duration;

/// A refusal of the host, whatever the request asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostRefusal {
    /// The account has no credit or quota left.
    CreditUsedUp,
    /// A filter withheld the answer to this text.
    Withheld,
}

/// Codes of used-up credit. They decide, whatever else the message says.
const CREDIT_CODES: [&str; 12] = [
    "accountoverdue",
    "arrearage",
    "billing_",
    "budget_exceeded",
    "credit_balance",
    "exceeded_current_quota",
    "freetieronly",
    "insufficient_balance",
    "insufficient_credit",
    "insufficient_quota",
    "payment_required",
    // Google's names of quotas, such as GenerateRequestsPerDayPerProjectPerModel
    "perday",
];
/// Phrases for used-up credit. Google and gateways use some of them for a rate too, and then name a
/// wait.
const CREDIT_PHRASES: [&str; 28] = [
    "account is in good standing",
    "account balance",
    "add credits",
    "budget has been exceeded",
    "credit balance",
    "credit limit",
    "credits exhausted",
    "credits remaining",
    "daily free allocation",
    "daily limit",
    "daily quota",
    "exceeded your current quota",
    "free-models-per-day",
    "insufficient balance",
    "insufficient credit",
    "insufficient quota",
    "more credits",
    "monthly included credits",
    "monthly limit",
    "negative balance",
    "out of credits",
    "purchase credits",
    "reached your specified api usage limits",
    "requests per day",
    "spend limit",
    "spending limit",
    "tokens per day",
    "余额不足",
];
/// How long a wait of a 429 is no pause but the end of a quota. A longer one is a date by mistake;
/// a shorter one may be a clock that is an hour off.
const QUOTA_WAITS: RangeInclusive<Duration> =
    Duration::from_hours(2)..=Duration::from_hours(40 * 24);

/// Codes and phrases of filters.
const FILTER_WORDS: [&str; 23] = [
    "blocked due to security configurations",
    "considered high risk",
    "content_blocked",
    "content_filter",
    "content_policy",
    "content exists risk",
    "content management polic",
    "content policy",
    "contentfilter",
    "contentpolicy",
    "data_inspection_failed",
    "datainspectionfailed",
    "flagged as potentially violating",
    "guardrail",
    "inappropriate content",
    "input was flagged",
    "new_sensitive",
    "prohibited_content",
    "responsibleaipolicy",
    "safety_check",
    "sensitive content",
    "violates usage guidelines",
    "敏感",
];

/// What the host says about its account or the text. `subject` is the message with its codes in
/// lower case, `wait` the time that the host asks for.
pub(super) fn host_refusal(
    status: u16,
    subject: &str,
    wait: Option<Duration>,
) -> Option<HostRefusal> {
    let has_one_of = |words: &[&str]| words.iter().any(|words| subject.contains(words));
    if status == 402 || has_one_of(&CREDIT_CODES) {
        return Some(HostRefusal::CreditUsedUp);
    }
    if status == 429 && wait.is_some_and(|wait| QUOTA_WAITS.contains(&wait)) {
        return Some(HostRefusal::CreditUsedUp);
    }
    let is_rate =
        wait.is_some_and(|wait| wait < *QUOTA_WAITS.start()) || subject.contains("perminute");
    if status <= 500 && !is_rate && has_one_of(&CREDIT_PHRASES) {
        return Some(HostRefusal::CreditUsedUp);
    }
    let may_be_filter = status == 500 || status < 500 && status != 429;
    (may_be_filter && has_one_of(&FILTER_WORDS)).then_some(HostRefusal::Withheld)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_up_credit_differs_from_a_rate() {
        let short = Some(Duration::from_secs(36));
        let used_up = Some(HostRefusal::CreditUsedUp);
        for (status, subject, wait, expected) in [
            (402, "", None, used_up),
            (429, "slow down insufficient_quota", short, used_up),
            (429, "you have no credits remaining", None, used_up),
            (
                429,
                "you exceeded your current quota, please check your plan and billing details",
                None,
                used_up,
            ),
            // Google's quota of a day names a short wait too, and that of a minute these words
            (
                429,
                "you exceeded your current quota generaterequestsperdayperproject",
                short,
                used_up,
            ),
            (
                429,
                "you exceeded your current quota generaterequestsperminuteperproject",
                None,
                None,
            ),
            (429, "you exceeded your current quota", short, None),
            (429, "", Some(Duration::from_hours(24)), used_up),
            (429, "", Some(Duration::from_hours(1)), None),
            (429, "", Some(Duration::from_hours(480_000)), None),
            (503, "", Some(Duration::from_hours(24)), None),
            (
                400,
                "your credit balance is too low to access the api",
                None,
                used_up,
            ),
            (
                400,
                "budget has been exceeded! current cost: 1.0",
                None,
                used_up,
            ),
            (
                403,
                "your team has used all credits or reached its monthly spending limit",
                None,
                used_up,
            ),
            (
                412,
                "account suspended, possibly due to reaching the monthly spending limit",
                None,
                used_up,
            ),
            (
                429,
                "rate limit exceeded: free-models-per-day. add 10 credits to unlock more",
                None,
                used_up,
            ),
            (
                429,
                "too many tokens per day, please wait before trying again.",
                None,
                used_up,
            ),
            (
                429,
                "rate limit reached on tokens per day (tpd). try again in 9m30s",
                short,
                None,
            ),
            (429, "rate limit reached, please try again", None, None),
            (500, "insufficient balance (1008) api_error", None, used_up),
            (401, "incorrect api key provided", None, None),
        ] {
            let found = host_refusal(status, subject, wait);
            assert_eq!(found, expected, "{status} {subject} {wait:?}");
        }
    }

    #[test]
    fn a_filter_is_known_by_the_words_of_common_hosts() {
        for (status, subject) in [
            (400, "the response was filtered content_filter"),
            (400, "content exists risk invalid_request_error"),
            (
                400,
                "input data may contain inappropriate content. data_inspection_failed",
            ),
            (
                400,
                "the request was rejected because it was considered high risk",
            ),
            (
                400,
                "invalid prompt: your prompt was flagged as potentially violating our usage policy",
            ),
            (400, "input new_sensitive (1026)"),
            (400, "系统检测到输入或生成内容可能包含不安全或敏感内容 1301"),
            (
                403,
                "content violates usage guidelines. failed check: safety_check_type_bio",
            ),
            (
                403,
                "this model requires moderation. your input was flagged for \"violence\"",
            ),
            (424, "prompt blocked due to security configurations"),
            (400, "violated guardrail policy"),
        ] {
            let found = host_refusal(status, subject, None);
            assert_eq!(found, Some(HostRefusal::Withheld), "{status} {subject}");
        }
        for (status, subject) in [
            (400, "model not found"),
            (429, "guardrail"),
            (503, "content_filter"),
        ] {
            assert_eq!(
                host_refusal(status, subject, None),
                None,
                "{status} {subject}"
            );
        }
    }
}
