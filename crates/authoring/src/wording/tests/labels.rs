//! Labels and descriptions that warn, and those that must not.

use super::*;

fn at(rule: &'static str, path: &str) -> (&'static str, String) {
    (rule, path.to_owned())
}

#[test]
fn labels_of_the_same_words_warn() {
    for labels in [
        ["Refund", "Refunds"],
        ["Order status", "Status of the order"],
        ["Payment problem", "Payment issues"],
        ["Late delivery", "Late deliveries"],
        ["Returns: sending back", "Return"],
        ["Billing", "Billing"],
        ["Bestellungen", "bestellungen"],
        ["退款", "退款"],
    ] {
        let expected = [at("similar-labels", "options.1")];
        assert_eq!(choice(&labels), expected, "{labels:?}");
    }
}

#[test]
fn labels_that_are_spelled_alike_or_described_do_not_warn() {
    for labels in [
        ["Employer", "Employee"],
        ["Approved", "Unapproved"],
        ["Inbound", "Outbound"],
        ["Austria", "Australia"],
        ["C", "C++"],
        ["Model 300", "Model 301"],
        ["Plan A", "Plan B"],
        ["Dollar to euro", "Euro to dollar"],
        ["Refund: money back", "Refunds: several at once"],
        ["Gas", "Ga"],
        ["👍", "👎"],
        ["退款", "部分退款"],
        ["शिकायत", "श"],
    ] {
        assert_eq!(choice(&labels), [], "{labels:?}");
    }
}

#[test]
fn labels_that_can_be_right_for_one_text_warn() {
    for labels in [
        ["Delivery", "Late delivery"],
        ["Billing and delivery", "Delivery"],
        ["Billing and refunds", "Refunds & returns"],
        ["Billing or refunds", "Refunds/returns"],
        ["Bike", "Electric bikes"],
        ["Lieferung", "Späte Lieferung"],
        ["Delivery: where it is", "Late delivery"],
    ] {
        let expected = [at("overlapping-labels", "options.1")];
        assert_eq!(choice(&labels), expected, "{labels:?}");
    }
}

#[test]
fn labels_that_exclude_each_other_do_not_warn() {
    for labels in [
        ["Delivered", "Not delivered"],
        ["Sales", "After-sales"],
        ["Positive", "Very positive"],
        ["Mexico", "New Mexico"],
        ["Ireland", "Northern Ireland"],
        ["Employed", "Self-employed"],
        ["Billing", "Both billing and delivery"],
        ["Billing only", "Billing and delivery"],
        ["10", "10 to 20"],
        ["Terms and conditions", "Privacy and safety"],
        ["Late delivery", "Late payment"],
        ["Lost or stolen card", "Lost or stolen phone"],
        ["Korea, North", "Korea, South"],
        ["Guinea", "Guinea-Bissau"],
        ["Delivery: where it is", "Late delivery: a day or more"],
    ] {
        assert_eq!(choice(&labels), [], "{labels:?}");
    }
    // levels of a scale may contain each other
    assert_eq!(scale("How much?", &["Urgent", "Very urgent"]), []);
}

#[test]
fn an_option_beside_a_built_in_outcome_warns() {
    for label in [
        "Other",
        "Other: anything else",
        "Others",
        "Misc.",
        "Something else",
        "None of the above",
        "Other complaints",
        "None",
        "Unknown",
        "Not stated",
        "Can't tell: the text does not say",
    ] {
        let expected = [at("overlapping-labels", "options.1")];
        assert_eq!(choice(&["Billing", label]), expected, "{label}");
    }
    for label in [
        "None: the writer has no allergy",
        "Other complaints: about staff or the shop",
        "Unsure: the writer has not decided",
        "Another bike",
        "Miscarriage",
        "Unknown sender",
    ] {
        assert_eq!(choice(&["Billing", label]), [], "{label}");
    }
}

#[test]
fn descriptions_without_content_warn() {
    let repeated = choice(&["Billing: about money", "Delivery: About money!", "Product"]);
    assert_eq!(
        repeated,
        [at("duplicate-descriptions", "options.1.description")]
    );
    let own_label = scale("How late?", &["A day: a day", "A week: seven days"]);
    assert_eq!(
        own_label,
        [at("duplicate-descriptions", "levels.0.description")]
    );
    assert_eq!(choice(&["Billing: …", "Delivery: …"]), []);
}

#[test]
fn more_outcomes_than_letters_warn() {
    let labels: Vec<String> = (0..19).map(|n| format!("L{n}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    assert_eq!(choice(&labels[..18]), []);
    assert_eq!(choice(&labels), [at("many-options", "options")]);
}
